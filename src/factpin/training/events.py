"""Training a model that finds events: documents with events in, a model folder out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from factpin.corpora.tune import fit_event_scale
from factpin.documents import Document
from factpin.errors import BadInput, pick
from factpin.heads.event_linker import gold_of
from factpin.heads.gplinker import TripleCells
from factpin.models.extractor import Extractor
from factpin.models.find_events import EventSettings, labels_of
from factpin.models.reading import Batch, collate
from factpin.scoring import Scores, align, events, macro
from factpin.scoring.counts import total
from factpin.tasks import events as task
from factpin.tasks.events import Targets, targets
from factpin.training.config import TrainConfig
from factpin.training.options import EventOptions as EventsConfig
from factpin.training.parallel import World
from factpin.training.run import Task, digest, on_encoder, run_training

METRICS = ("f1", "precision", "recall", "macro_f1", "trigger_f1", "argument_f1", "text_f1", "event_f1")


class EventJob:
    """The training windows of a corpus, and its dev set."""

    def __init__(
        self, extractor: Extractor, training: Sequence[Document], dev: Sequence[Document], config: EventsConfig
    ) -> None:
        self.extractor = extractor
        self.model = extractor.model
        self.dev = dev
        self.labels = labels_of(extractor.settings)
        self.windows: list[tuple[NDArray[np.int32], Targets]] = []  # ids, and what is taught there
        self.noted: Counter[str] = Counter()
        for doc in training:
            self._add(doc, config.max_span)
        self.lengths = [len(ids) for ids, _ in self.windows]
        self.terms = None

    def _add(self, doc: Document, widest: int | None) -> None:
        read = self.extractor.reader.read(doc)
        whole = targets(doc, read.pieces, self.labels)
        self.noted["events"] += len(doc.events)
        for name in ("unalignable", "unknown", "merged"):
            self.noted[name] += len(getattr(whole, name))
        self.noted["lost_arguments"] += whole.lost_arguments
        self.noted["invented"] += whole.invented
        if widest is not None:
            narrow = whole.no_wider(widest)
            self.noted["too_wide"] += len(whole.argument) - len(narrow.argument)
            whole = narrow
        self.noted["not_taught_whole"] += len(whole.outside(read.windows))  # across windows
        for window in read.windows:
            self.windows.append((read.pieces.ids[window.first : window.last], whole.inside(window)))

    def fingerprint(self, config: EventsConfig, how: TrainConfig) -> str:
        """What makes this run this run: its settings and every window that it learns from."""
        columns = (column for ids, y in self.windows for column in (ids, y.label, y.first, y.last, y.event, y.argument))
        return digest((config, how, self.extractor.settings), columns)

    def batch(self, examples: Sequence[int]) -> tuple[Batch, TripleCells]:
        """Windows side by side, and their gold in token positions."""
        chosen = [self.windows[i] for i in examples]
        tokenizer = self.extractor.tokenizer
        return collate([ids for ids, _ in chosen], tokenizer), gold_of([y for _, y in chosen], len(tokenizer.prefix))

    def evaluate(self) -> dict[str, float]:
        """Figures on dev, by the very path that predicts."""
        if not self.dev:
            return {}
        return figures(events.score(align(self.extractor.annotate(self.dev), self.dev).pairs))


def figures(found: Scores) -> dict[str, float]:
    """Events, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    others = {f"{name}_f1": total(found.rows[name]).f1 for name in ("trigger", "argument", "text", "event")}
    return {"f1": strict.f1, "precision": strict.precision, "recall": strict.recall,
            "macro_f1": macro(found.labels.values())["f1"], **others}  # fmt: skip


def start(config: EventsConfig, training: Sequence[Document], seed: int) -> Extractor:
    """An extractor for the event types and roles of these documents, with a fresh head."""
    torch.manual_seed(seed)
    pick({"event_linker": None}, config.head, kind="head for events")
    labels = task.labels_of(training, triggers=config.triggers)
    if not labels.classes:
        raise BadInput("The training documents have no event, so there is nothing to learn. Check them with doctor.")
    all_triggered = all(event.trigger is not None for doc in training for event in doc.events)
    own = EventSettings("required" if config.triggers and all_triggered else "optional")
    head_config = {"triggers": labels.triggers, "roles": labels.roles, "head_size": config.head_size,
                   "rope": config.rope, "max_span": config.max_span, "bias": config.bias}  # fmt: skip
    return on_encoder("events", config, "event_linker", head_config, labels.types, asdict(own))


def tune(extractor: Extractor, dev: Sequence[Document], config: EventsConfig) -> None:
    """Fit the scale of the scores of events on dev."""
    scale = fit_event_scale(extractor, dev)
    extractor.settings = replace(extractor.settings, temperature=scale.temperature, shift=scale.shift)


EVENTS: Task[EventsConfig] = Task("events", EventsConfig, METRICS, start, EventJob, tune, events.score, figures)


def train_events(
    training: Sequence[Document],
    dev: Sequence[Document],
    config: EventsConfig,
    how: TrainConfig,
    folder: Path,
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train, tune on dev, and write the model folder; gives what was measured."""
    return run_training(EVENTS, training, dev, config, how, folder, data=data, resume=resume, quiet=quiet, world=world)

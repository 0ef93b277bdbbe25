"""Training a model that finds triples: documents with facts in, a model folder out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from factpin.corpora.tune import fact_candidates, fit_scale, fit_thresholds, span_candidates
from factpin.documents import Document, learn_schema, read_schema
from factpin.documents.schema import record_of, schema_of
from factpin.errors import BadInput, pick
from factpin.heads.gplinker import TripleCells, gold_of
from factpin.models.extractor import Extractor
from factpin.models.find_triples import TripleSettings, labels_of
from factpin.models.reading import Batch, collate
from factpin.scoring import Scores, align, macro, triples
from factpin.scoring.counts import total
from factpin.tasks import links
from factpin.tasks.triples import Targets, targets
from factpin.training.config import TrainConfig
from factpin.training.options import TripleOptions as TriplesConfig
from factpin.training.parallel import World
from factpin.training.run import Task, digest, on_encoder, run_training

METRICS = ("f1", "precision", "recall", "macro_f1", "typed_f1", "text_f1", "last_word_f1")


class TripleJob:
    """The training windows of a corpus, and its dev set."""

    def __init__(
        self, extractor: Extractor, training: Sequence[Document], dev: Sequence[Document], config: TriplesConfig
    ) -> None:
        self.extractor = extractor
        self.model = extractor.model
        self.dev = dev
        self.config = config
        self.labels = labels_of(extractor.settings)
        self.known = schema_of(extractor.settings.task_config["schema"]).relations
        self.windows: list[tuple[NDArray[np.int32], Targets]] = []  # ids, and what is taught there
        self.noted: Counter[str] = Counter()
        for doc in training:
            self._add(doc)
        self.lengths = [len(ids) for ids, _ in self.windows]
        self.terms = None

    def _add(self, doc: Document) -> None:
        read = self.extractor.reader.read(doc)
        whole = targets(doc, read.pieces, self.labels, self.config.occurrences, self.config.mentions)
        self.noted["facts"] += len(doc.facts)
        self.noted["not_in_schema"] += sum(fact.relation not in self.known for fact in doc.facts)
        self.noted["not_found"] += len(doc.notes.unfound)
        for name in ("unalignable", "unknown", "ambiguous", "merged"):
            self.noted[name] += len(getattr(whole, name))
        taught = whole if self.config.max_span is None else whole.no_wider(self.config.max_span)
        held = taught.fact[taught.held(read.windows)]
        # Across windows, or too wide.
        self.noted["not_taught"] += len({*whole.fact} - {-1}) - len({*held} - {-1})
        self.noted["lost_qualifiers"] += whole.lost_qualifiers + int((whole.fact == -1).sum() - (held == -1).sum())
        self.noted["lost_mentions"] += whole.lost_mentions + whole.alone() - taught.alone(read.windows)
        for window in read.windows:
            self.windows.append((read.pieces.ids[window.first : window.last], taught.inside(window)))

    def fingerprint(self, config: TriplesConfig, how: TrainConfig) -> str:
        """What makes this run this run: its settings and every window that it learns from."""
        columns = (
            column for ids, y in self.windows
            for column in (ids, y.label, y.first, y.last, y.relation, y.subject, y.object, y.known)
            if column is not None
        )  # fmt: skip
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
        return figures(triples.score(align(self.extractor.annotate(self.dev), self.dev).pairs))


def figures(found: Scores) -> dict[str, float]:
    """Facts, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    others = {f"{name}_f1": total(found.rows[name]).f1 for name in ("typed", "text", "last_word")}
    return {"f1": strict.f1, "precision": strict.precision, "recall": strict.recall,
            "macro_f1": macro(found.labels.values())["f1"], **others}  # fmt: skip


def start(config: TriplesConfig, training: Sequence[Document], seed: int) -> Extractor:
    """An extractor for the relations and types of these documents, with a fresh head."""
    torch.manual_seed(seed)
    pick({"gplinker": None}, config.head, kind="head for triples")
    labels = links.labels_of(training, typed=config.typed, mentions=config.mentions)
    if not labels.relations:
        raise BadInput("The training documents have no fact, so there is no relation to learn. Check them with doctor.")
    schema = read_schema(Path(config.schema)) if config.schema else learn_schema(training)
    own = TripleSettings(
        labels.slots, record_of(schema), config.types, config.functional, config.complete, config.mentions
    )
    head_config = {"relations": labels.names, "subjects": labels.subjects, "objects": labels.objects,
                   "head_size": config.head_size, "rope": config.rope, "max_span": config.max_span,
                   "bias": config.bias}  # fmt: skip
    return on_encoder("triples", config, "gplinker", head_config, labels.names, asdict(own))


def tune(extractor: Extractor, dev: Sequence[Document], config: TriplesConfig) -> None:
    """Fit thresholds of relations, by choice, and the scales of facts and of mentions on dev."""
    found = fact_candidates(extractor, dev)
    if config.tune_thresholds:
        default = float(extractor.model.head.default_threshold)
        thresholds = fit_thresholds(found, extractor.settings.labels, default)
        extractor.settings = replace(extractor.settings, thresholds=thresholds)
    cut = torch.as_tensor(extractor.threshold()).expand(len(extractor.settings.labels)).double().numpy()
    scale = fit_scale(found, cut)
    spans = span_candidates(extractor, dev)
    own = fit_scale(spans, np.array([-np.inf]))  # they are what is told, whatever cut let them through
    task_config = extractor.settings.task_config | {"span_temperature": own.temperature, "span_shift": own.shift}
    extractor.settings = replace(
        extractor.settings, temperature=scale.temperature, shift=scale.shift, task_config=task_config
    )


TRIPLES: Task[TriplesConfig] = Task("triples", TriplesConfig, METRICS, start, TripleJob, tune, triples.score, figures)


def train_triples(
    training: Sequence[Document],
    dev: Sequence[Document],
    config: TriplesConfig,
    how: TrainConfig,
    folder: Path,
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train, tune on dev, and write the model folder; gives what was measured."""
    return run_training(TRIPLES, training, dev, config, how, folder, data=data, resume=resume, quiet=quiet, world=world)

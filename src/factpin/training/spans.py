"""Training a model that finds spans: documents in, a model folder out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from factpin.corpora.tune import candidates, fit_scale, fit_thresholds
from factpin.documents import Document
from factpin.errors import BadInput, pick
from factpin.heads import CONFIGS, SPAN_HEADS, Cells
from factpin.heads.cells import known_rows
from factpin.models.extractor import Extractor
from factpin.models.find_spans import SpanSettings
from factpin.models.reading import Batch, Reader, collate
from factpin.scoring import Scores, align, macro, spans
from factpin.scoring.counts import total
from factpin.tasks.spans import Targets, flat, targets
from factpin.training.config import TrainConfig
from factpin.training.options import SpanOptions as SpansConfig
from factpin.training.parallel import World
from factpin.training.run import Task, digest, on_encoder, run_training

METRICS = ("f1", "precision", "recall", "macro_f1")


class SpanJob:
    """The training windows of a corpus, and its dev set."""

    def __init__(
        self, extractor: Extractor, training: Sequence[Document], dev: Sequence[Document], config: SpansConfig
    ) -> None:
        self.extractor = extractor
        self.model = extractor.model
        self.dev = dev
        self.windows: list[tuple[Any, Targets]] = []  # (ids, cells)
        self.noted: Counter[str] = Counter()
        nested = bool(self.model.head.nested)
        for doc in training:
            self._add(doc, extractor.reader, nested)
        self.lengths = [len(ids) for ids, _ in self.windows]
        self.terms = None

    def _add(self, doc: Document, reader: Reader, nested: bool) -> None:
        read = reader.read(doc)
        cells = targets(doc, read.pieces, self.extractor.settings.labels)
        self.noted["mentions"] += len(doc.mentions)
        self.noted["unalignable"] += len(cells.unalignable)
        taught: set[tuple[int, int, int]] = set()
        for window in read.windows:
            inside = cells.inside(window)
            if not nested:
                inside = flat(inside)
            width = getattr(self.model.head.config, "max_span", None)
            if width is not None:
                inside = inside.take(inside.last - inside.first < width)
            places = zip(inside.label, inside.first + window.first, inside.last + window.first, strict=True)
            taught.update((int(label), int(first), int(last)) for label, first, last in places)
            self.windows.append((read.pieces.ids[window.first : window.last], inside))
        self.noted["not_taught"] += len(cells.label) - len(taught)  # overlaps of a CRF, too wide, across a border

    def fingerprint(self, config: SpansConfig, how: TrainConfig) -> str:
        """What makes this run this run: its settings and every window that it learns from."""
        columns = (
            column
            for ids, y in self.windows
            for column in (ids, y.label, y.first, y.last, y.known)
            if column is not None
        )
        return digest((config, how, self.extractor.settings.labels), columns)

    def batch(self, examples: Sequence[int]) -> tuple[Batch, Cells]:
        """Windows side by side, and their gold cells in token positions."""
        chosen = [self.windows[i] for i in examples]
        shift = len(self.extractor.tokenizer.prefix)
        rows = [
            (row, int(label), int(first) + shift, int(last) + shift)
            for row, (_, cells) in enumerate(chosen)
            for label, first, last in zip(cells.label, cells.first, cells.last, strict=True)
        ]
        gold = replace(Cells.of(rows), known=known_rows([y.known for _, y in chosen]))
        return collate([ids for ids, _ in chosen], self.extractor.tokenizer), gold

    def evaluate(self) -> dict[str, float]:
        """Strict micro and macro figures on dev, by the very path that predicts."""
        if not self.dev:
            return {}
        return figures(spans.score(align(self.extractor.annotate(self.dev), self.dev).pairs))


def figures(found: Scores) -> dict[str, float]:
    """Strict spans, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    return {"f1": strict.f1, "precision": strict.precision, "recall": strict.recall,
            "macro_f1": macro(found.labels.values())["f1"]}  # fmt: skip


def build(config: SpansConfig, labels: Sequence[str], seed: int, *, overlaps: bool = True) -> Extractor:
    """An extractor with a fresh head on a pretrained encoder; overlaps: whether its mentions may overlap."""
    torch.manual_seed(seed)
    name = config.head.replace("-", "_")
    config_type = pick({name: CONFIGS[name] for name in SPAN_HEADS}, name, kind="head")
    choices = {"labels": tuple(labels), "head_size": config.head_size, "rope": config.rope, "bias": config.bias,
               "scheme": config.scheme, "max_span": config.max_span}  # fmt: skip
    known = {field.name for field in fields(config_type)}
    head_config = {key: value for key, value in choices.items() if key in known}
    return on_encoder("spans", config, name, head_config, tuple(labels), asdict(SpanSettings(overlaps)))


def start(config: SpansConfig, training: Sequence[Document], seed: int) -> Extractor:
    """An extractor for the labels of these documents."""
    labels = sorted({m.type for doc in training for m in doc.mentions})
    if not labels:
        raise BadInput("The training documents have no mention, so there is no label to learn. Check them with doctor.")
    overlaps = any(map(has_overlaps, training)) if config.overlaps == "auto" else config.overlaps == "keep"
    return build(config, labels, seed, overlaps=overlaps)


def has_overlaps(doc: Document) -> bool:
    """Whether two mentions of a document share a character."""
    ordered = sorted({(m.start, m.end, m.type) for m in doc.mentions})
    return any(b[0] < a[1] for a, b in pairwise(ordered))


def tune(extractor: Extractor, dev: Sequence[Document], config: SpansConfig) -> None:
    """Fit thresholds, by choice, and the scale of the scores on dev."""
    found = candidates(extractor, dev)
    if config.tune_thresholds:
        default = float(extractor.model.head.default_threshold)
        thresholds = fit_thresholds(found, extractor.settings.labels, default)
        extractor.settings = replace(extractor.settings, thresholds=thresholds)
    cut = torch.as_tensor(extractor.threshold()).expand(len(extractor.settings.labels))
    scale = fit_scale(found, cut.double().numpy())
    extractor.settings = replace(extractor.settings, temperature=scale.temperature, shift=scale.shift)


SPANS: Task[SpansConfig] = Task("spans", SpansConfig, METRICS, start, SpanJob, tune, spans.score, figures)


def train_spans(
    training: Sequence[Document],
    dev: Sequence[Document],
    config: SpansConfig,
    how: TrainConfig,
    folder: Path,
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train, tune on dev, and write the model folder; gives what was measured."""
    return run_training(SPANS, training, dev, config, how, folder, data=data, resume=resume, quiet=quiet, world=world)

"""Training a model that finds spans: documents in, a model folder out."""

import platform
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import orjson
import torch

from factpin.documents import Document
from factpin.encoders import Encoder, resolve
from factpin.errors import BadInput, pick
from factpin.files import write_bytes
from factpin.heads import CONFIGS, HEADS, Cells
from factpin.pipelines.card import Origin, write_card
from factpin.pipelines.examples import Batch, Reader, collate
from factpin.pipelines.extractor import Extractor
from factpin.pipelines.model import Model
from factpin.pipelines.settings import Settings
from factpin.pipelines.tune import candidates, fit_scale, fit_thresholds
from factpin.scoring import Scores, align, calibration, macro, spans
from factpin.scoring.counts import total
from factpin.tasks.spans import Targets, flat, targets
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig, to_dict, write_recipe
from factpin.training.loop import check_folder, train
from factpin.training.parallel import World, join_world

METRICS = ("f1", "precision", "recall", "macro_f1")
SHORT = 64  # pieces: no window is bound to be shorter than this


@dataclass(frozen=True)
class SpansConfig:
    """What is trained. How it is trained stands in TrainConfig."""

    encoder: str  # a name of the catalogue, a folder, or a hub id
    head: str = "efficient_global_pointer"
    head_size: int = 64
    rope: bool = True
    bias: Literal["qk", "hidden"] = "qk"  # of efficient_global_pointer
    scheme: Literal["bio", "bioes"] = "bioes"  # of crf
    max_span: int | None = None
    max_length: int | None = None  # tokens of a window; None: a little more than the longest in training
    overlap: int = 64
    context: Literal["sentence", "window"] = "sentence"
    dropout: float = 0.1
    tune_thresholds: bool = False
    language: str = ""
    name: str = ""
    finds: str = ""


class SpanJob:
    """The training windows of a corpus, and its dev set."""

    def __init__(self, extractor: Extractor, training: Sequence[Document], dev: Sequence[Document]) -> None:
        self.extractor = extractor
        self.model = extractor.model
        self.dev = dev
        self.windows: list[tuple[Any, Targets]] = []  # (ids, cells)
        self.noted: Counter[str] = Counter()
        nested = bool(self.model.head.nested)
        for doc in training:
            self._add(doc, extractor.reader, nested)
        self.lengths = [len(ids) for ids, _ in self.windows]

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
                inside = _no_wider(inside, width)
            places = zip(inside.label, inside.first + window.first, inside.last + window.first, strict=True)
            taught.update((int(label), int(first), int(last)) for label, first, last in places)
            self.windows.append((read.pieces.ids[window.first : window.last], inside))
        self.noted["not_taught"] += len(cells.label) - len(taught)  # overlaps of a CRF, too wide, across a border

    def fingerprint(self, config: SpansConfig, how: TrainConfig) -> str:
        """What makes this run this run: its settings and every window that it learns from."""
        digest = blake2b(repr((config, how, self.extractor.settings.labels)).encode(), digest_size=16)
        for ids, cells in self.windows:
            for column in (ids, cells.label, cells.first, cells.last):
                digest.update(column.tobytes())
        return digest.hexdigest()

    def batch(self, examples: Sequence[int]) -> tuple[Batch, Cells]:
        """Windows side by side, and their gold cells in token positions."""
        chosen = [self.windows[i] for i in examples]
        shift = len(self.extractor.tokenizer.prefix)
        rows = [
            (row, int(label), int(first) + shift, int(last) + shift)
            for row, (_, cells) in enumerate(chosen)
            for label, first, last in zip(cells.label, cells.first, cells.last, strict=True)
        ]
        return collate([ids for ids, _ in chosen], self.extractor.tokenizer), Cells.of(rows)

    def evaluate(self) -> dict[str, float]:
        """Strict micro and macro figures on dev, by the very path that predicts."""
        if not self.dev:
            return {}
        return figures(spans.score(align(self.extractor.annotate(self.dev), self.dev).pairs))


def _familiar(extractor: Extractor, longest: int) -> int:
    """Tokens of a window that is little longer than any in training.

    A model that learned from single sentences has never been told that a span of 200 tokens is none: on longer
    windows it invents such spans. So it reads them in windows of a size that it knows.
    """
    return min(extractor.settings.max_length, max(SHORT, round(longest * 1.25)) + extractor.tokenizer.frame_size)


def _no_wider(cells: Targets, width: int) -> Targets:
    here = cells.last - cells.first < width
    return Targets(cells.label[here], cells.first[here], cells.last[here], cells.unalignable, cells.unknown)


def figures(found: Scores) -> dict[str, float]:
    """Strict spans, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    return {"f1": strict.f1, "precision": strict.precision, "recall": strict.recall,
            "macro_f1": macro(found.labels.values())["f1"]}  # fmt: skip


def build(config: SpansConfig, labels: Sequence[str], seed: int) -> Extractor:
    """An extractor with a fresh head on a pretrained encoder."""
    torch.manual_seed(seed)
    source = resolve(config.encoder)
    encoder = Encoder.load(source)
    tokenizer = Tokenizer.load(source)
    head_type, config_type = pick(HEADS, config.head, kind="head"), pick(CONFIGS, config.head, kind="head")
    choices = {"labels": tuple(labels), "head_size": config.head_size, "rope": config.rope, "bias": config.bias,
               "scheme": config.scheme, "max_span": config.max_span}  # fmt: skip
    known = {field.name for field in fields(config_type)}
    head_config = {key: value for key, value in choices.items() if key in known}
    limit = encoder.max_length or 512
    settings = Settings(
        task="spans",
        labels=tuple(labels),
        head=config.head.replace("-", "_"),
        head_config=head_config,
        encoder=config.encoder,
        language=config.language,
        max_length=min(config.max_length or 512, limit),
        overlap=config.overlap,
        context=config.context,
        name=config.name,
        finds=config.finds,
    )
    head = head_type(config_type(**head_config), encoder.width)
    return Extractor(settings, Model(encoder, head, config.dropout), tokenizer)


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
    labels = sorted({m.type for doc in training for m in doc.mentions})
    if not labels:
        raise BadInput("The training documents have no mention, so there is no label to learn. Check them with doctor.")
    if (folder / "factpin.json").exists() and not resume:
        raise BadInput(f"{folder} holds a model already. Name another folder, or go on with it (--resume).")
    world = world or join_world()
    extractor = build(config, labels, how.seed)
    job = SpanJob(extractor, training, dev)
    if how.metric not in METRICS:
        raise BadInput(f"There is no metric {how.metric!r}. Known: {', '.join(METRICS)}.")
    align(dev, dev)  # ids that stand twice are refused now, not after an epoch
    fingerprint = job.fingerprint(config, how)
    check_folder(folder, fingerprint, resume=resume)
    if config.max_length is None and job.lengths:
        extractor.settings = replace(extractor.settings, max_length=_familiar(extractor, max(job.lengths)))
    if world.leads:
        folder.mkdir(parents=True, exist_ok=True)
        write_recipe(folder / "recipe.toml", {"task": {"name": "spans", **(data or {})}, "spans": to_dict(config),
                                              "train": to_dict(how)})  # fmt: skip
    outcome = train(job, how, folder, world, fingerprint=fingerprint, resume=resume, quiet=quiet)
    report: dict[str, Any] = {"steps": outcome.steps, "best_step": outcome.best_step, "labels": labels,
                              "train": len(training), "dev": len(dev), "noted": dict(job.noted)}  # fmt: skip
    if world.leads:
        report["scores"] = finish(extractor, dev, folder, config, data or {})
    world.close()
    return report


def finish(
    extractor: Extractor, dev: Sequence[Document], folder: Path, config: SpansConfig, data: dict[str, Any]
) -> dict[str, float]:
    """Fit temperature and thresholds on dev, score, and write the folder."""
    scores: dict[str, float] = {}
    reliability = None
    if dev:
        found = candidates(extractor, dev)
        if config.tune_thresholds:
            default = float(extractor.model.head.default_threshold)
            thresholds = fit_thresholds(found, extractor.settings.labels, default)
            extractor.settings = replace(extractor.settings, thresholds=thresholds)
        cut = torch.as_tensor(extractor.threshold()).expand(len(extractor.settings.labels))
        scale = fit_scale(found, cut.double().numpy())
        extractor.settings = replace(extractor.settings, temperature=scale.temperature, shift=scale.shift)
        judged = spans.score(align(extractor.annotate(dev), dev).pairs)
        reliability = calibration(judged.outcomes)
        scores = {**figures(judged), "ece": reliability.ece}
    extractor.save(folder)
    origin = Origin(
        data=f"train {data.get('train', 'in memory')}, dev {data.get('dev') or 'none'}",
        command="factpin " + shlex.join(sys.argv[1:]) if sys.argv[1:2] == ["train"] else "",
        hardware=f"{platform.machine()}, {torch.get_num_threads()} threads"
        if not torch.cuda.is_available() else torch.cuda.get_device_name(),
    )  # fmt: skip
    write_card(folder, extractor.settings, origin, scores, reliability)
    with write_bytes(folder / "metrics.json") as stream:
        table = [asdict(b) for b in reliability.table] if reliability else []
        stream.write(orjson.dumps({**scores, "reliability": table}, option=orjson.OPT_INDENT_2))
    return scores

"""The task `spans`: mentions of entities, nested or not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import accumulate, zip_longest
from typing import Literal

from factpin.documents import Document
from factpin.errors import BadInput, pick
from factpin.scoring import Scores, macro, spans
from factpin.scoring.counts import total
from factpin.tasks.options import check_sizes
from factpin.tasks.settings import Settings
from factpin.tasks.spans.finder import SpanFinder, SpanSettings
from factpin.tasks.spans.tune import tune
from factpin.tasks.task import Design, Task

HEAD_OPTIONS = {  # the training options that each head takes
    "efficient_global_pointer": ("head_size", "rope", "max_span", "bias"),
    "global_pointer": ("head_size", "rope", "max_span"),
    "crf": ("scheme",),
}

NESTED = 0.005  # of the mentions, from which overlaps are no mistakes: CLUENER has 0.01 %, SciERC 2 %, GENIA 18 %


@dataclass(frozen=True)
class SpanOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    initial: str = ""  # model to start from instead; its head is kept where the labels agree
    head: str = ""  # crf, efficient_global_pointer (egp) or global_pointer (gp); default: what suits the corpus
    head_size: int = 64  # width of the head's vectors
    rope: bool = True  # rotary positions in the pointer heads
    bias: Literal["qk", "hidden"] = "qk"  # form of the bias
    scheme: Literal["bio", "bioes"] = "bioes"  # tags of the crf head
    overlaps: Literal["auto", "keep", "drop"] = "auto"  # overlapping mentions; drop: keep the likeliest
    max_span: int | None = None  # tokens of the widest mention; default: any
    max_length: int | None = None  # tokens of a window; default: a little more than the longest in training
    overlap: int = 64  # tokens that neighbouring windows share
    context: Literal["sentence", "window"] = "sentence"  # read one sentence at a time, or as much as fits
    dropout: float = 0.1  # dropout of the token vectors before the head
    tune_thresholds: bool = False  # fit a threshold for each label on dev
    knowledge: str = ""  # what is known about the names of a store enters the encoder: kar or entities
    db: str = ""  # store for knowledge
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = ""  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_sizes(self.head_size, self.max_span, self.dropout)


def design(options: SpanOptions, training: Sequence[Document], known: Mapping[str, Settings]) -> Design:
    """A head for the labels of these documents."""
    labels = tuple(sorted({m.type for doc in training for m in doc.mentions}))
    if not labels:
        raise BadInput("The training documents have no mention, so there is no label to learn. Check them with doctor.")
    nested = overlapping_share(training) >= NESTED
    overlaps = nested if options.overlaps == "auto" else options.overlaps == "keep"
    return design_head(
        options, labels, flat=not (nested or overlaps), overlaps=overlaps, initial=known.get(options.initial)
    )


def design_head(
    options: SpanOptions,
    labels: tuple[str, ...],
    *,
    flat: bool = False,
    overlaps: bool = True,
    initial: Settings | None = None,
) -> Design:
    """A head for these labels.

    flat: no mentions overlap in training; overlaps: they may in what is found; initial: the model that it starts from.
    """
    asked = changed(options)
    usual = "crf" if flat and asked <= set(HEAD_OPTIONS["crf"]) else "efficient_global_pointer"
    if initial is not None and initial.head in HEAD_OPTIONS:
        usual = initial.head
    head = options.head.replace("-", "_") or usual
    chosen = pick(HEAD_OPTIONS, head, kind="head")
    why = "" if options.head else " (which follows from the corpus and the other settings)"
    for name in sorted(asked.difference(chosen)):
        takers = " or ".join(other for other, names in HEAD_OPTIONS.items() if name in names)
        raise BadInput(f"The head {head}{why} has no setting {name!r}. Leave it out, or choose the head {takers}.")
    config = {"labels": labels} | {name: getattr(options, name) for name in chosen}
    return Design(labels, head, config, asdict(SpanSettings(overlaps)))


def changed(options: SpanOptions) -> set[str]:
    """The settings of heads that are not as they are by default."""
    names = {name for names in HEAD_OPTIONS.values() for name in names}
    return {
        field.name for field in fields(options) if field.name in names and getattr(options, field.name) != field.default
    }


def overlapping_share(documents: Iterable[Document]) -> float:
    """The share of mentions that share a character with another one."""
    every = overlapping = 0
    for doc in documents:
        ordered = sorted({(m.start, m.end, m.type) for m in doc.mentions})
        ends = list(accumulate((end for _, end, _ in ordered), max, initial=0))  # of all mentions before
        starts = [start for start, _, _ in ordered[1:]]
        every += len(ordered)
        overlapping += sum(
            start < before or (after is not None and after < end)
            for (start, end, _), before, after in zip_longest(ordered, ends[:-1], starts)
        )
    return overlapping / max(1, every)


def figures(found: Scores) -> dict[str, float]:
    """Strict spans, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    return {
        "f1": strict.f1,
        "precision": strict.precision,
        "recall": strict.recall,
        "macro_f1": macro(found.labels.values())["f1"],
    }


SPANS = Task(
    name="spans",
    alias="ner",
    heads=tuple(HEAD_OPTIONS),
    finds="mentions",
    labels="types",
    strict="Strict spans (start, end and label)",
    conventions={
        "strict": "same start, end and label",
        "boundary": "same start and end, any label",
        "partial": "as boundary; an overlap is half right",
        "type": "an overlap with the same label",
    },
    metrics=("f1", "precision", "recall", "macro_f1"),
    options=SpanOptions,
    design=design,
    prepare=SpanFinder.prepare,
    tune=tune,
    score=spans.score,
    figures=figures,
)

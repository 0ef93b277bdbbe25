"""The settings of each task that can be trained. The comments are the help of `factpin train`. No torch."""

from dataclasses import dataclass
from typing import Any, Literal

from factpin.errors import BadInput


def check_sizes(head_size: int, max_span: int | None, dropout: float) -> None:
    """Refuse sizes that no pointer head can have."""
    if head_size < 2 or head_size % 2:
        raise BadInput(f"head_size is {head_size}; expected an even number, 2 or more: rotary positions turn pairs.")
    if max_span is not None and max_span < 1:
        raise BadInput(f"max_span is {max_span}; expected at least 1.")
    check_dropout(dropout)


def check_dropout(dropout: float) -> None:
    """Refuse a dropout that is not a share."""
    if not 0 <= dropout < 1:
        raise BadInput(f"dropout is {dropout}; expected 0 or more and less than 1.")


@dataclass(frozen=True)
class SpanOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    initial: str = ""  # model to start from instead; its head is kept where the labels agree
    head: str = "efficient_global_pointer"  # kind of head: efficient_global_pointer (egp), global_pointer (gp) or crf
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
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = ""  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_sizes(self.head_size, self.max_span, self.dropout)


@dataclass(frozen=True)
class TripleOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    initial: str = ""  # model to start from instead; its head is kept where the labels agree
    head: str = "gplinker"  # kind of head; there is one so far
    head_size: int = 64  # width of the head's vectors
    rope: bool = False  # rotary positions in the scorers of relations; spans always have them
    bias: Literal["qk", "hidden"] = "qk"  # form of the bias
    typed: bool = True  # learn the entity types, where the corpus has them
    occurrences: Literal["first", "nearest", "all"] = "nearest"  # which mentions a fact without offsets refers to
    schema: str = ""  # TOML file with relations and types; default: learned from the training corpus
    types: bool = True  # leave out facts whose argument types the schema does not allow
    functional: bool = False  # keep only the best tail of a functional relation
    complete: bool = False  # add what follows from symmetric and inverse relations
    mentions: Literal["linked", "all"] = "linked"  # all: learn and show mentions without a fact too
    max_span: int | None = None  # tokens of the widest mention; default: any
    max_length: int | None = None  # tokens of a window; default: a little more than the longest in training
    overlap: int = 64  # tokens that neighbouring windows share
    context: Literal["sentence", "window"] = "sentence"  # read one sentence at a time, or as much as fits
    dropout: float = 0.1  # dropout of the token vectors before the head
    tune_thresholds: bool = False  # fit a threshold for each label on dev
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = ""  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_sizes(self.head_size, self.max_span, self.dropout)


@dataclass(frozen=True)
class EventOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    initial: str = ""  # model to start from instead; its head is kept where the labels agree
    head: str = "event_linker"  # kind of head; there is one so far
    head_size: int = 64  # width of the head's vectors
    rope: bool = False  # rotary positions in the links; spans always have them
    bias: Literal["qk", "hidden"] = "qk"  # form of the bias
    triggers: bool = True  # learn and find triggers, where the corpus has them
    max_span: int | None = None  # tokens of the widest mention; default: any
    max_length: int | None = None  # tokens of a window; default: a little more than the longest in training
    overlap: int = 64  # tokens that neighbouring windows share
    context: Literal["sentence", "window"] = "sentence"  # read one sentence at a time, or as much as fits
    dropout: float = 0.1  # dropout of the token vectors before the head
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = ""  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_sizes(self.head_size, self.max_span, self.dropout)


@dataclass(frozen=True)
class RelationOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    initial: str = ""  # model to start from instead; its head is kept where the labels agree
    head: str = "atlop"  # kind of head; there is one so far
    size: int = 768  # width of a pair's two views
    group: int = 64  # width of a group of the bilinear form; divides size
    localized: bool = True  # localized context pooling
    context_start: float = 1.0  # factor on the initial weights for context; 0: the head starts without it
    threshold: Literal["adaptive", "global"] = "adaptive"  # one for each pair, or one for all, fitted on dev
    top_k: int = 4  # most relations of a pair
    evidence: float = 0.0  # weight of the evidence loss; needs annotated evidence
    negatives: float = 1.0  # share of the pairs without a relation that each step learns from
    teacher: str = ""  # trained model whose soft labels are learned too
    teacher_weight: float = 0.5  # weight of the teacher's soft labels; facts and evidence get the rest
    teacher_temperature: float = 1.0  # temperature of the teacher's soft labels; higher: its doubts count more
    schema: str = ""  # TOML file with relations and types; default: learned from the training corpus
    types: bool = True  # skip pairs whose types no relation allows
    functional: bool = False  # keep only the best tail of a functional relation
    complete: bool = False  # add what follows from symmetric and inverse relations
    max_length: int | None = 512  # tokens of a window
    overlap: int = 128  # tokens that neighbouring windows share
    context: Literal["window"] = "window"  # documents are read whole
    dropout: float = 0.1  # dropout of the token vectors before the head
    tune_thresholds: bool = False  # fit a threshold for each label on dev
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = ""  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_dropout(self.dropout)
        for name in ("negatives", "teacher_weight"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(f"{name} is {getattr(self, name)}; expected a share, 0 to 1.")
        if not self.teacher_temperature > 0:
            raise BadInput(f"teacher_temperature is {self.teacher_temperature}; expected more than 0.")


@dataclass(frozen=True)
class CoreferenceOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    initial: str = ""  # model to start from instead; its head is kept where the labels agree
    head: str = "mention_pair"  # kind of head; there is one so far
    size: int = 128  # width of a mention's vector
    antecedents: int = 50  # earlier mentions that each mention is compared with
    max_length: int | None = 512  # tokens of a window
    overlap: int = 128  # tokens that neighbouring windows share
    context: Literal["window"] = "window"  # documents are read whole
    dropout: float = 0.1  # dropout of the token vectors before the head
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = ""  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_dropout(self.dropout)


OPTIONS: dict[str, type[Any]] = {
    "coreference": CoreferenceOptions,
    "document_relations": RelationOptions,
    "events": EventOptions,
    "spans": SpanOptions,
    "triples": TripleOptions,
}

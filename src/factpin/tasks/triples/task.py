"""The task `triples`: facts between two mentions of a sentence or window."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from factpin.documents import Document, learn_schema, read_schema
from factpin.documents.schema import record_of
from factpin.errors import BadInput, pick
from factpin.scoring import Scores, macro, triples
from factpin.scoring.counts import total
from factpin.tasks.links import labels_of
from factpin.tasks.options import check_sizes
from factpin.tasks.settings import Settings
from factpin.tasks.task import Design, Task
from factpin.tasks.triples.finder import TripleFinder, TripleSettings
from factpin.tasks.triples.tune import tune

BESIDE = ("typed", "text", "last_word")  # conventions that training reports beside `strict`


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
    knowledge: str = ""  # what is known about the names of a store enters the encoder: kar or entities
    db: str = ""  # store for knowledge
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = ""  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_sizes(self.head_size, self.max_span, self.dropout)


def design(options: TripleOptions, training: Sequence[Document], known: Mapping[str, Settings]) -> Design:
    """A head for the relations and types of these documents."""
    pick({"gplinker": None}, options.head, kind="head for triples")
    labels = labels_of(training, typed=options.typed, mentions=options.mentions)
    if not labels.relations:
        raise BadInput("The training documents have no fact, so there is no relation to learn. Check them with doctor.")
    schema = read_schema(Path(options.schema)) if options.schema else learn_schema(training)
    own = TripleSettings(
        labels.slots, record_of(schema), options.types, options.functional, (), options.complete, options.mentions
    )
    config = {
        "relations": labels.names,
        "subjects": labels.subjects,
        "objects": labels.objects,
        "head_size": options.head_size,
        "rope": options.rope,
        "max_span": options.max_span,
        "bias": options.bias,
    }
    return Design(labels.names, "gplinker", config, asdict(own))


def figures(found: Scores) -> dict[str, float]:
    """Facts, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    return {
        "f1": strict.f1,
        "precision": strict.precision,
        "recall": strict.recall,
        "macro_f1": macro(found.labels.values())["f1"],
    } | {f"{name}_f1": total(found.rows[name]).f1 for name in BESIDE}


TRIPLES = Task(
    name="triples",
    alias="re",
    heads=("gplinker",),
    finds="facts",
    labels="relations",
    strict="Strict facts (span of the head, relation, span of the tail)",
    conventions={
        "strict": "same head span, relation and tail span",
        "typed": "as strict, and both arguments have the right type",
        "text": "same head text, relation and tail text, anywhere in the document",
        "last_word": "as text, by the last word of both arguments (NYT*, WebNLG*)",
        "complex": "as text, with all qualifiers; facts that have any",
    },
    metrics=("f1", "precision", "recall", "macro_f1", *(f"{name}_f1" for name in BESIDE)),
    options=TripleOptions,
    design=design,
    prepare=TripleFinder.prepare,
    tune=tune,
    score=triples.score,
    figures=figures,
)

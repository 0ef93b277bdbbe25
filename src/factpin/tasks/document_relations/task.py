"""The task `document_relations`: facts between the entities of a whole document, with evidence.

    initial    a trained model whose weights are where this one starts
    teacher    a trained model whose soft labels join the loss, (1 - teacher_weight) * loss + teacher_weight * soft

Documents without annotated facts, or with facts that are guessed from a knowledge base, are learned from in two runs:
a teacher's soft labels of them (teacher_weight = 1 where nothing is annotated), then the annotated documents, with
`initial` the first run. Relations and schema of a run with one of these are theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from factpin.documents import Document, learn_schema, read_schema
from factpin.documents.schema import record_of
from factpin.errors import BadInput, pick
from factpin.scoring import Scores, document_relations, macro
from factpin.scoring.counts import total
from factpin.tasks.document_relations.finder import RelationFinder, RelationSettings
from factpin.tasks.document_relations.tune import settle, tune
from factpin.tasks.options import check_dropout
from factpin.tasks.settings import Settings
from factpin.tasks.task import Design, Task

BESIDE = ("filtered", "intra", "inter", "evidence")  # conventions that training reports beside `strict`


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
    knowledge: str = ""  # what is known about the names of a store enters the encoder: kar or entities
    db: str = ""  # store for knowledge
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


def design(options: RelationOptions, training: Sequence[Document], known: Mapping[str, Settings]) -> Design:
    """A head for the relations of these documents, or for those of the models that the run learns from."""
    pick({"atlop": None}, options.head, kind="head for document_relations")
    model = _model(options, known)
    found = sorted({fact.relation for doc in training for fact in doc.facts})
    relations = (*model.labels, *(name for name in found if name not in model.labels)) if model else tuple(found)
    if not relations:
        raise BadInput("The training documents have no fact, so there is no relation to learn. Check them with doctor.")
    own = RelationSettings(_schema(options, model, training), options.types, options.functional, options.complete)
    config = {
        "relations": relations,
        "size": options.size,
        "group": options.group,
        "context": options.localized,
        "context_start": options.context_start,
        "threshold": options.threshold,
        "top_k": options.top_k,
        "evidence": options.evidence,
    }
    return Design(relations, "atlop", config, asdict(own))


def _model(options: RelationOptions, known: Mapping[str, Settings]) -> Settings | None:
    """The settings of a model that this run learns from: its relations are those of the run."""
    if options.teacher and (task := known[options.teacher].task) != "document_relations":
        raise BadInput(f"{options.teacher}: expected a teacher of document_relations, this is a model of {task}.")
    same = [settings for settings in known.values() if settings.task == "document_relations"]
    if len({settings.labels for settings in same}) > 1:
        raise BadInput(
            f"{options.initial} and {options.teacher} have different relations. Teach with a model that has the same."
        )
    return same[0] if same else None


def _schema(options: RelationOptions, model: Settings | None, training: Sequence[Document]) -> dict[str, Any]:
    """A schema as in a TOML file: the one that is named, or that of a known model, or learned."""
    if options.schema:
        return record_of(read_schema(Path(options.schema)))
    return dict(model.task_config.get("schema", {})) if model else record_of(learn_schema(training))


def figures(found: Scores) -> dict[str, float]:
    """Facts between gold entities, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    return {
        "f1": strict.f1,
        "precision": strict.precision,
        "recall": strict.recall,
        "macro_f1": macro(found.labels.values())["f1"],
    } | {f"{name}_f1": total(found.rows[name]).f1 for name in BESIDE}


DOCUMENT_RELATIONS = Task(
    name="document_relations",
    alias="docre",
    heads=("atlop",),
    finds="facts",
    asks="entities",
    labels="relations",
    strict="Facts (head, relation, tail) between the gold entities of a document",
    conventions={
        "strict": "same head, relation and tail; entities by all their mentions (DocRED F1)",
        "ign": "as strict; facts of the training set do not count in precision (Ign F1)",
        "filtered": "as strict, without pairs that gold excludes (CDR: wider terms)",
        "intra": "as strict, pairs that share a sentence",
        "inter": "as strict, pairs that share none",
        "evidence": "the right sentences under a right fact",
        "all_mentions": "end to end: an entity is right with all its mentions",
        "all_mentions_typed": "end to end: all mentions and the type",
        "first_mention": "end to end: an entity is right with its first mention",
        "first_mention_typed": "end to end: first mention and the type",
    },
    metrics=("f1", "precision", "recall", "macro_f1", *(f"{name}_f1" for name in BESIDE)),
    options=RelationOptions,
    design=design,
    prepare=RelationFinder.prepare,
    tune=tune,
    settle=settle,
    score=document_relations.score,
    figures=figures,
)

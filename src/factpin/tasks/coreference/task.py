"""The task `coreference`: which mentions of a document name the same entity.

Mentions that a corpus puts into no entity are learned and scored as entities of one mention.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from factpin.documents import Document
from factpin.errors import BadInput, pick
from factpin.scoring import coreference
from factpin.tasks.coreference.finder import CoreferenceFinder
from factpin.tasks.coreference.score import figures, score, score_beside_rules
from factpin.tasks.coreference.tune import tune
from factpin.tasks.options import check_dropout
from factpin.tasks.settings import Settings
from factpin.tasks.task import Design, Task

LABEL = "same entity"  # the only relation of two mentions


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


def design(options: CoreferenceOptions, training: Sequence[Document], known: Mapping[str, Settings]) -> Design:
    """A head for pairs of mentions."""
    pick({"mention_pair": None}, options.head, kind="head for coreference")
    if not any(len(entity.mentions) > 1 for doc in training for entity in doc.entities):
        raise BadInput(
            "No entity of the training documents has two mentions, so there is nothing to gather. Check them with "
            "doctor."
        )
    config = {"size": options.size, "antecedents": options.antecedents, "dropout": options.dropout}
    return Design((LABEL,), "mention_pair", config)


COREFERENCE = Task(
    name="coreference",
    alias="coref",
    heads=("mention_pair",),
    finds="entities",
    asks="mentions",
    strict="Entities of the gold mentions (F1 of MUC, B-cubed and CEAF-e; f1 is their mean)",
    conventions={
        "strict": "an entity with exactly its mentions",
        "linked": "as strict, entities of several mentions",
    },
    metrics=("f1", *coreference.METRICS),
    options=CoreferenceOptions,
    design=design,
    prepare=CoreferenceFinder.prepare,
    tune=tune,
    score=score,
    score_training=score_beside_rules,
    figures=figures,
)

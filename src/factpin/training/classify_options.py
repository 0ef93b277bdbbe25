"""The settings of `factpin train classify`. The comments are its help. No torch."""

from dataclasses import dataclass
from typing import Literal

from factpin.answers.cogltx import CAPACITY, SIZE
from factpin.errors import BadInput
from factpin.tasks.options import check_dropout
from factpin.training.judge_options import parse_keep

CLASSIFY = "classify"  # it learns the classes of long texts, or the labels of their pieces


@dataclass(frozen=True)
class ClassifyOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    unit: Literal["text", "pieces"] = "text"  # what has a label: a text (`label` in its meta), or pieces (its mentions)
    long: Literal["memrecall", "head", "ends", "windows"] = "memrecall"  # how texts that do not fit are read
    max_length: int = CAPACITY  # tokens that are read at once
    block_size: int = SIZE  # pieces of the longest block
    keep: str = "3"  # blocks that stay after each step of MemRecall but the last, such as 3 or 3,5; none: a single step
    first_labels: Literal["bm25", "none"] = "bm25"  # blocks taken for relevant at first: best by BM25, or none
    interventions: int = 200  # texts an epoch on which is tried what the loss is without each block; 0: none
    dropout: float = 0.1  # dropout of the token vectors before the heads
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = "classes of long texts"  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_dropout(self.dropout)
        parse_keep(self.keep)
        if self.interventions < 0:
            raise BadInput(f"interventions is {self.interventions}; expected 0 or more texts an epoch.")
        if self.max_length < 2 * (self.block_size + 1):
            raise BadInput(
                f"max_length is {self.max_length} with blocks of {self.block_size}; expected room for two blocks."
            )

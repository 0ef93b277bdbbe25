"""The settings of `factpin train reader`. The comments are its help. No torch."""

from dataclasses import dataclass
from typing import Literal

from factpin.errors import BadInput
from factpin.tasks.options import check_sizes

READER = "reader"  # it learns from questions; the tasks learn from documents


@dataclass(frozen=True)
class ReaderOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    initial: str = ""  # model to start from instead; the head of a reader is kept
    head: str = "answer_pointer"  # kind of head: answer_pointer or efficient_global_pointer (egp)
    head_size: int = 64  # width of the head's vectors
    rope: bool = True  # rotary positions in the pointer heads
    bias: Literal["qk", "hidden"] = "qk"  # form of the bias
    none_weight: float = 1.0  # weight of windows without an answer, for answer_pointer
    max_span: int | None = 64  # tokens of the longest answer
    max_length: int = 384  # tokens of a question with a window of a passage
    overlap: int = 96  # tokens that neighbouring windows share
    empty_windows: int = 1  # windows without an answer to learn from, for each question, from its own passages
    strangers: int = 0  # passages of other questions to learn from, for each question; scores are fitted on them too
    long: Literal["windows", "memrecall"] = "windows"  # how long contexts are read: in windows, or what --judge keeps
    judge: str = ""  # folder of a judge (`factpin train judge`), for --long memrecall
    dropout: float = 0.1  # dropout of the token vectors before the head
    precision: float = 0.8  # share of right answers on dev among those that are not withheld
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = "answers to questions in passages"  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_sizes(self.head_size, self.max_span, self.dropout)
        for name in ("empty_windows", "strangers"):
            if getattr(self, name) < 0:
                raise BadInput(f"{name} is {getattr(self, name)}; expected 0 or more.")
        if (self.long == "memrecall") != bool(self.judge):
            raise BadInput("long = memrecall and judge belong together: name the folder of a judge, or leave both out.")
        if not 0 < self.precision <= 1:
            raise BadInput(f"precision is {self.precision}; expected more than 0 and at most 1.")

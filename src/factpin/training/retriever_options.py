"""The settings of `factpin train retriever`. The comments are its help. No torch."""

from dataclasses import dataclass
from typing import Literal

from factpin.errors import BadInput

RETRIEVER = "retriever"  # it learns from documents which passages help


@dataclass(frozen=True)
class RetrieverOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    objective: Literal["ict", "realm"] = "ict"  # find the passage of a sentence, or what helps to fill in a name
    passage_size: int = 64  # longest passage, in Chinese characters or groups of four others
    removed: float = 0.9  # ict: share of the sentences that are taken out of their passage
    reader: str = ""  # realm: encoder that fills the blanks in; default: a copy of the one to start from
    lesson: int = 0  # realm: steps before all epochs: only the reader learns, beside passages that state the name
    k: int = 4  # realm: passages that a blank is filled from, the null document among them
    null: bool = True  # realm: an empty passage, for blanks that need none
    refresh: int = 100  # realm: steps after which all passages are embedded anew; 0: never
    frozen: bool = False  # realm: only the reader learns
    marginal: Literal["token", "sequence"] = "token"  # realm: a passage for each piece of a blank, or for all of it
    max_length: int = 128  # tokens of a sentence with a passage
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = "passages for questions"  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        if not 0 <= self.removed <= 1:
            raise BadInput(f"removed is {self.removed}; expected a share from 0 to 1.")
        if self.k < 2:
            raise BadInput(f"k is {self.k}; expected 2 or more passages to choose from.")
        for name in ("refresh", "lesson"):
            if getattr(self, name) < 0:
                raise BadInput(f"{name} is {getattr(self, name)}; expected 0 or more steps.")

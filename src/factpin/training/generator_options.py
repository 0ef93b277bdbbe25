"""The settings of `factpin train generator`. The comments are its help. No torch."""

from dataclasses import dataclass
from typing import Literal

from factpin.errors import BadInput

GENERATOR = "generator"  # it learns to write answers from retrieved passages


@dataclass(frozen=True)
class GeneratorOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder of questions to start from: a name, a folder, or a hub id; passages keep its vectors
    generator: str = ""  # folder of the encoder-decoder that writes: T5, BART, or one of `factpin pretrain`
    k: int = 5  # passages that an answer is written from; 0: none
    marginal: Literal["sequence", "token"] = "sequence"  # one passage explains an answer, or each of its pieces
    decode: Literal["token", "thorough", "fast"] = "thorough"  # how an answer is searched
    beams: int = 3  # beams of the search
    max_length: int = 192  # tokens of a passage with its question
    longest: int = 16  # pieces of the longest answer, with its end; questions with longer ones are left out
    precision: float = 0.8  # share of right answers on dev that sets the least score
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = "answers that are written from passages"  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        for name in ("beams", "longest"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}; expected 1 or more.")
        if self.k < 0:
            raise BadInput(f"k is {self.k}; expected 0 or more passages.")
        if not 0 < self.precision <= 1:
            raise BadInput(f"precision is {self.precision}; expected a share above 0.")

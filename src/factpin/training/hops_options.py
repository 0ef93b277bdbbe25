"""The settings of `factpin train hops`. The comments are its help. No torch."""

from dataclasses import dataclass

from factpin.errors import BadInput
from factpin.tasks.options import check_dropout

HOPS = "hops"  # it learns from questions that need several documents


@dataclass(frozen=True)
class HopOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    max_length: int = 256  # tokens of a question with its clues and a window of a passage
    overlap: int = 32  # tokens that neighbouring windows share
    negatives: int = 2  # passages that do not help, and answers that are wrong, for each question
    new_nodes: int = 5  # passages that are added to those that were retrieved
    final_weight: float = 0.2  # of the loss of System 2, beside that of the spans
    precision: float = 0.8  # share of right answers on dev that sets the least score
    dropout: float = 0.1  # dropout of the token vectors before the head
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = "answers that need several documents"  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_dropout(self.dropout)
        if self.negatives < 0 or self.new_nodes < 0:
            raise BadInput(f"negatives is {self.negatives} and new_nodes is {self.new_nodes}; expected 0 or more.")
        if not 0 < self.precision <= 1:
            raise BadInput(f"precision is {self.precision}; expected a share above 0.")

"""The settings of `factpin train judge`. The comments are its help. No torch."""

from dataclasses import dataclass

from factpin.answers.cogltx import CAPACITY, SIZE
from factpin.errors import BadInput
from factpin.tasks.options import check_dropout

JUDGE = "judge"  # it learns from questions which blocks of long texts matter


@dataclass(frozen=True)
class JudgeOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    max_length: int = CAPACITY  # tokens that are read at once: a query with all blocks of a window
    block_size: int = SIZE  # pieces of the longest block
    keep: str = "3"  # blocks that stay after each step but the last, such as 3 or 3,5; none: a single step
    dropout: float = 0.1  # dropout of the token vectors before the head
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = "blocks of long texts that matter for a question"  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_dropout(self.dropout)
        parse_keep(self.keep)
        if self.max_length < 2 * (self.block_size + 1):
            raise BadInput(
                f"max_length is {self.max_length} with blocks of {self.block_size}; expected room for two blocks."
            )


def parse_keep(text: str) -> tuple[int, ...]:
    """The numbers of blocks that stay, from 3 or 3,5; none for a single step."""
    parts = [] if text == "none" else text.split(",")
    if not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise BadInput(f"keep is {text!r}; expected numbers of blocks such as 3 or 3,5, or none.")
    return tuple(int(part) for part in parts)

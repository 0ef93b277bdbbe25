"""What `factpin pretrain --objective knowbert|eae|fae|linker --db kb.db` learns. No torch."""

from dataclasses import dataclass
from typing import Literal

from factpin.errors import BadInput

KNOWLEDGE: dict[str, str] = {  # objectives, and what is made
    "eae": "an encoder with a table of entities that is learned",
    "fae": "answers from the store's facts",
    "knowbert": "an encoder with fixed entity vectors behind a linker",
    "linker": "the linker of knowbert alone, for `factpin link`; the encoder stays as it is",
}
FINDS = {
    "eae": "vectors of tokens, with what was learned about the entities of a store",
    "fae": "answers from the facts of a store, with the fact that each comes from",
    "knowbert": "vectors of tokens, with what a store knows about the names in a text",
    "linker": "which entities of a store the names in a text refer to",
}


@dataclass(frozen=True)
class KnowledgeOptions:
    """What is learned from a store. How it is trained is in TrainConfig."""

    objective: str
    encoder: str
    db: str
    size: int = 128  # of vectors of entities
    vectors: Literal["", "contexts", "descriptions", "facts"] = ""  # where entity vectors come from; not of fae
    names: float = 0.2  # knowbert, eae: share of the names that are hidden, as a whole
    pieces: float = 0.15  # knowbert, eae: share of the other pieces that are hidden
    hide: float = 0.15  # fae: share of the facts that a question does not see
    heldout: float = 0.1  # share that is never learned from, and judges: of documents; fae: of the rows of facts
    length: int = 128  # tokens of a text
    name: str = ""
    language: str = ""

    def __post_init__(self) -> None:
        for share in ("names", "pieces", "hide", "heldout"):
            if not 0 <= getattr(self, share) < 1:
                raise BadInput(f"{share} is {getattr(self, share)}; expected a share from 0 on and below 1.")

    @property
    def finds(self) -> str:
        """What it finds, in one line for `factpin models`."""
        return FINDS.get(self.objective, "")

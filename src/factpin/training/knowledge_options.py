"""What `factpin pretrain --objective fae --db kb.db` learns. No torch."""

from dataclasses import dataclass

KNOWLEDGE: dict[str, str] = {"fae": "answers from the store's facts"}  # objectives, and what is made


@dataclass(frozen=True)
class KnowledgeOptions:
    """What is learned from a store. How it is trained is in TrainConfig."""

    objective: str
    encoder: str
    db: str
    size: int = 128  # of vectors of entities
    hide: float = 0.15  # share of the facts that a question does not see
    heldout: float = 0.1  # share of the rows of facts that are never learned from, and judge it
    length: int = 128  # tokens of a text
    name: str = ""
    language: str = ""

"""Reasoners: other ways to answer from passages than to read each of them, by the mode of `ask` that they are for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from factpin.answers.cogqa import CognitiveGraph
from factpin.answers.passages import Retrieval
from factpin.documents import Answer
from factpin.memory import Filter
from factpin.memory.search import Search


@dataclass(frozen=True, slots=True)
class ReasonedAnswers:
    """Answers, most likely first, the score from which they are good enough, and what was read for them."""

    answers: Sequence[Answer]
    least: float
    retrieval: Retrieval
    read: int
    graph: CognitiveGraph | None = None
    refusal: str = ""  # why such a question is not answered in this way


Reasoner = Callable[[str, Search, int, Filter], ReasonedAnswers]  # (question, search, k, filter)
Reasoners = Mapping[str, Reasoner]  # by mode

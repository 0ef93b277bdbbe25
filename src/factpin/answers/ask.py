"""Answer a question from a store: try the facts first, then the passages, and abstain if neither is good enough.

    ask("谷爱凌出生在哪里？", store)

Facts are tried first but not preferred: the score of an answer is a probability, and the highest one wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from factpin.answers.lookup import Lookup, lookup
from factpin.answers.parse import parse_question
from factpin.answers.passages import ReadPassages, Retrieval, offer_unread, read, retrieve
from factpin.answers.say import say
from factpin.documents import Answer
from factpin.documents.likely import LIKELY
from factpin.errors import BadInput
from factpin.memory import Filter, Store
from factpin.memory.search import Search

Mode = Literal["auto", "facts", "extract", "hops"]
ASK_MODES: tuple[Mode, ...] = ("auto", "facts", "extract", "hops")
MOST_ALTERNATIVES = 5


@dataclass(frozen=True, slots=True)
class Trace:
    """An answer, with everything that was considered on the way to it."""

    answer: Answer
    lookup: Lookup | None = None
    retrieval: Retrieval | None = None
    read: int = 0  # how many passages a reader read


def ask(
    question: str,
    store: Store,
    mode: Mode = "auto",
    min_score: float = LIKELY,
    k: int = 8,
    as_of: str | None = None,
    *,
    reader: ReadPassages | None = None,
    search: Search | None = None,
) -> Answer:
    """Answer a question from a store, with citations; abstain if no answer reaches `min_score`.

    reader: reads answers from passages, with calibrated scores. Without one, the passages themselves are offered.
    search: finds passages; by words unless given.
    """
    return trace(question, store, mode, min_score, k, as_of, reader=reader, search=search).answer


def trace(
    question: str,
    store: Store,
    mode: Mode = "auto",
    min_score: float = LIKELY,
    k: int = 8,
    as_of: str | None = None,
    *,
    reader: ReadPassages | None = None,
    search: Search | None = None,
) -> Trace:
    """Like `ask`, with everything that was considered."""
    _check(question, mode, min_score, k)
    filter = Filter(as_of or "")
    by_facts = lookup(question, store, filter) if mode in ("auto", "facts") else None
    answers = [by_facts.answer] if by_facts is not None and by_facts.answer is not None else []
    retrieval, offered = None, []
    if mode != "facts" and not (answers and answers[0].score >= min_score and reader is None):
        retrieval = retrieve(question, search or Search(store), k, filter, hop=mode == "hops")
        if reader is None:
            offered = offer_unread(question, retrieval)
        else:
            answers += read(question, retrieval, reader, "extract")
    notes = list(by_facts.notes) if by_facts is not None else []
    answer = _best(question, answers, offered, min_score, notes, mode)
    if answer.abstained:
        answer = replace(
            answer, notes=(*answer.notes, *_unread_notes(store, filter, parse_question(question).language))
        )
    return Trace(answer, by_facts, retrieval, len(retrieval.passages) if retrieval and reader else 0)


def _check(question: str, mode: str, min_score: float, k: int) -> None:
    if not question.strip():
        raise BadInput("The question is empty; expected some text.")
    if mode not in ASK_MODES:
        raise BadInput(f"There is no mode {mode!r}. Known: {', '.join(ASK_MODES)}.")
    if not 0 <= min_score <= 1:
        raise BadInput(f"min_score is {min_score}; expected a number from 0 to 1.")
    if k < 1:
        raise BadInput(f"k is {k}; expected 1 or more passages.")


def _best(
    question: str, answers: Sequence[Answer], offered: Sequence[Answer], least: float, notes: list[str], mode: str
) -> Answer:
    """The most likely answer, or an abstention with the candidates. Of equal scores, the one tried first wins."""
    ranked = sorted(answers, key=lambda answer: -answer.score)
    first = ranked[0] if ranked else None
    if first is not None and first.score >= least and not first.abstained:
        others = (*first.alternatives, *(replace(a, alternatives=()) for a in ranked[1:] if not a.abstained))
        said = tuple(dict.fromkeys((*notes, *first.notes)))
        return replace(first, alternatives=others[:MOST_ALTERNATIVES], notes=said)
    language = parse_question(question).language
    candidates = [c for a in ranked for c in (replace(a, alternatives=()), *a.alternatives) if not c.abstained]
    if first is not None:
        notes = [*notes, *first.notes]
        if not first.abstained:
            notes.append(say("weak", language, score=f"{first.score:.2f}", least=f"{least:g}"))
    else:
        notes = [*notes, say("unread" if offered else "none", language)]
    return Answer(question, "", first.score if first else 0.0, "facts" if mode == "facts" or first else "extract",
                  abstained=True, alternatives=tuple(candidates or offered)[:MOST_ALTERNATIVES],
                  conflict=any(answer.conflict for answer in ranked), notes=tuple(dict.fromkeys(notes)))  # fmt: skip


def _unread_notes(store: Store, filter: Filter, language: str) -> list[str]:
    """A note if the answer may be in a document that was only partly read."""
    partly = len(store.partly_read(filter))
    return [say("partly", language, count=partly, all=len(store.sources(filter)))] if partly else []

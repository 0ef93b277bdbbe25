"""Ask a store: facts first, then passages and a reader where there is one, and an honest abstention otherwise.

    ask("谷爱凌出生在哪里？", store)

Facts come first in the order of trying, not of believing: an answer's score is a probability, and the best one wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from factpin.answers.asked import understand
from factpin.answers.lookup import Lookup, lookup
from factpin.answers.passages import Found, Reader, find, read, unread
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
class Searched:
    """An answer, and all that was looked at for it."""

    answer: Answer
    lookup: Lookup | None = None
    found: Found | None = None
    read: int = 0  # passages that a reader read


def ask(
    question: str,
    store: Store,
    mode: Mode = "auto",
    min_score: float = LIKELY,
    k: int = 8,
    as_of: str | None = None,
    *,
    reader: Reader | None = None,
    search: Search | None = None,
) -> Answer:
    """The answer of a store to a question, with citations; one that abstains where nothing is sure enough.

    reader: reads answers from passages, with calibrated scores. Without one, passages are offered as they are.
    search: how passages are found; by words where none is given.
    """
    return look(question, store, mode, min_score, k, as_of, reader=reader, search=search).answer


def look(
    question: str,
    store: Store,
    mode: Mode = "auto",
    min_score: float = LIKELY,
    k: int = 8,
    as_of: str | None = None,
    *,
    reader: Reader | None = None,
    search: Search | None = None,
) -> Searched:
    """Like `ask`, with everything that was looked at."""
    _check(question, mode, min_score, k)
    filter = Filter(as_of or "")
    by_facts = lookup(question, store, filter) if mode in ("auto", "facts") else None
    answers = [by_facts.answer] if by_facts is not None and by_facts.answer is not None else []
    found, offered = None, []
    if mode != "facts" and not (answers and answers[0].score >= min_score and reader is None):
        found = find(question, search or Search(store), k, filter, hop=mode == "hops")
        if reader is None:
            offered = unread(question, found)
        else:
            answers += read(question, found, reader, "extract")
    notes = list(by_facts.notes) if by_facts is not None else []
    answer = _best(question, answers, offered, min_score, notes, mode)
    if answer.abstained:
        answer = replace(answer, notes=(*answer.notes, *_unread_notes(store, filter, understand(question).language)))
    return Searched(answer, by_facts, found, len(found.passages) if found and reader else 0)


def _check(question: str, mode: str, min_score: float, k: int) -> None:
    if not question.strip():
        raise BadInput("The question is empty. Ask something.")
    if mode not in ASK_MODES:
        raise BadInput(f"There is no mode {mode!r}. Known: {', '.join(ASK_MODES)}.")
    if not 0 <= min_score <= 1:
        raise BadInput(f"The least score is {min_score}; expected a number from 0 to 1.")
    if k < 1:
        raise BadInput(f"k is {k}; expected at least one passage.")


def _best(
    question: str, answers: Sequence[Answer], offered: Sequence[Answer], least: float, notes: list[str], mode: str
) -> Answer:
    """The likeliest answer, or an abstention that keeps the candidates; equals are decided by the order of trying."""
    ranked = sorted(answers, key=lambda answer: -answer.score)
    first = ranked[0] if ranked else None
    if first is not None and first.score >= least and not first.abstained:
        others = (*first.alternatives, *(replace(a, alternatives=()) for a in ranked[1:] if not a.abstained))
        said = tuple(dict.fromkeys((*notes, *first.notes)))
        return replace(first, alternatives=others[:MOST_ALTERNATIVES], notes=said)
    language = understand(question).language
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
    """What an abstention may owe to documents that were read in part."""
    partly = len(store.partly_read(filter))
    return [say("partly", language, count=partly, all=len(store.sources(filter)))] if partly else []

"""Answer a question from a store: try the facts first, then the passages, and abstain if neither is good enough.

    ask("谷爱凌出生在哪里？", store)

Passages are read only where no fact is likely enough: a fact that explains every word of a question is right more often
than what a small reader finds, and reading costs a hundred times as much.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from factpin.answers.cogqa import CognitiveGraph
from factpin.answers.lookup import WORTH, Lookup, lookup
from factpin.answers.parse import ParsedQuestion, parse_question
from factpin.answers.passages import (
    AnswerSpan,
    PassageReader,
    Retrieval,
    compose,
    follow,
    offer_unread,
    retrieve,
    whole_number,
)
from factpin.answers.reasoners import Reasoners
from factpin.answers.relevant import is_relevant, names_it
from factpin.answers.say import say
from factpin.documents import Answer
from factpin.documents.keys import fold
from factpin.documents.likely import LIKELY
from factpin.errors import BadInput
from factpin.memory import Filter, Store
from factpin.memory.search import Search

Mode = Literal["auto", "facts", "extract", "hops", "generate", "memory"]
ASK_MODES: tuple[Mode, ...] = ("auto", "facts", "extract", "hops", "generate", "memory")
MOST_ALTERNATIVES = 5
FIRM = 0.7  # the score from which on an answer by facts needs no warning (recipes/answers/README.md)


@dataclass(frozen=True, slots=True)
class Trace:
    """An answer, with everything that was considered on the way to it."""

    answer: Answer
    lookup: Lookup | None = None
    retrieval: Retrieval | None = None
    read: int = 0  # how many passages a reader read
    graph: CognitiveGraph | None = None  # of a model of hops


def ask(  # noqa: PLR0913  (each is asked for by name)
    question: str,
    store: Store,
    mode: Mode = "auto",
    min_score: float | None = None,
    k: int = 8,
    as_of: str | None = None,
    *,
    reader: PassageReader | None = None,
    search: Search | None = None,
    reasoners: Reasoners | None = None,
) -> Answer:
    """Answer a question from a store, with citations; abstain if no answer is likely enough.

    min_score: how likely an answer has to be. Unless given, a fact needs a score of 0.5, and what is read from passages
    the score that was fitted for its reader.
    reader: reads answers from passages, with calibrated scores. Without one, the passages themselves are offered.
    search: finds passages; by words unless given.
    reasoners: other ways to answer, by mode: hops along titles unless given, generate and memory only if given.
    """
    return trace(question, store, mode, min_score, k, as_of, reader=reader, search=search, reasoners=reasoners).answer


def trace(  # noqa: PLR0913  (each is asked for by name)
    question: str,
    store: Store,
    mode: Mode = "auto",
    min_score: float | None = None,
    k: int = 8,
    as_of: str | None = None,
    *,
    reader: PassageReader | None = None,
    search: Search | None = None,
    reasoners: Reasoners | None = None,
) -> Trace:
    """Like `ask`, with everything that was considered."""
    _check(question, mode, min_score, k)
    if mode in (reasoners or {}):
        return _reason(question, search or Search(store), mode, min_score, k, Filter(as_of or ""), reasoners or {})
    if mode == "memory":
        raise BadInput(
            "A fact memory needs a model. Name one with --memory FOLDER; `factpin pretrain --objective fae` makes it."
        )
    if mode == "generate":
        raise BadInput("Generating needs a generator. Name one: `factpin train generator` makes it.")
    filter, parsed = Filter(as_of or ""), parse_question(question)
    least = Least(min_score, LIKELY if reader is None else reader.min_score(question))
    by_facts = lookup(question, store, filter) if mode in ("auto", "facts") else None
    answers = [by_facts.answer] if by_facts is not None and by_facts.answer is not None else []
    notes = list(by_facts.notes) if by_facts is not None else []
    ambiguous = any(answer.abstained for answer in answers)  # a reader would not know either who is meant
    if mode == "facts" or ambiguous or any(map(least.reached, answers)):
        return Trace(_conclude(question, answers, [], least, notes, store, filter), by_facts)
    search = search or Search(store)
    with store.tables.reading():  # another process may write meanwhile
        retrieval = retrieve(question, search, k, filter)
    if reader is None:
        retrieval = follow(retrieval, store, k, filter) if mode == "hops" else retrieval
        offered = offer_unread(question, retrieval)
        return Trace(_conclude(question, answers, offered, least, notes, store, filter), by_facts, retrieval)
    readings = _fitting(parsed, reader.read(question, retrieval.passages), by_facts, mode)
    read = compose(question, retrieval, readings)
    if mode == "hops" or (mode == "auto" and not any(map(least.reached, (*answers, *read)))):
        seen = len(retrieval.passages)
        with store.tables.reading():
            retrieval = follow(retrieval, store, k, filter)
        readings += _fitting(parsed, reader.read(question, retrieval.passages[seen:]), by_facts, mode)
        read = compose(question, retrieval, readings)
    offered = [] if readings else _offer(parsed, reader, retrieval, by_facts)
    known = reader.reads(question)
    answer = _conclude(question, [*answers, *read], offered, least, notes, store, filter, read=known)
    return Trace(answer, by_facts, retrieval, len(retrieval.passages))


def _offer(
    question: ParsedQuestion, reader: PassageReader, retrieval: Retrieval, by_facts: Lookup | None
) -> list[Answer]:
    """The passages to show where nothing that was read may be the answer: those that have the names of the question.

    Where no reader knows the language, it is all of them.
    """
    if not reader.reads(question.text):
        return offer_unread(question.text, retrieval)
    near = tuple(passage for passage in retrieval.passages if names_it(question, passage.title, passage.text, by_facts))
    return offer_unread(question.text, replace(retrieval, passages=near))


def _reason(
    question: str, search: Search, mode: Mode, min_score: float | None, k: int, filter: Filter, reasoners: Reasoners
) -> Trace:
    """Answer in the way of a mode."""
    with search.store.tables.reading():  # another process may write meanwhile
        found = reasoners[mode](question, search, k, filter)
    if found.refusal:
        return Trace(Answer(question, "", 0.0, mode, abstained=True, notes=(found.refusal,)), None, found.retrieval)
    least = Least(min_score, found.least)
    answer = _conclude(question, found.answers, [], least, [], search.store, filter)
    return Trace(answer, None, found.retrieval, found.read, found.graph)


@dataclass(frozen=True, slots=True)
class Least:
    """The score that an answer has to reach."""

    given: float | None
    read: float  # for answers that were read from passages

    def of(self, answer: Answer) -> float:
        """The score that this answer has to reach."""
        return self.given if self.given is not None else LIKELY if answer.mode == "facts" else self.read

    def reached(self, answer: Answer) -> bool:
        """Whether an answer is likely enough."""
        return not answer.abstained and answer.score >= self.of(answer)


def _fitting(
    question: ParsedQuestion, readings: Sequence[AnswerSpan], by_facts: Lookup | None, mode: Mode
) -> list[AnswerSpan]:
    """Yes or no for a yes-no question, spans for all others; only what is about the question."""
    fitting = [whole_number(reading) for reading in readings if bool(reading.choice) != bool(question.kind)]
    return [one for one in fitting if is_relevant(question, one, by_facts, followed=mode == "hops")]


def _check(question: str, mode: str, min_score: float | None, k: int) -> None:
    if not question.strip():
        raise BadInput("The question is empty; expected some text.")
    if mode not in ASK_MODES:
        raise BadInput(f"There is no mode {mode!r}. Known: {', '.join(ASK_MODES)}.")
    if min_score is not None and not 0 <= min_score <= 1:
        raise BadInput(f"min_score is {min_score}; expected a number from 0 to 1.")
    if k < 1:
        raise BadInput(f"k is {k}; expected 1 or more passages.")


def _conclude(
    question: str,
    answers: Sequence[Answer],
    offered: Sequence[Answer],
    least: Least,
    notes: list[str],
    store: Store,
    filter: Filter,
    *,
    read: bool = False,
) -> Answer:
    """The most likely answer, or an abstention with the candidates. Of equal scores, the one tried first wins."""
    language = parse_question(question).language
    good = sorted((a for a in answers if least.reached(a)), key=lambda answer: -answer.score)
    if good:
        return _chosen(good[0], answers, notes)
    ranked = sorted(answers, key=lambda answer: -answer.score)
    every = (c for a in ranked for c in (replace(a, alternatives=()), *a.alternatives))
    candidates = _distinct([c for c in every if not c.abstained and c.score >= WORTH])
    first = ranked[0] if ranked else None
    if first is None:
        notes = [*notes, say("none" if not offered else "read" if read else "unread", language)]
    else:
        notes = [*notes, *first.notes]
        if not first.abstained and first.score >= WORTH:
            digits = 2 if round(first.score, 2) < round(least.of(first), 2) else 4  # 0.63 is not below 0.63
            wanted = f"{least.of(first):.{digits}f}"
            source = "given" if least.given is not None else "fact" if first.mode == "facts" else "text"
            which = say(source, language)
            notes.append(say("weak", language, score=f"{first.score:.{digits}f}", least=wanted, from_where=which))
        elif not first.abstained:
            notes.append(say("unlikely", language, worth=WORTH))
    notes += _unread_notes(store, filter, language)
    return Answer(question, "", first.score if first else 0.0, first.mode if first else "extract", abstained=True,
                  alternatives=tuple(candidates or offered)[:MOST_ALTERNATIVES],
                  conflict=any(answer.conflict for answer in ranked), notes=tuple(dict.fromkeys(notes)))  # fmt: skip


def _chosen(answer: Answer, answers: Sequence[Answer], notes: Sequence[str]) -> Answer:
    """An answer with the others as alternatives."""
    ranked = sorted(answers, key=lambda other: -other.score)
    rest = (replace(other, alternatives=()) for other in ranked if other is not answer and not other.abstained)
    others = _distinct([answer, *answer.alternatives, *rest])[1:]
    said = list(dict.fromkeys((*notes, *answer.notes)))
    if answer.mode == "facts" and answer.score < FIRM:
        said.append(say("unsure", parse_question(answer.question).language, score=f"{answer.score:.2f}"))
    return replace(answer, alternatives=tuple(others[:MOST_ALTERNATIVES]), notes=tuple(said))


def _distinct(answers: Sequence[Answer]) -> list[Answer]:
    """Each text once, as the first of its answers: a fact and a reader may say the same."""
    by_text: dict[str, Answer] = {}
    for answer in answers:
        by_text.setdefault(fold(answer.text.strip("《》")), answer)
    return list(by_text.values())


def _unread_notes(store: Store, filter: Filter, language: str) -> list[str]:
    """A note if the answer may be in a document that was only partly read."""
    partly = len(store.partly_read(filter))
    return [say("partly", language, count=partly, all=store.how_many(filter))] if partly else []

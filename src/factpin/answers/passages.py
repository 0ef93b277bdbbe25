"""Retrieve passages for a question, follow the titles they mention, and read answers from them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from factpin.answers.cite import shared
from factpin.documents import Answer, Citation, Hop, Passage, Span
from factpin.documents.answer import cite
from factpin.documents.keys import fold
from factpin.errors import BadInput
from factpin.language.sentences import split_sentences
from factpin.memory import ALL, Filter, Store
from factpin.memory.hops import linked
from factpin.memory.search import Search
from factpin.memory.terms import query_terms, terms

MOST_SHOWN = 3  # alternatives to offer
_LONGEST_NUMBER = 40  # characters
_NUMBER = re.compile(
    r"\d+(?:[.,]\d+)*(?:\s?(?:hundred|thousand|million|billion|trillion)\b|[十百千万萬亿億]+)*"
    r"(?:[米尺元块]\d+(?:厘米|公分|寸|角)?(?!\d*[.,]?\d*[米元])|"
    r"(?:\s?(?:feet|foot|ft)\.?|['′])\s?\d+(?:\s?(?:inch(?:es)?|in)\b|[\"″])?)?"
)


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """An answer that a reader found: characters of the document (not of the passage), and a probability."""

    passage: Passage
    span: Span
    score: float  # a calibrated probability
    choice: str = ""  # yes or no, if that is the answer: then the span is what it was read from
    read: str = ""  # the text that was read, if it is more than that of the passage


class PassageReader(Protocol):
    """Reads answers from passages."""

    def read(self, question: str, passages: Sequence[Passage]) -> Sequence[AnswerSpan]:
        """The answers in each passage."""

    def reads(self, question: str) -> bool:
        """Whether it knows the language of a question."""

    def min_score(self, question: str) -> float:
        """The score from which its answers to such a question are right often enough."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Passages for a question, best first, and the hops that led to some of them."""

    passages: tuple[Passage, ...]
    uris: dict[str, str]
    hops: dict[str, Hop]  # by the key of the passage it led to


def retrieve(question: str, search: Search, k: int, filter: Filter = ALL) -> Retrieval:
    """Find the k best passages."""
    passages = tuple(search.store.passages([hit.passage for hit in search(question, k, filter=filter)]))
    return Retrieval(passages, search.store.uris([passage.document for passage in passages]), {})


def follow(retrieval: Retrieval, store: Store, k: int, filter: Filter = ALL) -> Retrieval:
    """Add up to k passages from documents whose titles the passages mention."""
    hops = _hops(store, retrieval.passages, k, filter)
    more = store.passages([id for id in hops if id not in {passage.id for passage in retrieval.passages}])
    uris = {**retrieval.uris, **store.uris([passage.document for passage in more])}
    return Retrieval((*retrieval.passages, *more), uris, hops)


def _hops(store: Store, passages: Sequence[Passage], k: int, filter: Filter) -> dict[str, Hop]:
    uris = store.uris([passage.document for passage in passages])
    found: dict[str, Hop] = {}
    for passage in passages:
        for mention in linked(store, passage, filter):
            hop = Hop(uris[passage.document], mention.title, cite(passage, uris[passage.document], *mention.span))
            for id in mention.passages[:1]:
                if len(found) < k:
                    found.setdefault(id, hop)
    return found


def compose(question: str, retrieval: Retrieval, readings: Sequence[AnswerSpan]) -> list[Answer]:
    """Answers, most likely first. The same text in several passages is one answer with several citations."""
    texts: dict[str, list[AnswerSpan]] = {}
    for reading in sorted(readings, key=lambda r: (-r.score, r.passage.id, r.span)):
        texts.setdefault(fold(text_of(reading)), []).append(reading)
    return [_answer(question, retrieval, same) for same in texts.values()][: MOST_SHOWN + 1]


def text_of(reading: AnswerSpan) -> str:
    """The characters of an answer, or yes or no."""
    passage, span = reading.passage, reading.span
    if not passage.start <= span.start < span.end <= passage.end:
        raise BadInput(
            f"The reader gave {span.start}:{span.end}; expected a span inside {passage.start}:{passage.end}."
        )
    return reading.choice or passage.text[span.start - passage.start : span.end - passage.start]


def whole_number(reading: AnswerSpan) -> AnswerSpan:
    """An answer that ends or begins inside a number, with all of that number: 2米29 for 2米, 2.5 million for 2.5."""
    passage, span = reading.passage, reading.span
    if reading.choice:
        return reading
    start, end = span.start - passage.start, span.end - passage.start
    for match in _NUMBER.finditer(passage.text, max(0, start - _LONGEST_NUMBER), end + _LONGEST_NUMBER):
        if match.start() < start < match.end() or match.start() < end < match.end():
            start, end = min(start, match.start()), max(end, match.end())
    whole = Span(passage.start + start, passage.start + end)
    return reading if whole == span else replace(reading, span=whole)


def _answer(question: str, retrieval: Retrieval, readings: Sequence[AnswerSpan]) -> Answer:
    first = readings[0]
    citations = [_cite(question, retrieval, reading) for reading in readings]
    hop = retrieval.hops.get(first.passage.id)
    return Answer(question, text_of(first), first.score, "hops" if hop else "extract", citations=shared(citations),
                  path=(hop,) if hop else ())  # fmt: skip


def _cite(question: str, retrieval: Retrieval, reading: AnswerSpan) -> Citation:
    """The characters of an answer; for yes or no, the sentence that is closest to the question."""
    passage, uri = reading.passage, retrieval.uris[reading.passage.document]
    span = closest(question, [passage])[1] if reading.choice else reading.span
    sentence = None if reading.choice else _around(reading)
    return replace(cite(passage, uri, *span, sentence=sentence), weight=reading.score)


def _around(reading: AnswerSpan) -> Span | None:
    """The sentence around an answer span."""
    for sentence in _sentences(reading.passage):
        if sentence.start <= reading.span.start and reading.span.end <= sentence.end:
            return sentence
    return None


def sentence_of(reading: AnswerSpan) -> str:
    """The sentence around an answer span, or the passage where it is in none."""
    sentence = _around(reading)
    return reading.passage.text if sentence is None else _slice(reading.passage, sentence)


def offer_unread(question: str, retrieval: Retrieval) -> list[Answer]:
    """The best passages as answers without a score: of each, the sentence closest to the question."""
    offered = []
    for passage in retrieval.passages[:MOST_SHOWN]:
        citation = cite(passage, retrieval.uris[passage.document], *closest(question, [passage])[1])
        offered.append(Answer(question, citation.quote, 0.0, "extract", citations=(citation,)))
    return offered


def closest(question: str, passages: Sequence[Passage]) -> tuple[Passage, Span]:
    """The sentence that shares most terms with a question, and its passage; of equals the first."""
    wanted = set(query_terms(question))
    every = [(passage, sentence) for passage in passages for sentence in _sentences(passage)]
    return max(every, key=lambda one: len(wanted & set(terms(_slice(*one)))))


def _sentences(passage: Passage) -> list[Span]:
    found = [Span(passage.start + start, passage.start + end) for start, end in split_sentences(passage.text)]
    return found or [Span(passage.start, passage.end)]


def _slice(passage: Passage, span: Span) -> str:
    return passage.text[span.start - passage.start : span.end - passage.start]

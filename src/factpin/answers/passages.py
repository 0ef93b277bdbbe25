"""Passages for a question: found by words (or what else a Search does), with those they lead to; read by a reader."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from factpin.answers.cite import shared
from factpin.documents import Answer, Hop, Passage, Span
from factpin.documents.answer import cite
from factpin.documents.keys import fold
from factpin.errors import BadInput
from factpin.language.sentences import split_sentences
from factpin.memory import ALL, Filter, Store
from factpin.memory.hops import linked
from factpin.memory.search import Search
from factpin.memory.terms import query_terms, terms

MOST_SHOWN = 3  # passages or readings that are offered as alternatives


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader finds in a passage: characters of the document (not of the passage), and how likely it is right."""

    passage: Passage
    span: Span
    score: float  # a calibrated probability


Reader = Callable[[str, Sequence[Passage]], Sequence[Reading]]


@dataclass(frozen=True, slots=True)
class Found:
    """Passages for a question, best first, with the names that led to some of them."""

    passages: tuple[Passage, ...]
    uris: dict[str, str]
    hops: dict[str, Hop]  # by the passage that a hop led to


def find(question: str, search: Search, k: int, filter: Filter = ALL, *, hop: bool = False) -> Found:
    """The k best passages; with `hop`, up to k more of the documents whose titles stand in them."""
    store = search.store
    passages = store.passages([hit.passage for hit in search(question, k, filter=filter)])
    hops = _hops(store, passages, k, filter) if hop else {}
    more = store.passages([id for id in hops if id not in {passage.id for passage in passages}])
    every = (*passages, *more)
    return Found(every, store.uris([passage.document for passage in every]), hops)


def _hops(store: Store, passages: Sequence[Passage], k: int, filter: Filter) -> dict[str, Hop]:
    uris = store.uris([passage.document for passage in passages])
    found: dict[str, Hop] = {}
    for passage in passages:
        for mentioned in linked(store, passage, filter):
            hop = Hop(uris[passage.document], mentioned.title, cite(passage, uris[passage.document], *mentioned.span))
            for id in mentioned.passages[:1]:
                if len(found) < k:
                    found.setdefault(id, hop)
    return found


def read(question: str, found: Found, reader: Reader, mode: str) -> list[Answer]:
    """What a reader answers, likeliest first; the same text in several passages is one answer with all citations."""
    readings = sorted(reader(question, found.passages), key=lambda r: (-r.score, r.passage.id, r.span))
    texts: dict[str, list[Reading]] = {}
    for reading in readings:
        texts.setdefault(fold(_text(reading)), []).append(reading)
    return [_answer(question, found, same, mode) for same in texts.values()][: MOST_SHOWN + 1]


def _text(reading: Reading) -> str:
    passage, span = reading.passage, reading.span
    if not passage.start <= span.start < span.end <= passage.end:
        raise BadInput(f"A reader gave {span.start}:{span.end}, outside of its passage {passage.start}:{passage.end}.")
    return passage.text[span.start - passage.start : span.end - passage.start]


def _answer(question: str, found: Found, readings: Sequence[Reading], mode: str) -> Answer:
    first = readings[0]
    citations = [replace(cite(r.passage, found.uris[r.passage.document], *r.span, sentence=_around(r)), weight=r.score)
                 for r in readings]  # fmt: skip
    hop = found.hops.get(first.passage.id)
    return Answer(question, _text(first), first.score, "hops" if hop else mode, citations=shared(citations),
                  path=(hop,) if hop else ())  # fmt: skip


def _around(reading: Reading) -> Span | None:
    """The sentence that holds a reading."""
    for sentence in _sentences(reading.passage):
        if sentence.start <= reading.span.start and reading.span.end <= sentence.end:
            return sentence
    return None


def unread(question: str, found: Found) -> list[Answer]:
    """The best passages as they are: of each the sentence that shares most with the question, without a score."""
    wanted = set(query_terms(question))
    offered = []
    for passage in found.passages[:MOST_SHOWN]:
        best = max(_sentences(passage), key=lambda s: (len(wanted & set(terms(_slice(passage, s)))), -s.start))
        citation = cite(passage, found.uris[passage.document], *best)
        offered.append(Answer(question, citation.quote, 0.0, "extract", citations=(citation,)))
    return offered


def _sentences(passage: Passage) -> list[Span]:
    found = [Span(passage.start + start, passage.start + end) for start, end in split_sentences(passage.text)]
    return found or [Span(passage.start, passage.end)]


def _slice(passage: Passage, span: Span) -> str:
    return passage.text[span.start - passage.start : span.end - passage.start]

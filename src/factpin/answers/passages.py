"""Retrieve passages for a question, follow the titles they mention, and read answers from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """An answer that a reader found: characters of the document (not of the passage), and a probability."""

    passage: Passage
    span: Span
    score: float  # a calibrated probability


ReadPassages = Callable[[str, Sequence[Passage]], Sequence[AnswerSpan]]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Passages for a question, best first, and the hops that led to some of them."""

    passages: tuple[Passage, ...]
    uris: dict[str, str]
    hops: dict[str, Hop]  # by the key of the passage it led to


def retrieve(question: str, search: Search, k: int, filter: Filter = ALL, *, hop: bool = False) -> Retrieval:
    """Find the k best passages and, with `hop`, up to k more from documents whose titles they mention."""
    store = search.store
    passages = store.passages([hit.passage for hit in search(question, k, filter=filter)])
    hops = _hops(store, passages, k, filter) if hop else {}
    more = store.passages([id for id in hops if id not in {passage.id for passage in passages}])
    every = (*passages, *more)
    return Retrieval(every, store.uris([passage.document for passage in every]), hops)


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


def read(question: str, retrieval: Retrieval, reader: ReadPassages, mode: str) -> list[Answer]:
    """Read answers, most likely first. The same text in several passages is one answer with several citations."""
    readings = sorted(reader(question, retrieval.passages), key=lambda r: (-r.score, r.passage.id, r.span))
    texts: dict[str, list[AnswerSpan]] = {}
    for reading in readings:
        texts.setdefault(fold(_text(reading)), []).append(reading)
    return [_answer(question, retrieval, same, mode) for same in texts.values()][: MOST_SHOWN + 1]


def _text(reading: AnswerSpan) -> str:
    passage, span = reading.passage, reading.span
    if not passage.start <= span.start < span.end <= passage.end:
        raise BadInput(
            f"The reader gave {span.start}:{span.end}; expected a span inside {passage.start}:{passage.end}."
        )
    return passage.text[span.start - passage.start : span.end - passage.start]


def _answer(question: str, retrieval: Retrieval, readings: Sequence[AnswerSpan], mode: str) -> Answer:
    first = readings[0]
    citations = [_cite(retrieval, reading) for reading in readings]
    hop = retrieval.hops.get(first.passage.id)
    return Answer(question, _text(first), first.score, "hops" if hop else mode, citations=shared(citations),
                  path=(hop,) if hop else ())  # fmt: skip


def _cite(retrieval: Retrieval, reading: AnswerSpan) -> Citation:
    uri = retrieval.uris[reading.passage.document]
    return replace(cite(reading.passage, uri, *reading.span, sentence=_around(reading)), weight=reading.score)


def _around(reading: AnswerSpan) -> Span | None:
    """The sentence around an answer span."""
    for sentence in _sentences(reading.passage):
        if sentence.start <= reading.span.start and reading.span.end <= sentence.end:
            return sentence
    return None


def offer_unread(question: str, retrieval: Retrieval) -> list[Answer]:
    """The best passages as answers without a score: of each, the sentence that shares most terms with the question."""
    wanted = set(query_terms(question))
    offered = []
    for passage in retrieval.passages[:MOST_SHOWN]:
        best = max(_sentences(passage), key=lambda s: (len(wanted & set(terms(_slice(passage, s)))), -s.start))
        citation = cite(passage, retrieval.uris[passage.document], *best)
        offered.append(Answer(question, citation.quote, 0.0, "extract", citations=(citation,)))
    return offered


def _sentences(passage: Passage) -> list[Span]:
    found = [Span(passage.start + start, passage.start + end) for start, end in split_sentences(passage.text)]
    return found or [Span(passage.start, passage.end)]


def _slice(passage: Passage, span: Span) -> str:
    return passage.text[span.start - passage.start : span.end - passage.start]

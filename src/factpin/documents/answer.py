"""Answers and their evidence: passages, citations, hops. Frozen, checked when made, convertible to JSON.

A citation refers to characters of a document: `text[start:end] == quote`. An answer either abstains or has citations
whose weights sum to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from factpin.documents.keys import passage_key
from factpin.documents.nouns import ASSERTIONS, Span
from factpin.errors import BadDocument, OffsetMismatch
from factpin.words import count

MODES = ("facts", "extract", "hops", "generate", "memory")
NEAR = 1e-6  # tolerance for the sum of the weights


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document that is retrieved and read as a unit."""

    id: str  # computed from document, start and end, so the same in every store
    document: str
    start: int
    end: int
    text: str
    title: str = ""

    def __post_init__(self) -> None:
        _check_slice(f"passage {self.id}", self.start, self.end, self.text)
        if self.id != passage_key(self.document, self.start, self.end):
            raise BadDocument(
                f"passage {self.id}: expected the key of {self.document} {self.start}:{self.end} as its id."
            )


@dataclass(frozen=True, slots=True)
class Citation:
    """Characters of a document that support a statement."""

    document: str
    uri: str
    start: int
    end: int
    quote: str
    weight: float = 1.0  # the weights of an answer sum to 1
    sentence: Span | None = None  # context to show around the quote
    fact: str = ""  # key of the stored fact that it supports
    assertion: str = "asserted"

    def __post_init__(self) -> None:
        _check_slice(f"citation of {self.uri}", self.start, self.end, self.quote)
        if not 0.0 <= self.weight <= 1.0:
            raise BadDocument(f"citation of {self.uri}: weight is {self.weight}; expected 0 to 1.", field="weight")
        if self.assertion not in ASSERTIONS:
            raise BadDocument(f"citation of {self.uri}: assertion {self.assertion!r} is unknown; expected one of "
                              f"{', '.join(ASSERTIONS)}.", field="assertion")  # fmt: skip

    def check(self, text: str) -> None:
        """Raise OffsetMismatch unless the quote is at its offsets in the text of the document."""
        there = text[self.start : self.end]
        if there != self.quote:
            raise OffsetMismatch(f"{self.uri}: text[{self.start}:{self.end}] is {there[:40]!r}, "
                                 f"not {self.quote[:40]!r}. Make the citation again.", field="quote")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hop:
    """A step from a source to a target that the source names in the cited words."""

    source: str
    target: str
    citation: Citation
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of documents to a question, or an abstention."""

    question: str
    text: str
    score: float
    mode: str
    abstained: bool = False
    generated: bool = False
    citations: tuple[Citation, ...] = ()
    path: tuple[Hop, ...] = ()
    alternatives: tuple["Answer", ...] = ()
    conflict: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise BadDocument(f"mode {self.mode!r} is unknown; expected one of {', '.join(MODES)}.", field="mode")
        if not 0.0 <= self.score <= 1.0:
            raise BadDocument(f"score is {self.score}; expected a probability from 0 to 1.", field="score")
        if self.abstained and (self.text or self.citations):
            raise BadDocument("an answer that abstains must have no text and no citations; the best candidate goes to "
                              "alternatives.", field="abstained")  # fmt: skip
        if not self.abstained and not self.generated and not self.citations:
            raise BadDocument("an answer that was not generated needs a citation, or must abstain.", field="citations")
        if self.citations and abs(sum(c.weight for c in self.citations) - 1.0) > NEAR:
            raise BadDocument(
                "the weights of the citations of an answer must sum to 1; see `share`.", field="citations"
            )


def share(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Scale the weights of citations to sum to 1; equal weights if all are 0."""
    total = sum(c.weight for c in citations)
    return tuple(replace(c, weight=c.weight / total if total else 1 / len(citations)) for c in citations)


def cite(passage: Passage, uri: str, start: int, end: int, *, sentence: Span | None = None) -> Citation:
    """Cite characters start:end of the document (not of the passage), which must be inside the passage."""
    if not passage.start <= start < end <= passage.end:
        raise BadDocument(f"{start}:{end} is not inside the passage {passage.start}:{passage.end} of {uri}.")
    quote = passage.text[start - passage.start : end - passage.start]
    return Citation(passage.document, uri, start, end, quote, sentence=sentence)


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """The JSON record of an answer, with all fields."""
    record = _short(answer)
    return {
        "question": answer.question,
        **record,
        "path": [
            {"source": h.source, "relation": h.relation, "target": h.target, "citation": citation_to_json(h.citation)}
            for h in answer.path
        ],
        "conflict": answer.conflict,
        "alternatives": [_short(other) for other in answer.alternatives],
        "notes": list(answer.notes),
    }


def _short(answer: Answer) -> dict[str, Any]:
    return {
        "answer": answer.text,
        "score": answer.score,
        "abstained": answer.abstained,
        "generated": answer.generated,
        "mode": answer.mode,
        "citations": [citation_to_json(c) for c in answer.citations],
    }


def answer_from_json(record: dict[str, Any]) -> Answer:
    """The answer of a JSON record; its alternatives get the same question."""
    question = record["question"]
    return Answer(
        question=question,
        text=record["answer"],
        score=record["score"],
        mode=record["mode"],
        abstained=record.get("abstained", False),
        generated=record.get("generated", False),
        citations=tuple(citation_from_json(c) for c in record.get("citations", ())),
        path=tuple(
            Hop(h["source"], h["target"], citation_from_json(h["citation"]), h.get("relation", ""))
            for h in record.get("path", ())
        ),
        alternatives=tuple(answer_from_json({"question": question, **a}) for a in record.get("alternatives", ())),
        conflict=record.get("conflict", False),
        notes=tuple(record.get("notes", ())),
    )


def citation_to_json(citation: Citation) -> dict[str, Any]:
    """The JSON record of a citation, without an unknown sentence or fact."""
    record: dict[str, Any] = {
        "document": citation.document,
        "uri": citation.uri,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "weight": citation.weight,
        "assertion": citation.assertion,
    }
    if citation.sentence is not None:
        record["sentence"] = list(citation.sentence)
    if citation.fact:
        record["fact"] = citation.fact
    return record


def citation_from_json(record: dict[str, Any]) -> Citation:
    """The citation of a JSON record."""
    sentence = record.get("sentence")
    return Citation(
        record["document"],
        record["uri"],
        record["start"],
        record["end"],
        record["quote"],
        record.get("weight", 1.0),
        None if sentence is None else Span(*sentence),
        record.get("fact", ""),
        record.get("assertion", "asserted"),
    )


def _check_slice(owner: str, start: int, end: int, text: str) -> None:
    if not 0 <= start < end or end - start != len(text):
        raise BadDocument(f"{owner}: {start}:{end} does not match a text of {count(len(text), 'character')}; expected "
                          f"0 <= start < end and end - start characters.", field="start")  # fmt: skip

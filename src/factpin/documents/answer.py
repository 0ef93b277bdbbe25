"""Answers and what proves them: passages, citations, hops; frozen, checked when made, and as plain JSON values.

A citation names characters of a document: `text[start:end] == quote`, half-open, in code points. An answer either
abstains or has citations whose weights sum to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from factpin.documents.keys import passage_key
from factpin.documents.nouns import ASSERTIONS, Span
from factpin.errors import BadDocument, OffsetMismatch

MODES = ("facts", "extract", "hops", "generate")
NEAR = 1e-6  # how far the weights of an answer may be from 1


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document that is found and read at once."""

    id: str  # follows from document, start and end: the same in every store
    document: str
    start: int
    end: int
    text: str
    title: str = ""

    def __post_init__(self) -> None:
        _check_slice(f"passage {self.id}", self.start, self.end, self.text)
        if self.id != passage_key(self.document, self.start, self.end):
            raise BadDocument(f"passage {self.id}: this is not the key of {self.document} {self.start}:{self.end}.")


@dataclass(frozen=True, slots=True)
class Citation:
    """Characters of a document that prove something."""

    document: str
    uri: str
    start: int
    end: int
    quote: str
    weight: float = 1.0  # the weights of one answer sum to 1
    sentence: Span | None = None  # what to show around the quote
    fact: str = ""  # key of the stored fact that it proves
    assertion: str = "asserted"

    def __post_init__(self) -> None:
        _check_slice(f"citation of {self.uri}", self.start, self.end, self.quote)
        if not 0.0 <= self.weight <= 1.0:
            raise BadDocument(f"citation of {self.uri}: weight {self.weight}; expected 0 to 1.", field="weight")
        if self.assertion not in ASSERTIONS:
            raise BadDocument(f"citation of {self.uri}: assertion {self.assertion!r} is unknown; expected one of "
                              f"{', '.join(ASSERTIONS)}.", field="assertion")  # fmt: skip

    def check(self, text: str) -> None:
        """Refuse a quote that does not stand at its offsets in the text of the document."""
        there = text[self.start : self.end]
        if there != self.quote:
            raise OffsetMismatch(f"{self.uri}: text[{self.start}:{self.end}] is {there[:40]!r}, "
                                 f"not {self.quote[:40]!r}. Cite it anew.", field="quote")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hop:
    """Why a target was looked at: the source names it, in the cited words."""

    source: str
    target: str
    citation: Citation
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the documents answer to a question, or that they do not."""

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
            raise BadDocument(f"score {self.score} is no probability; expected 0 to 1.", field="score")
        if self.abstained and (self.text or self.citations):
            raise BadDocument("an answer that abstains has no text and no citation; the best candidate goes to "
                              "alternatives.", field="abstained")  # fmt: skip
        if not self.abstained and not self.generated and not self.citations:
            raise BadDocument("an answer that was not generated needs a citation; or it abstains.", field="citations")
        if self.citations and abs(sum(c.weight for c in self.citations) - 1.0) > NEAR:
            raise BadDocument("the weights of an answer's citations sum to 1; see `share`.", field="citations")


def share(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """The citations with their weights scaled to sum to 1, equal where all are 0."""
    total = sum(c.weight for c in citations)
    return tuple(replace(c, weight=c.weight / total if total else 1 / len(citations)) for c in citations)


def cite(passage: Passage, uri: str, start: int, end: int, *, sentence: Span | None = None) -> Citation:
    """The citation of characters start..end of the document (not of the passage), read from the passage."""
    if not passage.start <= start < end <= passage.end:
        raise BadDocument(f"{start}:{end} is not inside the passage {passage.start}:{passage.end} of {uri}.")
    quote = passage.text[start - passage.start : end - passage.start]
    return Citation(passage.document, uri, start, end, quote, sentence=sentence)


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """The record of an answer, every field present."""
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
    """The answer of a record; alternatives share its question."""
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
    """The record of a citation; a sentence or fact that is unknown is left out."""
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
    """The citation of a record."""
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
        raise BadDocument(f"{owner}: {start}:{end} does not fit a text of {len(text)} characters; expected "
                          f"0 <= start < end and as many characters as the text has.", field="start")  # fmt: skip

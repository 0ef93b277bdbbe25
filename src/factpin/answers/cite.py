"""From the pins of facts to citations: the characters that name the answer, with the sentence around them."""

from collections.abc import Sequence
from dataclasses import replace

from factpin.documents import Citation, Span
from factpin.documents.answer import share
from factpin.memory import Pin, StoredFact


def citation_of(pin: Pin, fact: str, end: Span | None) -> Citation:
    """A pin as a citation: of one end of the fact where it stands in the evidence, else of the whole evidence."""
    sentence = Span(pin.start, pin.end)
    inside = end is not None and pin.start <= end.start < end.end <= pin.end
    start, stop = (end.start, end.end) if end is not None and inside else sentence
    quote = pin.quote[start - pin.start : stop - pin.start]
    weight = 1.0 if pin.score is None else pin.score
    return Citation(pin.document, pin.uri, start, stop, quote, weight, sentence, fact, pin.assertion)


def citations_of(fact: StoredFact, *, inverse: bool) -> list[Citation]:
    """What asserts a fact; each place once, the surest first."""
    found: dict[tuple[str, int, int], Citation] = {}
    asserted = [pin for pin in fact.pins if pin.assertion == "asserted"]
    for pin in asserted or fact.pins:  # one that was confirmed by hand may be asserted by no text
        citation = citation_of(pin, fact.id, pin.head if inverse else pin.tail)
        place = (citation.document, citation.start, citation.end)
        if place not in found or found[place].weight < citation.weight:
            found[place] = citation
    return sorted(found.values(), key=lambda c: (-c.weight, c.uri, c.start, c.end))


def shared(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Citations of one answer: each place once, weights that sum to 1."""
    places: dict[tuple[str, int, int], Citation] = {}
    for citation in citations:
        places.setdefault((citation.document, citation.start, citation.end), citation)
    kept = list(places.values())
    total = sum(c.weight for c in kept)
    weighed = share(kept)
    return tuple(replace(c, weight=min(1.0, c.weight)) for c in weighed) if total else weighed

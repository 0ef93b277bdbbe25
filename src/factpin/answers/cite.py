"""Turn the pins of facts into citations: the characters that name the answer, and the sentence around them."""

from collections.abc import Sequence
from dataclasses import replace

from factpin.documents import Citation, Span
from factpin.documents.answer import share
from factpin.memory import Pin, StoredFact


def citation_of(pin: Pin, fact: str, end: Span | None) -> Citation:
    """Cite one end of the fact if it is inside the evidence, otherwise the whole evidence."""
    sentence = Span(pin.start, pin.end)
    inside = end is not None and pin.start <= end.start < end.end <= pin.end
    start, stop = (end.start, end.end) if end is not None and inside else sentence
    quote = pin.quote[start - pin.start : stop - pin.start]
    weight = 1.0 if pin.score is None else pin.score
    return Citation(pin.document, pin.uri, start, stop, quote, weight, sentence, fact, pin.assertion)


def citations_of(fact: StoredFact, *, inverse: bool) -> list[Citation]:
    """Cite every place that asserts a fact, once each, highest score first."""
    found: dict[tuple[str, int, int], Citation] = {}
    asserted = [pin for pin in fact.pins if pin.assertion == "asserted"]
    for pin in asserted or fact.pins:  # no text may assert a fact that was confirmed by hand
        citation = citation_of(pin, fact.id, pin.head if inverse else pin.tail)
        place = (citation.document, citation.start, citation.end)
        if place not in found or found[place].weight < citation.weight:
            found[place] = citation
    return sorted(found.values(), key=lambda c: (-c.weight, c.uri, c.start, c.end))


def shared(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """The citations of one answer: each place once, with weights that sum to 1."""
    places: dict[tuple[str, int, int], Citation] = {}
    for citation in citations:
        places.setdefault((citation.document, citation.start, citation.end), citation)
    kept = list(places.values())
    total = sum(c.weight for c in kept)
    weighed = share(kept)
    return tuple(replace(c, weight=min(1.0, c.weight)) for c in weighed) if total else weighed

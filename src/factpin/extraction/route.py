"""Which models read which part of a text. A text in two languages is read by the models for each."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from factpin.documents import Coverage, Document, Span, Unread
from factpin.language.identify import family, find_language
from factpin.language.sentences import split_sentences


@dataclass(frozen=True)
class Route:
    """The main language of a document, and the language of each sentence."""

    main: str | None
    sentences: tuple[tuple[int, int, str | None], ...]  # start, end, language

    @property
    def languages(self) -> set[str | None]:
        """All languages in the document."""
        return {self.main, *(language for _, _, language in self.sentences)}

    def language_at(self, place: int) -> str | None:
        """The language of the sentence at a character."""
        at = bisect_right(self.sentences, place, key=lambda sentence: sentence[0]) - 1
        return self.sentences[at][2] if at >= 0 else self.main

    def spans_of(self, model: str, text: str) -> list[Span]:
        """The sentences of a text that a model for one language reads."""
        spans = self.sentences or ((0, len(text), self.main),)
        return [Span(start, end) for start, end, language in spans if reads(model, language)]

    def wanted(self, model: str) -> list[Span] | None:
        """The sentences that a model for one language is asked about; None: the whole text."""
        if not model or all(reads(model, language) for language in self.languages):
            return None
        return [Span(start, end) for start, end, language in self.sentences if reads(model, language)]

    def languages_in(self, parts: Sequence[Unread]) -> list[str]:
        """The languages of the sentences in some parts of the text, which are in order and do not overlap."""
        ends = [part.end for part in parts]
        found = {
            language
            for start, end, language in self.sentences
            if (at := bisect_right(ends, start)) < len(parts) and parts[at].start < end
        }
        return sorted(language or "an unknown language" for language in found or {self.main})

    def restrict(self, found: Document, model: str) -> Document:
        """What a model found in sentences of its own language."""
        spans = self.wanted(model)
        if spans is None:
            return found
        kept = {m.id for m in found.mentions if reads(model, self.language_at(m.start))}
        return keep_mentions(found, kept, spans)


def keep_mentions(doc: Document, ids: set[str], read: Sequence[Span]) -> Document:
    """The document with these mentions, what is said about them alone, and these characters as what was read."""
    entities = tuple(
        replace(entity, mentions=tuple(id for id in entity.mentions if id in ids))
        for entity in doc.entities
        if ids.intersection(entity.mentions)
    )
    known = {entity.id for entity in entities}
    facts = tuple(
        replace(fact, qualifiers=tuple(q for q in fact.qualifiers if q.entity in known and q.mention in ids))
        for fact in doc.facts
        if {fact.head_mention, fact.tail_mention} <= ids
    )
    events = tuple(e for e in doc.events if {e.trigger, *(a.mention for a in e.arguments)} <= {*ids, None})
    coverage = doc.coverage or Coverage()
    return replace(
        doc,
        mentions=tuple(mention for mention in doc.mentions if mention.id in ids),
        entities=entities,
        facts=facts,
        events=events,
        coverage=replace(coverage, read=tuple(sorted({*_overlaps(coverage.read, read)}))),
    )


def _overlaps(windows: Collection[Span], spans: Sequence[Span]) -> Iterator[Span]:
    """What every window has in common with spans, which are in order and do not overlap."""
    ends = [span.end for span in spans]
    for window in windows:
        at = bisect_right(ends, window.start)
        while at < len(spans) and spans[at].start < window.end:
            yield Span(max(window.start, spans[at].start), min(window.end, spans[at].end))
            at += 1


def route(doc: Document) -> Route:
    """The language that a document states holds for all of it; otherwise the language of each sentence is found."""
    if doc.language:
        return Route(doc.language, ())
    main = find_language(doc.text)
    spans = doc.sentences or split_sentences(doc.text)
    return Route(main, tuple((s, e, find_language(doc.text[s:e]) or main) for s, e in spans))


def reads(model: str, language: str | None) -> bool:
    """Whether a model for one language ("" for any) reads another; zh-Hans and zh_CN are zh."""
    return not model or family(language) == family(model)

"""Which models read which part of a text: a mixed text is read by the models of each of its languages."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from factpin.documents import Coverage, Document, Span, Unread
from factpin.language.identify import family, find_language
from factpin.language.sentences import split_sentences


@dataclass(frozen=True)
class Route:
    """The language of a document, and of its sentences: a mixed text is read by the models of each."""

    main: str | None
    sentences: tuple[tuple[int, int, str | None], ...]  # start, end, language

    @property
    def languages(self) -> set[str | None]:
        """All that occur."""
        return {self.main, *(language for _, _, language in self.sentences)}

    def language_at(self, place: int) -> str | None:
        """The language of the sentence at a character."""
        at = bisect_right(self.sentences, place, key=lambda sentence: sentence[0]) - 1
        return self.sentences[at][2] if at >= 0 else self.main

    def of(self, model: str, text: str) -> list[Span]:
        """The sentences of a text that a model of one language reads."""
        spans = self.sentences or ((0, len(text), self.main),)
        return [Span(start, end) for start, end, language in spans if reads(model, language)]

    def languages_in(self, parts: Sequence[Unread]) -> list[str]:
        """The languages of the sentences in some parts of the text."""
        found = {language for start, end, language in self.sentences
                 if any(start < part.end and part.start < end for part in parts)}  # fmt: skip
        return sorted(language or "an unknown language" for language in found or {self.main})

    def kept(self, found: Document, model: str) -> Document:
        """What a model found in sentences of its own language."""
        if not model or all(reads(model, language) for language in self.languages):
            return found
        kept = {m.id for m in found.mentions if reads(model, self.language_at(m.start))}
        return only(found, kept, [Span(s, e) for s, e, language in self.sentences if reads(model, language)])


def only(doc: Document, mentions: set[str], read: Sequence[Span]) -> Document:
    """The document with these mentions alone, what is said of nothing else, and these characters as what was read."""
    coverage = doc.coverage or Coverage()
    inside = {Span(max(w.start, s.start), min(w.end, s.end)) for w in coverage.read for s in read
              if w.start < s.end and s.start < w.end}  # fmt: skip
    facts = tuple(f for f in doc.facts if {f.head_mention, f.tail_mention} <= mentions)
    entities = [replace(e, mentions=tuple(id for id in e.mentions if id in mentions))
                for e in doc.entities if mentions.intersection(e.mentions)]  # fmt: skip
    known = {e.id for e in entities}
    facts = tuple(replace(f, qualifiers=tuple(q for q in f.qualifiers if q.entity in known and q.mention in mentions))
                  for f in facts)  # fmt: skip
    events = tuple(e for e in doc.events if {e.trigger, *(a.mention for a in e.arguments)} <= {*mentions, None})
    held = tuple(m for m in doc.mentions if m.id in mentions)
    return replace(doc, mentions=held, entities=tuple(entities), facts=facts, events=events,
                   coverage=replace(coverage, read=tuple(sorted(inside))))  # fmt: skip


def route(doc: Document) -> Route:
    """A language that a document names is taken for all of it; else every sentence is looked at."""
    if doc.language:
        return Route(doc.language, ())
    main = find_language(doc.text)
    spans = doc.sentences or split_sentences(doc.text)
    return Route(main, tuple((s, e, find_language(doc.text[s:e]) or main) for s, e in spans))


def reads(model: str, language: str | None) -> bool:
    """Whether a model of one language ("" for any) reads a text of another; zh-Hans and zh_CN are zh."""
    return not model or family(language) == family(model)

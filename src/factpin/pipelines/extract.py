"""The main job: documents in, documents with everything that the chosen models find.

Each document is read by the models of its language, and what several models find is put together (combine.py).
Annotation that a document brought along is replaced. Models of whole documents come second: what the others found is
gathered into entities by the rules of coreference, with a scorer where a model of coreference is among them, and these
are what models of document relations are asked about.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from factpin.documents import Coverage, Document, Fact, Span, Unread
from factpin.documents.language import family, find_language
from factpin.documents.sentences import split_sentences
from factpin.errors import BadInput
from factpin.pipelines.combine import combine, surer
from factpin.pipelines.extractor import AHEAD, Extractor, meta_without_annotation
from factpin.tasks.coreference import resolve

TOLD = {"spans": "mentions", "triples": "facts", "events": "events"}  # what the models of a task tell
PLACES = 5  # that a note names


@dataclass
class Summary:
    """What was read and found, for the end of a run."""

    documents: int = 0
    characters: int = 0
    unread: int = 0  # characters, blanks not counted as such
    windows: int = 0
    mentions: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    replaced: int = 0  # documents that came with annotation
    without_model: list[str] = field(default_factory=list)  # documents in a language that no model reads: id (language)
    partly: list[str] = field(default_factory=list)  # documents of which a part was not read: id (characters)

    @property
    def share_read(self) -> float:
        """How much of the text a model read."""
        return 1 - self.unread / self.characters if self.characters else 1.0

    def add(self, came: Document, found: Document) -> None:
        """Count one document."""
        coverage = found.coverage or Coverage()
        self.documents += 1
        self.characters += len(found.text)
        self.unread += sum(part.end - part.start for part in coverage.unread)
        self.windows += len(coverage.read)
        self.mentions.update(m.type or "untyped" for m in found.mentions)
        self.facts.update(fact.relation for fact in found.facts)
        self.events.update(event.type for event in found.events)
        self.replaced += bool(came.mentions or came.entities or came.facts or came.events)
        if coverage.unread and not coverage.read:
            self.without_model.append(f"{found.id} ({found.language or 'unknown'})")
        elif coverage.unread:
            self.partly.append(f"{found.id} ({', '.join(f'{part.start}–{part.end}' for part in coverage.unread[:3])})")


def load_models(
    folders: Sequence[Path],
    on_overflow: Literal["window", "error"] = "window",
    *,
    bf16: bool = False,
    device: str = "cpu",
) -> list[Extractor]:
    """The models of these folders."""
    return [replace(Extractor.load(folder, device), on_overflow=on_overflow, bf16=bf16) for folder in folders]


def extract(
    documents: Iterable[Document],
    models: Sequence[Extractor],
    summary: Summary | None = None,
    on_document: Callable[[], None] = lambda: None,
    least: float = 0.0,
) -> Iterator[Document]:
    """Documents in their order, with what the models that read their language find; facts and events with a score
    below `least` are left out, and counted in the notes."""
    summary = summary if summary is not None else Summary()
    finders = [model for model in models if model.finder.asks == "text"]
    linkers = [model for model in models if model.finder.asks != "text"]
    if linkers and not finders:
        raise BadInput("A model of coreference or document relations asks about what other models find. Name one of "
                       "them too (--model), or annotate a corpus that has it with `factpin predict`.")  # fmt: skip
    documents = iter(documents)
    while group := list(islice(documents, AHEAD)):
        results: list[dict[str, list[Document]]] = [{m.settings.task: [] for m in finders} for _ in group]
        routes = [route(doc) for doc in group]
        for model in finders:
            own = model.settings.language
            wanted = [i for i, r in enumerate(routes) if any(reads(own, language) for language in r.languages)]
            for i, found in zip(wanted, model.annotate(group[i] for i in wanted), strict=True):
                results[i][model.settings.task].append(routes[i].kept(found, own))
        known = {model.settings.language for model in finders}
        wholes = [whole(doc, way, by, known) for doc, way, by in zip(group, routes, results, strict=True)]
        for doc, result in zip(group, linked(wholes, linkers) if linkers else wholes, strict=True):
            result = sure(result, least)
            summary.add(doc, result)
            yield result
            on_document()


def sure(doc: Document, least: float) -> Document:
    """The document without facts and events that score less; an event that a kept one names stays."""
    named = {a.event for e in doc.events for a in e.arguments if a.event and (e.score is None or e.score >= least)}
    facts = tuple(f for f in doc.facts if f.score is None or f.score >= least)
    events = tuple(e for e in doc.events if e.score is None or e.score >= least or e.id in named)
    left = len(doc.facts) - len(facts) + len(doc.events) - len(events)
    if not left:
        return doc
    coverage = doc.coverage or Coverage()
    note = f"facts and events that score less than {least:g} were left out: {left}"
    return replace(doc, facts=facts, events=events, coverage=replace(coverage, notes=(*coverage.notes, note)))


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


def whole(doc: Document, way: Route, found: Mapping[str, Sequence[Document]], known: Collection[str]) -> Document:
    """One document of what the models of each task found, with what none of them read; known: what models read."""
    bare = replace(doc, language=way.main, mentions=(), entities=(), facts=(), events=())
    both = combine(replace(bare, meta=meta_without_annotation(doc)), [one for by in found.values() for one in by])
    coverage = both.coverage or Coverage()

    def why(place: int) -> str:
        language = way.language_at(place)
        held = any(reads(model, language) for model in known)
        return "no window holds it" if held else f"no model reads the language {language or 'unknown'!r}"

    unread = tuple(gaps(doc.text, coverage.read, why))
    notes = (*coverage.notes, *left_out(doc.text, {Span(part.start, part.end) for part in unread}, found))
    return replace(both, coverage=replace(coverage, unread=unread, notes=notes))


def left_out(text: str, unread: Collection[Span], found: Mapping[str, Sequence[Document]]) -> Iterator[str]:
    """Notes of characters that were read, but by no model of some task: nothing of it can be found there."""
    for task, by in found.items():
        read = sorted({span for one in by for span in (one.coverage or Coverage()).read} | {*unread})
        missed = list(gaps(text, read, lambda _: ""))
        if missed:
            places = ", ".join(f"{part.start}–{part.end}" for part in missed[:PLACES])
            more = f" and {len(missed) - PLACES} more" if len(missed) > PLACES else ""
            yield f"{TOLD[task]} were not looked for in {places}{more}: no such model reads the language there"


def linked(documents: Sequence[Document], models: Sequence[Extractor]) -> list[Document]:
    """The documents with their mentions gathered into entities, and the facts that models of whole documents find."""
    documents = gathered(documents, [model for model in models if model.finder.asks == "mentions"])
    for model in (model for model in models if model.finder.asks == "entities"):
        wanted = [i for i, doc in enumerate(documents) if reads(model.settings.language, doc.language)]
        for i, found in zip(wanted, model.annotate(documents[i] for i in wanted), strict=True):
            documents[i] = with_facts(documents[i], found)
    return documents


def gathered(documents: Sequence[Document], scorers: Sequence[Extractor]) -> list[Document]:
    """The documents with entities: by the first scorer that reads their language, or else by the rules alone."""
    results: list[Document | None] = [None] * len(documents)
    for model in scorers:
        wanted = [i for i, doc in enumerate(documents)
                  if results[i] is None and reads(model.settings.language, doc.language)]  # fmt: skip
        for i, found in zip(wanted, model.annotate((documents[i] for i in wanted), keep=True), strict=True):
            results[i] = with_coverage(replace(documents[i], entities=found.entities, facts=found.facts), found)
    return [resolve(doc) if result is None else result for doc, result in zip(documents, results, strict=True)]


def with_facts(doc: Document, found: Document) -> Document:
    """The facts of two versions with the same entities, each once; of equals the surer, with the evidence of both."""
    best: dict[tuple[str, str, str], Fact] = {}
    for fact in (*doc.facts, *found.facts):
        key = (fact.head, fact.relation, fact.tail)
        best[key] = surer(best[key], fact) if key in best else fact
    return with_coverage(replace(doc, facts=tuple(best.values())), found)


def with_coverage(doc: Document, found: Document) -> Document:
    """The document with what another version of it could not read and notes, each once."""
    own, other = doc.coverage or Coverage(), found.coverage or Coverage()
    unread = tuple(sorted({*own.unread, *other.unread}, key=lambda part: (part.start, part.end, part.reason)))
    return replace(doc, coverage=replace(own, unread=unread, notes=tuple(dict.fromkeys((*own.notes, *other.notes)))))


def gaps(text: str, spans: Sequence[Span], reason: Callable[[int], str]) -> Iterator[Unread]:
    """What lies between sorted spans and holds more than blanks, and why by where its text starts."""
    done = 0
    for start, end in (*spans, Span(len(text), len(text))):
        if words := text[done:start].strip():
            yield Unread(done, start, reason(text.index(words, done)))
        done = max(done, end)

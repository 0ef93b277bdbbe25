"""The main job: documents in, documents with everything that the chosen models find.

Each document is read by the models of its language, and what several models find is put together (combine.py).
Annotation that a document brought along is replaced. Models of whole documents come second: what the others found is
gathered into entities by the rules of coreference, with a scorer where a model of coreference is among them, and these
are what models of document relations are asked about.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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
) -> Iterator[Document]:
    """Documents in their order, with the mentions of every model that reads their language."""
    summary = summary if summary is not None else Summary()
    finders = [model for model in models if model.finder.asks == "text"]
    linkers = [model for model in models if model.finder.asks != "text"]
    if linkers and not finders:
        raise BadInput("A model of coreference or document relations asks about what other models find. Name one of "
                       "them too (--model), or annotate a corpus that has it with `factpin predict`.")  # fmt: skip
    documents = iter(documents)
    while group := list(islice(documents, AHEAD)):
        results: list[list[Document]] = [[] for _ in group]
        routes = [route(doc) for doc in group]
        for model in finders:
            own = model.settings.language
            wanted = [i for i, r in enumerate(routes) if any(reads(own, language) for language in r.languages)]
            for i, found in zip(wanted, model.annotate(group[i] for i in wanted), strict=True):
                results[i].append(routes[i].kept(found, own))
        wholes = [whole(doc, way.main, by) for doc, way, by in zip(group, routes, results, strict=True)]
        for doc, result in zip(group, linked(wholes, linkers) if linkers else wholes, strict=True):
            summary.add(doc, result)
            yield result
            on_document()


@dataclass(frozen=True)
class Route:
    """The language of a document, and of its sentences: a mixed text is read by the models of each."""

    main: str | None
    sentences: tuple[tuple[int, int, str | None], ...]  # start, end, language

    @property
    def languages(self) -> set[str | None]:
        """All that occur."""
        return {self.main, *(language for _, _, language in self.sentences)}

    def kept(self, found: Document, model: str) -> Document:
        """What a model found in sentences of its own language."""
        if not model or all(reads(model, language) for language in self.languages):
            return found
        starts = [start for start, _, _ in self.sentences]
        kept: set[str] = set()
        for m in found.mentions:
            at = bisect_right(starts, m.start) - 1
            if reads(model, self.sentences[at][2] if at >= 0 else self.main):
                kept.add(m.id)
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


def whole(doc: Document, language: str | None, found: Sequence[Document]) -> Document:
    """One document of what its models found, with what none of them read."""
    bare = replace(doc, language=language, mentions=(), entities=(), facts=(), events=())
    both = combine(replace(bare, meta=meta_without_annotation(doc)), found)
    coverage = both.coverage or Coverage()
    reason = "no window holds it" if found else f"no model reads the language {language or 'unknown'!r}"
    return replace(both, coverage=replace(coverage, unread=tuple(gaps(doc.text, coverage.read, reason))))


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


def gaps(text: str, spans: Sequence[Span], reason: str) -> Iterator[Unread]:
    """What lies between sorted spans and holds more than blanks."""
    done = 0
    for start, end in (*spans, Span(len(text), len(text))):
        if text[done:start].strip():
            yield Unread(done, start, reason)
        done = max(done, end)

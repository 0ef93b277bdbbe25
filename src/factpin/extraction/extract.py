"""The main job: documents in, documents with everything that the chosen models find.

Each document is read by the models of its language, and what several models find is put together (combine.py).
Annotation that a document brought along is replaced. Models of whole documents come second: what the others found is
gathered into entities by the rules of coreference, with a scorer where a model of coreference is among them, and these
are what models of document relations are asked about.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from factpin.documents import Coverage, Document, Fact
from factpin.documents.likely import LIKELY, keep_likely
from factpin.errors import BadInput
from factpin.extraction.combine import combine, surer
from factpin.extraction.left_out import gaps, left_out
from factpin.extraction.route import Route, reads, route
from factpin.language.coreference import resolve
from factpin.models.extractor import AHEAD, Extractor, meta_without_annotation


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
    hidden: int = 0  # facts and events that were less likely than asked for
    replaced: int = 0  # documents that came with annotation
    without_model: list[str] = field(default_factory=list)  # documents in a language that no model reads: id (language)
    partly: list[str] = field(default_factory=list)  # documents of which a part was not read: id (characters)
    left_out: list[str] = field(default_factory=list)  # documents in which not all was looked for: id (notes)

    @property
    def share_read(self) -> float:
        """How much of the text a model read."""
        return 1 - self.unread / self.characters if self.characters else 1.0

    def add(self, came: Document, found: Document, left_out: Sequence[str] = ()) -> None:
        """Count one document; left_out: notes of what was not looked for in it."""
        coverage = found.coverage or Coverage()
        self.documents += 1
        self.characters += len(found.text)
        self.unread += sum(part.end - part.start for part in coverage.unread)
        self.windows += len(coverage.read)
        self.mentions.update(m.type or "untyped" for m in found.mentions)
        self.facts.update(fact.relation for fact in found.facts)
        self.events.update(event.type for event in found.events)
        self.left_out += [f"{found.id} ({'; '.join(left_out)})"] if left_out else []
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
    least: float = LIKELY,
    *,
    gather: bool = False,
) -> Iterator[Document]:
    """Documents in their order, with what the models that read their language find; facts and events with a score
    below `least` are hidden, and counted in the notes.

    gather: mentions are gathered into entities, also where no model of whole documents asks for them.
    """
    if not 0 <= least <= 1:
        raise BadInput(f"the least score is {least}; expected a number from 0 to 1, such as 0.6.")
    summary = summary if summary is not None else Summary()
    finders = [model for model in models if model.task.asks == "text"]
    linkers = [model for model in models if model.task.asks != "text"]
    relations = [model.settings for model in linkers if model.task.asks == "entities"]
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
        every = linked(wholes, linkers) if linkers or gather else wholes
        for doc, came, way, by, result in zip(group, wholes, routes, results, every, strict=True):
            notes = left_out(came, way, by, relations)
            shown = sure(with_notes(result, notes), least)
            summary.add(doc, shown, notes)
            summary.hidden += len(result.facts) + len(result.events) - len(shown.facts) - len(shown.events)
            yield shown
            on_document()


def sure(doc: Document, least: float) -> Document:
    """The document without facts and events that score less, and a note that says how many."""
    kept, hidden = keep_likely(doc, least)
    count = "1 fact or event that is" if hidden == 1 else f"{hidden} facts and events that are"
    note = f"{count} less likely than {least:g} {'is' if hidden == 1 else 'are'} hidden"
    return with_notes(kept, [note]) if hidden else doc


def with_notes(doc: Document, notes: Sequence[str]) -> Document:
    """The document with further notes."""
    coverage = doc.coverage or Coverage()
    return replace(doc, coverage=replace(coverage, notes=(*coverage.notes, *notes))) if notes else doc


def whole(doc: Document, way: Route, found: Mapping[str, Sequence[Document]], known: Collection[str]) -> Document:
    """One document of what the models of each task found, with what none of them read; known: what models read."""
    bare = replace(doc, language=way.main, mentions=(), entities=(), facts=(), events=())
    both = combine(replace(bare, meta=meta_without_annotation(doc)), [one for by in found.values() for one in by])
    coverage = both.coverage or Coverage()

    def why(place: int) -> str:
        language = way.language_at(place)
        held = any(reads(model, language) for model in known)
        return "no window holds it" if held else f"no model reads the language {language or 'unknown'!r}"

    return replace(both, coverage=replace(coverage, unread=tuple(gaps(doc.text, coverage.read, why))))


def linked(documents: Sequence[Document], models: Sequence[Extractor]) -> list[Document]:
    """The documents with their mentions gathered into entities, and the facts that models of whole documents find."""
    documents = gathered(documents, [model for model in models if model.task.asks == "mentions"])
    for model in (model for model in models if model.task.asks == "entities"):
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

"""Notes of what was not looked for in a document, and where, which "nothing found" does not say.

Models of spans, triples and events read the sentences in their language. Models of document relations read whole
documents that are mainly in their language; of sentences in another one they understand little.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from factpin.documents import Coverage, Document, Span, Unread
from factpin.documents.gaps import gaps
from factpin.extraction.route import Route, reads
from factpin.models.settings import Settings
from factpin.tasks import TASKS

PLACES = 5  # most that a note lists


def coverage_notes(
    doc: Document, way: Route, found: Mapping[str, Sequence[Document]], relations: Sequence[Settings] = ()
) -> list[str]:
    """Notes of text that some models read, but none of some task.

    found: the results of each task. relations: all document relation models, whether they read the document or not.
    """
    notes = []
    for task, results in found.items():
        missed = not_read(doc, spans_of(results))
        finds = TASKS[task].finds
        if missed and not (relations and finds == "facts"):
            where = places(doc, missed)
            notes.append(f"{finds} were not looked for{where}: no such model reads the language there")
    return [*notes, *_facts(doc, way, found, relations)] if relations else notes


def _facts(
    doc: Document, way: Route, found: Mapping[str, Sequence[Document]], relations: Sequence[Settings]
) -> Iterator[str]:
    """Notes of facts, which models of triples and of document relations look for."""
    asked = [model for model in relations if reads(model.language, way.main)]
    others = [model for model in relations if model not in asked]
    read = spans_of(found.get("triples", ())) | {
        span for model in asked for span in way.spans_of(model.language, doc.text)
    }
    foreign = not_read(doc, read | {span for model in others for span in way.spans_of(model.language, doc.text)})
    if foreign:
        languages = ", ".join(way.languages_in(foreign))
        why = "no such model reads" if "triples" in found else f"{_called(relations)} not read"
        problem = "may be wrong or missing" if asked else "were not looked for"
        yield f"facts {problem}{places(doc, foreign)}: {why} {languages}"
    if skipped := not_read(doc, read | {Span(part.start, part.end) for part in foreign}):
        language = way.main or "in an unknown language"
        where = places(doc, skipped)
        yield f"facts were not looked for{where}: {_called(others)} not read documents that are mainly {language}"


def spans_of(documents: Iterable[Document]) -> set[Span]:
    """What was read in any of these versions."""
    return {span for doc in documents for span in (doc.coverage or Coverage()).read}


def not_read(doc: Document, read: Collection[Span]) -> list[Unread]:
    """The parts of a document that models read, apart from these spans."""
    unread = {Span(part.start, part.end) for part in (doc.coverage or Coverage()).unread}
    return list(gaps(doc.text, sorted({*read, *unread}), lambda _: ""))


def places(doc: Document, parts: Sequence[Unread]) -> str:
    """Where these parts are; empty where they are the whole text."""
    if not doc.text[: parts[0].start].strip() and not doc.text[parts[0].end :].strip():
        return ""
    more = f" and {len(parts) - PLACES} more" if len(parts) > PLACES else ""
    return " in " + ", ".join(f"{part.start}–{part.end}" for part in parts[:PLACES]) + more


def _called(models: Sequence[Settings]) -> str:
    """`my-relations does`, to be followed by what the models do not do."""
    names = [model.name or "the document relation model" for model in models]
    return " and ".join(names) + (" does" if len(names) == 1 else " do")

"""What was not looked for in a document, and where: notes, so that "nothing found" and "not asked" cannot be confused.

Models of spans, triples and events read the sentences of their language. Models of document relations are asked about
documents that are mainly of their language, and read all of them, what is of another language with little sense.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from factpin.documents import Coverage, Document, Span, Unread
from factpin.extraction.route import Route, reads
from factpin.models.settings import Settings
from factpin.tasks import TASKS

PLACES = 5  # that a note names


def left_out(
    doc: Document, way: Route, found: Mapping[str, Sequence[Document]], relations: Sequence[Settings] = ()
) -> list[str]:
    """Notes of characters that were read, but by no model of some task; found: what the models of each task made of
    the document, relations: the models of document relations, whether they were asked or not."""
    notes = []
    for task, by in found.items():
        missed = not_read(doc, spans_of(by))
        finds = TASKS[task].finds
        if missed and not (relations and finds == "facts"):
            notes.append(f"{finds} were not looked for{places(doc, missed)}: no such model reads the language "
                         f"there")  # fmt: skip
    return [*notes, *_facts(doc, way, found, relations)] if relations else notes


def _facts(
    doc: Document, way: Route, found: Mapping[str, Sequence[Document]], relations: Sequence[Settings]
) -> Iterator[str]:
    """Facts are looked for by models of triples, if there are any, and of document relations."""
    asked = [model for model in relations if reads(model.language, way.main)]
    passed = [model for model in relations if model not in asked]
    read = spans_of(found.get("triples", ())) | {span for model in asked for span in way.of(model.language, doc.text)}
    foreign = not_read(doc, read | {span for model in passed for span in way.of(model.language, doc.text)})
    if foreign:
        languages = ", ".join(way.languages_in(foreign))
        why = "no such model reads" if "triples" in found else f"{_called(relations)} not read"
        told = "may be wrong or missing" if asked else "were not looked for"
        yield f"facts {told}{places(doc, foreign)}: {why} {languages}"
    if skipped := not_read(doc, read | {Span(part.start, part.end) for part in foreign}):
        yield (f"facts were not looked for{places(doc, skipped)}: {_called(passed)} not read documents that are mainly "
               f"{way.main or 'of an unknown language'}")  # fmt: skip


def spans_of(documents: Iterable[Document]) -> set[Span]:
    """The characters that were read in any of these versions."""
    return {span for doc in documents for span in (doc.coverage or Coverage()).read}


def not_read(doc: Document, read: Collection[Span]) -> list[Unread]:
    """What models read of a document, but none of those that read these characters."""
    unread = {Span(part.start, part.end) for part in (doc.coverage or Coverage()).unread}
    return list(gaps(doc.text, sorted({*read, *unread}), lambda _: ""))


def places(doc: Document, parts: Sequence[Unread]) -> str:
    """Where these parts are; nothing where they are all of the text."""
    if not doc.text[: parts[0].start].strip() and not doc.text[parts[0].end :].strip():
        return ""
    more = f" and {len(parts) - PLACES} more" if len(parts) > PLACES else ""
    return " in " + ", ".join(f"{part.start}–{part.end}" for part in parts[:PLACES]) + more


def _called(models: Sequence[Settings]) -> str:
    """`en-relations does`, for a sentence that says what models do not do."""
    names = [model.name or "the model of document relations" for model in models]
    return " and ".join(names) + (" does" if len(names) == 1 else " do")


def gaps(text: str, spans: Sequence[Span], reason: Callable[[int], str]) -> Iterator[Unread]:
    """What lies between sorted spans and holds more than blanks, and why by where its text starts."""
    done = 0
    for start, end in (*spans, Span(len(text), len(text))):
        if words := text[done:start].strip():
            yield Unread(done, start, reason(text.index(words, done)))
        done = max(done, end)

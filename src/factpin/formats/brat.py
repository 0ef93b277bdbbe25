"""brat standoff: a folder of .txt files, each with the .ann file of the same name. Ends are EXCLUSIVE.

    T1  Person 0 3   谷爱凌               mention; line breaks inside it are spaces in the .ann file
    R1  Born_in Arg1:T1 Arg2:T2           fact between the entities of two mentions
    E1  Win:T3 Winner:T1 Prize:E2         event
    *   Equiv T1 T4                       one entity with several mentions
    N1  Reference T1 Wikidata:Q5  name    the entity's link and name
    A1  Negation E1  /  #1  AnnotatorNotes T1  text        kept in meta, like everything else without a noun

Offsets count the characters of the .txt file as it is, so CRLF counts as two. Folders are read recursively, and the id
of a document is its path. Facts between entities, without mentions of their own, are written with the first mention of
each entity, which is a loss.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from factpin.documents import Document
from factpin.errors import BadDocument, BadFile, BadRecord
from factpin.formats._brat_document import BadOffsets, document
from factpin.formats._brat_lines import BadLine, parse
from factpin.formats._brat_plan import Plan
from factpin.formats._folders import document_id, new_file, new_folder, text_of, walk, write_text
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._writing import losses

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "clusters", "links", "facts", "pins", "events"})
OWN = {"entities", "names", "links", "meta"}  # held in part: the plan counts the rest
ENDING = ""


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document for every .txt or .ann file, in sorted order. A text without .ann file has no annotation."""
    path = reading.path
    if path.is_dir():
        pairs = ((1, file) for file in walk(path) if _is_first(file))
        return reading.each(pairs, lambda file, _: _document(reading, file, path))
    if not path.exists():
        raise BadFile(f"{path}: there is no such file. Check the path.")
    return reading.each([(1, path)], lambda file, _: _document(reading, file, path.parent))


def _is_first(file: Path) -> bool:
    """Whether it is a .txt file, or an .ann file without one."""
    return file.suffix == ".txt" or (file.suffix == ".ann" and not file.with_suffix(".txt").exists())


def _document(reading: ReadContext, file: Path, folder: Path) -> Document:
    source, standoff = file.with_suffix(".txt"), file.with_suffix(".ann")
    if not source.exists():
        raise BadRecord(f"the text file {source.name} is missing. Put it into the same folder.",
                        file=str(standoff), line=1, kind="missing_text")  # fmt: skip
    id = document_id(source.relative_to(folder).with_suffix(""))
    text = text_of(source, reading.options.encoding)
    here = ReadContext(standoff if standoff.exists() else source, reading.options, reading.report)
    try:
        found = parse(_lines(here) if standoff.exists() else [])
        merge = reading.options.fragments == "merge"
        return document(id, text, found, merge, lambda kind, line, message: here.note(kind, line, id, message))
    except (BadLine, BadOffsets) as problem:
        raise here.bad_record(problem, problem.line) from None
    except BadDocument as problem:
        raise here.bad_record(problem, 1) from None


def _lines(here: ReadContext) -> Iterator[tuple[int, str]]:
    """The lines of one .ann file. An error in it is the error of one record, since a folder has many."""
    try:
        yield from here.lines()
    except BadFile as error:
        message = str(error).removeprefix(f"{here.path}: ")
        raise BadRecord(message, file=str(here.path), line=1, kind="bad_file") from None


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write a new folder with two files per document."""
    with new_folder(path) as folder:
        for doc in documents:
            file = new_file(folder, doc.id, ".txt")
            write_text(file, doc.text)
            write_text(file.with_suffix(".ann"), "".join(f"{line}\n" for line in Plan(doc).lines))


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what standoff lines cannot hold."""
    return losses(doc, HOLDS | OWN) + Plan(doc).lost


def fits(head: Head) -> bool:
    """Whether it is a folder with an .ann file somewhere, or one of the two files of a document."""
    if head.is_folder:
        return any(file.suffix == ".ann" for file in walk(head.path))
    return head.path.suffix == ".ann" or (head.path.suffix == ".txt" and head.path.with_suffix(".ann").exists())

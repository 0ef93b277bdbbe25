"""Triples: a JSON list (or one object per line), {"text": …, "triple_list": [[head, relation, tail], …]}. No offsets.

The form of WebNLG, NYT and their "star" variants as CasRel, TPLinker and PRGC read them. A record may have several
sentences, without their borders.
Each triple is a fact, and _occurrences.py finds its strings in the text. A triple with an argument that is not in the
text is kept in meta["unfound"] and written back. Files named .jsonl are written as lines, others as a list.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Document
from factpin.documents.fields import as_dict, as_list, as_str, get_list, get_str, wrong
from factpin.errors import BadDocument
from factpin.formats._guess import Head
from factpin.formats._occurrences import ArgumentName, Triple, not_found_again, place, triples_of
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import list_or_lines, own_id, unknown, write_list_or_lines
from factpin.formats._writing import losses

HOLDS = frozenset({"mentions", "overlaps", "facts", "pins", "meta"})
ENDING = ".json"
FIELDS = {"id", "text", "triple_list"}


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per record, with its facts in the order of the file."""
    return list_or_lines(reading, lambda record, line: _document(record, line, reading))


def _document(value: Any, line: int, reading: ReadContext) -> Document:
    record = as_dict(value, "")
    text = get_str(record, "text")
    id = own_id(record, reading.default_id(line))
    values = get_list(record, "triple_list", default=[])
    triples = [_triple(value, f"triple_list[{i}]") for i, value in enumerate(values)]
    placed = place(triples, text, reading, line, id)
    meta = unknown(record, FIELDS)
    if "unfound" in meta:
        raise BadDocument("this name is reserved for the notes of the reader. Rename the field.", field="unfound")
    if placed.unfound:
        meta["unfound"] = [values[i] for i in placed.unfound]
    return Document(
        id=id,
        text=text,
        mentions=placed.mentions,
        entities=placed.entities,
        facts=placed.facts,
        meta=meta,
    )


def _triple(value: Any, where: str) -> Triple:
    parts = [as_str(part, where) for part in as_list(value, where)]
    if len(parts) != 3 or not parts[1]:
        raise wrong(value, where, "[head, relation, tail] with a relation that is not empty")
    return Triple(ArgumentName(parts[0]), parts[1], ArgumentName(parts[2]))


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one list item per document."""
    write_list_or_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    triples = [[t.head.surface, t.relation, t.tail.surface] for t in triples_of(doc, typed=False)]
    kept = unknown(doc.meta, FIELDS | {"unfound"})
    return {"id": doc.id, "text": doc.text, "triple_list": triples + _unfound(doc), **kept}


def _unfound(doc: Document) -> list[list[str]]:
    unfound = doc.meta.get("unfound")
    good = isinstance(unfound, list) and all(
        isinstance(triple, list) and len(triple) == 3 and all(isinstance(part, str) for part in triple)
        for triple in unfound
    )
    return list(unfound) if good else []  # type: ignore[arg-type]


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what a list of triples cannot hold, and the facts whose strings would be found somewhere else."""
    holds = HOLDS if options.occurrences == "first" else HOLDS | {"clusters"}
    counted = losses(doc, holds)
    counted["meta"] += len(FIELDS & doc.meta.keys()) + ("unfound" in doc.meta and not _unfound(doc))
    if doc.mentions:
        back = _document(_record(doc), 0, ReadContext(Path("-"), options))
        counted.update(not_found_again(doc, back, typed=False))
    return +counted


def fits(head: Head) -> bool:
    """Whether it is a record with a text and a list of triples."""
    record = head.record
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return False
    return isinstance(record.get("triple_list"), list)

"""DuIE: one JSON object per line (or one JSON list), {"text": …, "spo_list": […]}. No offsets: arguments are strings.

    1.0  {"predicate", "subject", "subject_type", "object": str, "object_type": str}
    2.0  the same with "object": {"@value": str, slot: str, …} and "object_type": {"@value": str, slot: str, …}

A record may have several sentences, without their borders. Each spo is a fact, and its slots are qualifiers of the
fact. _occurrences.py finds the strings in the text. An spo with an argument that is not in the text is kept in
meta["unfound"] and written back.
Documents are written as 2.0, those read from 1.0 as 1.0. CMeIE and other corpora of this form are read as well.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Document
from factpin.documents.fields import as_dict, as_list, as_str, each, get_list, get_str
from factpin.errors import BadDocument
from factpin.formats._guess import Head
from factpin.formats._occurrences import ArgumentName, Triple, not_found_again, place, triples_of
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import list_or_lines, own_id, unknown
from factpin.formats._writing import losses, write_json_lines

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "facts", "pins", "qualifiers", "meta"})
ENDING = ".json"
FIELDS = {"id", "text", "spo_list"}
SPO = {"predicate", "subject", "subject_type", "object", "object_type"}
OWN = {"unfound", "duie"}  # what the reader adds to meta
VALUE = "@value"


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per record, with its facts in the order of the file."""
    return list_or_lines(reading, lambda record, line: _document(record, line, reading))


def _document(value: Any, line: int, reading: ReadContext) -> Document:
    record = as_dict(value, "")
    text = get_str(record, "text")
    id = own_id(record, reading.default_id(line))
    spos = get_list(record, "spo_list", default=[])
    triples = each(spos, "spo_list", lambda spo, _: _triple(spo))
    placed = place(triples, text, reading, line, id)
    return Document(
        id=id,
        text=text,
        mentions=placed.mentions,
        entities=placed.entities,
        facts=placed.facts,
        meta=_meta(record, spos, triples, placed.unfound),
    )


def _triple(value: Any) -> Triple:
    spo = as_dict(value, "")
    head = ArgumentName(get_str(spo, "subject"), get_str(spo, "subject_type", default=""))
    relation = get_str(spo, "predicate")
    if not relation:
        raise BadDocument("the predicate is empty; expected a name. Add one.", field="predicate")
    values, types = spo.get("object"), spo.get("object_type", "")
    if not isinstance(values, dict):
        values = {VALUE: get_str(spo, "object")}
    if not isinstance(types, dict):
        types = {VALUE: as_str(types, "object_type")}
    if VALUE not in values:
        raise BadDocument(f"the object has no {VALUE!r}; it has: {', '.join(values) or 'nothing'}.", field="object")
    tail = _name(values, types, VALUE)
    slots = [(slot, _name(values, types, slot)) for slot in values if slot != VALUE]
    return Triple(head, relation, tail, tuple(slots))


def _name(values: dict[str, Any], types: dict[str, Any], slot: str) -> ArgumentName:
    return ArgumentName(get_str(values, slot, "object"), get_str(types, slot, "object_type", default=""))


def _meta(
    record: dict[str, Any], spos: list[dict[str, Any]], triples: list[Triple], unfound: list[int]
) -> dict[str, Any]:
    meta = unknown(record, FIELDS)
    if not OWN.isdisjoint(meta):
        reserved = min(OWN & meta.keys())
        raise BadDocument("this name is reserved for the notes of the reader. Rename the field.", field=reserved)
    if unfound:
        meta["unfound"] = [spos[i] for i in unfound]
    own: dict[str, Any] = {}
    if spos and all(isinstance(spo["object"], str) for spo in spos):
        own["version"] = 1
    extra = {
        _key(triple): unknown(spo, SPO) for spo, triple in zip(spos, triples, strict=True) if not SPO.issuperset(spo)
    }
    if extra:
        own["extra"] = extra
    if own:
        meta["duie"] = own
    return meta


def _key(triple: Triple) -> str:
    return f"{triple.head.surface} | {triple.relation} | {triple.tail.surface}"


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document."""
    write_json_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    own = _own(doc)
    spos = [_spo(triple, own) for triple in triples_of(doc, typed=True)]
    return {"id": doc.id, "text": doc.text, "spo_list": spos + _unfound(doc), **unknown(doc.meta, FIELDS | OWN)}


def _spo(triple: Triple, own: dict[str, Any]) -> dict[str, Any]:
    values = {VALUE: triple.tail.surface}
    types = {VALUE: triple.tail.type}
    for role, name in triple.slots:
        if role not in values:  # a second value of the same role has no field: `lost` counts it
            values[role] = name.surface
            types[role] = name.type
    plain = own.get("version") == 1 and len(values) == 1
    return {
        "predicate": triple.relation,
        "object_type": types[VALUE] if plain else types,
        "subject_type": triple.head.type,
        "object": values[VALUE] if plain else values,
        "subject": triple.head.surface,
        **own.get("extra", {}).get(_key(triple), {}),
    }


def _own(doc: Document) -> dict[str, Any]:
    """What the reader kept about how the record was written; empty if meta has something else under that name."""
    own = doc.meta.get("duie")
    if not isinstance(own, dict) or own.keys() - {"version", "extra"}:
        return {}
    extra = own.get("extra", {})
    good = isinstance(extra, dict) and all(isinstance(v, dict) and not v.keys() & SPO for v in extra.values())
    return own if good else {}


def _unfound(doc: Document) -> list[dict[str, Any]]:
    try:
        unfound = [as_dict(spo, "unfound") for spo in as_list(doc.meta.get("unfound", []), "unfound")]
        for spo in unfound:
            _triple(spo)
    except BadDocument:
        return []
    return unfound


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what a list of spo cannot hold, and the facts whose strings would be found somewhere else."""
    holds = HOLDS if options.occurrences == "first" else HOLDS | {"clusters"}
    counted = losses(doc, holds)
    clashes = len(FIELDS & doc.meta.keys())
    clashes += ("duie" in doc.meta and not _own(doc)) + ("unfound" in doc.meta and not _unfound(doc))
    counted["meta"] += clashes
    if doc.mentions:
        back = _document(_record(doc), 0, ReadContext(Path("-"), options))
        counted.update(not_found_again(doc, back, typed=True))
    return +counted


def fits(head: Head) -> bool:
    """Whether it is a record with a text and a list of spo."""
    record = head.record
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return False
    return isinstance(record.get("spo_list"), list)

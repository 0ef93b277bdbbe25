"""doccano: one JSON object per line. Ends are exclusive; offsets are code points, or UTF-16 units with Options.utf16.

    {"id", "text", "entities": [{"id", "label", "start_offset", "end_offset"}],
     "relations": [{"id", "from_id", "to_id", "type"}], "Comments": [str, …]}          with relations: written
    {"id", "text", "label": [[start, end, label], …]}                                  without, also as "labels"

Both are read, as are older exports that call the text "data" or write "entities" as triples. Each span in a relation
becomes an entity. Other fields, such as comments, are kept and written back.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Document, Mention
from factpin.documents.fields import as_dict, as_int, as_list, as_str, get_int, get_str, wrong
from factpin.errors import BadDocument
from factpin.formats._guess import Head
from factpin.formats._pinned import Arrow, arrows_of, entity_losses, pin
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import list_or_lines, number_or_name, own_id, unknown
from factpin.formats._utf16 import Turn, by_choice
from factpin.formats._writing import losses, write_json_lines
from factpin.words import count

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "facts", "pins", "meta"})
ENDING = ".jsonl"
SPANS = ("entities", "label", "labels")
FIELDS = {"id", "text", "data", "relations", *SPANS}
ENTITY = {"id", "label", "start_offset", "end_offset"}
RELATION = {"id", "from_id", "to_id", "type"}
USUAL = FIELDS | {"Comments", "comments", "meta", "username", "doc_id", "annotation_approver"}
OWN = "doccano"  # what the reader adds to meta: unknown fields of spans and relations


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per line, with its mentions in the order of the file."""
    return list_or_lines(reading, lambda record, line: _document(record, line, reading))


def _document(value: Any, line: int, reading: ReadContext) -> Document:
    record = as_dict(value, "")
    text = get_str(record, "data" if "text" not in record and "data" in record else "text")
    turn = by_choice(text, utf16=reading.options.utf16, writing=False)
    extra: dict[str, dict[str, Any]] = {}
    mentions: list[Mention] = []
    for key in SPANS:
        for i, span in enumerate(as_list(record.get(key) or [], key)):
            mentions.append(_mention(span, f"{key}[{i}]", (len(mentions), text, turn), extra))
    arrows = [
        _arrow(relation, f"relations[{i}]", extra)
        for i, relation in enumerate(as_list(record.get("relations") or [], "relations"))
    ]
    entities, facts = pin(mentions, arrows)
    meta = unknown(record, FIELDS)
    if OWN in meta:
        raise BadDocument("this name is reserved for the notes of the reader. Rename the field.", field=OWN)
    if extra:
        meta[OWN] = extra
    return Document(
        id=own_id(record, reading.default_id(line)),
        text=text,
        mentions=tuple(mentions),
        entities=entities,
        facts=facts,
        meta=meta,
    )


def _mention(value: Any, where: str, context: tuple[int, str, Turn], extra: dict[str, dict[str, Any]]) -> Mention:
    index, text, turn = context
    if isinstance(value, list):
        if len(value) != 3:
            raise wrong(value, where, "a span [start, end, label]")
        id, label, start, end = f"m{index}", as_str(value[2], where), as_int(value[0], where), as_int(value[1], where)
    else:
        record = as_dict(value, where)
        id = _id(record, "id", where)
        label = get_str(record, "label", where)
        start, end = get_int(record, "start_offset", where), get_int(record, "end_offset", where)
        if record.keys() - ENTITY:
            extra[f"entity {id}"] = unknown(record, ENTITY)
    if not 0 <= start < end:
        raise BadDocument(f"invalid offsets {start}:{end}; expected 0 <= start < end. Correct them.", field=where)
    try:
        start, end = turn(start), turn(end)
    except BadDocument as problem:
        raise BadDocument(str(problem), field=where) from None
    if end > len(text):
        raise BadDocument(
            f"the span {start}:{end} ends after the text, which has {count(len(text), 'character')}. Correct it. "
            f"If the file counts UTF-16 units, as JavaScript does, read it with --utf16.",
            field=where,
        )
    return Mention(id, start, end, text[start:end], label)


def _arrow(value: Any, where: str, extra: dict[str, dict[str, Any]]) -> Arrow:
    record = as_dict(value, where)
    arrow = Arrow(_id(record, "from_id", where), get_str(record, "type", where), _id(record, "to_id", where), where)
    if record.keys() - RELATION:
        extra[_key(arrow)] = unknown(record, RELATION)
    return arrow


def _id(record: dict[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else str(get_int(record, key, where))


def _key(arrow: Arrow) -> str:
    return f"relation {arrow.head} {arrow.relation} {arrow.tail}"


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document, in the form with relations."""
    write_json_lines(path, (_record(doc, options) for doc in documents))


def _record(doc: Document, options: Options) -> dict[str, Any]:
    turn = by_choice(doc.text, utf16=options.utf16, writing=True)
    extra = _extra(doc)
    numbers = [number_or_name(m.id) for m in doc.mentions]
    if not all(isinstance(number, int) for number in numbers):  # doccano takes only numbers
        numbers = list(range(len(numbers)))
    id = {m.id: number for m, number in zip(doc.mentions, numbers, strict=True)}
    entities = [
        {"id": id[m.id], "label": m.type, "start_offset": turn(m.start), "end_offset": turn(m.end),
         **extra.get(f"entity {m.id}", {})}
        for m in doc.mentions
    ]  # fmt: skip
    relations = [
        {"id": i, "from_id": id[a.head], "to_id": id[a.tail], "type": a.relation, **extra.get(_key(a), {})}
        for i, a in enumerate(arrows_of(doc))
    ]
    kept = unknown(doc.meta, FIELDS | {OWN})
    return {"id": number_or_name(doc.id), "text": doc.text, "entities": entities, "relations": relations, **kept}


def _extra(doc: Document) -> dict[str, dict[str, Any]]:
    extra = doc.meta.get(OWN)
    known = ENTITY | RELATION
    good = isinstance(extra, dict) and all(isinstance(v, dict) and not v.keys() & known for v in extra.values())
    return dict(extra) if good else {}  # type: ignore[arg-type]


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what spans and relations between them cannot hold."""
    counted = losses(doc, HOLDS)
    counted.update(entity_losses(doc))
    counted["meta"] += len(FIELDS & doc.meta.keys()) + (OWN in doc.meta and not _extra(doc))
    return +counted


def fits(head: Head) -> bool:
    """Whether a line has a text and spans that have a start_offset or are [start, end, label]."""
    record = head.record
    if not isinstance(record, dict) or not isinstance(record.get("text", record.get("data")), str):
        return False
    for key in SPANS:
        spans = record.get(key)
        if isinstance(spans, list) and spans:
            return isinstance(spans[0], dict) and "start_offset" in spans[0] or _is_triple(spans[0])
    if isinstance(record.get("entities"), list):
        return isinstance(record.get("relations"), list) or not {"Comments", "comments"}.isdisjoint(record)
    return any(isinstance(record.get(key), list) for key in ("label", "labels")) and record.keys() <= USUAL


def _is_triple(span: Any) -> bool:
    return isinstance(span, list) and len(span) == 3 and isinstance(span[0], int) and isinstance(span[2], str)

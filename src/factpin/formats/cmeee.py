"""CMeEE: one JSON list (or one object per line), {"text", "entities": [{"start_idx", "end_idx", "type", "entity"}]}.

Ends are INCLUSIVE, as published. Copies with exclusive ends are in use as well; since `entity` has the characters, each
mention shows which it is, and a note counts those that are exclusive. Inclusive ends are written. A record is one
text; further fields are kept in meta, those of entities in meta["entities"] by their position: {"0": {…}}.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Document, Mention
from factpin.documents.fields import as_dict, get_int, get_list, get_str
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import list_or_lines, own_id, unknown, write_list_or_lines
from factpin.formats._writing import losses
from factpin.words import count

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "meta"})
ENDING = ".json"
FIELDS = ("id", "text", "entities")
ENTITY = ("start_idx", "end_idx", "type", "entity")


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per record."""
    return list_or_lines(reading, lambda record, line: _document(record, line, reading))


def _document(value: Any, line: int, reading: ReadContext) -> Document:
    record = as_dict(value, "")
    text, id = get_str(record, "text"), own_id(record, reading.default_id(line))
    extra: dict[str, Any] = {}
    mentions, exclusive = [], 0
    for i, item in enumerate(get_list(record, "entities", default=[])):
        where = f"entities[{i}]"
        entity = as_dict(item, where)
        start, last = get_int(entity, "start_idx", where), get_int(entity, "end_idx", where)
        surface = get_str(entity, "entity", where, default=text[start : last + 1] if 0 <= start <= last else "")
        end = last if 0 <= start < last and text[start:last] == surface else last + 1
        exclusive += end == last
        if more := unknown(entity, ENTITY):
            extra[str(i)] = more
        mentions.append(Mention(f"m{i}", start, end, surface, get_str(entity, "type", where)))
    if exclusive:
        reading.note(
            "exclusive_end",
            line,
            id,
            f"{exclusive:,} of {count(len(mentions), 'mention')} with an exclusive end",
            exclusive,
        )
    meta = unknown(record, FIELDS) | ({"entities": extra} if extra else {})
    return Document(id=id, text=text, mentions=tuple(mentions), meta=meta)


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one list, or one line per document if the name ends in .jsonl."""
    write_list_or_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    extra = _extra(doc)
    entities = [
        extra.get(str(i), {}) | {"start_idx": m.start, "end_idx": m.end - 1, "type": m.type, "entity": m.text}
        for i, m in enumerate(doc.mentions)
    ]
    return unknown(doc.meta, FIELDS) | {"id": doc.id, "text": doc.text, "entities": entities}


def _extra(doc: Document) -> dict[str, dict[str, Any]]:
    """The further fields of entities by position; empty if meta holds something else under that name."""
    extra, places = doc.meta.get("entities"), {str(i) for i in range(len(doc.mentions))}
    if not isinstance(extra, dict) or not extra.keys() <= places:
        return {}
    fields = [item for item in extra.values() if isinstance(item, dict) and item and not item.keys() & {*ENTITY}]
    return extra if len(fields) == len(extra) else {}


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what CMeEE cannot hold."""
    lost = losses(doc, HOLDS)
    lost["meta"] += sum(key in doc.meta for key in FIELDS) - bool(_extra(doc))
    return +lost


def fits(head: Head) -> bool:
    """Whether the first record with entities has a text, and entities with start_idx and end_idx."""
    annotated = (record for record in (head.record, *head.more) if isinstance(record, dict) and record.get("entities"))
    record = next(annotated, {})
    entities = record.get("entities")
    if not isinstance(record.get("text"), str) or not isinstance(entities, list):
        return False
    return all(isinstance(e, dict) and {"start_idx", "end_idx"} <= e.keys() for e in entities)

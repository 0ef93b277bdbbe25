"""ELEVANT: entity linking, one JSON object per line: text, labels: [{"span": [start, end], "entity_id", "name", …}].

Labels with the same entity_id are one entity. An id such as Q42 is its link; one that starts with Unknown stands for an
entity that is not in the knowledge base, and anything else (DATETIME, QUANTITY) for a mention without an entity.
Further fields of a label (coref, parent, optional) are kept in meta["labels"], in the order of the labels.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from factpin.documents import Document, Entity, Mention, canonical
from factpin.documents.fields import as_dict, as_int, as_list, each, get_list, get_str, wrong
from factpin.errors import BadDocument
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import number_or_name, own_id, unknown
from factpin.formats._writing import losses, write_json_lines

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "clusters", "entities", "names", "links", "meta"})
ENDING = ".jsonl"
FIELDS = {"id", "text", "labels"}
LABEL = {"id", "span", "entity_id", "name", "type"}
NOTHING = "Unknown"  # the name of an entity that has none, and the start of the id of one that is not known
OUTSIDE = "NIL"  # the id of a mention that belongs to no entity
_LINK = re.compile(r"[A-Za-z]*[0-9]+|https?://\S+")


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per line, with its mentions in the order of the labels."""
    return reading.json_lines(lambda record, line: _document(record, reading.default_id(line)))


def _document(value: Any, default_id: str) -> Document:
    record = as_dict(value, "")
    text = get_str(record, "text")
    labels = each(get_list(record, "labels"), "labels", lambda label, _: as_dict(label, ""))
    mentions, members, more = [], dict[str, list[int]](), []
    for i, label in enumerate(labels):
        start, end = _span(label, f"labels[{i}]")
        mentions.append(Mention(f"m{i}", start, end, text[start:end], get_str(label, "type", default="")))
        id = get_str(label, "entity_id", f"labels[{i}]")
        if id.startswith(NOTHING) or _LINK.fullmatch(id):
            members.setdefault(id, []).append(i)
        more.append(unknown(label, LABEL))
    entities = [_entity(f"e{n}", id, at, labels, mentions) for n, (id, at) in enumerate(members.items())]
    meta = unknown(record, FIELDS)
    if any(more):
        meta["labels"] = more
    return Document(own_id(record, default_id), text, mentions=tuple(mentions), entities=tuple(entities), meta=meta)


def _span(label: dict[str, Any], where: str) -> tuple[int, int]:
    place = as_list(label.get("span"), f"{where}.span")
    if len(place) != 2:
        raise wrong(place, f"{where}.span", "a pair [start, end]")
    return as_int(place[0], where), as_int(place[1], where)


def _entity(id: str, link: str, at: list[int], labels: list[dict[str, Any]], mentions: list[Mention]) -> Entity:
    name = get_str(labels[at[0]], "name", default="")
    known = not link.startswith(NOTHING)
    return Entity(
        id, tuple(mentions[i].id for i in at), mentions[at[0]].type, "" if name == NOTHING else name, link * known
    )


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document."""
    write_json_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    owner = {id: (n, entity) for n, entity in enumerate(doc.entities) for id in entity.mentions}
    kept = doc.meta.get("labels")
    more = kept if isinstance(kept, list) and len(kept) == len(doc.mentions) else [{}] * len(doc.mentions)
    labels = []
    for i, mention in enumerate(doc.mentions):
        label: dict[str, Any] = {"id": i, "span": [mention.start, mention.end]}
        if mention.id in owner:
            n, entity = owner[mention.id]
            label |= {"entity_id": entity.link or f"{NOTHING}{n}", "name": entity.name or NOTHING}
        else:
            outside = mention.type if mention.type.isalpha() and not mention.type.startswith(NOTHING) else OUTSIDE
            label |= {"entity_id": outside, "name": NOTHING}
        extra = more[i] if isinstance(more[i], dict) else {}
        labels.append({**label, "type": mention.type, **unknown(extra, LABEL)})
    meta = unknown(doc.meta, FIELDS)
    return {"id": number_or_name(doc.id), **meta, "text": doc.text, "labels": labels}


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what labels cannot hold, such as a mention of two entities."""
    counted = losses(doc, HOLDS)
    counted["meta"] += len((FIELDS - {"labels"}) & doc.meta.keys())
    if not +counted:
        try:
            back = _document(_record(doc), doc.id)
        except BadDocument:
            return Counter({"meta": 1})
        if canonical(replace(back, id=doc.id, sentences=doc.sentences)) != canonical(doc):
            counted["meta" if back.meta != doc.meta else "entities"] += 1
    return +counted


def fits(head: Head) -> bool:
    """Whether a line has a text and labels with a span and an entity."""
    record = head.record
    if not isinstance(record, dict) or head.is_list or not isinstance(record.get("text"), str):
        return False
    labels = record.get("labels")
    if not isinstance(labels, list) or not labels:
        return False
    return all(isinstance(label, dict) and {"span", "entity_id"} <= label.keys() for label in labels)

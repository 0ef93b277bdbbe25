"""spaCy: documents from Doc.to_json, as one JSON list or one per line. Offsets are characters, ends are exclusive.

    {"text", "ents": [{"start", "end", "label", "kb_id"}], "sents": [{"start", "end"}],
     "spans": {key: [{"start", "end", "label", "kb_id"}]}, "tokens": [{"id", "start", "end", …}], "cats", "_", …}
    [text, {"entities": [[start, end, label], …]}]                       the training style, only read

Entities and spans become mentions. Mentions that do not overlap are written as "ents", the others as spans["sc"], and a
mention that was read from another group goes back there. A kb_id becomes the link of an entity with this mention only.
Token borders are kept in meta["tokens"] as [start, end]; other fields of the tokens are written back.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Document, Entity, Mention, Span
from factpin.documents.fields import as_dict, as_list, as_str, get_int, get_str, wrong
from factpin.errors import BadDocument
from factpin.formats._guess import Head
from factpin.formats._pinned import entity_losses
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import list_or_lines, own_id, unknown, write_list_or_lines
from factpin.formats._writing import losses, overlapping
from factpin.words import count

HOLDS = frozenset({"sentences", "mentions", "types", "overlaps", "same spans", "links", "meta"})
ENDING = ".json"
FIELDS = {"id", "text", "ents", "sents", "spans", "tokens"}
SPAN = {"start", "end", "label", "kb_id"}
OWN = "spacy"  # what the reader adds to meta: places, extra, tokens
ENTS = "ents"
OTHERS = "sc"  # the key of spaCy's own span categorizer


def read(reading: ReadContext) -> Iterator[Document]:
    """Read every document: the entities first, then the span groups."""
    return list_or_lines(reading, lambda record, line: _document(record, reading.default_id(line)))


def _document(value: Any, default_id: str) -> Document:
    record = _from_training(value) if isinstance(value, list) else as_dict(value, "")
    text = get_str(record, "text")
    mentions: list[Mention] = []
    entities: list[Entity] = []
    places: list[str] = []
    extra: dict[str, Any] = {}
    for place, where, span in _spans(record):
        m = _mention(span, where, f"m{len(mentions)}", text)
        mentions.append(m)
        places.append(place)
        link = get_str(span, "kb_id", where, default="")
        if link:
            entities.append(Entity(f"e{len(entities)}", (m.id,), m.type, m.text, link))
        if span.keys() - SPAN:
            extra[m.id] = unknown(span, SPAN)
    usual = _usual_places(mentions)
    own = {
        "places": {m.id: place for m, place in zip(mentions, places, strict=True) if usual[m.id] != place},
        "extra": extra,
    }
    return Document(
        id=own_id(record, default_id),
        text=text,
        sentences=tuple(Span(*_borders(sent, f"sents[{i}]")) for i, sent in enumerate(_list(record, "sents"))),
        mentions=tuple(mentions),
        entities=tuple(entities),
        meta=_meta(record, own),
    )


def _from_training(value: list[Any]) -> dict[str, Any]:
    """Convert [text, {"entities": …}] to the form of Doc.to_json."""
    if len(value) != 2:
        raise wrong(value, "", 'a pair [text, {"entities": …}]')
    record = dict(as_dict(value[1], "[1]"))
    if not record.keys().isdisjoint({"text", ENTS}):
        raise BadDocument(
            "expected a pair [text, {'entities': […]}], with the text first. Correct the pair.", field="[1]"
        )
    ents = []
    for i, span in enumerate(as_list(record.pop("entities", None) or [], "entities")):
        where = f"entities[{i}]"
        parts = as_list(span, where)
        if len(parts) not in (3, 4):
            raise wrong(span, where, "[start, end, label]")
        ents.append(dict(zip(("start", "end", "label", "kb_id"), parts, strict=False)))
    return {"text": as_str(value[0], "[0]"), **record, ENTS: ents}


def _spans(record: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(group, field, span) of the entities and of every span group."""
    for i, span in enumerate(_list(record, ENTS)):
        yield ENTS, f"{ENTS}[{i}]", as_dict(span, f"{ENTS}[{i}]")
    for key, spans in as_dict(record.get("spans") or {}, "spans").items():
        for i, span in enumerate(as_list(spans, f"spans.{key}")):
            yield f"spans.{key}", f"spans.{key}[{i}]", as_dict(span, f"spans.{key}[{i}]")


def _mention(span: dict[str, Any], where: str, id: str, text: str) -> Mention:
    start, end = _borders(span, where)
    if not 0 <= start < end <= len(text):
        raise BadDocument(
            f"the span {start}:{end} is not inside the text, which has {count(len(text), 'character')}. Correct it.",
            field=where,
        )
    return Mention(id, start, end, text[start:end], get_str(span, "label", where, default=""))


def _borders(value: Any, where: str) -> tuple[int, int]:
    record = as_dict(value, where)
    return get_int(record, "start", where), get_int(record, "end", where)


def _list(record: dict[str, Any], key: str) -> list[Any]:
    return as_list(record.get(key) or [], key)


def _meta(record: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    meta = unknown(record, FIELDS)
    if OWN in meta:
        raise BadDocument("this name is reserved for the notes of the reader. Rename the field.", field=OWN)
    tokens = [as_dict(token, f"tokens[{i}]") for i, token in enumerate(_list(record, "tokens"))]
    if tokens:
        meta["tokens"] = [list(_borders(token, f"tokens[{i}]")) for i, token in enumerate(tokens)]
        if tokens != _plain_tokens(meta["tokens"]):
            own["tokens"] = tokens
    own = {key: part for key, part in own.items() if part}
    return meta | ({OWN: own} if own else {})


def _plain_tokens(borders: list[list[int]]) -> list[dict[str, int]]:
    return [{"id": i, "start": start, "end": end} for i, (start, end) in enumerate(borders)]


def _usual_places(mentions: Iterable[Mention]) -> dict[str, str]:
    """The default group of each mention: entities in spaCy must not overlap."""
    mentions = list(mentions)
    others = {m.id for m in overlapping(mentions)}
    return {m.id: f"spans.{OTHERS}" if m.id in others else ENTS for m in mentions}


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one list item per document."""
    write_list_or_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    own = _own(doc)
    link = {e.mentions[0]: e.link for e in doc.entities if e.link}
    places = _usual_places(doc.mentions) | own.get("places", {})
    ents: list[dict[str, Any]] = []
    spans: dict[str, list[dict[str, Any]]] = {}
    for m in doc.mentions:
        span = {"start": m.start, "end": m.end, "label": m.type, **own.get("extra", {}).get(m.id, {})}
        if m.id in link:
            span["kb_id"] = link[m.id]
        place = places[m.id]
        (ents if place == ENTS else spans.setdefault(place.removeprefix("spans."), [])).append(span)
    record: dict[str, Any] = {"id": doc.id, "text": doc.text, ENTS: ents}
    if doc.sentences:
        record["sents"] = [{"start": start, "end": end} for start, end in doc.sentences]
    if spans:
        record["spans"] = spans
    borders = _token_borders(doc)
    if borders:
        record["tokens"] = own.get("tokens") or _plain_tokens(borders)
    return record | unknown(doc.meta, FIELDS | {OWN})


def _token_borders(doc: Document) -> list[list[int]]:
    borders = doc.meta.get("tokens")
    good = isinstance(borders, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(type(part) is int for part in pair) for pair in borders
    )
    return list(borders) if good else []  # type: ignore[arg-type]


def _own(doc: Document) -> dict[str, Any]:
    """What the reader kept of the record; empty if meta has something else under that name."""
    own = doc.meta.get(OWN)
    kinds = {"places": dict, "extra": dict, "tokens": list}
    if not isinstance(own, dict) or not all(isinstance(part, kinds.get(key, ())) for key, part in own.items()):
        return {}
    good = all(isinstance(place, str) for place in own.get("places", {}).values())
    good &= all(isinstance(part, dict) and not part.keys() & SPAN for part in own.get("extra", {}).values())
    good &= [[t.get("start"), t.get("end")] for t in own.get("tokens", []) if isinstance(t, dict)] == (
        _token_borders(doc) if "tokens" in own else []
    )
    return own if good else {}


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what spans without relations cannot hold. Of an entity, only the link is written."""
    counted = losses(doc, HOLDS)
    counted["entities"] = sum(not e.link for e in doc.entities)
    counted.update(entity_losses(doc))
    clashes = len((FIELDS - {"tokens"}) & doc.meta.keys()) + (OWN in doc.meta and not _own(doc))
    counted["meta"] += clashes + ("tokens" in doc.meta and not _token_borders(doc))
    return +counted


def fits(head: Head) -> bool:
    """Whether it is a text with ents, spans by key or tokens with borders, or a pair of a text and its entities."""
    record = head.record
    if record is None and head.is_list:
        return _is_pair(head)
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return False
    if isinstance(record.get(ENTS), list) or isinstance(record.get("spans"), dict):
        return True
    tokens = record.get("tokens")
    return isinstance(tokens, list) and bool(tokens) and isinstance(tokens[0], dict) and "start" in tokens[0]


def _is_pair(head: Head) -> bool:
    beginning = "\n".join(head.lines).lstrip()
    if beginning[1:].lstrip().startswith("["):
        beginning = beginning[1:].lstrip()
    try:
        pair = json.JSONDecoder().raw_decode(beginning)[0]
    except (ValueError, RecursionError):
        return False
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], dict) and "entities" in pair[1]

"""DuEE 1.0: one JSON object per line (or one JSON list), {"id", "text", "event_list": […]}. Offsets are characters.

    {"event_type", "trigger": str, "trigger_start_index": int, "class": str,
     "arguments": [{"role", "argument": str, "argument_start_index": int, "alias": [str, …]}]}

An argument is a start and a string; a record in which text[start:start + len(argument)] != argument is rejected.
Arguments with the same span are one mention. It has no type, because DuEE has only types of events. An event may have
no trigger. `class` is written as the part of the event type before the first "-", `alias` as an empty list. Other
values of these, and other fields, are kept in meta["duee"] by path and written back.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Argument, Document, Event, Mention
from factpin.documents.fields import as_dict, each, get_int, get_list, get_str
from factpin.errors import BadDocument, OffsetMismatch
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import list_or_lines, own_id, unknown
from factpin.formats._writing import losses, write_json_lines

HOLDS = frozenset({"mentions", "overlaps", "events", "meta"})
ENDING = ".json"
FIELDS = {"id", "text", "event_list"}
EVENT = {"event_type", "trigger", "trigger_start_index", "arguments"}
ARGUMENT = {"role", "argument", "argument_start_index"}
OWN = "duee"  # the key of meta for fields by path; removed with the annotation (documents/notes.py)


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per record, with mentions in the order of the text and events in that of the file."""
    return list_or_lines(reading, lambda record, line: _document(record, reading.default_id(line)))


class _Record:
    """A record being read: its spans, each with the field where it occurs first, and fields to keep in meta."""

    def __init__(self) -> None:
        self.field_of: dict[tuple[int, str], str] = {}  # (start, surface) -> field
        self.extra: dict[str, dict[str, Any]] = {}

    def add(self, start: int, surface: str, field: str) -> tuple[int, str]:
        if start < 0 or not surface:
            raise BadDocument(
                f"expected a start of 0 or more and a string, got {start} and {surface!r}. Correct them, or remove "
                f"the argument."
            )
        self.field_of.setdefault((start, surface), field)
        return start, surface

    def keep(self, record: dict[str, Any], known: set[str], usual: dict[str, Any], field: str) -> None:
        """Keep what differs from the default."""
        rest = {key: value for key, value in unknown(record, known).items() if usual.get(key, ...) != value}
        if rest:
            self.extra[field] = rest


def _document(value: Any, default_id: str) -> Document:
    record = as_dict(value, "")
    text = get_str(record, "text")
    this = _Record()
    found = each(get_list(record, "event_list", default=[]), "event_list", lambda item, i: _event(item, i, this))
    order = sorted(this.field_of, key=lambda span: (span[0], len(span[1])))
    ids = {span: f"m{i}" for i, span in enumerate(order)}
    meta = unknown(record, FIELDS)
    if OWN in meta:
        raise BadDocument("this name is reserved for the notes of the reader. Rename the field.", field=OWN)
    try:
        return Document(
            id=own_id(record, default_id),
            text=text,
            mentions=tuple([Mention(id, start, start + len(surface), surface) for (start, surface), id in ids.items()]),
            events=tuple(
                Event(f"v{i}", type, trigger and ids[trigger], tuple(Argument(role, ids[a]) for role, a in arguments))
                for i, (type, trigger, arguments) in enumerate(found)
            ),
            meta=meta | ({OWN: this.extra} if this.extra else {}),
        )
    except OffsetMismatch as problem:
        places = {f"mentions[{i}]": this.field_of[span] for i, span in enumerate(order)}
        problem.field = places.get(problem.field, problem.field)
        raise


_Place = tuple[int, str]  # start, surface


def _event(value: Any, i: int, this: _Record) -> tuple[str, _Place | None, list[tuple[str, _Place]]]:
    where = f"event_list[{i}]"
    event = as_dict(value, "")
    type = get_str(event, "event_type")
    trigger = None
    if event.get("trigger") is not None:
        trigger = this.add(get_int(event, "trigger_start_index"), get_str(event, "trigger"), f"{where}.trigger")
    this.keep(event, EVENT, {"class": _class(type)}, where)

    def argument(item: Any, j: int) -> tuple[str, _Place]:
        field = f"{where}.arguments[{j}]"
        record = as_dict(item, "")
        this.keep(record, ARGUMENT, {"alias": []}, field)
        start, surface = get_int(record, "argument_start_index"), get_str(record, "argument")
        return get_str(record, "role"), this.add(start, surface, field)

    return type, trigger, each(get_list(event, "arguments", default=[]), "arguments", argument)


def _class(type: str) -> str:
    return type.split("-")[0]


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document."""
    write_json_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    extra = _extra(doc)
    mentions = {m.id: m for m in doc.mentions}
    event_list = []
    for i, event in enumerate(doc.events):
        item: dict[str, Any] = {"event_type": event.type}
        if event.trigger is not None:
            m = mentions[event.trigger]
            item |= {"trigger": m.text, "trigger_start_index": m.start}
        item["arguments"] = [
            {"argument_start_index": mentions[a.mention].start, "role": a.role, "argument": mentions[a.mention].text}
            | {"alias": []}
            | extra.get(f"event_list[{i}].arguments[{j}]", {})
            for j, a in enumerate(event.arguments)
            if a.mention is not None
        ]
        event_list.append(item | {"class": _class(event.type)} | extra.get(f"event_list[{i}]", {}))
    return {"text": doc.text, "id": doc.id, "event_list": event_list, **unknown(doc.meta, FIELDS | {OWN})}


def _extra(doc: Document) -> dict[str, dict[str, Any]]:
    """What the reader kept, by path; empty if meta has something else under that name."""
    own = doc.meta.get(OWN)
    if not isinstance(own, dict):
        return {}
    good = all(isinstance(fields, dict) and not fields.keys() & (EVENT | ARGUMENT) for fields in own.values())
    return own if good else {}


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what a list of events cannot hold, and the mentions that are in no event."""
    counted = losses(doc, HOLDS)
    used = {id for v in doc.events for id in (v.trigger, *(a.mention for a in v.arguments))}
    counted["mentions outside events"] = sum(m.id not in used for m in doc.mentions)
    counted["arguments that are events"] = sum(a.event is not None for v in doc.events for a in v.arguments)
    counted["meta"] += len(FIELDS & doc.meta.keys())
    if OWN in doc.meta and _document(_record(doc), "").meta.get(OWN) != doc.meta[OWN]:
        counted["meta"] += 1
    return +counted


def fits(head: Head) -> bool:
    """Whether it is a record with a text and a list of events."""
    record = head.record
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return False
    return isinstance(record.get("event_list"), list)

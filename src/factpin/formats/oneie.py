"""OneIE: one sentence per line, as JSON. Positions count tokens, ends are EXCLUSIVE; spans may be nested (GENIA).

    {"doc_id", "sent_id", "tokens": [token], "entity_mentions": [{"id", "start", "end", "entity_type", "text"}],
     "relation_mentions": [{"relation_type", "arguments": [{"entity_id", "role": "Arg-1"}, {…, "role": "Arg-2"}]}],
     "event_mentions": [{"id", "event_type", "trigger": {"start", "end", "text"},
                         "arguments": [{"entity_id", "role"}]}]}

The document's id is sent_id; doc_id and unknown fields are kept in meta. Mentions may have no id (as in GENIA). Arg-1
is the head. A trigger becomes a mention with the type of the event. Two additions to OneIE are written: a trigger that
is also an entity mention, or has another type, refers to it by "id"; an argument that is an event has "event_id"
instead of "entity_id". Further fields of a part (mention_type, relation_subtype) are in meta["extra"] by path.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin.documents import Argument, Document, Event, Mention, Span
from factpin.documents.fields import as_dict, as_int, as_str, get_int, get_list, get_str, wrong
from factpin.errors import BadDocument
from factpin.formats import _words
from factpin.formats._guess import Head
from factpin.formats._pinned import Arrow, arrows_of, entity_losses, pin
from factpin.formats._reading import Options, ReadContext
from factpin.formats._writing import losses, write_json_lines

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "facts", "pins", "events", "meta"})
ENDING = ".jsonl"
FIELDS = ("sent_id", "tokens", "entity_mentions", "relation_mentions", "event_mentions")
MENTION = ("id", "start", "end", "entity_type", "text")
RELATION = ("relation_type", "arguments")
EVENT = ("id", "event_type", "trigger", "arguments")
HEAD, TAIL = "Arg-1", "Arg-2"


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per line."""
    return reading.json_lines(lambda record, line: _document(record, line, reading))


@dataclass
class _Record:
    """A record being read."""

    reading: ReadContext
    line: int
    id: str
    text: str
    borders: list[tuple[int, int]]
    mentions: list[Mention] = field(default_factory=list)
    known: set[str] = field(default_factory=set)  # ids of mentions
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, record: dict[str, Any], type: str, where: str) -> Mention:
        """Add the mention of a span with start, end and optionally id and text."""
        first, last = get_int(record, "start", where), get_int(record, "end", where)
        if not 0 <= first < last <= len(self.borders):
            raise wrong([first, last], where, f"start and end of tokens in a sentence of {len(self.borders)}")
        start, end = self.borders[first][0], self.borders[last - 1][1]
        id = _name(record.get("id"), f"{where}.id") or self.free_id()
        if id in self.known:
            raise BadDocument(f"the id {id!r} is used twice; expected unique ids. Rename one.", field=f"{where}.id")
        mention = Mention(id, start, end, self.text[start:end], type)
        text = record.get("text")
        if isinstance(text, str) and "".join(text.split()) != "".join(mention.text.split()):
            self.reading.note(
                "text_differs", self.line, self.id, f"{where}: the text is {text!r}, the tokens are {mention.text!r}"
            )
        self.mentions.append(mention)
        self.known.add(id)
        return mention

    def free_id(self) -> str:
        number = len(self.mentions)
        while f"m{number}" in self.known:
            number += 1
        return f"m{number}"

    def keep(self, record: dict[str, Any], fields: tuple[str, ...], where: str) -> None:
        """Keep the fields that have no noun."""
        unknown = {key: value for key, value in record.items() if key not in fields}
        if unknown:
            self.extra[where] = unknown


def _document(value: Any, line: int, reading: ReadContext) -> Document:
    record = as_dict(value, "")
    text, borders = _words.join([as_str(token, f"tokens[{i}]") for i, token in enumerate(get_list(record, "tokens"))])
    this = _Record(reading, line, _name(record.get("sent_id"), "sent_id") or reading.default_id(line), text, borders)
    for i, item in enumerate(get_list(record, "entity_mentions", default=[])):
        where = f"entity_mentions[{i}]"
        mention = as_dict(item, where)
        this.add(mention, get_str(mention, "entity_type", where, default=""), where)
        this.keep(mention, MENTION, where)
    relations = enumerate(get_list(record, "relation_mentions", default=[]))
    arrows = [_arrow(item, f"relation_mentions[{i}]", this) for i, item in relations]
    entities, facts = pin(this.mentions, arrows)
    events = [_event(item, i, this) for i, item in enumerate(get_list(record, "event_mentions", default=[]))]
    return Document(
        id=this.id,
        text=text,
        sentences=(Span(0, len(text)),) if text else (),
        mentions=tuple(this.mentions),
        entities=entities,
        facts=facts,
        events=tuple(events),
        meta=_words.reader_meta(record, FIELDS, _words.token_meta(text, borders), this.extra),
    )


def _name(value: Any, where: str) -> str:
    """An id, which may be a number; "" if there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else str(as_int(value, where))


def _arrow(value: Any, where: str, this: _Record) -> Arrow:
    record = as_dict(value, where)
    arguments = [as_dict(a, f"{where}.arguments") for a in get_list(record, "arguments", where)]
    if len(arguments) != 2:
        raise wrong(record["arguments"], f"{where}.arguments", f"two arguments, {HEAD} and {TAIL}")
    if arguments[0].get("role") == TAIL and arguments[1].get("role") == HEAD:
        arguments.reverse()
    head, tail = (_name(a.get("entity_id"), f"{where}.arguments") for a in arguments)
    roles = [a.get("role") for a in arguments]
    this.keep(record | ({"roles": roles} if roles != [HEAD, TAIL] else {}), RELATION, where)
    return Arrow(head, get_str(record, "relation_type", where), tail, where)


def _event(value: Any, i: int, this: _Record) -> Event:
    where = f"event_mentions[{i}]"
    record = as_dict(value, where)
    type = get_str(record, "event_type", where)
    trigger = None
    if record.get("trigger") is not None:
        span = as_dict(record["trigger"], f"{where}.trigger")
        same = _name(span.get("id"), f"{where}.trigger.id")
        trigger = same if same in this.known else this.add(span, type, f"{where}.trigger").id
    arguments = []
    for j, item in enumerate(get_list(record, "arguments", where, default=[])):
        place = f"{where}.arguments[{j}]"
        argument = as_dict(item, place)
        mention = _name(argument.get("entity_id"), place) or None
        event = _name(argument.get("event_id"), place) or None
        arguments.append(Argument(get_str(argument, "role", place, default=""), mention, event))
    this.keep(record, EVENT, where)
    return Event(_name(record.get("id"), f"{where}.id") or f"v{i}", type, trigger, tuple(arguments))


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document."""
    write_json_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    doc, borders, _ = _held(doc)
    tokens = {m.id: _words.token_span(borders, m.start, m.end) or (0, 0) for m in doc.mentions}
    mentions = {m.id: m for m in doc.mentions}
    triggers = _triggers(doc)

    def span(id: str) -> dict[str, Any]:
        return {"start": tokens[id][0], "end": tokens[id][1], "text": mentions[id].text}

    entity_mentions: list[dict[str, Any]] = []
    for m in doc.mentions:
        if m.id not in triggers:
            extra = _words.extra_of(doc, f"entity_mentions[{len(entity_mentions)}]")
            entity_mentions.append(extra | {"id": m.id} | span(m.id) | {"entity_type": m.type})
    events = []
    for i, event in enumerate(doc.events):
        item: dict[str, Any] = {"id": event.id, "event_type": event.type}
        if event.trigger is not None:
            item["trigger"] = span(event.trigger) | {"id": event.trigger}
        item["arguments"] = [
            {"entity_id": a.mention, "role": a.role} if a.event is None else {"event_id": a.event, "role": a.role}
            for a in event.arguments
        ]
        events.append(_words.extra_of(doc, f"event_mentions[{i}]") | item)
    return {
        "sent_id": doc.id,
        "tokens": [doc.text[start:end] for start, end in borders],
        "entity_mentions": entity_mentions,
        "relation_mentions": [_relation(arrow, i, doc) for i, arrow in enumerate(arrows_of(doc))],
        "event_mentions": events,
    } | _words.record_fields(doc, FIELDS)


def _relation(arrow: Arrow, i: int, doc: Document) -> dict[str, Any]:
    extra = dict(_words.extra_of(doc, f"relation_mentions[{i}]"))
    roles = extra.pop("roles", None)
    if not isinstance(roles, list) or len(roles) != 2:
        roles = [HEAD, TAIL]
    arguments = [{"entity_id": id, "role": role} for id, role in zip((arrow.head, arrow.tail), roles, strict=True)]
    return extra | {"relation_type": arrow.relation, "arguments": arguments}


def _triggers(doc: Document) -> set[str]:
    """Mentions that are only the trigger of one event and have its type: they are not entity mentions."""
    types = {m.id: m.type for m in doc.mentions}
    count = Counter(event.trigger for event in doc.events)
    used = {a.mention for event in doc.events for a in event.arguments}
    used.update(id for e in doc.entities for id in e.mentions)
    return {
        v.trigger
        for v in doc.events
        if v.trigger is not None and count[v.trigger] == 1 and types[v.trigger] == v.type and v.trigger not in used
    }


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what OneIE cannot hold."""
    return losses(doc, HOLDS) + _held(doc)[2]


def _held(doc: Document) -> tuple[Document, list[tuple[int, int]], Counter[str]]:
    """The part of the document that OneIE holds, its tokens, and what is lost."""
    whole = doc
    doc, borders, lost = _words.at_tokens(doc)
    places = {f"{key}[{i}]" for key, count in (("entity_mentions", len(doc.mentions)),
              ("relation_mentions", len(doc.facts)), ("event_mentions", len(doc.events)))
              for i in range(count)}  # fmt: skip
    lost += entity_losses(doc) + _words.lost_meta(doc, FIELDS, places)
    if len(doc.mentions) < len(whole.mentions) and "extra" in doc.meta:
        doc, more = _words.without_extra(doc)  # its positions are no longer valid
        lost += more
    return doc, borders, +lost


def fits(head: Head) -> bool:
    """Whether the lines are objects with tokens and entity_mentions."""
    record = head.record
    return not head.is_list and isinstance(record, dict) and {"tokens", "entity_mentions"} <= record.keys()

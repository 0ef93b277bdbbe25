"""Convert documents to and from JSON: one line of a native file.

Empty fields are left out. Unknown fields are kept: those of the record in `meta`, those of a mention, entity, fact or
event in `meta.extra` by place.
"""

from typing import Any

from factpin.documents.fields import (
    as_dict,
    as_int,
    as_list,
    as_str,
    get_int,
    get_list,
    get_score,
    get_str,
    wrong,
)
from factpin.documents.nouns import (
    Argument,
    Coverage,
    Document,
    Entity,
    Event,
    Evidence,
    Fact,
    Mention,
    Qualifier,
    Span,
    Unread,
)
from factpin.errors import BadDocument

FIELDS = {"id", "text", "language", "sentences", "mentions", "entities", "facts", "events", "coverage", "meta"}
MENTION = {"id", "start", "end", "text", "type", "score"}
ENTITY = {"id", "type", "name", "mentions", "link"}
FACT = {"head", "relation", "tail", "head_mention", "tail_mention", "score", "evidence", "assertion", "qualifiers",
        "cue"}  # fmt: skip
EVENT = {"id", "type", "trigger", "arguments", "score", "assertion", "cue"}


def to_json(doc: Document) -> dict[str, Any]:
    """The JSON record of a document, without empty fields."""
    record: dict[str, Any] = {"id": doc.id, "text": doc.text}
    if doc.language:
        record["language"] = doc.language
    if doc.sentences:
        record["sentences"] = [list(span) for span in doc.sentences]
    if doc.mentions:
        record["mentions"] = [mention_to_json(m) for m in doc.mentions]
    if doc.entities:
        record["entities"] = [
            _filled(id=e.id, type=e.type, name=e.name, mentions=list(e.mentions), link=e.link) for e in doc.entities
        ]
    if doc.facts:
        record["facts"] = [_fact_to_json(fact) for fact in doc.facts]
    if doc.events:
        record["events"] = [_event_to_json(event) for event in doc.events]
    if doc.coverage is not None:
        unread = [{"start": u.start, "end": u.end, "reason": u.reason} for u in doc.coverage.unread]
        record["coverage"] = {"read": [list(span) for span in doc.coverage.read], "unread": unread}
        if doc.coverage.notes:
            record["coverage"]["notes"] = list(doc.coverage.notes)
    if doc.meta:
        record["meta"] = dict(doc.meta)
    return record


def mention_to_json(m: Mention) -> dict[str, Any]:
    """The JSON record of a mention."""
    record: dict[str, Any] = {"id": m.id, "start": m.start, "end": m.end, "text": m.text}
    if m.type:
        record["type"] = m.type
    if m.score is not None:
        record["score"] = m.score
    return record


def _fact_to_json(fact: Fact) -> dict[str, Any]:
    return _filled(
        head=fact.head,
        relation=fact.relation,
        tail=fact.tail,
        head_mention=fact.head_mention,
        tail_mention=fact.tail_mention,
        score=fact.score,
        evidence=[_present(sentence=e.sentence, start=e.start, end=e.end) for e in fact.evidence],
        assertion=fact.assertion,
        cue=fact.cue and list(fact.cue),
        qualifiers=[_filled(role=q.role, entity=q.entity, mention=q.mention) for q in fact.qualifiers],
    )


def _event_to_json(event: Event) -> dict[str, Any]:
    arguments = [_present(role=a.role, mention=a.mention, event=a.event) for a in event.arguments]
    return _filled(
        id=event.id,
        type=event.type,
        trigger=event.trigger,
        arguments=arguments,
        score=event.score,
        assertion=event.assertion,
        cue=event.cue and list(event.cue),
    )


def _filled(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value not in (None, "", [])}


def _present(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def from_json(record: Any, default_id: str = "") -> Document:
    """The document of a JSON record. `default_id` is used if the record has no id."""
    record = as_dict(record, "")
    extra: dict[str, dict[str, Any]] = {}
    mentions = tuple(mention_from_json(m, i, extra) for i, m in enumerate(get_list(record, "mentions", default=[])))
    entities = tuple(_entity(e, i, extra) for i, e in enumerate(get_list(record, "entities", default=[])))
    facts = tuple(_fact(f, i, extra) for i, f in enumerate(get_list(record, "facts", default=[])))
    events = tuple(_event(e, i, extra) for i, e in enumerate(get_list(record, "events", default=[])))
    return Document(
        id=_id(record, default_id),
        text=get_str(record, "text"),
        language=_optional_str(record, "language", ""),
        sentences=_spans(get_list(record, "sentences", default=[]), "sentences"),
        mentions=mentions,
        entities=entities,
        facts=facts,
        events=events,
        coverage=_coverage(record["coverage"]) if record.get("coverage") is not None else None,
        meta=_meta(record, extra),
    )


def _id(record: dict[str, Any], default: str) -> str:
    """The id of a document: a string, or an integer as in many corpora."""
    value = record.get("id", default or None)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return get_str(record, "id", default=default or None)


def mention_from_json(value: Any, index: int, extra: dict[str, dict[str, Any]]) -> Mention:
    """The mention of a JSON record. Unknown fields go to `extra`."""
    where = f"mentions[{index}]"
    record = as_dict(value, where)
    _keep_unknown(record, MENTION, where, extra)
    return Mention(
        id=get_str(record, "id", where, default=f"m{index}"),
        start=get_int(record, "start", where),
        end=get_int(record, "end", where),
        text=get_str(record, "text", where),
        type=get_str(record, "type", where, default=""),
        score=get_score(record, "score", where),
    )


def _entity(value: Any, index: int, extra: dict[str, dict[str, Any]]) -> Entity:
    where = f"entities[{index}]"
    record = as_dict(value, where)
    _keep_unknown(record, ENTITY, where, extra)
    return Entity(
        id=get_str(record, "id", where, default=f"e{index}"),
        mentions=tuple(as_str(m, f"{where}.mentions") for m in get_list(record, "mentions", where)),
        type=get_str(record, "type", where, default=""),
        name=get_str(record, "name", where, default=""),
        link=get_str(record, "link", where, default=""),
    )


def _fact(value: Any, index: int, extra: dict[str, dict[str, Any]]) -> Fact:
    where = f"facts[{index}]"
    record = as_dict(value, where)
    _keep_unknown(record, FACT, where, extra)
    return Fact(
        head=get_str(record, "head", where),
        relation=get_str(record, "relation", where),
        tail=get_str(record, "tail", where),
        head_mention=_optional_str(record, "head_mention", where),
        tail_mention=_optional_str(record, "tail_mention", where),
        score=get_score(record, "score", where),
        evidence=tuple(_evidence(e, f"{where}.evidence") for e in get_list(record, "evidence", where, default=[])),
        assertion=_optional_str(record, "assertion", where),
        qualifiers=tuple(_qualifier(q, where) for q in get_list(record, "qualifiers", where, default=[])),
        cue=_cue(record, where),
    )


def _evidence(value: Any, where: str) -> Evidence:
    record = as_dict(value, where)
    start, end = record.get("start"), record.get("end")
    return Evidence(
        sentence=get_int(record, "sentence", where),
        start=None if start is None else as_int(start, f"{where}.start"),
        end=None if end is None else as_int(end, f"{where}.end"),
    )


def _qualifier(value: Any, where: str) -> Qualifier:
    where = f"{where}.qualifiers"
    record = as_dict(value, where)
    return Qualifier(
        get_str(record, "role", where), get_str(record, "entity", where), _optional_str(record, "mention", where)
    )


def _event(value: Any, index: int, extra: dict[str, dict[str, Any]]) -> Event:
    where = f"events[{index}]"
    record = as_dict(value, where)
    _keep_unknown(record, EVENT, where, extra)
    arguments = []
    for a in get_list(record, "arguments", where, default=[]):
        a = as_dict(a, f"{where}.arguments")
        arguments.append(
            Argument(get_str(a, "role", where), _optional_str(a, "mention", where), _optional_str(a, "event", where))
        )
    return Event(
        id=get_str(record, "id", where, default=f"v{index}"),
        type=get_str(record, "type", where),
        trigger=_optional_str(record, "trigger", where),
        arguments=tuple(arguments),
        score=get_score(record, "score", where),
        assertion=_optional_str(record, "assertion", where),
        cue=_cue(record, where),
    )


def _cue(record: dict[str, Any], where: str) -> Span | None:
    return None if record.get("cue") is None else _spans([record["cue"]], f"{where}.cue")[0]


def _coverage(value: Any) -> Coverage:
    record = as_dict(value, "coverage")
    unread = []
    for u in get_list(record, "unread", "coverage", default=[]):
        u = as_dict(u, "coverage.unread")
        unread.append(Unread(get_int(u, "start", "coverage.unread"), get_int(u, "end", "coverage.unread"),
                             get_str(u, "reason", "coverage.unread", default="")))  # fmt: skip
    notes = tuple(as_str(note, "coverage.notes") for note in get_list(record, "notes", "coverage", default=[]))
    return Coverage(_spans(get_list(record, "read", "coverage", default=[]), "coverage.read"), tuple(unread), notes)


def _spans(values: list[Any], where: str) -> tuple[Span, ...]:
    spans = []
    for i, value in enumerate(values):
        pair = as_list(value, f"{where}[{i}]")
        if len(pair) != 2:
            raise wrong(value, f"{where}[{i}]", "a pair [start, end]")
        spans.append(Span(as_int(pair[0], f"{where}[{i}]"), as_int(pair[1], f"{where}[{i}]")))
    return tuple(spans)


def _optional_str(record: dict[str, Any], key: str, where: str) -> str | None:
    return None if record.get(key) is None else get_str(record, key, where)


def _keep_unknown(record: dict[str, Any], known: set[str], where: str, extra: dict[str, dict[str, Any]]) -> None:
    unknown = record.keys() - known
    if unknown:
        extra[where] = {key: record[key] for key in record if key in unknown}


def _meta(record: dict[str, Any], extra: dict[str, dict[str, Any]]) -> dict[str, Any]:
    meta = dict(as_dict(record.get("meta") or {}, "meta"))
    fresh = {key: value for key, value in record.items() if key not in FIELDS}
    if extra:
        fresh["extra"] = extra
    for key, value in fresh.items():
        if key in meta:
            raise BadDocument(
                f"the field {key!r} is both in the record and in its meta. Rename one of them.", field=key
            )
        meta[key] = value
    return meta

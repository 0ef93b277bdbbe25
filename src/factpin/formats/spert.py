"""SpERT: one sentence per record, as JSON (CoNLL04, ADE, SciERC as SpERT and its successors read them).

    [{"tokens": [token], "entities": [{"type", "start", "end"}], "relations": [{"type", "head", "tail"}], "orig_id"}]

Positions count tokens, ends are EXCLUSIVE. head and tail are positions in `entities`. The file is one JSON list, or one
record per line. The document's id is orig_id; further fields are kept in meta, those of an entity or relation in
meta["extra"] by path.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Document, Mention, Span
from factpin.documents.fields import as_dict, as_int, as_str, get_int, get_list, get_str, wrong
from factpin.formats import _words
from factpin.formats._guess import Head
from factpin.formats._pinned import Arrow, arrows_of, entity_losses, pin
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import list_or_lines, number_or_name, unknown, write_list_or_lines
from factpin.formats._writing import losses
from factpin.words import count

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "facts", "pins", "meta"})
ENDING = ".json"
FIELDS = ("orig_id", "tokens", "entities", "relations")
ENTITY = ("type", "start", "end")
RELATION = ("type", "head", "tail")


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per record."""
    return list_or_lines(reading, lambda record, line: _document(record, reading.default_id(line)))


def _document(value: Any, default_id: str) -> Document:
    record = as_dict(value, "")
    text, borders = _words.join([as_str(token, f"tokens[{i}]") for i, token in enumerate(get_list(record, "tokens"))])
    extra: dict[str, dict[str, Any]] = {}
    mentions = [
        _mention(item, i, text, borders, extra) for i, item in enumerate(get_list(record, "entities", default=[]))
    ]
    relations = get_list(record, "relations", default=[])
    arrows = [_arrow(item, i, len(mentions), extra) for i, item in enumerate(relations)]
    entities, facts = pin(mentions, arrows)
    id = record.get("orig_id")
    return Document(
        id=default_id if id is None else id if isinstance(id, str) else str(as_int(id, "orig_id")),
        text=text,
        sentences=(Span(0, len(text)),) if text else (),
        mentions=tuple(mentions),
        entities=entities,
        facts=facts,
        meta=_words.reader_meta(record, FIELDS, _words.token_meta(text, borders), extra),
    )


def _mention(
    value: Any, i: int, text: str, borders: list[tuple[int, int]], extra: dict[str, dict[str, Any]]
) -> Mention:
    where = f"entities[{i}]"
    record = as_dict(value, where)
    first, last = get_int(record, "start", where), get_int(record, "end", where)
    if not 0 <= first < last <= len(borders):
        raise wrong([first, last], where, f"start and end in a sentence of {count(len(borders), 'token')}")
    if more := unknown(record, ENTITY):
        extra[where] = more
    start, end = borders[first][0], borders[last - 1][1]
    return Mention(f"m{i}", start, end, text[start:end], get_str(record, "type", where))


def _arrow(value: Any, i: int, mentions: int, extra: dict[str, dict[str, Any]]) -> Arrow:
    where = f"relations[{i}]"
    record = as_dict(value, where)
    ends = get_int(record, "head", where), get_int(record, "tail", where)
    if not all(0 <= end < mentions for end in ends):
        raise wrong(list(ends), where, f"positions in a list of {count(mentions, 'entity')}")
    if more := unknown(record, RELATION):
        extra[where] = more
    return Arrow(f"m{ends[0]}", get_str(record, "type", where), f"m{ends[1]}", where)


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one list, or one line per document if the name ends in .jsonl."""
    write_list_or_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    doc, borders, _ = _held(doc)
    position = {m.id: i for i, m in enumerate(doc.mentions)}
    entities = []
    for i, m in enumerate(doc.mentions):
        start, end = _words.token_span(borders, m.start, m.end) or (0, 0)
        entities.append(_words.extra_of(doc, f"entities[{i}]") | {"type": m.type, "start": start, "end": end})
    relations = [
        _words.extra_of(doc, f"relations[{i}]")
        | {"type": arrow.relation, "head": position[arrow.head], "tail": position[arrow.tail]}
        for i, arrow in enumerate(arrows_of(doc))
    ]
    return {
        "tokens": [doc.text[start:end] for start, end in borders],
        "entities": entities,
        "relations": relations,
        "orig_id": number_or_name(doc.id),
    } | _words.record_fields(doc, FIELDS)


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what SpERT cannot hold."""
    return losses(doc, HOLDS) + _held(doc)[2]


def _held(doc: Document) -> tuple[Document, list[tuple[int, int]], Counter[str]]:
    """The part of the document that SpERT holds, its tokens, and what is lost."""
    whole = doc
    doc, borders, lost = _words.at_tokens(doc)
    places = {f"{key}[{i}]" for key, parts in (("entities", doc.mentions), ("relations", doc.facts))
              for i in range(len(parts))}  # fmt: skip
    lost += entity_losses(doc) + _words.lost_meta(doc, FIELDS, places)
    if len(doc.mentions) < len(whole.mentions) and "extra" in doc.meta:
        doc, more = _words.without_extra(doc)  # its positions are no longer valid
        lost += more
    return doc, borders, +lost


def fits(head: Head) -> bool:
    """Whether the records have tokens, and entities with a start and an end."""
    record = head.record
    if not isinstance(record, dict) or not isinstance(record.get("tokens"), list):
        return False
    entities = record.get("entities")
    return isinstance(entities, list) and all(isinstance(e, dict) and {"start", "end"} <= e.keys() for e in entities)

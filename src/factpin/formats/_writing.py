"""The basis of all writers: streaming JSON lines and lists, and counting what a format cannot hold.

A format declares which of FEATURES it can hold. `losses` counts everything else in a document. Ids are not content: a
format without ids renumbers, which is not a loss.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from factpin import files
from factpin.documents import Document, Entity, Mention
from factpin.errors import BadDocument

FEATURES = (
    "language",  # the document's language
    "sentences",  # the borders of more than one sentence
    "mentions",
    "types",  # of mentions
    "scores",  # of mentions, facts, events
    "overlaps",  # mentions that share characters with another
    "same spans",  # two mentions of one span, with different types or entities
    "clusters",  # entities with several mentions
    "entities",  # entities that no fact joins
    "names",  # an entity's name that differs from its first mention's text
    "links",  # of entities to a knowledge base
    "facts",
    "pins",  # which mentions of its entities a fact was said with
    "evidence",
    "assertions",
    "qualifiers",
    "events",
    "coverage",
    "meta",
)


def features(doc: Document) -> Counter[str]:
    """How much of each feature a document has."""
    seen: Counter[str] = Counter()
    seen["language"] = int(doc.language is not None)
    seen["sentences"] = len(doc.sentences) if len(doc.sentences) > 1 else 0
    seen["mentions"] = len(doc.mentions)
    seen["types"] = sum(bool(m.type) for m in doc.mentions)
    scores = [item.score for items in (doc.mentions, doc.facts, doc.events) for item in items]
    seen["scores"] = len(scores) - scores.count(None)
    seen["overlaps"] = len(overlapping(doc.mentions))
    seen["same spans"] = len(doc.mentions) - len({(m.start, m.end) for m in doc.mentions})
    if doc.entities:
        text = {m.id: m.text for m in doc.mentions}
        used = {id for f in doc.facts for id in (f.head, f.tail, *(q.entity for q in f.qualifiers))}
        seen["clusters"] = sum(len(e.mentions) > 1 for e in doc.entities)
        seen["entities"] = sum(e.id not in used for e in doc.entities)
        seen["names"] = sum(bool(e.name) and e.name != text[e.mentions[0]] for e in doc.entities)
        seen["links"] = sum(bool(e.link) for e in doc.entities)
    seen["facts"] = len(doc.facts)
    seen["pins"] = sum(f.head_mention is not None or f.tail_mention is not None for f in doc.facts)
    seen["evidence"] = sum(bool(f.evidence) for f in doc.facts)
    seen["assertions"] = sum(f.assertion is not None for f in doc.facts) + sum(
        e.assertion is not None for e in doc.events
    )
    seen["qualifiers"] = sum(len(f.qualifiers) for f in doc.facts)
    seen["events"] = len(doc.events)
    seen["coverage"] = int(doc.coverage is not None)
    seen["meta"] = len(doc.meta)
    return seen


def losses(doc: Document, holds: frozenset[str]) -> Counter[str]:
    """What a format with these features would lose of a document."""
    return Counter({name: count for name, count in features(doc).items() if count and name not in holds})


def overlapping(mentions: Iterable[Mention]) -> list[Mention]:
    """The mentions that start before an earlier one has ended; of two with the same start, the shorter one."""
    found = []
    end = 0
    for m in sorted(mentions, key=lambda m: (m.start, -m.end)):
        if m.start < end:
            found.append(m)
        end = max(end, m.end)
    return found


def single(mention: Mention, id: str) -> Entity:
    """The entity of a single mention, for formats with facts between mentions."""
    return Entity(id, (mention.id,), mention.type, mention.text)


def dump(record: Any) -> bytes:
    """One JSON value as UTF-8, without escaping."""
    try:
        return orjson.dumps(record)
    except (orjson.JSONEncodeError, RecursionError) as error:  # often half of an emoji or a huge number in meta
        shown = str(record.get("id", ""))[:40] if isinstance(record, dict) else ""
        raise BadDocument(f"{ascii(shown)}: cannot be written as JSON ({error}). Correct its meta.") from None


def write_json_lines(path: Path, records: Iterable[Any]) -> None:
    """One JSON value per line."""
    with files.write_bytes(path) as stream:
        for record in records:
            stream.write(dump(record) + b"\n")


def write_json_list(path: Path, records: Iterable[Any]) -> None:
    """One JSON list, one item per line, written as a stream."""
    with files.write_bytes(path) as stream:
        stream.write(b"[")
        for i, record in enumerate(records):
            stream.write((b",\n" if i else b"\n") + dump(record))
        stream.write(b"\n]\n")

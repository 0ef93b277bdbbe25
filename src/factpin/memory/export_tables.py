"""Export facts as tables and graphs: CSV, JSON lines, CSV for Neo4j, GraphML."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from factpin.documents.answer import Citation, citation_to_json
from factpin.errors import FormatLoss
from factpin.files import write_bytes, write_folder
from factpin.memory.nouns import JudgedFact, Pin, StoredEntity, StoredFact
from factpin.memory.selection import Selection

COLUMNS = ("fact", "head", "head_type", "relation", "tail", "tail_type", "valid_from", "valid_to", "status",
           "confidence", "uri", "start", "end", "quote", "assertion", "score", "model", "published", "head_id",
           "tail_id")  # fmt: skip
FIELDS = {"fact": "string", "relation": "string", "status": "string", "confidence": "double", "valid_from": "string",
          "valid_to": "string", "evidence": "string"}  # fmt: skip
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def citation(pin: Pin, fact: str = "") -> Citation:
    """Turn a pin into a citation."""
    return Citation(pin.document, pin.uri, pin.start, pin.end, pin.quote, fact=fact, assertion=pin.assertion)


def fact_to_json(judged: JudgedFact) -> dict[str, Any]:
    """Turn a judged fact into a record with all its evidence."""
    fact = judged.fact
    record: dict[str, Any] = {
        "id": fact.id, "head": _entity(fact.head), "relation": fact.relation, "tail": _entity(fact.tail),
        "confidence": judged.confidence, "status": judged.status, "valid_from": fact.valid_from,
        "valid_to": fact.valid_to, "evidence": [_evidence(pin, fact) for pin in fact.pins],
    }  # fmt: skip
    if fact.qualifiers:
        record["qualifiers"] = [{"role": q.role, "entity": _entity(q.entity)} for q in fact.qualifiers]
    if fact.verdict:
        record["verdict"], record["note"] = fact.verdict, fact.note
    return record


def _entity(entity: StoredEntity) -> dict[str, str]:
    return {"id": entity.id, "name": entity.name, "type": entity.type}


def _evidence(pin: Pin, fact: StoredFact) -> dict[str, Any]:
    record = citation_to_json(citation(pin, fact.id))
    del record["weight"]
    return {**record, "score": pin.score, "model": pin.model, "published": pin.published}


def write_jsonl(chosen: Selection, path: Path) -> None:
    """One fact per line, as in `factpin store facts --json`."""
    with write_bytes(path) as stream:
        for fact in chosen.facts:
            stream.write(json.dumps(fact_to_json(fact), ensure_ascii=False).encode() + b"\n")


def write_csv(chosen: Selection, path: Path) -> None:
    """One row for each place that states a fact."""
    rows = []
    for judged in chosen.facts:
        fact = judged.fact
        for pin in fact.pins:
            rows.append((
                fact.id, fact.head.name, fact.head.type, fact.relation, fact.tail.name, fact.tail.type,
                fact.valid_from, fact.valid_to, judged.status, judged.confidence, pin.uri, pin.start, pin.end,
                pin.quote, pin.assertion, "" if pin.score is None else pin.score, pin.model, pin.published,
                fact.head.id, fact.tail.id,
            ))  # fmt: skip
    with write_bytes(path) as stream:
        stream.write(_csv([COLUMNS, *rows]))


def write_neo4j(chosen: Selection, path: Path) -> None:
    """A folder for `neo4j-admin database import full --nodes=entities.csv --relationships=facts.csv`."""
    facts = chosen.facts
    entities = _entities(facts)
    with write_folder(path) as folder:
        nodes = [(e.id, e.name, e.type or "Entity") for e in entities]
        (folder / "entities.csv").write_bytes(_csv([("id:ID", "name", ":LABEL"), *nodes]))
        head = (":START_ID", ":END_ID", ":TYPE", *(f"{field}:{type}" for field, type in FIELDS.items()))
        edges = [(f.fact.head.id, f.fact.tail.id, f.fact.relation, *_values(f)) for f in facts]
        (folder / "facts.csv").write_bytes(_csv([head, *edges]))


def write_graphml(chosen: Selection, path: Path, lossy: bool = False) -> None:
    """Entities as nodes, facts as edges. Characters that XML forbids are an error, or replaced if `lossy`."""
    with write_bytes(path) as stream:
        for line in _graphml(chosen.facts, _entities(chosen.facts)):
            stream.write(_allowed(line, lossy).encode() + b"\n")


def _graphml(facts: Sequence[JudgedFact], entities: Sequence[StoredEntity]) -> Iterable[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for field in ("name", "type"):
        yield f'<key id="{field}" for="node" attr.name="{field}" attr.type="string"/>'
    for field, type in FIELDS.items():
        yield f'<key id="{field}" for="edge" attr.name="{field}" attr.type="{type}"/>'
    yield '<graph id="facts" edgedefault="directed">'
    for e in entities:
        yield f'<node id="{e.id}">{_data("name", e.name)}{_data("type", e.type)}</node>'
    for f in facts:
        data = "".join(_data(field, value) for field, value in zip(FIELDS, _values(f), strict=True))
        yield f'<edge id="{f.fact.id}" source="{f.fact.head.id}" target="{f.fact.tail.id}">{data}</edge>'
    yield "</graph>\n</graphml>"


def _data(key: str, value: object) -> str:
    text = escape(str(value), {"\r": "&#13;"})
    return f'<data key="{key}">{text}</data>'


def _allowed(line: str, lossy: bool) -> str:
    found = _NO_XML.search(line)
    if found and not lossy:
        raise FormatLoss(
            f"GraphML cannot hold the character U+{ord(found[0]):04X}. Export to another format, or allow "
            f"the loss with --lossy."
        )
    return _NO_XML.sub("\ufffd", line)


def _values(judged: JudgedFact) -> tuple[object, ...]:
    """The values of FIELDS for one fact."""
    fact = judged.fact
    evidence = json.dumps([_evidence(pin, fact) for pin in fact.pins], ensure_ascii=False)
    return fact.id, fact.relation, judged.status, judged.confidence, fact.valid_from, fact.valid_to, evidence


def _entities(facts: Sequence[JudgedFact]) -> list[StoredEntity]:
    found = {e.id: e for f in facts for e in (f.fact.head, f.fact.tail)}
    return [found[id] for id in sorted(found)]


def _csv(rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()

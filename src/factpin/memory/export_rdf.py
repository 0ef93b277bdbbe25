"""Export a store as N-Quads, Turtle or JSON-LD. N-Quads include the documents, so they can be imported again."""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from factpin.documents import to_json
from factpin.documents.schema import record_of
from factpin.files import write_bytes
from factpin.memory.rdf import BASE, PREFIXES, Iri, Literal, Resource, name, quads, resource_of, resources, written
from factpin.memory.selection import Selection
from factpin.memory.store import Store

STORE = f"{BASE}store"  # the subject of statements about the store as a whole
_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def write_nquads(chosen: Selection, path: Path) -> None:
    """One statement per line, in the graph of its document; documents, decisions and the schema are JSON literals."""
    with write_bytes(path) as stream:
        for resource in (*_whole(chosen.store), *_records(chosen), *resources(chosen)):
            for line in quads(resource):
                stream.write(f"{line}\n".encode())


def _whole(store: Store) -> Iterator[Resource]:
    for decision in store.decisions():
        said = [decision.kind, decision.a, decision.b, decision.value, decision.note]
        yield Resource("", STORE, ((name("fp:decision"), Literal(json.dumps(said, ensure_ascii=False))),))
    yield Resource("", STORE, ((name("fp:schema"), Literal(json.dumps(record_of(store.schema())))),))


def _records(chosen: Selection) -> Iterator[Resource]:
    store, filter = chosen.store, chosen.filter
    for row, (doc, _) in zip(store.tables.sources(filter), store.documents(filter), strict=True):
        graph = resource_of("document", row.id)
        record = json.dumps(to_json(doc), ensure_ascii=False, separators=(",", ":"))
        yield Resource(graph, graph, ((name("fp:record"), Literal(record)),))


def write_turtle(chosen: Selection, path: Path) -> None:
    """Turtle with prefixes. There are no graphs, but the pins name their documents."""
    with write_bytes(path) as stream:
        for prefix, iri in PREFIXES.items():
            stream.write(f"@prefix {prefix}: <{iri}> .\n".encode())
        for resource in _merged(chosen):
            said = " ;\n".join(f"    {_short(predicate)} {_turtle(term)}" for predicate, term in resource.properties)
            stream.write(f"\n<{resource.subject}>\n{said} .\n".encode())


def write_jsonld(chosen: Selection, path: Path) -> None:
    """JSON-LD: one object for each resource, under a context of prefixes."""
    with write_bytes(path) as stream:
        stream.write(f'{{"@context": {json.dumps(PREFIXES)}, "@graph": ['.encode())
        for i, resource in enumerate(_merged(chosen)):
            stream.write((",\n" if i else "\n").encode())
            stream.write(json.dumps(_object(resource), ensure_ascii=False).encode())
        stream.write(b"\n]}\n")


def _merged(chosen: Selection) -> Iterator[Resource]:
    """Merge neighbouring resources with the same subject."""
    for subject, group in groupby(resources(chosen), key=lambda resource: resource.subject):
        properties = dict.fromkeys(pair for resource in group for pair in resource.properties)
        yield Resource("", subject, tuple(properties))


def _object(resource: Resource) -> dict[str, Any]:
    found: dict[str, Any] = {"@id": resource.subject}
    for predicate, term in resource.properties:
        if predicate == name("rdf:type"):
            found.setdefault("@type", []).append(term.value)
            continue
        value = {"@id": term.value} if isinstance(term, Iri) else {"@value": term.value}
        if isinstance(term, Literal) and term.type:
            value["@type"] = term.type
        found.setdefault(_short(predicate, "{}"), []).append(value)
    return found


def _turtle(term: Iri | Literal) -> str:
    return _short(term.value) if isinstance(term, Iri) else written(term)


def _short(iri: str, whole: str = "<{}>") -> str:
    """prefix:name if there is a prefix, otherwise the whole IRI."""
    for prefix, start in PREFIXES.items():
        if iri.startswith(start) and _SAFE.fullmatch(iri.removeprefix(start)):
            return f"{prefix}:{iri.removeprefix(start)}"
    return whole.format(iri)

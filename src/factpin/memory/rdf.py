"""Facts as RDF: resources with their properties, written as N-Quads and read back.

Every fact that a document asserts is a plain triple in the graph of that document, so that the graph can be dropped
with it. Negated or hedged facts are never plain triples. Each fact is also an rdf:Statement with its confidence and
status, derived (PROV) from the exact characters (Web Annotation selectors) of each document.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, unquote

from factpin.errors import BadRecord
from factpin.memory.nouns import JudgedFact, Pin, StoredEntity
from factpin.memory.selection import Selection

BASE = "urn:factpin:"
PREFIXES = {
    "dcterms": "http://purl.org/dc/terms/",
    "fp": "urn:factpin:terms#",
    "oa": "http://www.w3.org/ns/oa#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')
_UNESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LITERAL = r'"(?:[^"\\\n\r]|\\.)*"(?:\^\^<[^<>"{}|^`\\\x00-\x20]*>|@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?'
_IRI = r'<(?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>'
_QUAD = re.compile(rf"\s*({_IRI}|_:\S+)\s*({_IRI})\s*({_IRI}|_:\S+|{_LITERAL})\s*({_IRI}|_:\S+)?\s*\.\s*(?:#.*)?")


class Iri(NamedTuple):
    """A full IRI."""

    value: str


class Literal(NamedTuple):
    """A value, with the IRI of its type unless it is a string."""

    value: str
    type: str = ""


@dataclass(frozen=True)
class Resource:
    """A subject with its properties in one graph; "" is the default graph."""

    graph: str
    subject: str
    properties: tuple[tuple[str, Iri | Literal], ...]


class Quad(NamedTuple):
    """A statement and the graph it is in."""

    subject: str
    predicate: str
    object: Iri | Literal
    graph: str


def name(prefixed: str) -> str:
    """The full IRI of prefix:name."""
    prefix, _, local = prefixed.partition(":")
    return PREFIXES[prefix] + local


def resource_of(kind: str, id: str) -> str:
    """The IRI of a document, entity, fact, relation or type."""
    return f"{BASE}{kind}:{quote(id, safe='')}"


def id_of(iri: str) -> str:
    """The id in an IRI made by `resource_of`."""
    return unquote(iri.rsplit(":", 1)[-1])


def number(value: float | int) -> Literal:
    """A number as a literal."""
    return Literal(repr(value), name("xsd:integer") if isinstance(value, int) else name("xsd:double"))


def resources(chosen: Selection) -> Iterator[Resource]:
    """First document by document, then each fact."""
    pinned: dict[str, list[tuple[JudgedFact, Pin]]] = {}
    for fact in chosen.facts:
        for pin in fact.fact.pins:
            pinned.setdefault(pin.document, []).append((fact, pin))
    for row in chosen.store.tables.sources(chosen.filter):
        graph = resource_of("document", row.id)
        said = [("dcterms:identifier", row.uri), ("dcterms:title", row.title), ("dcterms:issued", row.published),
                ("fp:model", row.model)]  # fmt: skip
        yield _resource(graph, graph, ("rdf:type", Iri(name("prov:Entity"))),
                        *((key, Literal(value)) for key, value in said if value))  # fmt: skip
        yield from _document(graph, pinned.get(row.id, []))
    for fact in chosen.facts:
        yield _statement(fact)


def _document(graph: str, pinned: Sequence[tuple[JudgedFact, Pin]]) -> Iterator[Resource]:
    """The triples, names and pins of one document."""
    labels: dict[StoredEntity, set[str]] = {}
    triples: dict[str, set[tuple[str, str]]] = {}
    for fact, pin in pinned:
        head, tail = fact.fact.head, fact.fact.tail
        labels.setdefault(head, set()).add(_called(pin, pin.head, head))
        labels.setdefault(tail, set()).add(_called(pin, pin.tail, tail))
        if pin.assertion == "asserted":
            triples.setdefault(head.id, set()).add((resource_of("relation", fact.fact.relation), tail.id))
    for entity in sorted(labels, key=lambda entity: entity.id):
        types = [("rdf:type", Iri(resource_of("type", entity.type)))] if entity.type else []
        names = [("rdfs:label", Literal(label)) for label in sorted(labels[entity])]
        yield _resource(graph, resource_of("entity", entity.id), *types, *names)
        own = tuple(
            (relation, Iri(resource_of("entity", tail))) for relation, tail in sorted(triples.get(entity.id, ()))
        )
        if own:
            yield Resource(graph, resource_of("entity", entity.id), own)
    for fact, pin in pinned:
        yield from _pin(graph, fact, pin)


def _called(pin: Pin, span: tuple[int, int] | None, entity: StoredEntity) -> str:
    """The words that name an entity in the quote of a pin, if they are in it."""
    if span is None or not pin.start <= span[0] < span[1] <= pin.end:
        return entity.name
    return pin.quote[span[0] - pin.start : span[1] - pin.start]


def _pin(graph: str, fact: JudgedFact, pin: Pin) -> Iterator[Resource]:
    place = f"{fact.fact.id}-{pin.document}-{pin.start}-{pin.end}-{pin.assertion}-{pin.model}"
    target, position, exact = (resource_of(kind, place) for kind in ("pin", "position", "quote"))
    statement = resource_of("fact", fact.fact.id)
    score = [("fp:score", number(float(pin.score)))] if pin.score is not None else []
    yield _resource(graph, statement, ("prov:wasDerivedFrom", Iri(target)))
    yield _resource(graph, target, ("rdf:type", Iri(name("oa:SpecificResource"))), ("oa:hasSource", Iri(graph)),
                    ("oa:hasSelector", Iri(position)), ("oa:hasSelector", Iri(exact)),
                    ("fp:assertion", Literal(pin.assertion)), *score)  # fmt: skip
    yield _resource(graph, position, ("rdf:type", Iri(name("oa:TextPositionSelector"))),
                    ("oa:start", number(pin.start)), ("oa:end", number(pin.end)))  # fmt: skip
    yield _resource(graph, exact, ("rdf:type", Iri(name("oa:TextQuoteSelector"))), ("oa:exact", Literal(pin.quote)))


def _statement(judged: JudgedFact) -> Resource:
    fact = judged.fact
    said = [("fp:validFrom", fact.valid_from), ("fp:validTo", fact.valid_to), ("fp:verdict", fact.verdict),
            ("fp:note", fact.note), ("fp:status", judged.status)]  # fmt: skip
    return _resource(
        "",
        resource_of("fact", fact.id),
        ("rdf:type", Iri(name("rdf:Statement"))),
        ("rdf:subject", Iri(resource_of("entity", fact.head.id))),
        ("rdf:predicate", Iri(resource_of("relation", fact.relation))),
        ("rdf:object", Iri(resource_of("entity", fact.tail.id))),
        ("fp:confidence", number(float(judged.confidence))),
        *((key, Literal(value)) for key, value in said if value),
        *((f"fp:role-{quote(q.role, safe='')}", Iri(resource_of("entity", q.entity.id))) for q in fact.qualifiers),
    )


def _resource(graph: str, subject: str, *properties: tuple[str, Iri | Literal]) -> Resource:
    return Resource(graph, subject, tuple((name(key), value) for key, value in properties))


def written(term: Iri | Literal) -> str:
    """Write a term as in N-Quads and Turtle."""
    if isinstance(term, Iri):
        return f"<{term.value}>"
    text = _ESCAPED.sub(lambda m: _ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04X}", term.value)
    return f'"{text}"^^<{term.type}>' if term.type else f'"{text}"'


def quads(resource: Resource) -> Iterator[str]:
    """The lines of a resource in N-Quads."""
    graph = f" <{resource.graph}>" if resource.graph else ""
    for predicate, term in resource.properties:
        yield f"<{resource.subject}> <{predicate}> {written(term)}{graph} ."


def read_quad(line: str, file: str, number: int) -> Quad | None:
    """Parse a line of N-Quads; None for a comment or an empty line."""
    if not line.strip() or line.lstrip().startswith("#"):
        return None
    match = _QUAD.fullmatch(line)
    if not match:
        raise BadRecord("expected `<subject> <predicate> object <graph> .` as in N-Quads. Correct the line.",
                        file=file, line=number, kind="bad_quad")  # fmt: skip
    subject, predicate, term, graph = match.groups()
    return Quad(_name(subject), _name(predicate), _term(term), _name(graph) if graph else "")


def _name(text: str) -> str:
    return _unescaped(text[1:-1]) if text.startswith("<") else text


def _term(text: str) -> Iri | Literal:
    if not text.startswith('"'):
        return Iri(_name(text))
    end = text.rindex('"')
    type = text[end + 4 : -1] if text[end + 1 :].startswith("^^") else ""
    return Literal(_unescaped(text[1:end]), type)


def _unescaped(text: str) -> str:
    simple = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
    return _UNESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else simple.get(m[3], m[3]), text)

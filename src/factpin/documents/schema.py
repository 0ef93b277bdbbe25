"""The schema: entity types and relations, and which types a relation can connect.

Schemas are written by hand as TOML, or learned from a corpus:

    types = ["人物", "地点"]

    [relations."出生地"]
    heads = ["人物"]            # empty: any type
    tails = ["地点"]
    symmetric = false
    inverse = ""                # the same relation in the opposite direction
    functional = true           # a head has at most one tail

    [relations."CEO"]
    changes = true              # a head has one tail at a time: a later one replaces it
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin.documents.fields import as_dict, as_str, get_list, get_str, wrong
from factpin.documents.nouns import Document, Fact
from factpin.errors import BadDocument, BadFile
from factpin.files import read_text, write_bytes


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation and the types it can connect; an empty tuple allows every type."""

    name: str
    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    symmetric: bool = False
    inverse: str = ""
    functional: bool = False
    changes: bool = False  # one tail at a time; functional: only ever one tail

    def allows(self, head: str, tail: str) -> bool:
        """Whether the relation can connect these types."""
        forward = (not self.heads or head in self.heads) and (not self.tails or tail in self.tails)
        if forward or not self.symmetric:
            return forward
        return (not self.heads or tail in self.heads) and (not self.tails or head in self.tails)


@dataclass(frozen=True, slots=True)
class Schema:
    """Entity types and relations. Without types, every type is allowed."""

    types: tuple[str, ...] = ()
    relations: dict[str, Relation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for relation in self.relations.values():
            for type in (*relation.heads, *relation.tails):
                if self.types and type not in self.types:
                    raise BadDocument(
                        f"relation {relation.name!r} has the type {type!r}, which is not a type of the schema. "
                        f"Add it to types, or correct the relation.",
                        field=f"relations.{relation.name}",
                    )
            if relation.inverse and relation.inverse not in self.relations:
                raise BadDocument(
                    f"relation {relation.name!r} has the inverse {relation.inverse!r}, which the schema does not have.",
                    field=f"relations.{relation.name}.inverse",
                )

    def violations(self, doc: Document) -> Iterator[tuple[str, str]]:
        """(kind, message) for everything in the document that the schema does not allow."""
        for m in doc.mentions:
            if self.types and m.type not in self.types:
                yield (
                    "unknown_type",
                    f"mention {m.text!r} at {m.start} has the type {m.type!r}, which is not in the schema",
                )
        types = {e.id: e.type for e in doc.entities}
        names = {e.id: e.name or e.id for e in doc.entities}
        tails: dict[tuple[str, str], set[str]] = defaultdict(set)
        for fact in doc.facts:
            relation = self.relations.get(fact.relation)
            said = f"{names[fact.head]} --{fact.relation}--> {names[fact.tail]}"
            if relation is None:
                if self.relations:
                    yield "unknown_relation", f"{said}: the relation is not in the schema"
                continue
            if not relation.allows(types[fact.head], types[fact.tail]):
                yield "type_clash", f"{said}: {types[fact.head]} -> {types[fact.tail]} is not allowed"
            tails[fact.head, fact.relation].add(fact.tail)
            if relation.functional and len(tails[fact.head, fact.relation]) == 2:
                yield "not_functional", f"{said}: the relation is functional, but the head has another tail"


def learn_schema(documents: Iterable[Document]) -> Schema:
    """The narrowest schema that allows all documents. Marks of relations are only set if all facts agree."""
    learner = SchemaLearner()
    for doc in documents:
        learner.add(doc)
    return learner.schema()


class SchemaLearner:
    """Learns a schema from documents, one at a time."""

    def __init__(self) -> None:
        self.types: set[str] = set()
        self.facts: dict[str, _RelationCounts] = defaultdict(_RelationCounts)

    def add(self, doc: Document) -> None:
        """Add a document."""
        self.types.update(m.type for m in doc.mentions if m.type)
        self.types.update(e.type for e in doc.entities if e.type)
        kinds = {e.id: e.type for e in doc.entities}
        pairs = {(f.head, f.relation, f.tail) for f in doc.facts}
        tails: dict[tuple[str, str], set[str]] = defaultdict(set)
        for fact in doc.facts:
            tails[fact.head, fact.relation].add(fact.tail)
            self.facts[fact.relation].add(fact, kinds, (fact.tail, fact.relation, fact.head) in pairs)
        for (_, relation), found in tails.items():
            self.facts[relation].most_tails = max(self.facts[relation].most_tails, len(found))

    def schema(self) -> Schema:
        """The schema of the documents so far."""
        return Schema(tuple(sorted(self.types)), {name: self.facts[name].relation(name) for name in sorted(self.facts)})


@dataclass(slots=True)
class _RelationCounts:
    heads: set[str] = field(default_factory=set)
    tails: set[str] = field(default_factory=set)
    count: int = 0
    both_ways: int = 0
    most_tails: int = 0

    def add(self, fact: Fact, kinds: dict[str, str], back: bool) -> None:
        self.heads.add(kinds[fact.head])
        self.tails.add(kinds[fact.tail])
        self.count += 1
        self.both_ways += back

    def relation(self, name: str) -> Relation:
        enough = self.count >= 20  # fewer facts are not enough for a mark
        return Relation(
            name,
            heads=() if "" in self.heads else tuple(sorted(self.heads)),
            tails=() if "" in self.tails else tuple(sorted(self.tails)),
            symmetric=enough and self.both_ways == self.count,
            functional=enough and self.most_tails == 1,
        )


def read_schema(path: Path) -> Schema:
    """Read a schema from a TOML file."""
    try:
        record = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"{path}: not valid TOML ({error}). See docs/documents.md for an example.") from None
    try:
        return schema_of(record)
    except BadDocument as error:
        raise BadFile(f"{path}: {error.field + ': ' if error.field else ''}{error}") from None


def schema_of(record: dict[str, Any]) -> Schema:
    """The schema of a JSON record."""
    unknown = record.keys() - {"types", "relations"}
    if unknown:
        raise BadDocument(f"unknown keys {', '.join(sorted(unknown))}; expected types and relations.")
    relations = as_dict(record.get("relations", {}), "relations")
    return Schema(_names(record, "types", ""), {name: _relation(name, relations[name]) for name in relations})


def write_schema(schema: Schema, path: Path) -> None:
    """Write a schema as TOML."""
    with write_bytes(path) as stream:
        import tomli_w  # noqa: PLC0415  (only to write)

        stream.write(tomli_w.dumps(record_of(schema)).encode())


def record_of(schema: Schema) -> dict[str, Any]:
    """The JSON record of a schema, without marks that are off."""
    relations: dict[str, Any] = {}
    for name, relation in schema.relations.items():
        record: dict[str, Any] = {"heads": list(relation.heads), "tails": list(relation.tails)}
        for mark in ("symmetric", "inverse", "functional", "changes"):
            if getattr(relation, mark):
                record[mark] = getattr(relation, mark)
        relations[name] = record
    return {"types": list(schema.types), "relations": relations}


def _relation(name: str, value: Any) -> Relation:
    where = f"relations.{name}"
    record = as_dict(value, where)
    unknown = record.keys() - {"heads", "tails", "symmetric", "inverse", "functional", "changes"}
    if unknown:
        raise BadDocument(f"unknown keys {', '.join(sorted(unknown))}.", field=where)
    marks = {}
    for mark in ("symmetric", "functional", "changes"):
        marks[mark] = record.get(mark, False)
        if not isinstance(marks[mark], bool):
            raise wrong(marks[mark], f"{where}.{mark}", "true or false")
    return Relation(
        name,
        _names(record, "heads", where),
        _names(record, "tails", where),
        symmetric=marks["symmetric"],
        inverse=get_str(record, "inverse", where, default=""),
        functional=marks["functional"],
        changes=marks["changes"],
    )


def _names(record: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    return tuple(as_str(value, f"{where}.{key}") for value in get_list(record, key, where, default=[]))

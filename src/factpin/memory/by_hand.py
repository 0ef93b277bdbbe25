"""What people decide and models do not: join, split, judge, add. Each is a row of its own, and each can be undone."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from factpin.documents import Document, Entity, Fact, Mention, Qualifier, Span
from factpin.documents.keys import digest, document_key, name_key
from factpin.errors import BadInput
from factpin.memory.assemble import Assembler
from factpin.memory.nouns import (
    ALL,
    VERDICTS,
    Candidate,
    Decision,
    Filter,
    Pattern,
    Source,
    StoredEntity,
    check_date,
)
from factpin.memory.tables import Tables

MANUAL = "manual:"  # uris of documents that were typed


class Editable(Protocol):
    """What editing needs of a store."""

    tables: Tables

    def together(self) -> AbstractContextManager[None]: ...
    def put(self, doc: Document, source: Source) -> str: ...
    def document(self, uri: str) -> tuple[Document, Source]: ...
    def rewrite(self, document: str) -> None: ...
    def entity(self, name: str, filter: Filter = ALL) -> StoredEntity: ...
    def candidates(self, surface: str, filter: Filter = ALL) -> list[Candidate]: ...
    def decisions(self) -> list[Decision]: ...


@dataclass(frozen=True, slots=True)
class TypedFact:
    """A fact as somebody types it. A type that is left out is that of the entity the store knows by this name."""

    head: str
    relation: str
    tail: str
    head_type: str = ""
    tail_type: str = ""
    valid_from: str = ""
    valid_to: str = ""
    published: str = ""

    def __post_init__(self) -> None:
        for field in ("head", "relation", "tail"):
            if not getattr(self, field).strip():
                raise BadInput(f"A fact needs a head, a relation and a tail; its {field} is empty.")
        for date in (self.valid_from, self.valid_to, self.published):
            if date:
                check_date(date)


def join(store: Editable, a: str, b: str, by: str) -> None:
    """Two entities are one."""
    with store.together():
        first, second = sorted((store.entity(a).id, store.entity(b).id))
        if first == second:
            raise BadInput(f"{a!r} and {b!r} are one entity already ({first}).")
        store.tables.put_decision(Decision("same", first, second, note=by))


def unjoin(store: Editable, a: str, b: str) -> None:
    """Two entities are not one after all."""
    with store.together():
        left, right = _keys(store, a), _keys(store, b)
        pairs = [d for d in store.decisions() if d.kind == "same"
                 and ((d.a in left and d.b in right) or (d.a in right and d.b in left))]  # fmt: skip
        if not pairs:
            raise BadInput(f"{a!r} and {b!r} were never joined. `factpin store decisions` lists what was.")
        for decision in pairs:
            store.tables.drop_decision("same", decision.a, decision.b)


def _keys(store: Editable, name: str) -> set[str]:
    """The keys that a name may stand for, before any join; or the key itself."""
    return {name, *(id for _, id, _ in store.tables.named([name_key(name)], ALL))}


def split(store: Editable, uri: str, name: str) -> str:
    """In one document a name means somebody else."""
    document = document_key(uri)
    with store.together():
        key = _key_in(store, uri, name)
        suffix = f" #{document[:8]}"
        if any(d.kind == "apart" and (d.a, d.b) == (document, key.removesuffix(suffix)) for d in store.decisions()):
            raise BadInput(f"{uri}: {name!r} is somebody else there already.")
        store.tables.put_decision(Decision("apart", document, key, value=suffix))
        store.rewrite(document)
        return next(row.id for row in store.tables.rows(document).entities if row.key == key + suffix)


def unsplit(store: Editable, uri: str, name: str) -> None:
    """Undo a split."""
    document = document_key(uri)
    with store.together():
        store.document(uri)
        if not any(d.kind == "apart" and (d.a, d.b) == (document, name_key(name)) for d in store.decisions()):
            raise BadInput(f"{uri}: the name {name!r} was never split there.")
        store.tables.drop_decision("apart", document, name_key(name))
        store.rewrite(document)


def _key_in(store: Editable, uri: str, name: str) -> str:
    """The key of the entity that a document calls by a name."""
    store.document(uri)
    rows = store.tables.rows(document_key(uri))
    keys = {row.id: row.key for row in rows.entities}
    wanted = name_key(name)
    found = {key for key in keys.values() if key == wanted}
    found = found or {keys[m.entity] for m in rows.mentions if m.surface_key == wanted}
    if len(found) != 1:
        names = ", ".join(sorted(set(keys.values()))[:8]) or "nothing"
        told = f"does not name {name!r}" if not found else f"calls several by {name!r}: {', '.join(sorted(found))}"
        raise BadInput(f"{uri}: the document {told}. It names {names}.")
    return found.pop()


def judge(store: Editable, fact: str, verdict: str, note: str) -> None:
    """A verdict on a fact, kept for each of the facts that a join has made one."""
    if verdict and verdict not in VERDICTS:
        raise BadInput(f"{verdict!r} is no verdict; expected one of {', '.join(VERDICTS)}, or nothing to take it back.")
    with store.together():
        rows = Assembler(store.tables, ALL).raw(Pattern(keys=(fact,)))
        if not rows:
            raise BadInput(f"{store.tables.url}: there is no fact {fact!r}. `factpin store facts` lists them.")
        for id in sorted({row.id for row, _ in rows} | {fact}):
            store.tables.drop_decision("verdict", id, "")
            if verdict:
                store.tables.put_decision(Decision("verdict", id, value=verdict, note=note))


def add(store: Editable, fact: TypedFact) -> str:
    """A document that says the fact in one sentence, with the fact pinned to it. The same fact has the same uri."""
    with store.together():
        doc = typed_document(fact, *(_like(store, *named) for named in
                                     ((fact.head, fact.head_type), (fact.tail, fact.tail_type))))  # fmt: skip
        store.put(doc, Source(doc.id, published=fact.published))
    return doc.id


def _like(store: Editable, name: str, type: str) -> tuple[str, str]:
    """(type, link) of the one entity of the store that bears the name, where it has one."""
    candidates = [c.entity for c in store.candidates(name) if not type or c.entity.type == type]
    if len(candidates) != 1:
        return type, ""
    keys = {row.key for row in store.tables.entities([candidates[0].id])}
    links = [key.removeprefix("link:") for key in keys if key.startswith("link:")]
    return candidates[0].type, links[0] if links else ""


def typed_document(fact: TypedFact, head: tuple[str, str], tail: tuple[str, str]) -> Document:
    """The sentence `head relation tail (from – to)` with all its parts pinned; head and tail as (type, link)."""
    text = ""
    mentions: list[Mention] = []
    entities: list[Entity] = []
    parts = [(fact.head.strip(), *head), (fact.relation.strip(), None, ""), (fact.tail.strip(), *tail)]
    dates = [(date, "date", "") for date in (fact.valid_from, fact.valid_to) if date]
    for part, type, link in [*parts, *dates]:
        text += (" – " if mentions and len(mentions) == 3 else " (" if len(mentions) == 2 else " ") if text else ""
        if type is not None:
            id = str(len(mentions))
            mentions.append(Mention(f"m{id}", len(text), len(text) + len(part), part, type))
            entities.append(Entity(f"e{id}", (f"m{id}",), type, part, link))
        text += part
    text += ")" if dates else ""
    roles = [role for role, date in (("valid_from", fact.valid_from), ("valid_to", fact.valid_to)) if date]
    qualifiers = tuple(Qualifier(role, f"e{i}", f"m{i}") for i, role in enumerate(roles, start=2))
    uri = MANUAL + digest(fact.head, fact.relation, fact.tail, fact.valid_from, fact.valid_to, *head, *tail)
    said = Fact("e0", fact.relation.strip(), "e1", "m0", "m1", qualifiers=qualifiers, assertion="asserted")
    return Document(uri, text, sentences=(Span(0, len(text)),), mentions=tuple(mentions), entities=tuple(entities),
                    facts=(said,))  # fmt: skip

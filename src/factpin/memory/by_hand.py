"""Decisions made by hand: join, split, judge, add. Each is a row of its own and can be undone."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from factpin.documents import Document, Entity, Fact, Mention, Qualifier, Span
from factpin.documents.keys import digest, document_key, name_key
from factpin.errors import BadInput, UnknownName
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

MANUAL = "manual:"  # prefix of the uris of facts added by hand


class Editable(Protocol):
    """The part of a store that editing needs."""

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
    """A fact added by hand. A type that is left out is taken from the entity of that name in the store."""

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
                raise BadInput(f"A fact needs a head, a relation and a tail, but its {field} is empty.")
        for date in (self.valid_from, self.valid_to, self.published):
            if date:
                check_date(date)


def join(store: Editable, a: str, b: str, by: str) -> None:
    """Make two entities one."""
    with store.together():
        first, second = sorted((store.entity(a).id, store.entity(b).id))
        if first == second:
            raise BadInput(f"{a!r} and {b!r} are already one entity ({first}).")
        store.tables.put_decision(Decision("same", first, second, note=by))


def unjoin(store: Editable, a: str, b: str) -> None:
    """Undo a join."""
    with store.together():
        left, right = _keys(store, a), _keys(store, b)
        pairs = [
            d
            for d in store.decisions()
            if d.kind == "same" and ((d.a in left and d.b in right) or (d.a in right and d.b in left))
        ]
        if not pairs:
            raise BadInput(f"{a!r} and {b!r} have not been joined. `factpin store decisions` lists all joins.")
        for decision in pairs:
            store.tables.drop_decision("same", decision.a, decision.b)


def _keys(store: Editable, name: str) -> set[str]:
    """The keys that a name can refer to, before any join; or the key itself."""
    return {name, *(id for _, id, _ in store.tables.named([name_key(name)], ALL))}


def split(store: Editable, uri: str, name: str) -> str:
    """In one document, let a name refer to another entity."""
    document = document_key(uri)
    with store.together():
        key = _key_in(store, uri, name)
        suffix = f" #{document[:8]}"
        if any(d.kind == "apart" and (d.a, d.b) == (document, key.removesuffix(suffix)) for d in store.decisions()):
            raise BadInput(f"{uri}: {name!r} is already split in this document.")
        store.tables.put_decision(Decision("apart", document, key, value=suffix))
        store.rewrite(document)
        return next(row.id for row in store.tables.rows(document).entities if row.key == key + suffix)


def unsplit(store: Editable, uri: str, name: str) -> None:
    """Undo a split."""
    document = document_key(uri)
    with store.together():
        store.document(uri)
        if not any(d.kind == "apart" and (d.a, d.b) == (document, name_key(name)) for d in store.decisions()):
            raise BadInput(f"{uri}: {name!r} has not been split in this document.")
        store.tables.drop_decision("apart", document, name_key(name))
        store.rewrite(document)


def _key_in(store: Editable, uri: str, name: str) -> str:
    """The key of the entity that a document refers to by a name."""
    store.document(uri)
    rows = store.tables.rows(document_key(uri))
    keys = {row.id: row.key for row in rows.entities}
    wanted = name_key(name)
    found = {key for key in keys.values() if key == wanted}
    found = found or {keys[m.entity] for m in rows.mentions if m.surface_key == wanted}
    if len(found) != 1:
        names = ", ".join(sorted(set(keys.values()))[:8]) or "nothing"
        problem = (
            f"several entities are called {name!r}: {', '.join(sorted(found))}"
            if found
            else f"no entity is called {name!r}"
        )
        raise BadInput(f"{uri}: {problem}. The names in the document are {names}.")
    return found.pop()


def judge(store: Editable, fact: str, verdict: str, note: str) -> None:
    """Set the verdict on a fact, and on every fact that a join has merged with it."""
    if verdict and verdict not in VERDICTS:
        raise BadInput(f"{verdict!r} is not a verdict; expected {' or '.join(VERDICTS)}, or nothing to take it back.")
    with store.together():
        rows = Assembler(store.tables, ALL).raw(Pattern(keys=(fact,)))
        if not rows:
            raise UnknownName(f"{store.tables.url}: there is no fact {fact!r}. `factpin store facts` lists them.")
        for id in sorted({row.id for row, _ in rows} | {fact}):
            store.tables.drop_decision("verdict", id, "")
            if verdict:
                store.tables.put_decision(Decision("verdict", id, value=verdict, note=note))


def add(store: Editable, fact: TypedFact) -> str:
    """Add a document with one sentence that states the fact. The same fact always has the same uri."""
    with store.together():
        doc = typed_document(
            fact, *(_like(store, *named) for named in ((fact.head, fact.head_type), (fact.tail, fact.tail_type)))
        )
        store.put(doc, Source(doc.id, published=fact.published))
    return doc.id


def _like(store: Editable, name: str, type: str) -> tuple[str, str]:
    """(type, link) of the entity with this name, if the store has exactly one."""
    candidates = [c.entity for c in store.candidates(name) if not type or c.entity.type == type]
    if len(candidates) != 1:
        return type, ""
    keys = {row.key for row in store.tables.entities([candidates[0].id])}
    links = [key.removeprefix("link:") for key in keys if key.startswith("link:")]
    return candidates[0].type, links[0] if links else ""


def typed_document(fact: TypedFact, head: tuple[str, str], tail: tuple[str, str]) -> Document:
    """A document with the sentence `head relation tail (from – to)`, all parts pinned; head and tail: (type, link)."""
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
    return Document(
        uri, text, sentences=(Span(0, len(text)),), mentions=tuple(mentions), entities=tuple(entities), facts=(said,)
    )

"""Tables in SQL: all statements that SQLite and PostgreSQL share.

What differs (transactions, words, vectors, damage) is in their connections: sqlite.py, postgres.py.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice, product
from typing import Any, Protocol

from factpin.documents import Passage
from factpin.memory.names import NameCount
from factpin.memory.nouns import Decision, Filter, Floats, Hit, Pattern
from factpin.memory.rows import DocumentRow, EntityRow, EvidenceRow, FactRow, MentionRow, PassageRow, Rows
from factpin.memory.tables import KEPT, SourceRow, VectorRow

AT_ONCE = 500  # values in a list of a statement
EVIDENCE = (
    "e.fact, e.document, e.start, e.stop, e.assertion, e.model, e.score, e.head_start, e.head_stop, e.tail_start, "
    "e.tail_stop"
)
FACT = "f.id, f.head, f.relation, f.tail, f.valid_from, f.valid_to, f.qualifiers"
MENTION = "m.document, m.start, m.stop, m.entity, m.surface, m.surface_key, m.type, m.score"
SOURCE = "d.id, d.uri, d.digest, d.title, d.published, d.model, d.text_key, d.whole"
DOCUMENT = (
    "d.id, d.uri, d.digest, d.language, d.text, d.title, d.title_key, d.published, d.model, d.text_key, d.whole, "
    "d.record"
)


class Connection(Protocol):
    """A connection to a database. Statements have ? for values."""

    @property
    def url(self) -> str: ...
    def reading(self) -> AbstractContextManager[None]: ...
    def writing(self) -> AbstractContextManager[None]: ...
    def close(self) -> None: ...
    def ask(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...
    def do(self, statement: str, rows: Sequence[Sequence[Any]]) -> None: ...
    def add_passages(self, rows: Sequence[PassageRow], words: Sequence[str]) -> None: ...
    def words_of(self, document: str) -> list[str]: ...
    def words(self, terms: Sequence[str], k: int, filter: Filter) -> list[Hit]: ...
    def add_vectors(self, rows: Sequence[VectorRow]) -> None: ...
    def vectors_of(self, document: str) -> list[VectorRow]: ...
    def encoders(self) -> dict[str, tuple[int, int]]: ...
    def width(self, encoder: str) -> int: ...
    def nearest(self, encoder: str, query: Floats, k: int, filter: Filter) -> list[Hit]: ...
    def compact(self) -> None: ...
    def problems(self) -> list[str]: ...


class SqlTables:
    """Tables behind a connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.url = connection.url
        self.reading = connection.reading
        self.writing = connection.writing
        self.close = connection.close
        self.compact = connection.compact
        self.words = connection.words
        self.put_vectors = connection.add_vectors
        self.vectors_of = connection.vectors_of
        self.encoders = connection.encoders
        self.width = connection.width
        self.nearest = connection.nearest

    def settings(self) -> dict[str, str]:
        return dict(self.connection.ask("SELECT key, value FROM setting"))

    def set_setting(self, key: str, value: str) -> None:
        self.connection.do(
            "INSERT INTO setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            [(key, value)],
        )

    # ---- documents ------------------------------------------------------------------------------------------------

    def insert(self, rows: Rows) -> None:
        do = self.connection.do
        do(f"INSERT INTO document VALUES({_marks(12)})", [rows.document])
        self.connection.add_passages(rows.passages, rows.words)
        do("INSERT INTO entity VALUES(?, ?, ?) ON CONFLICT(id) DO NOTHING", rows.entities)
        do(f"INSERT INTO mention VALUES({_marks(8)})", rows.mentions)
        do(f"INSERT INTO fact VALUES({_marks(7)}) ON CONFLICT(id) DO NOTHING", rows.facts)
        do(f"INSERT INTO evidence VALUES({_marks(11)})", rows.evidence)

    def delete(self, document: str) -> None:
        self.connection.do("DELETE FROM document WHERE id = ?", [(document,)])

    def document(self, id: str) -> DocumentRow | None:
        found = self.connection.ask(f"SELECT {DOCUMENT} FROM document d WHERE d.id = ?", (id,))
        return DocumentRow(*found[0]) if found else None

    def documents(self, filter: Filter) -> Iterator[DocumentRow]:
        where, values = _allowed(filter)
        ids = [id for (id,) in self.connection.ask(f"SELECT d.id FROM document d WHERE {where} ORDER BY d.id", values)]
        for id in ids:
            row = self.document(id)
            if row is not None:
                yield row

    def sources(self, filter: Filter, ids: Sequence[str] | None = None) -> list[SourceRow]:
        where, values = _allowed(filter)
        statement = f"SELECT {SOURCE} FROM document d WHERE {where}"
        if ids is None:
            return [SourceRow(*row) for row in self.connection.ask(f"{statement} ORDER BY d.id", values)]
        return [
            SourceRow(*row)
            for some in _some(ids)
            for row in self.connection.ask(f"{statement} AND d.id IN ({_marks(len(some))})", (*values, *some))
        ]

    def partly_read(self, filter: Filter) -> list[str]:
        where, values = _allowed(filter)
        statement = f"SELECT d.uri FROM document d WHERE d.whole = 0 AND {where}"
        return sorted(uri for (uri,) in self.connection.ask(statement, values))

    def how_many(self, filter: Filter) -> int:
        where, values = _allowed(filter)
        return int(self.connection.ask(f"SELECT count(*) FROM document d WHERE {where}", values)[0][0])

    def texts(self, ids: Sequence[str]) -> dict[str, str]:
        return {
            id: text
            for some in _some(ids)
            for id, text in self.connection.ask(
                f"SELECT id, text FROM document WHERE id IN ({_marks(len(some))})", some
            )
        }

    def rows(self, document: str) -> Rows:
        ask, own = self.connection.ask, (document,)
        row = self.document(document)
        if row is None:
            raise KeyError(document)
        passages = ask("SELECT id, document, start, stop, length FROM passage WHERE document = ? ORDER BY start", own)
        entities = ask(
            "SELECT DISTINCT n.id, n.key, n.type FROM entity n JOIN mention m ON m.entity = n.id WHERE m.document = ?",
            own,
        )
        mentions = ask(f"SELECT {MENTION} FROM mention m WHERE m.document = ?", own)
        facts = ask(f"SELECT DISTINCT {FACT} FROM fact f JOIN evidence e ON e.fact = f.id WHERE e.document = ?", own)
        evidence = ask(f"SELECT {EVIDENCE} FROM evidence e WHERE e.document = ?", own)
        return Rows(
            row,
            tuple(PassageRow(*r) for r in passages),
            tuple(self.connection.words_of(document)),
            tuple(sorted(EntityRow(*r) for r in entities)),
            tuple(sorted((MentionRow(*r) for r in mentions), key=lambda m: m[:4])),
            tuple(sorted(FactRow(*r) for r in facts)),
            tuple(sorted((EvidenceRow(*r) for r in evidence), key=lambda e: e[:6])),
        )

    def problems(self) -> list[str]:
        lonely = "SELECT n.key FROM entity n WHERE NOT EXISTS(SELECT 1 FROM mention m WHERE m.entity = n.id) LIMIT 20"
        unproved = "SELECT f.id FROM fact f WHERE NOT EXISTS(SELECT 1 FROM evidence e WHERE e.fact = f.id) LIMIT 20"
        return [
            *(f"the entity {key!r} has no mention" for (key,) in self.connection.ask(lonely)),
            *(f"the fact {id} has no evidence" for (id,) in self.connection.ask(unproved)),
            *self.connection.problems(),
        ]

    # ---- passages -------------------------------------------------------------------------------------------------

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        statement = (
            "SELECT p.id, p.document, p.start, p.stop, substr(d.text, p.start + 1, p.stop - p.start), d.title "
            "FROM passage p JOIN document d ON d.id = p.document WHERE p.id IN ({})"
        )
        return [
            Passage(*row)
            for some in _some(ids)
            for row in self.connection.ask(statement.format(_marks(len(some))), some)
        ]

    def passages_of(self, documents: Sequence[str]) -> list[str]:
        statement = "SELECT id FROM passage WHERE document IN ({}) ORDER BY document, start"
        return [
            id
            for some in _some(sorted(documents))
            for (id,) in self.connection.ask(statement.format(_marks(len(some))), some)
        ]

    def drop_vectors(self, encoder: str) -> None:
        self.connection.do("DELETE FROM vector WHERE encoder = ?", [(encoder,)])

    def without_vectors(self, encoder: str, after: str, limit: int) -> list[str]:
        statement = (
            "SELECT p.id FROM passage p WHERE p.id > ? AND NOT EXISTS(SELECT 1 FROM vector v "
            "WHERE v.passage = p.id AND v.encoder = ?) ORDER BY p.id LIMIT ?"
        )
        return [id for (id,) in self.connection.ask(statement, (after, encoder, limit))]

    # ---- entities and facts ---------------------------------------------------------------------------------------

    def entities(self, ids: Sequence[str]) -> list[EntityRow]:
        return [
            EntityRow(*row)
            for some in _some(ids)
            for row in self.connection.ask(f"SELECT id, key, type FROM entity WHERE id IN ({_marks(len(some))})", some)
        ]

    def names(self, entities: Sequence[str], filter: Filter) -> list[NameCount]:
        where, values = _allowed(filter)
        statement = (
            f"SELECT m.entity, n.type, m.surface, m.type <> '', count(*) FROM mention m "
            f"JOIN entity n ON n.id = m.entity {_join(filter)} WHERE {where} AND m.surface_key <> '' "
            "AND m.entity IN ({}) GROUP BY 1, 2, 3, 4"
        )
        return [
            NameCount(id, type, surface, bool(typed), n)
            for some in _some(entities)
            for id, type, surface, typed, n in self.connection.ask(
                statement.format(_marks(len(some))), (*values, *some)
            )
        ]

    def named(self, keys: Sequence[str], filter: Filter) -> list[tuple[str, str, int]]:
        where, values = _allowed(filter)
        spoken = (
            f"SELECT m.surface_key, m.entity, count(*) FROM mention m {_join(filter)} WHERE {where} "
            "AND m.surface_key IN ({}) GROUP BY 1, 2"
        )
        keyed = (
            "SELECT n.key, n.id FROM entity n WHERE n.key IN ({}) AND EXISTS(SELECT 1 FROM mention m "
            f"{_join(filter)} WHERE m.entity = n.id AND {where})"
        )
        found: dict[tuple[Any, ...], int] = {}
        for some in _some([key for key in keys if key]):
            marks = _marks(len(some))
            found |= dict.fromkeys(self.connection.ask(keyed.format(marks), (*some, *values)), 0)
            found |= {(key, id): n for key, id, n in self.connection.ask(spoken.format(marks), (*values, *some))}
        return sorted((key, id, n) for (key, id), n in found.items())

    def names_with(self, word: str, filter: Filter) -> list[str]:
        where, values = _allowed(filter)
        inside = f"% {re.sub('[!%_]', lambda match: '!' + match[0], word)} %"
        statement = (
            f"SELECT DISTINCT m.surface_key FROM mention m {_join(filter)} WHERE {where} AND m.surface_key <> ? "
            "AND ' ' || replace(m.surface_key, '·', ' ') || ' ' LIKE ? ESCAPE '!'"
        )
        return sorted(key for (key,) in self.connection.ask(statement, (*values, word, inside)))

    def titled(self, keys: Sequence[str], filter: Filter) -> list[tuple[str, str]]:
        where, values = _allowed(filter)
        statement = f"SELECT d.title_key, d.id FROM document d WHERE {where} AND d.title_key IN ({{}})"
        found = [
            (key, id)
            for some in _some([key for key in keys if key])
            for key, id in self.connection.ask(statement.format(_marks(len(some))), (*values, *some))
        ]
        return sorted(found)

    def mentions(self, entities: Sequence[str], filter: Filter) -> list[MentionRow]:
        where, values = _allowed(filter)
        statement = f"SELECT {MENTION} FROM mention m {_join(filter)} WHERE {where} AND m.entity IN ({{}})"
        return [
            MentionRow(*row)
            for some in _some(entities)
            for row in self.connection.ask(statement.format(_marks(len(some))), (*values, *some))
        ]

    def facts(self, pattern: Pattern, filter: Filter) -> list[tuple[FactRow, EvidenceRow]]:
        where, values = _allowed(filter)
        statement = (
            f"SELECT {FACT}, {EVIDENCE} FROM fact f JOIN evidence e ON e.fact = f.id {_join(filter, 'e')} WHERE {where}"
        )
        named = {
            "f.head": pattern.heads,
            "f.relation": pattern.relations,
            "f.tail": pattern.tails,
            "f.id": pattern.keys,
        }
        lists = {column: _some(wanted) for column, wanted in named.items() if wanted is not None}
        found = []
        for chosen in product(*lists.values()):
            conditions = [f" AND {column} IN ({_marks(len(some))})" for column, some in zip(lists, chosen, strict=True)]
            wanted = [value for some in chosen for value in some]
            found += self.connection.ask(statement + "".join(conditions), (*values, *wanted))
        return [(FactRow(*row[:7]), EvidenceRow(*row[7:])) for row in found]

    # ---- by hand --------------------------------------------------------------------------------------------------

    def decisions(self) -> list[Decision]:
        rows = self.connection.ask("SELECT kind, a, b, value, note FROM decision ORDER BY kind, a, b")
        return [Decision(*row) for row in rows]

    def put_decision(self, decision: Decision) -> None:
        self.connection.do(
            "INSERT INTO decision(kind, a, b, value, note) VALUES(?, ?, ?, ?, ?) ON CONFLICT(kind, a, b) "
            "DO UPDATE SET value = excluded.value, note = excluded.note",
            [(decision.kind, decision.a, decision.b, decision.value, decision.note)],
        )

    def drop_decision(self, kind: str, a: str, b: str) -> None:
        self.connection.do("DELETE FROM decision WHERE kind = ? AND a = ? AND b = ?", [(kind, a, b)])

    def counts(self) -> dict[str, int]:
        return {table: self.connection.ask(f"SELECT count(*) FROM {table}")[0][0] for table in KEPT}


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _some(values: Sequence[str]) -> list[tuple[str, ...]]:
    """The distinct values, in lists short enough for one statement."""
    left = iter(dict.fromkeys(values))
    return list(iter(lambda: tuple(islice(left, AT_ONCE)), ()))


def _join(filter: Filter, table: str = "m") -> str:
    return f"JOIN document d ON d.id = {table}.document" if filter.as_of else ""


def _allowed(filter: Filter) -> tuple[str, tuple[Any, ...]]:
    """The condition that a filter sets on a document d; see Filter.allows."""
    return ("substr(d.published, 1, ?) <= ?", (len(filter.as_of), filter.as_of)) if filter.as_of else ("TRUE", ())

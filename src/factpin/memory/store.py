"""Store: keep texts and facts, find them again, and judge facts on reading.

Invariant: after any sequence of put, replace and remove, every query has the same result as in a new store with only
the remaining documents and the same decisions made by hand. So nothing stored may depend on the order of documents.
`as_of` keeps the same invariant for the documents that its filter allows.

    store = open_store("kb.db", create=True)
    store.put(document, Source("news/gu.txt", published="2022-02-08"))
    store.judged(Pattern(relations=("出生地",)))
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, Literal

import orjson

from factpin.documents import Document, Passage, Schema, Span
from factpin.documents.keys import document_key, name_key
from factpin.documents.schema import record_of, schema_of
from factpin.errors import BadFile, BadInput, UnknownName
from factpin.memory import by_hand, checks, judge_facts
from factpin.memory.assemble import Assembler, usual_type
from factpin.memory.names import longest_first, ranked, spans_of_names, surface_key
from factpin.memory.nouns import (
    ALL,
    ANYTHING,
    Candidate,
    Conflict,
    Decision,
    Filter,
    Floats,
    Hit,
    JudgedFact,
    Pattern,
    Pin,
    Removal,
    Source,
    StoredEntity,
    StoredFact,
)
from factpin.memory.passages import PassageSettings
from factpin.memory.rows import Rows, document_of, document_row, rows_of
from factpin.memory.tables import Tables, VectorRow
from factpin.memory.terms import VERSION
from factpin.memory.vectors import pack
from factpin.words import count

FORMAT = "1"
ENCODER_NAME = re.compile(r"[\w.@+-]{1,200}", re.ASCII)
AT_ONCE = 256  # passages without vectors to fetch together


def settings_of(passages: PassageSettings) -> dict[str, str]:
    """The settings of a new store."""
    return {"format": FORMAT, "terms": VERSION, "passages": orjson.dumps(asdict(passages)).decode()}


class Store:
    """Documents and their facts, kept in tables. Open one with `factpin.memory.open_store`."""

    def __init__(self, tables: Tables, passages: PassageSettings | None = None) -> None:
        self.tables = tables
        kept = tables.settings()
        if (kept.get("format"), kept.get("terms")) != (FORMAT, VERSION):
            raise BadFile(f"{tables.url}: the store was made by another version of factpin. Index its documents again.")
        self.settings = PassageSettings(**orjson.loads(kept["passages"]))
        if passages is not None and passages != self.settings:
            raise BadInput(
                f"{tables.url}: the store has passages of size {self.settings.size}, not {passages.size}. "
                f"Leave out the size, or rebuild the store with the new one."
            )

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; everything that was put is saved."""
        self.tables.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make several changes as one: all or nothing, and much faster than one by one."""
        with self.tables.writing():
            yield

    # ---- documents ------------------------------------------------------------------------------------------------

    def put(self, doc: Document, source: Source) -> Literal["added", "unchanged", "replaced"]:
        """Add a document, or replace the one with the same uri. An unchanged document is skipped."""
        row = document_row(doc, source, self.settings)
        if self._digest(row.id) == row.digest:
            return "unchanged"
        apart = self._apart(row.id)
        rows = rows_of(doc, source, self.settings, apart, row)  # the slow part, before locking
        with self.tables.writing():
            now = self._apart(row.id)
            return self._replace(rows if now == apart else rows_of(doc, source, self.settings, now, row))

    def _digest(self, document: str) -> str:
        found = self.tables.sources(ALL, [document])
        return found[0].digest if found else ""

    def _apart(self, document: str) -> dict[str, str]:
        return {d.b: d.value for d in self.tables.decisions() if d.kind == "apart" and d.a == document}

    def _replace(self, rows: Rows) -> Literal["added", "replaced"]:
        """Replace the rows of a document. Vectors are kept for passages with the same text and title."""
        old = self.tables.document(rows.document.id)
        if old is None:
            self.tables.insert(rows)
            return "added"
        same = (old.text, old.title) == (rows.document.text, rows.document.title)
        vectors = self.tables.vectors_of(old.id) if same else []
        self.tables.delete(old.id)
        self.tables.insert(rows)
        passages = {passage.id for passage in rows.passages}
        self.tables.put_vectors([vector for vector in vectors if vector.passage in passages])
        return "replaced"

    def remove(self, uri: str) -> Removal:
        """Remove a document, as if it had never been in the store."""
        id = self._known(uri)
        with self.tables.writing():
            rows = self.tables.rows(id)
            self.tables.delete(id)
            for key in self._apart(id):
                self.tables.drop_decision("apart", id, key)
            entities = self.tables.entities([row.id for row in rows.entities])
            facts = {row.id for row, _ in self.tables.facts(Pattern(keys=tuple(f.id for f in rows.facts)), ALL)}
        return Removal(len(rows.passages), len(rows.mentions), len(rows.entities) - len(entities),
                       len(rows.facts) - len(facts), len(rows.evidence))  # fmt: skip

    def _known(self, uri: str) -> str:
        """The key of a document; BadInput if there is none."""
        id = document_key(uri)
        if not self._digest(id):
            raise UnknownName(
                f"{self.tables.url}: there is no document {uri!r}. `factpin store list` lists all documents."
            )
        return id

    def document(self, uri: str) -> tuple[Document, Source]:
        """A document as it was put."""
        row = self.tables.document(self._known(uri))
        if row is None:
            raise BadInput(f"{self.tables.url}: the document {uri!r} was just removed.")
        return document_of(row)

    def documents(self, filter: Filter = ALL) -> Iterator[tuple[Document, Source]]:
        """All documents, one after the other."""
        return (document_of(row) for row in self.tables.documents(filter))

    def sources(self, filter: Filter = ALL) -> list[Source]:
        """The sources of all documents, ordered by uri."""
        rows = sorted(self.tables.sources(filter), key=lambda row: row.uri)
        return [Source(row.uri, row.title, row.published, row.model) for row in rows]

    def uris(self, documents: Sequence[str]) -> dict[str, str]:
        """The uri of each document, by its key."""
        return {row.id: row.uri for row in self.tables.sources(ALL, documents)}

    def partly_read(self, filter: Filter = ALL) -> list[str]:
        """The uris of documents that a model only partly read, so that facts may be missing."""
        return self.tables.partly_read(filter)

    def how_many(self, filter: Filter = ALL) -> int:
        """The number of documents."""
        return self.tables.how_many(filter)

    # ---- passages -------------------------------------------------------------------------------------------------

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Passages by their keys, in that order; unknown keys are left out."""
        found = {passage.id: passage for passage in self.tables.passages(ids)}
        return [found[id] for id in ids if id in found]

    def passages_of(self, uri: str) -> list[Passage]:
        """The passages of a document, in the order of its text."""
        return self.passages(self.tables.passages_of([self._known(uri)]))

    def titled(self, keys: Sequence[str], filter: Filter = ALL) -> dict[str, list[str]]:
        """The passages of documents by the key of their title (`names.title_key`)."""
        found: dict[str, list[str]] = {}
        for key, document in self.tables.titled(keys, filter):
            found.setdefault(key, []).extend(self.tables.passages_of([document]))
        return found

    def words(self, terms: Sequence[str], k: int, filter: Filter = ALL) -> list[Hit]:
        """The k best passages for some terms (`terms.query_terms`) by BM25."""
        with self.tables.reading():
            return self.tables.words(terms, k, filter)

    def nearest(self, encoder: str, query: Floats, k: int, filter: Filter = ALL) -> list[Hit]:
        """The k passages whose vectors are nearest to the query, which must come from the same encoder."""
        with self.tables.reading():
            self._check_encoder(encoder, len(query))
            return self.tables.nearest(encoder, query, k, filter)

    def _check_encoder(self, encoder: str, width: int) -> None:
        expected = self.tables.width(encoder)
        if not expected:
            known = self.tables.encoders()
            made = f"Its vectors were made by {' and '.join(known)}" if known else "It has no vectors yet"
            again = f"factpin index --db {self.tables.url} --vectors {encoder.split('@')[0]}"
            raise BadInput(
                f"{self.tables.url}: {made}, the question's by {encoder}. Use the encoder of the store, "
                f"or embed its passages again: {again}"
            )
        if expected != width:
            raise BadInput(
                f"The vector has {count(width, 'number')}; expected {expected}, as in the other vectors of {encoder}."
            )

    def without_vectors(self, encoder: str) -> Iterator[Passage]:
        """Passages that an encoder has not embedded yet, each once. Vectors can be put while iterating."""
        last = ""
        while ids := self.tables.without_vectors(encoder, last, AT_ONCE):
            yield from self.passages(ids)
            last = ids[-1]

    def put_vectors(self, encoder: str, vectors: Mapping[str, Floats]) -> None:
        """Save the vectors of passages. `encoder` names weights and pooling exactly: minilm-en@0a1b2c3d4e5f-mean.

        Passages that were removed in the meantime are skipped.
        """
        if not ENCODER_NAME.fullmatch(encoder):
            raise BadInput(f"{encoder!r} is not a name of an encoder; expected only letters, digits and ._@+-")
        with self.tables.writing():
            widths = {len(vector) for vector in vectors.values()} | {self.tables.width(encoder)}
            if len(widths - {0}) > 1:
                raise BadInput(
                    f"The vectors of {encoder} differ in width; expected the same for all. Check the encoder."
                )
            there = {passage.id for passage in self.tables.passages(list(vectors))}
            rows = [VectorRow(id, encoder, pack(vector)) for id, vector in vectors.items() if id in there]
            self.tables.put_vectors(rows)

    def drop_vectors(self, encoder: str) -> None:
        """Delete all vectors of an encoder."""
        with self.tables.writing():
            self.tables.drop_vectors(encoder)

    def encoders(self) -> dict[str, int]:
        """How many passages each encoder has embedded."""
        return {encoder: count for encoder, (count, _) in self.tables.encoders().items()}

    # ---- names ----------------------------------------------------------------------------------------------------

    def candidates(self, surface: str, filter: Filter = ALL) -> list[Candidate]:
        """The entities that a name can refer to, most frequent first."""
        return self.candidates_of([surface], filter)[surface]

    def candidates_of(self, surfaces: Sequence[str], filter: Filter = ALL) -> dict[str, list[Candidate]]:
        """The same of many names, much faster than one by one."""
        keys = {surface: name_key(surface) for surface in surfaces}
        with self.tables.reading():
            found = self._candidates(sorted(set(keys.values())), filter)
        return {surface: found.get(key, []) for surface, key in keys.items()}

    def names_in(self, text: str, filter: Filter = ALL) -> list[tuple[Span, list[Candidate]]]:
        """The names in a text that the store knows, longest first, including names inside other names."""
        spans = [span for span in spans_of_names(text) if span.end - span.start > 1]
        keys = {span: surface_key(text[span.start : span.end]) for span in spans}
        with self.tables.reading():
            found = self._candidates(sorted(set(keys.values())), filter)
        return [(span, found[keys[span]]) for span in longest_first(spans) if keys[span] in found]

    def names_with(self, word: str, filter: Filter = ALL) -> list[Candidate]:
        """The entities that have a name of several words of which this is one, most mentioned first.

        Their names are all looked at, so this is for what `names_in` does not know.
        """
        key = surface_key(word)
        with self.tables.reading():
            keys = self.tables.names_with(key, filter) if key else []
            found = [one for candidates in self._candidates(keys, filter).values() for one in candidates]
        most: dict[str, Candidate] = {}
        for one in sorted(found, key=lambda c: (-c.mentions, c.entity.id)):
            most.setdefault(one.entity.id, one)
        total = sum(max(1, one.mentions) for one in most.values())
        return [replace(one, prior=max(1, one.mentions) / total) for one in most.values()]

    def _candidates(self, keys: Sequence[str], filter: Filter) -> dict[str, list[Candidate]]:
        assembler = Assembler(self.tables, filter)
        counts: dict[str, dict[str, int]] = {}
        for key, entity, mentions in self.tables.named(keys, filter):
            counts.setdefault(key, {})
            first = assembler.groups.first(entity)
            counts[key][first] = counts[key].get(first, 0) + mentions
        ids = sorted({id for found in counts.values() for id in found})
        names, entities = assembler.names(ids), assembler.entities(ids)
        return {
            key: [
                Candidate(entities[id], max(1, n) / sum(max(1, m) for m in found.values()), n, tuple(ranked(names[id])))
                for id, n in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
            ]
            for key, found in counts.items()
        }

    def entity(self, name: str, filter: Filter = ALL) -> StoredEntity:
        """The entity with this key or name; BadInput if there are none or several."""
        with self.tables.reading():
            assembler = Assembler(self.tables, filter)
            rows = assembler.names([name])[assembler.groups.first(name)]
            if rows:
                return StoredEntity(assembler.groups.first(name), ranked(rows)[0], usual_type(rows))
            found = self.candidates(name, filter)
        if len(found) == 1:
            return found[0].entity
        if not found:
            raise UnknownName(f"{self.tables.url}: there is no entity {name!r}. Check the spelling.")
        listed = "; ".join(
            f"{c.entity.id} ({c.entity.type or 'no type'}, {count(c.mentions, 'mention')})" for c in found[:8]
        )
        raise BadInput(
            f"{self.tables.url}: {name!r} can be any of {len(found)} entities: {listed}. Give the key of one of them."
        )

    def mentions(self, entity: str, filter: Filter = ALL) -> list[Pin]:
        """Every mention of an entity, ordered by uri and offset."""
        with self.tables.reading():
            assembler = Assembler(self.tables, filter)
            rows = self.tables.mentions(assembler.groups.members(entity), filter)
            return sorted(set(assembler.pinned(rows)), key=lambda pin: (pin.uri, pin.start, pin.end, repr(pin)))

    # ---- facts ----------------------------------------------------------------------------------------------------

    def facts(self, pattern: Pattern = ANYTHING, filter: Filter = ALL) -> list[StoredFact]:
        """The facts that match a pattern, with all their pins, ordered by key."""
        with self.tables.reading():
            assembler = Assembler(self.tables, filter)
            return assembler.facts(assembler.raw(pattern))

    def judged(self, pattern: Pattern = ANYTHING, filter: Filter = ALL) -> list[JudgedFact]:
        """The facts that match, each with its confidence and status, considering all facts about its head."""
        with self.tables.reading():
            schema = self.schema()
            facts = self.facts(pattern, filter)
            wanted = {fact.id for fact in facts}
            single = {name for name, relation in schema.relations.items() if relation.functional or relation.changes}
            pairs = {(fact.head.id, fact.relation) for fact in facts if fact.relation in single}
            if pairs and pattern != ANYTHING:
                heads, relations = (tuple(sorted(set(column))) for column in zip(*pairs, strict=True))
                others = self.facts(Pattern(heads=heads, relations=relations), filter)
                facts = list({fact.id: fact for fact in (*facts, *others)}.values())
        judged = judge_facts.judged(facts, schema, filter.as_of)
        return sorted((fact for fact in judged if fact.fact.id in wanted), key=lambda fact: fact.fact.id)

    def conflicts(self, filter: Filter = ALL) -> list[Conflict]:
        """Facts that contradict each other, with the evidence of each side."""
        return judge_facts.conflicts(self.judged(ANYTHING, filter))

    def schema(self) -> Schema:
        """The marks of relations with a single tail, or a single one at a time; empty unless set."""
        kept = self.tables.settings().get("schema")
        return schema_of(orjson.loads(kept)) if kept else Schema()

    def set_schema(self, schema: Schema) -> None:
        """Set the marks of relations that facts are judged by."""
        with self.tables.writing():
            self.tables.set_setting("schema", orjson.dumps(record_of(schema)).decode())

    # ---- by hand --------------------------------------------------------------------------------------------------

    def join(self, a: str, b: str, by: str = "") -> None:
        """Make two entities one, by key or by name."""
        by_hand.join(self, a, b, by)

    def unjoin(self, a: str, b: str) -> None:
        """Undo a join."""
        by_hand.unjoin(self, a, b)

    def split(self, uri: str, name: str) -> str:
        """In one document, let a name refer to another entity, and return its key."""
        return by_hand.split(self, uri, name)

    def unsplit(self, uri: str, name: str) -> None:
        """Undo a split."""
        by_hand.unsplit(self, uri, name)

    def judge(self, fact: str, verdict: str, note: str = "") -> None:
        """Mark a fact as `rejected` or `confirmed`; "" removes the mark."""
        by_hand.judge(self, fact, verdict, note)

    def add(self, fact: by_hand.TypedFact) -> str:
        """Add a fact by hand, as a document that states it, and return the uri of that document."""
        return by_hand.add(self, fact)

    def decisions(self) -> list[Decision]:
        """All decisions made by hand."""
        return self.tables.decisions()

    def rewrite(self, document: str) -> None:
        """Derive the rows of a document again; call it inside `together`."""
        row = self.tables.document(document)
        if row is not None:
            self._replace(rows_of(*document_of(row), self.settings, self._apart(document)))

    # ---- the whole ------------------------------------------------------------------------------------------------

    def rebuild(self, passages: PassageSettings | None = None) -> None:
        """Derive everything from the documents again, optionally with passages of another size."""
        with self.tables.writing():
            self.settings = passages or self.settings
            self.tables.set_setting("passages", orjson.dumps(asdict(self.settings)).decode())
            for source in self.tables.sources(ALL):
                self.rewrite(source.id)

    def compact(self) -> None:
        """Erase the bytes of removed documents from the files of the store, and make these smaller."""
        self.tables.compact()

    def check(self) -> list[str]:
        """Compare every table with the documents; a sentence for each difference."""
        return checks.check(self.tables, self.settings)

    def stats(self) -> dict[str, Any]:
        """The number of rows of each kind, and the settings."""
        with self.tables.reading():
            counts = self.tables.counts()
            return {**counts, "partly_read": len(self.partly_read()), "decisions": len(self.decisions()),
                    "vectors": self.encoders(), "passage_size": self.settings.size}  # fmt: skip

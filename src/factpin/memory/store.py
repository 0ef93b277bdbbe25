"""Store: texts and facts kept, found again, and judged when they are read.

The law: after any sequence of put, replace and remove, every question is answered exactly as by a new store that only
ever saw the documents that are left, with the same decisions made by hand. So nothing is kept that depends on the order
in which documents came, and `as_of` is the same law with a filter.

    store = open_store("kb.db", create=True)
    store.put(document, Source("news/gu.txt", published="2022-02-08"))
    store.judged(Pattern(relations=("出生地",)))
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Literal

import orjson

from factpin.documents import Document, Passage, Schema, Span
from factpin.documents.keys import document_key, name_key
from factpin.documents.schema import record_of, schema_of
from factpin.errors import BadFile, BadInput
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
    Removed,
    Source,
    StoredEntity,
    StoredFact,
)
from factpin.memory.passages import PassageSettings
from factpin.memory.rows import Rows, document_of, document_row, rows_of
from factpin.memory.tables import Tables, VectorRow
from factpin.memory.terms import VERSION
from factpin.memory.vectors import pack

FORMAT = "1"
ENCODER_NAME = re.compile(r"[\w.@+-]{1,200}", re.ASCII)
AT_ONCE = 256  # passages without vectors that are handed out together


def settings_of(passages: PassageSettings) -> dict[str, str]:
    """The settings with which a new store begins."""
    return {"format": FORMAT, "terms": VERSION, "passages": orjson.dumps(asdict(passages)).decode()}


class Store:
    """Documents with their facts, behind some tables. See `factpin.memory.open_store`."""

    def __init__(self, tables: Tables, passages: PassageSettings | None = None) -> None:
        self.tables = tables
        kept = tables.settings()
        if (kept.get("format"), kept.get("terms")) != (FORMAT, VERSION):
            raise BadFile(f"{tables.url}: the store was made by another version of factpin. Index its documents anew.")
        self.settings = PassageSettings(**orjson.loads(kept["passages"]))
        if passages is not None and passages != self.settings:
            raise BadInput(f"{tables.url}: its passages have the size {self.settings.size}, not {passages.size}. "
                           f"Leave the size out, or rebuild the store with the other one.")  # fmt: skip

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what was put is kept."""
        self.tables.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Several changes as one: all or nothing, and much faster than one by one."""
        with self.tables.writing():
            yield

    # ---- documents ------------------------------------------------------------------------------------------------

    def put(self, doc: Document, source: Source) -> Literal["added", "unchanged", "replaced"]:
        """Keep a document, in place of the one of the same uri. What is unchanged costs nothing."""
        row = document_row(doc, source, self.settings)
        if self._digest(row.id) == row.digest:
            return "unchanged"
        apart = self._apart(row.id)
        rows = rows_of(doc, source, self.settings, apart, row)  # the slow part, before anyone is kept waiting
        with self.tables.writing():
            now = self._apart(row.id)
            return self._replace(rows if now == apart else rows_of(doc, source, self.settings, now, row))

    def _digest(self, document: str) -> str:
        found = self.tables.sources(ALL, [document])
        return found[0].digest if found else ""

    def _apart(self, document: str) -> dict[str, str]:
        return {d.b: d.value for d in self.tables.decisions() if d.kind == "apart" and d.a == document}

    def _replace(self, rows: Rows) -> Literal["added", "replaced"]:
        """Put rows in the place of older ones. Vectors stay where passages do: same text, same title."""
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

    def remove(self, uri: str) -> Removed:
        """Forget a document: from then on the store answers as if it had never come."""
        id = self._known(uri)
        with self.tables.writing():
            rows = self.tables.rows(id)
            self.tables.delete(id)
            for key in self._apart(id):
                self.tables.drop_decision("apart", id, key)
            entities = self.tables.entities([row.id for row in rows.entities])
            facts = {row.id for row, _ in self.tables.facts(Pattern(keys=tuple(f.id for f in rows.facts)), ALL)}
        return Removed(len(rows.passages), len(rows.mentions), len(rows.entities) - len(entities),
                       len(rows.facts) - len(facts), len(rows.evidence))  # fmt: skip

    def _known(self, uri: str) -> str:
        """The key of a document that must be there."""
        id = document_key(uri)
        if not self._digest(id):
            raise BadInput(f"{self.tables.url}: there is no document {uri!r}. `factpin store list` names them all.")
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
        """Where the documents come from, by uri."""
        rows = sorted(self.tables.sources(filter), key=lambda row: row.uri)
        return [Source(row.uri, row.title, row.published, row.model) for row in rows]

    def uris(self, documents: Sequence[str]) -> dict[str, str]:
        """The uri of each document, by its key."""
        return {row.id: row.uri for row in self.tables.sources(ALL, documents)}

    def partly_read(self, filter: Filter = ALL) -> list[str]:
        """The uris of documents that a model did not read whole: what they say may be missing."""
        return sorted(row.uri for row in self.tables.sources(filter) if not row.whole)

    # ---- passages -------------------------------------------------------------------------------------------------

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Passages by their keys, in that order; unknown keys are left out."""
        found = {passage.id: passage for passage in self.tables.passages(ids)}
        return [found[id] for id in ids if id in found]

    def passages_of(self, uri: str) -> list[Passage]:
        """The passages of a document, in the order of its text."""
        return self.passages(self.tables.passages_of([self._known(uri)]))

    def titled(self, keys: Sequence[str], filter: Filter = ALL) -> dict[str, list[str]]:
        """The passages of the documents that bear a title, by the keys of titles (`names.title_key`)."""
        found: dict[str, list[str]] = {}
        for key, document in self.tables.titled(keys, filter):
            found.setdefault(key, []).extend(self.tables.passages_of([document]))
        return found

    def words(self, terms: Sequence[str], k: int, filter: Filter = ALL) -> list[Hit]:
        """The k best passages for some terms (`terms.query_terms`) by BM25."""
        with self.tables.reading():
            return self.tables.words(terms, k, filter)

    def nearest(self, encoder: str, query: Floats, k: int, filter: Filter = ALL) -> list[Hit]:
        """The k passages whose vectors are nearest to that of a question, made by the same encoder."""
        with self.tables.reading():
            self._check_encoder(encoder, len(query))
            return self.tables.nearest(encoder, query, k, filter)

    def _check_encoder(self, encoder: str, width: int) -> None:
        expected = self.tables.width(encoder)
        if not expected:
            known = self.tables.encoders()
            made = f"Its vectors were made by {' and '.join(known)}" if known else "It has no vectors yet"
            again = f"factpin index --db {self.tables.url} --encoder {encoder.split('@')[0]}"
            raise BadInput(f"{self.tables.url}: {made}, the question's by {encoder}. Ask with the store's own encoder, "
                           f"or embed its passages anew: {again}")  # fmt: skip
        if expected != width:
            raise BadInput(f"The vectors of {encoder} have {expected} numbers, this one has {width}.")

    def without_vectors(self, encoder: str) -> Iterator[Passage]:
        """Passages that an encoder has not embedded yet, each once. Vectors may be put while they are handed out."""
        last = ""
        while ids := self.tables.without_vectors(encoder, last, AT_ONCE):
            yield from self.passages(ids)
            last = ids[-1]

    def put_vectors(self, encoder: str, vectors: Mapping[str, Floats]) -> None:
        """Keep vectors of passages. `encoder` names weights and pooling exactly: minilm-en@0a1b2c3d4e5f-mean.
        Passages that have gone in the meantime are passed over."""
        if not ENCODER_NAME.fullmatch(encoder):
            raise BadInput(f"{encoder!r} is no name of an encoder; expected letters, digits and ._@+- alone.")
        with self.tables.writing():
            widths = {len(vector) for vector in vectors.values()} | {self.tables.width(encoder)}
            if len(widths - {0}) > 1:
                raise BadInput(f"The vectors of {encoder} do not all have one width. Check the encoder.")
            there = {passage.id for passage in self.tables.passages(list(vectors))}
            rows = [VectorRow(id, encoder, pack(vector)) for id, vector in vectors.items() if id in there]
            self.tables.put_vectors(rows)

    def drop_vectors(self, encoder: str) -> None:
        """Forget all vectors of an encoder."""
        with self.tables.writing():
            self.tables.drop_vectors(encoder)

    def encoders(self) -> dict[str, int]:
        """How many passages each encoder has embedded."""
        return {encoder: count for encoder, (count, _) in self.tables.encoders().items()}

    # ---- names ----------------------------------------------------------------------------------------------------

    def candidates(self, surface: str, filter: Filter = ALL) -> list[Candidate]:
        """The entities that a name may mean, the most frequent first."""
        with self.tables.reading():
            return self._candidates([name_key(surface)], filter).get(name_key(surface), [])

    def names_in(self, text: str, filter: Filter = ALL) -> list[tuple[Span, list[Candidate]]]:
        """Where names of the store stand in a text, longest first, those inside other names too."""
        spans = [span for span in spans_of_names(text) if span.end - span.start > 1]
        keys = {span: surface_key(text[span.start : span.end]) for span in spans}
        with self.tables.reading():
            found = self._candidates(sorted(set(keys.values())), filter)
        return [(span, found[keys[span]]) for span in longest_first(spans) if keys[span] in found]

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
        """The one entity of that key or name; an error that lists them where there are several."""
        with self.tables.reading():
            assembler = Assembler(self.tables, filter)
            rows = assembler.names([name])[assembler.groups.first(name)]
            if rows:
                return StoredEntity(assembler.groups.first(name), ranked(rows)[0], usual_type(rows))
            found = self.candidates(name, filter)
        if len(found) == 1:
            return found[0].entity
        if not found:
            raise BadInput(f"{self.tables.url}: no text names {name!r}. Check the spelling.")
        listed = "; ".join(f"{c.entity.id} ({c.entity.type or 'no type'}, {c.mentions} mentions)" for c in found[:8])
        raise BadInput(
            f"{self.tables.url}: {name!r} may be any of {len(found)} entities: {listed}. Give the key of one."
        )

    def mentions(self, entity: str, filter: Filter = ALL) -> list[Pin]:
        """Every place that mentions an entity, by uri and character."""
        with self.tables.reading():
            assembler = Assembler(self.tables, filter)
            rows = self.tables.mentions(assembler.groups.members(entity), filter)
            return sorted(set(assembler.pinned(rows)), key=lambda pin: (pin.uri, pin.start, pin.end, repr(pin)))

    # ---- facts ----------------------------------------------------------------------------------------------------

    def facts(self, pattern: Pattern = ANYTHING, filter: Filter = ALL) -> list[StoredFact]:
        """The facts that fit a pattern, with all their pins, by key."""
        with self.tables.reading():
            assembler = Assembler(self.tables, filter)
            return assembler.facts(assembler.raw(pattern))

    def judged(self, pattern: Pattern = ANYTHING, filter: Filter = ALL) -> list[JudgedFact]:
        """The facts that fit, each with its confidence and status in the light of all facts about its head."""
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
        """Facts that contradict each other, with the texts on both sides."""
        return judge_facts.conflicts(self.judged(ANYTHING, filter))

    def schema(self) -> Schema:
        """Which relations have one tail, or one at a time; empty until it is set."""
        kept = self.tables.settings().get("schema")
        return schema_of(orjson.loads(kept)) if kept else Schema()

    def set_schema(self, schema: Schema) -> None:
        """Judge facts by the marks of these relations from now on."""
        with self.tables.writing():
            self.tables.set_setting("schema", orjson.dumps(record_of(schema)).decode())

    # ---- by hand --------------------------------------------------------------------------------------------------

    def join(self, a: str, b: str, by: str = "") -> None:
        """Two entities, by key or by name, are one."""
        by_hand.join(self, a, b, by)

    def unjoin(self, a: str, b: str) -> None:
        """Undo a join."""
        by_hand.unjoin(self, a, b)

    def split(self, uri: str, name: str) -> str:
        """In this document the name means somebody else; the key of that one comes back."""
        return by_hand.split(self, uri, name)

    def unsplit(self, uri: str, name: str) -> None:
        """Undo a split."""
        by_hand.unsplit(self, uri, name)

    def judge(self, fact: str, verdict: str, note: str = "") -> None:
        """Say that a fact is `rejected` or `confirmed`; "" takes it back."""
        by_hand.judge(self, fact, verdict, note)

    def add(self, fact: by_hand.TypedFact) -> str:
        """Add a fact by hand: a document that says it, whose uri comes back."""
        return by_hand.add(self, fact)

    def decisions(self) -> list[Decision]:
        """Everything that was decided by hand."""
        return self.tables.decisions()

    def rewrite(self, document: str) -> None:
        """Derive the rows of a document anew; inside `together`."""
        row = self.tables.document(document)
        if row is not None:
            self._replace(rows_of(*document_of(row), self.settings, self._apart(document)))

    # ---- the whole ------------------------------------------------------------------------------------------------

    def rebuild(self, passages: PassageSettings | None = None) -> None:
        """Derive everything anew from the documents, with passages of another size if one is given."""
        with self.tables.writing():
            self.settings = passages or self.settings
            self.tables.set_setting("passages", orjson.dumps(asdict(self.settings)).decode())
            for source in self.tables.sources(ALL):
                self.rewrite(source.id)

    def check(self) -> list[str]:
        """Compare every table with what the documents say; a sentence for each difference."""
        return checks.check(self.tables, self.settings)

    def stats(self) -> dict[str, Any]:
        """How much there is of everything."""
        with self.tables.reading():
            counts = self.tables.counts()
            return {**counts, "partly_read": len(self.partly_read()), "decisions": len(self.decisions()),
                    "vectors": self.encoders(), "passage_size": self.settings.size}  # fmt: skip

"""Tables in dicts, searched exhaustively: small, obvious, and the reference for the databases."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy

from factpin.documents import Passage
from factpin.memory import bm25
from factpin.memory.names import NameCount
from factpin.memory.nouns import Decision, Filter, Floats, Hit, Pattern
from factpin.memory.rows import DocumentRow, EntityRow, EvidenceRow, FactRow, MentionRow, Rows
from factpin.memory.tables import SourceRow, VectorRow
from factpin.memory.terms import is_prefix
from factpin.memory.vectors import score


def open_memory(url: str, create: bool, settings: Mapping[str, str]) -> "InMemoryTables":  # noqa: ARG001
    """New tables; tables in memory cannot be opened a second time."""
    return InMemoryTables(settings)


class InMemoryTables:
    """Tables that are lost when the process ends."""

    url = "memory:"

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings: dict[str, str] = dict(settings)
        self._rows: dict[str, Rows] = {}
        self._vectors: dict[tuple[str, str], bytes] = {}
        self._decisions: dict[tuple[str, str, str], Decision] = {}

    @contextmanager
    def reading(self) -> Iterator[None]:
        yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        held = ("_settings", "_rows", "_vectors", "_decisions")
        before = {name: copy(getattr(self, name)) for name in held}
        try:
            yield
        except BaseException:
            for name, value in before.items():
                setattr(self, name, value)
            raise

    def close(self) -> None:
        pass

    def settings(self) -> dict[str, str]:
        return dict(self._settings)

    def set_setting(self, key: str, value: str) -> None:
        self._settings[key] = value

    def insert(self, rows: Rows) -> None:
        self._rows[rows.document.id] = rows

    def delete(self, document: str) -> None:
        rows = self._rows.pop(document)
        gone = {p.id for p in rows.passages}
        self._vectors = {place: data for place, data in self._vectors.items() if place[0] not in gone}

    def _seen(self, filter: Filter) -> list[Rows]:
        return [self._rows[id] for id in sorted(self._rows) if filter.allows(self._rows[id].document.published)]

    def document(self, id: str) -> DocumentRow | None:
        return self._rows[id].document if id in self._rows else None

    def documents(self, filter: Filter) -> Iterator[DocumentRow]:
        return iter([rows.document for rows in self._seen(filter)])

    def sources(self, filter: Filter, ids: Sequence[str] | None = None) -> list[SourceRow]:
        return [
            SourceRow(d.id, d.uri, d.digest, d.title, d.published, d.model, d.text_key, d.whole)
            for d in self.documents(filter)
            if ids is None or d.id in set(ids)
        ]

    def partly_read(self, filter: Filter) -> list[str]:
        return sorted(d.uri for d in self.documents(filter) if not d.whole)

    def how_many(self, filter: Filter) -> int:
        return sum(1 for _ in self.documents(filter))

    def texts(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: self._rows[id].document.text for id in ids if id in self._rows}

    def rows(self, document: str) -> Rows:
        rows = self._rows[document]
        return rows._replace(words=tuple(" ".join(sorted(words.split())) for words in rows.words))

    def compact(self) -> None:
        """Nothing to do: what was removed is gone."""

    def problems(self) -> list[str]:
        known = {p.id for rows in self._rows.values() for p in rows.passages}
        return [
            f"a vector belongs to {passage}, which is not a passage"
            for passage, _ in self._vectors
            if passage not in known
        ]

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        wanted = set(ids)
        return [
            Passage(p.id, p.document, p.start, p.end, rows.document.text[p.start : p.end], rows.document.title)
            for rows in self._rows.values()
            for p in rows.passages
            if p.id in wanted
        ]

    def passages_of(self, documents: Sequence[str]) -> list[str]:
        return [p.id for id in sorted(documents) if id in self._rows for p in self._rows[id].passages]

    def words(self, terms: Sequence[str], k: int, filter: Filter) -> list[Hit]:
        pool = [
            (p, Counter(words.split()))
            for rows in self._seen(filter)
            for p, words in zip(rows.passages, rows.words, strict=True)
        ]
        average = sum(p.length for p, _ in pool) / len(pool) if pool else 1.0
        scores: Counter[str] = Counter()
        for term in bm25.unique(terms):
            counts = {p: _count(term, words) for p, words in pool}
            frequency = sum(1 for count in counts.values() if count)
            weight = bm25.idf(len(pool), frequency)
            for p, count in counts.items():
                if count:
                    scores[p.id] += bm25.part(weight, count, p.length, average)  # type: ignore[assignment]
        return bm25.best(scores.items(), k)

    def encoders(self) -> dict[str, tuple[int, int]]:
        counts = Counter(encoder for _, encoder in self._vectors)
        widths = {encoder: len(data) // 2 for (_, encoder), data in self._vectors.items()}
        return {encoder: (counts[encoder], widths[encoder]) for encoder in sorted(counts)}

    def width(self, encoder: str) -> int:
        return self.encoders().get(encoder, (0, 0))[1]

    def put_vectors(self, rows: Sequence[VectorRow]) -> None:
        for row in rows:
            self._vectors[row.passage, row.encoder] = row.data

    def drop_vectors(self, encoder: str) -> None:
        self._vectors = {place: data for place, data in self._vectors.items() if place[1] != encoder}

    def vectors_of(self, document: str) -> list[VectorRow]:
        own = {p.id for p in self._rows[document].passages}
        return [VectorRow(*place, data) for place, data in self._vectors.items() if place[0] in own]

    def without_vectors(self, encoder: str, after: str, limit: int) -> list[str]:
        every = (p.id for rows in self._rows.values() for p in rows.passages if p.id > after)
        return sorted(id for id in every if (id, encoder) not in self._vectors)[:limit]

    def nearest(self, encoder: str, query: Floats, k: int, filter: Filter) -> list[Hit]:
        seen = {p.id for rows in self._seen(filter) for p in rows.passages}
        ids = [p for p, name in self._vectors if name == encoder and p in seen]
        return bm25.best(zip(ids, score([self._vectors[id, encoder] for id in ids], query), strict=True), k)

    def entities(self, ids: Sequence[str]) -> list[EntityRow]:
        wanted = set(ids)
        return sorted({row for rows in self._rows.values() for row in rows.entities if row.id in wanted})

    def names(self, entities: Sequence[str], filter: Filter) -> list[NameCount]:
        types = {row.id: row.type for row in self.entities(entities)}
        counts = Counter((m.entity, m.surface, bool(m.type)) for m in self.mentions(entities, filter) if m.surface_key)
        return [NameCount(id, types[id], surface, typed, n) for (id, surface, typed), n in sorted(counts.items())]

    def named(self, keys: Sequence[str], filter: Filter) -> list[tuple[str, str, int]]:
        wanted = set(keys) - {""}
        found: Counter[tuple[str, str]] = Counter()
        for rows in self._seen(filter):
            found.update((m.surface_key, m.entity) for m in rows.mentions if m.surface_key in wanted)
            for entity in rows.entities:
                if entity.key in wanted:
                    found[entity.key, entity.id] += 0
        return sorted((key, entity, n) for (key, entity), n in found.items())

    def names_with(self, word: str, filter: Filter) -> list[str]:
        keys = {m.surface_key for rows in self._seen(filter) for m in rows.mentions} - {word}
        return sorted(key for key in keys if word and f" {word} " in f" {key.replace('·', ' ')} ")

    def titled(self, keys: Sequence[str], filter: Filter) -> list[tuple[str, str]]:
        wanted = set(keys) - {""}
        return sorted((d.title_key, d.id) for d in self.documents(filter) if d.title_key in wanted)

    def mentions(self, entities: Sequence[str], filter: Filter) -> list[MentionRow]:
        wanted = set(entities)
        return [m for rows in self._seen(filter) for m in rows.mentions if m.entity in wanted]

    def facts(self, pattern: Pattern, filter: Filter) -> list[tuple[FactRow, EvidenceRow]]:
        found = []
        for rows in self._seen(filter):
            facts = {fact.id: fact for fact in rows.facts if _fits(fact, pattern)}
            found += [(facts[e.fact], e) for e in rows.evidence if e.fact in facts]
        return found

    def decisions(self) -> list[Decision]:
        return [self._decisions[place] for place in sorted(self._decisions)]

    def put_decision(self, decision: Decision) -> None:
        self._decisions[decision.kind, decision.a, decision.b] = decision

    def drop_decision(self, kind: str, a: str, b: str) -> None:
        self._decisions.pop((kind, a, b), None)

    def counts(self) -> dict[str, int]:
        every = self._rows.values()
        return {
            "document": len(self._rows),
            "passage": sum(len(rows.passages) for rows in every),
            "entity": len({row.id for rows in every for row in rows.entities}),
            "mention": sum(len(rows.mentions) for rows in every),
            "fact": len({row.id for rows in every for row in rows.facts}),
            "evidence": sum(len(rows.evidence) for rows in every),
        }


def _count(term: str, words: Counter[str]) -> int:
    if not is_prefix(term):
        return words[term]
    return sum(count for word, count in words.items() if word.startswith(term))


def _fits(fact: FactRow, pattern: Pattern) -> bool:
    return (
        (pattern.heads is None or fact.head in pattern.heads)
        and (pattern.relations is None or fact.relation in pattern.relations)
        and (pattern.tails is None or fact.tail in pattern.tails)
        and (pattern.keys is None or fact.id in pattern.keys)
    )

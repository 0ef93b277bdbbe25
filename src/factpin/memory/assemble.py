"""Assemble rows into entities with their names and facts with all their pins.

Everything that depends on more than one document is computed here, on reading.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from factpin.documents import Span
from factpin.documents.keys import fact_key
from factpin.memory.groups import Groups
from factpin.memory.names import NameCount, ranked
from factpin.memory.nouns import Filter, Pattern, Pin, StoredEntity, StoredFact, StoredQualifier
from factpin.memory.rows import EvidenceRow, FactRow, MentionRow
from factpin.memory.tables import Tables

TEXTS_AT_ONCE = 64

Raw = Sequence[tuple[FactRow, EvidenceRow]]


class Assembler:
    """Assembles the rows that a filter allows, following the decisions made by hand."""

    def __init__(self, tables: Tables, filter: Filter) -> None:
        self.tables = tables
        self.filter = filter
        decisions = tables.decisions()
        self.groups = Groups((d.a, d.b) for d in decisions if d.kind == "same")
        self.verdicts = {d.a: (d.value, d.note) for d in decisions if d.kind == "verdict"}

    def names(self, ids: Iterable[str]) -> dict[str, list[NameCount]]:
        """The names of each entity, with counts."""
        firsts = {self.groups.first(id) for id in ids}
        members = sorted({member for id in firsts for member in self.groups.members(id)})
        found: dict[str, list[NameCount]] = {id: [] for id in sorted(firsts)}
        for row in self.tables.names(members, self.filter):
            found[self.groups.first(row.entity)].append(row)
        return found

    def entities(self, ids: Iterable[str]) -> dict[str, StoredEntity]:
        """The entities that the given keys are shown as."""
        names = self.names(ids)
        nameless = [member for id, rows in names.items() if not rows for member in self.groups.members(id)]
        keyed = {self.groups.first(row.id): row for row in sorted(self.tables.entities(nameless), reverse=True)}
        return {
            id: StoredEntity(id, ranked(rows)[0], usual_type(rows))
            if rows
            else StoredEntity(id, keyed[id].key if id in keyed else id, keyed[id].type if id in keyed else "")
            for id, rows in names.items()
        }

    def raw(self, pattern: Pattern) -> Raw:
        """The rows of the facts that match; joined entities count as one."""
        heads, tails = self._members(pattern.heads), self._members(pattern.tails)
        if pattern.keys is None or not self.groups.joined():
            return self.tables.facts(Pattern(heads, pattern.relations, tails, pattern.keys), self.filter)
        wanted = self._shown(pattern.keys)
        rows = [*self.tables.facts(Pattern(heads, pattern.relations, tails, pattern.keys), self.filter)]
        joined = self.groups.joined()
        for part in (Pattern(heads=joined), Pattern(tails=joined)):
            rows += self.tables.facts(part, self.filter)
        fits = Pattern(heads, pattern.relations, tails)
        return [pair for pair in dict.fromkeys(rows) if self.key(pair[0]) in wanted and _fits(pair[0], fits)]

    def _members(self, ids: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if ids is None else tuple(member for id in ids for member in self.groups.members(id))

    def _shown(self, keys: tuple[str, ...]) -> set[str]:
        """The keys that facts are shown under, given these keys or the ones from before a join."""
        return {*keys, *(self.key(fact) for fact, _ in self.tables.facts(Pattern(keys=keys), self.filter))}

    def key(self, fact: FactRow) -> str:
        """The key of a fact once its entities are joined."""
        if not self.groups.joined():
            return fact.id
        first = self.groups.first
        qualifiers = [(role, first(id)) for role, id in self.qualifiers(fact)]
        return fact_key(first(fact.head), fact.relation, first(fact.tail), fact.valid_from, fact.valid_to, qualifiers)

    def qualifiers(self, fact: FactRow) -> list[tuple[str, str]]:
        """(role, entity) for each qualifier of a fact."""
        return [(role, id) for role, id in json.loads(fact.qualifiers)] if fact.qualifiers else []

    def facts(self, rows: Raw) -> list[StoredFact]:
        """The facts of these rows, ordered by key."""
        said: dict[str, dict[str, FactRow]] = defaultdict(dict)
        evidence: dict[str, list[EvidenceRow]] = defaultdict(list)
        for fact, row in rows:
            key = self.key(fact)
            said[key][fact.id] = fact
            evidence[key].append(row)
        every = [fact for facts in said.values() for fact in facts.values()]
        entities = self.entities(
            id for fact in every for id in (fact.head, fact.tail, *(id for _, id in self.qualifiers(fact)))
        )
        pins = self._pins(evidence)
        return [self._fact(key, said[key], entities, pins[key]) for key in sorted(said)]

    def _fact(
        self, key: str, rows: Mapping[str, FactRow], entities: Mapping[str, StoredEntity], pins: Iterable[Pin]
    ) -> StoredFact:
        first = self.groups.first
        row = rows[min(rows)]
        qualifiers = {StoredQualifier(role, entities[first(id)]) for role, id in self.qualifiers(row)}
        given = sorted((self.verdicts[id] for id in {key, *rows} if id in self.verdicts), reverse=True)
        verdict, note = given[0] if given else ("", "")  # rejected takes precedence over confirmed
        return StoredFact(
            key, entities[first(row.head)], row.relation, entities[first(row.tail)], row.valid_from, row.valid_to,
            tuple(sorted(qualifiers, key=lambda q: (q.role, q.entity.id))), tuple(pins), verdict, note,
        )  # fmt: skip

    def _pins(self, evidence: Mapping[str, Sequence[EvidenceRow]]) -> dict[str, list[Pin]]:
        """The pins of each fact, ordered by document and offset."""
        rows = [(key, row) for key, found in evidence.items() for row in found]
        pins: dict[str, set[Pin]] = defaultdict(set)
        for (key, _), pin in zip(rows, self.pinned([row for _, row in rows]), strict=True):
            pins[key].add(pin)
        return {key: sorted(found, key=_order) for key, found in pins.items()}

    def pinned(self, rows: Sequence[EvidenceRow | MentionRow]) -> list[Pin]:
        """A pin for each row; each text is read once."""
        found: dict[int, Pin] = {}
        by_document: dict[str, list[int]] = defaultdict(list)
        for i, row in enumerate(rows):
            by_document[row.document].append(i)
        for documents in _batches(sorted(by_document), TEXTS_AT_ONCE):
            texts = self.tables.texts(documents)
            sources = {source.id: source for source in self.tables.sources(self.filter, documents)}
            for id in documents:
                for i in by_document[id]:
                    pin = Pin(id, sources[id].uri, rows[i].start, rows[i].end, texts[id][rows[i].start : rows[i].end],
                              sources[id].published, sources[id].text_key, rows[i].score)  # fmt: skip
                    found[i] = _detailed(pin, rows[i])
        return [found[i] for i in range(len(rows))]


def usual_type(rows: Iterable[NameCount]) -> str:
    """The most frequent type; of equally frequent ones, the first in alphabetical order."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.type] += row.mentions
    return min(counts, key=lambda type: (-counts[type], type))


def _detailed(pin: Pin, row: EvidenceRow | MentionRow) -> Pin:
    if isinstance(row, MentionRow):
        return pin
    return Pin(pin.document, pin.uri, pin.start, pin.end, pin.quote, pin.published, pin.text_key, row.score,
               row.assertion, row.model, _span(row.head_start, row.head_end), _span(row.tail_start, row.tail_end)
               )  # fmt: skip


def _span(start: int | None, end: int | None) -> Span | None:
    return None if start is None or end is None else Span(start, end)


def _order(pin: Pin) -> tuple[str, int, int, str, str, str]:
    return pin.uri, pin.start, pin.end, pin.assertion, pin.model, repr(pin)


def _fits(fact: FactRow, pattern: Pattern) -> bool:
    return (
        (pattern.heads is None or fact.head in pattern.heads)
        and (pattern.relations is None or fact.relation in pattern.relations)
        and (pattern.tails is None or fact.tail in pattern.tails)
    )


def _batches(values: Iterable[str], size: int) -> Iterator[list[str]]:
    left = iter(values)
    while some := list(islice(left, size)):
        yield some

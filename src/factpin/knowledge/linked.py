"""Linked texts: the texts of a store with the names in them, and the entity that each name refers to.

Candidates and priors are those of all other documents: a linker that always finds what it looks for never learns that
a name can refer to something new (NIL), and relies on priors that the text itself has raised.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from factpin.documents import Document
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan
from factpin.knowledge.names import NameTable, StoreEntities
from factpin.memory import ALL, Store
from factpin.memory.linking import Linker
from factpin.memory.names import surface_key
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints

LONGEST = 96  # pieces of a text


@dataclass(frozen=True, eq=False)
class LinkedText:
    """A part of a document between special tokens, and its mentions as tokens."""

    source: str
    ids: Ints  # (n,)
    first: int  # special tokens in front
    last: int  # special tokens behind
    mentions: tuple[MentionSpan, ...]


def linked_texts(
    store: Store,
    entities: StoreEntities,
    names: NameTable,
    inside: frozenset[int],
    tokenizer: Tokenizer,
    longest: int = LONGEST,
) -> Iterator[LinkedText]:
    """All parts of documents with a name whose entity is known. inside: pieces that continue a word."""
    row = {key: FIRST + i for i, key in enumerate(entities.keys)}
    by_place, linker = _entities_by_place(store), Linker(store)
    before = len(tokenizer.prefix)
    for source in sorted(store.tables.sources(ALL), key=lambda one: one.uri):
        doc: Document = store.document(source.uri)[0]
        pieces = tokenizer.encode(doc.text)
        for at in range(0, len(pieces), longest):
            part = pieces.ids[at : at + longest]
            ids = tokenizer.frame(part)[0]
            found = []
            for span in names.find(ids.tolist(), inside):
                if not before <= span.first <= span.last < before + len(part):
                    continue
                start, end = int(pieces.start[span.first + at - before]), int(pieces.end[span.last + at - before])
                entity = row.get(by_place.get((source.uri, start, end), ""))
                if entity is not None:
                    uses = linker.uses(surface_key(doc.text[start:end]))
                    counts = {row[u.entity.id]: u.count(source.id) for u in uses if u.entity.id in row}
                    found.append(_linked(span, entity, counts))
            if found:
                yield LinkedText(source.uri, ids, before, len(ids) - before - len(part), tuple(found))


def _linked(span: MentionSpan, entity: int, counts: Mapping[int, int]) -> MentionSpan:
    """A mention of an entity. counts: how often other documents use its name for each candidate."""
    kept = {row: n for row, n in counts.items() if n}
    rows, total = tuple(kept), sum(kept.values())
    gold = rows.index(entity) if entity in kept else NIL
    return replace(span, candidates=rows, priors=tuple(n / total for n in kept.values()), gold=gold, entity=entity)


def _entities_by_place(store: Store) -> dict[tuple[str, int, int], str]:
    """The entity at each mention of the store."""
    found = {}
    seen = set()
    for source in store.sources():
        for mention in store.document(source.uri)[0].mentions:
            key = surface_key(mention.text)
            if not key or key in seen:
                continue
            seen.add(key)
            for candidate in store.candidates(mention.text):
                for pin in store.mentions(candidate.entity.id):
                    found[pin.uri, pin.start, pin.end] = candidate.entity.id
    return found

"""Linked texts: the texts of a store with the names in them, and which entity each name stands for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from factpin.documents import Document
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan
from factpin.knowledge.names import NameTable, StoreEntities
from factpin.memory import Store
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
    by_place = _entities_by_place(store)
    before = len(tokenizer.prefix)
    for source in store.sources():
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
                    gold = span.candidates.index(entity) if entity in span.candidates else NIL
                    found.append(replace(span, gold=gold, entity=entity))
            if found:
                yield LinkedText(source.uri, ids, before, len(ids) - before - len(part), tuple(found))


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

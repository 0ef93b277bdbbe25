"""Linked texts: the texts of a store with the names in them, and the entity that each name refers to.

Candidates and priors are those of all other documents: a linker that always finds what it looks for never learns that
a name can refer to something new (NIL), and relies on priors that the text itself has raised.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from factpin.documents import Span
from factpin.knowledge.mentions import NIL, MentionSpan
from factpin.knowledge.store_entities import MOST_CANDIDATES, DocumentNames, StoreEntities
from factpin.memory import Store
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints

LONGEST = 160  # pieces of a text
AT_ONCE = 64  # texts
AROUND = 400  # characters that are read before the first name of a document, and behind the last one


@dataclass(frozen=True, eq=False)
class LinkedText:
    """A part of a document between special tokens, and its mentions as tokens."""

    source: str
    ids: Ints  # (n,)
    first: int  # special tokens in front
    last: int  # special tokens behind
    mentions: tuple[MentionSpan, ...]


@dataclass(frozen=True, eq=False)
class TextPart:
    """A part of a text between special tokens, and the first and last token of names in it, by their number."""

    ids: Ints
    first: int
    last: int
    names: Mapping[int, tuple[int, int]]


def cut(text: str, names: Sequence[Span], tokenizer: Tokenizer, longest: int = LONGEST) -> Iterator[TextPart]:
    """The parts of a text that have names; each name is in the part where it starts."""
    if not names:
        return
    start = max(0, min(span.start for span in names) - AROUND)
    pieces = tokenizer.encode(text[start : max(span.end for span in names) + AROUND])
    first = np.searchsorted(pieces.end, [span.start - start for span in names], side="right")
    last = np.searchsorted(pieces.start, [span.end - start for span in names], side="left") - 1
    parts: dict[int, dict[int, tuple[int, int]]] = {}
    for number, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if a <= b:
            parts.setdefault(a // longest, {})[number] = (a % longest, min(b - a // longest * longest, longest - 1))
    before = len(tokenizer.prefix)
    for part, found in sorted(parts.items()):
        own = pieces.ids[part * longest : (part + 1) * longest]
        ids = tokenizer.frame(own)[0]
        placed = {number: (before + a, before + b) for number, (a, b) in found.items()}
        yield TextPart(ids, before, len(ids) - before - len(own), placed)


def linked_texts(
    store: Store, entities: StoreEntities, tokenizer: Tokenizer, longest: int = LONGEST
) -> Iterator[LinkedText]:
    """All parts of documents with a name whose entity is known. Names do not overlap; longer ones win."""
    every = _counts(entities.documents)
    for at in range(0, len(entities.documents), AT_ONCE):
        some = entities.documents[at : at + AT_ONCE]
        texts = store.tables.texts([one.id for one in some])
        for document in some:
            own, places = _counts([document]), document.places
            for part in cut(texts[document.id], [Span(one.start, one.end) for one in places], tokenizer, longest):
                found = []
                for number in _apart(part.names):
                    key = places[number].key
                    counts = {row: n - own[key].get(row, 0) for row, n in _most_frequent(every[key])}
                    found.append(_linked(part.names[number], places[number].entity, counts))
                mentions = tuple(sorted(found, key=lambda one: one.first))
                yield LinkedText(document.uri, part.ids, part.first, part.last, mentions)


def _counts(documents: Iterable[DocumentNames]) -> dict[str, dict[int, int]]:
    """How often each name is used for each entity."""
    found: dict[str, dict[int, int]] = {}
    for document in documents:
        for place in document.places:
            of_name = found.setdefault(place.key, {})
            of_name[place.entity] = of_name.get(place.entity, 0) + 1
    return found


def _most_frequent(counts: Mapping[int, int]) -> list[tuple[int, int]]:
    """The entities that a name is used for, most frequent first."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST_CANDIDATES]


def _apart(names: Mapping[int, tuple[int, int]]) -> list[int]:
    """The numbers of names that share no token, longer ones first."""
    kept: list[int] = []
    for number, (first, last) in sorted(names.items(), key=lambda one: (one[1][0] - one[1][1], one[1], one[0])):
        if all(last < names[other][0] or names[other][1] < first for other in kept):
            kept.append(number)
    return kept


def _linked(place: tuple[int, int], entity: int, counts: Mapping[int, int]) -> MentionSpan:
    """A mention of an entity. counts: how often other documents use its name for each candidate."""
    kept = {row: n for row, n in counts.items() if n}
    rows, total = tuple(kept), sum(kept.values())
    gold = rows.index(entity) if entity in kept else NIL
    return MentionSpan(*place, rows, tuple(n / total for n in kept.values()), gold, entity)

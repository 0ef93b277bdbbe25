"""Targets of document relations: marked pieces, the pairs of entities to score, and their relations."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Bools, Ints
from factpin.documents import Document, Entity, Fact, Mention, Schema, Unread
from factpin.tasks.links import fits
from factpin.tasks.markers import mark
from factpin.tokens import Pieces


@dataclass(frozen=True)
class Targets:
    """A document as marked pieces and pairs of entities, and what could not be. Entities: indices in doc.entities."""

    pieces: Pieces  # with markers
    sentence: Ints  # (n,) of every piece; -1 outside all sentences
    sentences: int
    mention: Ints  # (M,) index in doc.mentions
    place: Ints  # (M,) the piece that opens the mention
    entity: Ints  # (M,)
    entities: int
    head: Ints  # (P,) entity; pairs by head, then tail
    tail: Ints  # (P,) entity
    pair: Ints  # (F,) the pair of a label
    relation: Ints  # (F,)
    fact: Ints  # (F,) index in doc.facts: the first that says so
    proof_pair: Ints  # (V,) the pair that a sentence proves
    proof: Ints  # (V,) the sentence
    kind: Ints  # (E,) number of the entity's type
    joins: Bools  # (K, K, R) whether a relation may join two types
    unread: tuple[Mention, ...] = ()  # no piece holds any of it
    lost: tuple[Entity, ...] = ()  # no mention of it is read
    widened: int = 0  # mentions of which a border falls inside a piece: marked around the pieces that hold them
    unknown: tuple[Fact, ...] = ()  # of a relation that the labels do not have
    unasked: tuple[Fact, ...] = ()  # of a pair that is not scored: an entity is lost, types do not fit, head is tail
    qualifiers: int = 0  # further arguments of taught facts: this task has no place for them
    apart: int = 0  # pairs that no window shows together: not scored

    def columns(self) -> list[NDArray[Any]]:
        """All that is learned from it."""
        labels = (self.pair, self.relation, self.proof_pair, self.proof)
        return [self.place, self.entity, self.head, self.tail, *labels]

    def sampled(self, share: float, chance: np.random.Generator) -> "Targets":
        """Every pair with a relation, and a share of the others: for training, where most pairs have none."""
        kept = chance.random(len(self.head)) < share
        kept[self.pair] = True
        return _only(self, kept)

    def fits(self) -> Bools:
        """(P, R) whether a relation may join the types of a pair."""
        found: Bools = self.joins[self.kind[self.head], self.kind[self.tail]]
        return found

    def not_read(self) -> tuple[Unread, ...]:
        """What the coverage of the document says of mentions that were not read."""
        why = "no piece of the vocabulary holds the mention"
        return tuple(Unread(m.start, m.end, f"{why} {m.text!r}") for m in self.unread)


def targets(
    doc: Document,
    pieces: Pieces,
    marker: int,
    relations: Sequence[str],
    schema: Schema | None = None,
    excluded: Collection[frozenset[int]] = (),
    windows: Callable[[Pieces], Sequence[tuple[int, int]]] | None = None,
) -> Targets:
    """pieces: of the document's text, without markers; marker: its number, `markers.marker_id`; excluded: pairs of
    entities that are not scored; windows: the windows (first, last) of the marked pieces.

    With windows, a pair is scored if some mention of the one and some mention of the other are in one of them. Of
    others nothing is read: their vectors never meet."""
    index = {m.id: i for i, m in enumerate(doc.mentions)}
    owned = [(index[id], e) for e, entity in enumerate(doc.entities) for id in dict.fromkeys(entity.mentions)]
    mention, entity = np.array(owned, np.int64).reshape(-1, 2).T
    marked = mark(pieces, [doc.mentions[i] for i in mention], marker)
    read = marked.opening >= 0
    kind, joins = _joins(doc, schema, relations)
    known = np.bincount(entity[read], minlength=len(doc.entities)) > 0
    parts = [(0, len(marked.pieces))] if windows is None else windows(marked.pieces)
    together = _together(marked.opening[read], entity[read], parts, len(doc.entities))
    head, tail = _asked(together, kind, joins, excluded)
    labels = _PairLabels(doc, relations, head, tail)
    return Targets(
        marked.pieces,
        _sentences(doc, pieces)[marked.source],
        len(doc.sentences),
        mention[read],
        marked.opening[read],
        entity[read],
        len(doc.entities),
        head,
        tail,
        *labels.columns(),
        kind,
        joins,
        unread=tuple(doc.mentions[i] for i in np.unique(mention[~read])),
        lost=tuple(e for e, good in zip(doc.entities, known, strict=True) if not good),
        widened=int(marked.widened.sum()),
        unknown=tuple(labels.unknown),
        unasked=tuple(labels.unasked),
        qualifiers=labels.qualifiers,
        apart=_allowed(known, kind, joins, excluded) - len(head),
    )


def _sentences(doc: Document, pieces: Pieces) -> Ints:
    """The sentence in which every piece starts (n,), -1 outside."""
    borders = np.array(doc.sentences, np.int64).reshape(-1, 2)
    at = np.searchsorted(borders[:, 0], pieces.start, side="right") - 1
    ends = np.append(borders[:, 1], 0)  # at == -1 reads the 0
    return np.where(pieces.start < ends[at], at, -1)


def types_of(doc: Document) -> list[str]:
    """The type of every entity: its own, or that of its first mention."""
    type = {m.id: m.type for m in doc.mentions}
    return [e.type or type[e.mentions[0]] for e in doc.entities]


def _joins(doc: Document, schema: Schema | None, relations: Sequence[str]) -> tuple[Ints, Bools]:
    """The number of every entity's type (E,), and which relations may join two types (K, K, R)."""
    kinds, kind = np.unique(np.array(types_of(doc), np.str_), return_inverse=True)
    joins = np.ones((len(kinds), len(kinds), len(relations)), np.bool_)
    if schema is not None:
        for h, t, r in np.ndindex(*joins.shape):
            joins[h, t, r] = fits(schema, relations[r], str(kinds[h]), str(kinds[t]))
    return kind.astype(np.int64), joins


def _together(place: Ints, entity: Ints, windows: Sequence[tuple[int, int]], entities: int) -> Ints:
    """The ordered pairs of entities with mentions in one window, as head * entities + tail, in order."""
    order = np.argsort(place, kind="stable")
    place, entity = place[order], entity[order]
    found = [np.zeros(0, np.int64)]
    for first, last in windows:
        here = np.unique(entity[np.searchsorted(place, first) : np.searchsorted(place, last)])
        found.append((here[:, None] * entities + here).ravel())
    return np.unique(np.concatenate(found))


def _asked(together: Ints, kind: Ints, joins: Bools, excluded: Collection[frozenset[int]]) -> tuple[Ints, Ints]:
    """The ordered pairs (P,), (P,) that some relation may join, but for the excluded ones."""
    head, tail = np.divmod(together, max(1, len(kind)))
    asked = (head != tail) & np.any(joins, axis=2)[kind[head], kind[tail]]
    out = np.array([pair for one, two in map(sorted, excluded) for pair in ((one, two), (two, one))], np.int64)
    out = out.reshape(-1, 2)
    asked &= ~np.isin(together, out[:, 0] * len(kind) + out[:, 1])
    return head[asked], tail[asked]


def _allowed(known: Bools, kind: Ints, joins: Bools, excluded: Collection[frozenset[int]]) -> int:
    """How many ordered pairs of entities that are read some relation may join, wherever they are."""
    table: Bools = np.any(joins, axis=2)  # (K, K)
    count = np.bincount(kind[known], minlength=len(table))  # (K,)
    out = [(kind[a], kind[b]) for a, b in map(sorted, excluded) if known[a] and known[b]]
    less = sum(int(table[a, b]) + int(table[b, a]) for a, b in out)
    return int((count[:, None] * count * table).sum()) - int(count[np.diag(table)].sum()) - less


class _PairLabels:
    """The labels of a document's pairs, each once, and the sentences that prove a pair."""

    def __init__(self, doc: Document, relations: Sequence[str], head: Ints, tail: Ints) -> None:
        entity = {e.id: i for i, e in enumerate(doc.entities)}
        label = {name: r for r, name in enumerate(relations)}
        ends = [(entity[fact.head], entity[fact.tail]) for fact in doc.facts]
        place = _places(ends, head * len(entity) + tail, len(entity))
        self.first: dict[tuple[int, int], int] = {}  # (pair, relation) -> fact
        self.proofs: set[tuple[int, int]] = set()  # (pair, sentence)
        self.unknown: list[Fact] = []
        self.unasked: list[Fact] = []
        self.qualifiers = 0
        for k, fact in enumerate(doc.facts):
            pair = place[k]
            if fact.relation not in label:
                self.unknown.append(fact)
            elif pair < 0:
                self.unasked.append(fact)
            else:
                self.first.setdefault((pair, label[fact.relation]), k)
                self.proofs.update((pair, evidence.sentence) for evidence in fact.evidence)
                self.qualifiers += len(fact.qualifiers)

    def columns(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """pair, relation, fact, proof_pair, proof."""
        rows = np.array(sorted((p, r, k) for (p, r), k in self.first.items()), np.int64).reshape(-1, 3)
        proofs = np.array(sorted(self.proofs), np.int64).reshape(-1, 2)
        return rows[:, 0], rows[:, 1], rows[:, 2], proofs[:, 0], proofs[:, 1]


def _places(ends: Sequence[tuple[int, int]], keys: Ints, entities: int) -> list[int]:
    """The place of each pair of entities among keys, which are in order; -1 where it is not among them."""
    wanted = np.array([head * entities + tail for head, tail in ends], np.int64)
    at = np.searchsorted(keys, wanted)
    found = np.append(keys, -1)[at] == wanted
    return np.where(found, at, -1).tolist()


def _only(x: Targets, kept: Bools) -> Targets:
    """The pairs that stay, kept (P,), with their labels."""
    number = np.cumsum(kept) - 1  # of a pair among those that stay
    stated, proved = kept[x.pair], kept[x.proof_pair]
    return replace(
        x,
        head=x.head[kept],
        tail=x.tail[kept],
        pair=number[x.pair[stated]],
        relation=x.relation[stated],
        fact=x.fact[stated],
        proof_pair=number[x.proof_pair[proved]],
        proof=x.proof[proved],
    )

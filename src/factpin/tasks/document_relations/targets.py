"""Targets of document relations: marked pieces, the pairs of entities to score, and their relations."""

from collections.abc import Collection, Sequence
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

    def seen_together(self, windows: Sequence[tuple[int, int]], facts: Sequence[Fact]) -> "Targets":
        """The pairs of which some mention of the one and some mention of the other are in one window (first, last)
        of pieces. Of others nothing was read: their vectors never met. `facts` are the document's."""
        shown = np.zeros((self.entities, len(windows)), np.bool_)
        for w, (first, last) in enumerate(windows):
            shown[self.entity[(self.place >= first) & (self.place < last)], w] = True
        kept: Bools = (shown.astype(np.float32) @ shown.T.astype(np.float32) > 0)[self.head, self.tail]
        if kept.all():
            return self
        unasked = tuple(facts[k] for k in self.fact[~kept[self.pair]])
        return replace(_only(self, kept), unasked=self.unasked + unasked, apart=int((~kept).sum()))

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
) -> Targets:
    """pieces: of the document's text, without markers; marker: its number, `markers.marker_id`; excluded: pairs of
    entities that are not scored."""
    index = {m.id: i for i, m in enumerate(doc.mentions)}
    owned = [(index[id], e) for e, entity in enumerate(doc.entities) for id in dict.fromkeys(entity.mentions)]
    mention, entity = np.array(owned, np.int64).reshape(-1, 2).T
    marked = mark(pieces, [doc.mentions[i] for i in mention], marker)
    read = marked.opening >= 0
    kind, joins = _joins(doc, schema, relations)
    head, tail = _asked(kind, joins, excluded)
    told = _PairLabels(doc, relations, head, tail)
    found = Targets(
        marked.pieces,
        _sentences(doc, pieces)[marked.source],
        len(doc.sentences),
        mention[read],
        marked.opening[read],
        entity[read],
        len(doc.entities),
        head,
        tail,
        *told.columns(),
        kind,
        joins,
        unread=tuple(doc.mentions[i] for i in np.unique(mention[~read])),
        widened=int(marked.widened.sum()),
        unknown=tuple(told.unknown),
        unasked=tuple(told.unasked),
        qualifiers=told.qualifiers,
    )
    return _without_lost(found, doc)


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


def _asked(kind: Ints, joins: Bools, excluded: Collection[frozenset[int]]) -> tuple[Ints, Ints]:
    """All ordered pairs (P,), (P,) that some relation may join, but for the excluded ones."""
    table: Bools = np.any(joins, axis=2)  # (K, K)
    asked = table[kind[:, None], kind[None, :]] if len(kind) else np.zeros((0, 0), np.bool_)
    np.fill_diagonal(asked, False)
    for one, two in map(sorted, excluded):
        asked[one, two] = asked[two, one] = False
    head, tail = np.nonzero(asked)
    return head.astype(np.int64), tail.astype(np.int64)


class _PairLabels:
    """The labels of a document's pairs, each once, and the sentences that prove a pair."""

    def __init__(self, doc: Document, relations: Sequence[str], head: Ints, tail: Ints) -> None:
        entity = {e.id: i for i, e in enumerate(doc.entities)}
        label = {name: r for r, name in enumerate(relations)}
        pairs = {(int(h), int(t)): p for p, (h, t) in enumerate(zip(head, tail, strict=True))}
        self.first: dict[tuple[int, int], int] = {}  # (pair, relation) -> fact
        self.proofs: set[tuple[int, int]] = set()  # (pair, sentence)
        self.unknown: list[Fact] = []
        self.unasked: list[Fact] = []
        self.qualifiers = 0
        for k, fact in enumerate(doc.facts):
            pair = pairs.get((entity[fact.head], entity[fact.tail]))
            if fact.relation not in label:
                self.unknown.append(fact)
            elif pair is None:
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


def _without_lost(x: Targets, doc: Document) -> Targets:
    """The pairs of entities that are read, with their labels."""
    read = np.bincount(x.entity, minlength=x.entities) > 0
    lost = tuple(e for e, good in zip(doc.entities, read, strict=True) if not good)
    kept = read[x.head] & read[x.tail]
    unasked = tuple(doc.facts[k] for k in x.fact[~kept[x.pair]])
    return replace(_only(x, kept), lost=lost, unasked=x.unasked + unasked)


def _only(x: Targets, kept: Bools) -> Targets:
    """The pairs that stay, kept (P,), with their labels."""
    number = np.cumsum(kept) - 1  # of a pair among those that stay
    told, proved = kept[x.pair], kept[x.proof_pair]
    return replace(
        x,
        head=x.head[kept],
        tail=x.tail[kept],
        pair=number[x.pair[told]],
        relation=x.relation[told],
        fact=x.fact[told],
        proof_pair=number[x.proof_pair[proved]],
        proof=x.proof[proved],
    )

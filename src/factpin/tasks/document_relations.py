"""Relations between entities of a whole document: facts <-> pairs of entities with their relations.

    targets(doc, pieces, marker, relations, schema)   what a head reads and is taught
    decode(found, doc, relations, rules)              what a head found, as facts of the document's own entities

The document brings its mentions, its entities and its sentences; a mention that belongs to no entity is not marked.
Asked are all ordered pairs of two different entities, with a schema those whose types some relation allows, and in a
long document those that some window shows together (`seen_together`). An entity that cannot be read is never scored,
and never silently: it is named. Where a fact is not said to stand, decoding pins it to the two mentions nearest to each
other. Sentences prove a pair: all its relations share them.
`decode(targets(x)) == x` but for what Targets names, for pins, and for sentences that only one relation of a pair has.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Schema, Unread
from factpin.language.assertion import standing, with_assertions
from factpin.tasks.links import fits
from factpin.tasks.markers import mark
from factpin.tasks.spans import Scale
from factpin.tokens import Pieces

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


# ---- targets --------------------------------------------------------------------------------------------------------


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
    unasked: tuple[Fact, ...] = ()  # of a pair that is not asked: an entity is lost, types do not fit, head is tail
    qualifiers: int = 0  # further arguments of taught facts: this task has no place for them
    apart: int = 0  # pairs that no window shows together: not asked

    def sampled(self, share: float, chance: np.random.Generator) -> "Targets":
        """Every pair with a relation, and a share of the others: for training, where most pairs have none."""
        kept = chance.random(len(self.head)) < share
        kept[self.pair] = True
        return _only(self, kept)

    def seen_together(self, windows: Sequence[tuple[int, int]], facts: Sequence[Fact]) -> "Targets":
        """The pairs of which some mention of the one and some mention of the other stand in one window (first, last)
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
    entities that are not asked."""
    index = {m.id: i for i, m in enumerate(doc.mentions)}
    owned = [(index[id], e) for e, entity in enumerate(doc.entities) for id in dict.fromkeys(entity.mentions)]
    mention, entity = np.array(owned, np.int64).reshape(-1, 2).T
    marked = mark(pieces, [doc.mentions[i] for i in mention], marker)
    read = marked.opening >= 0
    kind, joins = _joins(doc, schema, relations)
    head, tail = _asked(kind, joins, excluded)
    told = _Told(doc, relations, head, tail)
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


class _Told:
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


# ---- decode ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """Relations that a head found in one document, and the sentences that prove them."""

    head: Ints  # (T,) index in doc.entities
    relation: Ints  # (T,)
    tail: Ints  # (T,) index in doc.entities
    score: Floats  # (T,) how far above the threshold
    proof_of: Ints  # (V,) index of a relation found
    proof: Ints  # (V,) its sentence


@dataclass(frozen=True)
class Rules:
    """How what was found becomes facts."""

    schema: Schema = field(default_factory=Schema)  # leaves out types that do not fit; functional: one tail stays
    complete: bool = False  # add what follows from symmetric and inverse relations
    scale: Scale = field(default_factory=Scale)


@dataclass(frozen=True)
class Decoded:
    facts: tuple[Fact, ...]
    dropped: dict[str, int]  # left out, by reason: schema, functional


Key = tuple[int, str, int]  # head, relation, tail


def decode(found: Found, doc: Document, relations: Sequence[str], rules: Rules | None = None) -> Decoded:
    """Facts by head and tail, each once, with their probability, their nearest mentions and the sentences that prove.

    The probability is that of the relation between the two entities, times the scores of the two mentions where they
    were found by a model.

    Without such a sentence, those of the two mentions.
    """
    rules = rules or Rules()
    score: dict[Key, float] = {}
    proofs: dict[Key, set[int]] = {}
    keys = [(int(h), relations[r], int(t)) for h, r, t in zip(found.head, found.relation, found.tail, strict=True)]
    for key, value in zip(keys, found.score, strict=True):
        score[key] = max(score.get(key, -np.inf), float(value))
    for k, sentence in zip(found.proof_of, found.proof, strict=True):
        proofs.setdefault(keys[k], set()).add(int(sentence))

    types, dropped = types_of(doc), Counter[str]()
    fitting = {key: x for key, x in score.items() if fits(rules.schema, key[1], types[key[0]], types[key[2]])}
    kept = _functional(fitting, _statuses(fitting, proofs, doc, rules), rules.schema)
    dropped["schema"], dropped["functional"] = len(score) - len(fitting), len(fitting) - len(kept)
    if rules.complete:
        added = dict(kept)
        for key, back in _following(kept, rules.schema):
            added[back] = max(added.get(back, -np.inf), kept[key])
            proofs.setdefault(back, proofs.get(key, set()))
        kept = _functional(added, _statuses(added, proofs, doc, rules), rules.schema)
        dropped["functional"] += len(added) - len(kept)
    mentions = {m.id: m for m in doc.mentions}
    return Decoded(
        tuple(_fact(key, kept[key], proofs.get(key, set()), doc, mentions, rules.scale) for key in sorted(kept)),
        dict(+dropped),
    )


def naming(found: Found, doc: Document) -> Found:
    """Without the sentences that name neither entity: what a pair looks at there is no proof of it."""
    starts = {m.id: m.start for m in doc.mentions}
    named = [{doc.sentence_of(starts[id]) for id in entity.mentions} for entity in doc.entities]
    pairs = zip(found.head[found.proof_of], found.tail[found.proof_of], found.proof.tolist(), strict=True)
    about = np.array([s in named[h] or s in named[t] for h, t, s in pairs], np.bool_)
    return replace(found, proof_of=found.proof_of[about], proof=found.proof[about])


def _functional(score: dict[Key, float], status: dict[Key, str | None], schema: Schema) -> dict[Key, float]:
    """A functional relation keeps one tail: what is asserted before what is not, then the highest score, of equals the
    earliest entity. What is negated says what the tail is not, and stands beside it."""
    best: dict[tuple[int, str], Key] = {}
    compete = {key for key in score if _one_tail(key, schema) and status[key] != "negated"}
    for key in sorted(compete, key=lambda key: (standing(status[key]), -score[key], key)):
        best.setdefault(key[:2], key)
    return {key: x for key, x in score.items() if key not in compete or best[key[:2]] == key}


def _statuses(keys: Iterable[Key], proofs: dict[Key, set[int]], doc: Document, rules: Rules) -> dict[Key, str | None]:
    """How the document says the facts of functional relations: the others take nobody's place."""
    mentions = {m.id: m for m in doc.mentions}
    bound = [key for key in keys if _one_tail(key, rules.schema)]
    facts = tuple(_fact(key, 0.0, proofs.get(key, set()), doc, mentions, rules.scale) for key in bound)
    judged = with_assertions(replace(doc, facts=facts, events=())).facts if bound else ()
    return {key: fact.assertion for key, fact in zip(bound, judged, strict=True)}


def _one_tail(key: Key, schema: Schema) -> bool:
    relation = schema.relations.get(key[1])
    return relation is not None and relation.functional


def _following(score: dict[Key, float], schema: Schema) -> list[tuple[Key, Key]]:
    """(what stands, what follows from it by symmetry or as its inverse)."""
    found = []
    for key in score:
        relation = schema.relations.get(key[1])
        back = relation and (key[1] if relation.symmetric else relation.inverse)
        if back:
            found.append((key, (key[2], back, key[0])))
    return found


def _fact(key: Key, score: float, proofs: set[int], doc: Document, mentions: dict[str, Mention], scale: Scale) -> Fact:
    head, tail = doc.entities[key[0]], doc.entities[key[2]]
    h, t = nearest([mentions[id] for id in head.mentions], [mentions[id] for id in tail.mentions])
    found = proofs or {s for s in (doc.sentence_of(h.start), doc.sentence_of(t.start)) if s is not None}
    evidence = tuple(Evidence(s) for s in sorted(found))
    chance = scale.probability(score) * _right(h) * _right(t)
    return Fact(head.id, key[1], tail.id, h.id, t.id, chance, evidence)


def _right(mention: Mention) -> float:
    """The chance that a mention is one: the relation was judged as if it were, and is wrong where it is not."""
    return 1.0 if mention.score is None else mention.score


def nearest(heads: Sequence[Mention], tails: Sequence[Mention]) -> tuple[Mention, Mention]:
    """The two with the fewest characters between; those that overlap come last, and of equals the earlier first."""

    def distance(pair: tuple[Mention, Mention]) -> tuple[bool, int, int, int]:
        h, t = pair
        gap = max(h.start, t.start) - min(h.end, t.end)
        return gap < 0, max(gap, 0), h.start, t.start

    return min(((h, t) for h in heads for t in tails), key=distance)

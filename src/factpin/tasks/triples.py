"""Triples: facts <-> spans that are subjects or objects, and links between them, in pieces; ends inclusive there.

    targets(doc, pieces, labels, occurrences, taught)   what a head is taught
    decode(found, doc, pieces, labels, rules)           what a head found, as mentions, entities and facts

A pinned fact is taught where it is pinned. Where an argument is not, `occurrences` says which mentions of its entity
stand for it: the first, the pair that stands nearest, or all pairs. Where all mentions are taught, each is a subject
and an object, as far as its type has both classes; the links tell which of them take part in a fact.
A qualifier is a link of its own, from the fact's tail to the qualifier's value, under the name "relation.role": a head
often has several tails of one relation, each with its own qualifiers, while a tail seldom has two heads. Decoding gives
a link of that name to every fact of the relation that ends in the same mention. Facts of one relation that share their
tail's mention but not their qualifiers come back with the qualifiers of all: they are counted as `merged`.
A fact and what follows from it by a symmetric or inverse relation are one statement: they stand or fall together.
Where rules choose between facts (_triples_rules), what the text asserts comes before what it doubts, reports or
supposes, whatever the scores are, and what it denies takes no other fact's place.
Mentions of one text and type are one entity. `decode(targets(x)) == x` but for what Targets counts, and for white space
at the ends of a mention, which is left out.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Qualifier, Schema
from factpin.documents.annotated import annotated_names
from factpin.errors import BadInput
from factpin.tasks._triples_rules import Spot, Told, completed, functional, one_pair, one_tail, sound
from factpin.tasks.assertion import with_assertions
from factpin.tasks.links import Bools, Cell, Found, Ints, Labels
from factpin.tasks.spans import Scale, known_labels
from factpin.tokens import Pieces, Window, char_span, piece_spans

Occurrences = Literal["first", "nearest", "all"]
Taught = Literal["linked", "all"]  # which mentions: those of facts, or every one


# ---- targets --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Targets:
    """The facts of a document as spans and links, in piece indices of the whole document, and what could not be."""

    label: Ints  # (P,) class of a span
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    relation: Ints  # (T,) link
    subject: Ints  # (T,) index of a span
    object: Ints  # (T,) index of a span
    fact: Ints  # (T,) index in doc.facts: the first that this link tells; -1 for a qualifier
    unalignable: tuple[Fact, ...] = ()  # no mention of an argument stands at borders of pieces
    unknown: tuple[Fact, ...] = ()  # of a relation or a type that the labels do not have
    ambiguous: tuple[Fact, ...] = ()  # not pinned, and more than one pair of mentions could be meant
    merged: tuple[Fact, ...] = ()  # their qualifiers cannot be told from those of another fact
    lost_qualifiers: int = 0  # unalignable or unknown, while the fact itself is taught
    free: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (F,) spans that are taught without a link too
    lost_mentions: int = 0  # where all are taught: unalignable or unknown
    known: Bools | None = None  # (R,) the relations and slots that the document marks wherever they occur; None: all

    def inside(self, window: Window) -> "Targets":
        """The links that lie wholly in a window with their spans, counted from its first piece."""
        good = self._inside(window)
        here = good[self.subject] & good[self.object]
        columns = [self.subject[here], self.object[here], self.free[good[self.free]]]
        spans, place = np.unique(np.concatenate(columns), return_inverse=True)
        subject, object_, free = np.split(place.astype(np.int64), np.cumsum([len(column) for column in columns[:2]]))
        first, last = self.first[spans] - window.first, self.last[spans] - window.first
        links = self.relation[here], subject, object_, self.fact[here]
        return Targets(self.label[spans], first, last, *links, free=free, known=self.known)

    def no_wider(self, width: int) -> "Targets":
        """Without spans of more than so many pieces, and without their links."""
        good = self.last - self.first < width
        here = good[self.subject] & good[self.object]
        return replace(
            self,
            relation=self.relation[here],
            subject=self.subject[here],
            object=self.object[here],
            fact=self.fact[here],
            free=self.free[good[self.free]],
        )

    def outside(self, windows: Sequence[Window]) -> list[int]:
        """The facts, as indices in doc.facts, of which no window holds both arguments."""
        return sorted({*self.fact.tolist()} - {*self.fact[self.held(windows)].tolist()} - {-1})

    def held(self, windows: Sequence[Window]) -> Bools:
        """(T,) which links some window holds with both spans."""
        here = np.zeros(len(self.relation), np.bool_)
        for window in windows:
            good = self._inside(window)
            here |= good[self.subject] & good[self.object]
        return here

    def alone(self, windows: Sequence[Window] | None = None) -> int:
        """At how many places spans are taught without a link: in all, or inside some window."""
        inside = [self._inside(window) for window in windows or ()]
        good = np.any(inside, axis=0) if inside else np.full(len(self.label), windows is None)
        return len({(int(self.first[k]), int(self.last[k])) for k in self.free if good[k]})

    def _inside(self, window: Window) -> Bools:
        """(P,) which spans lie wholly in a window."""
        return np.asarray((self.first >= window.first) & (self.last < window.last))


class _Link(NamedTuple):
    relation: int
    subject: Cell
    object: Cell


def targets(
    doc: Document, pieces: Pieces, labels: Labels, occurrences: Occurrences = "nearest", taught: Taught = "linked"
) -> Targets:
    """Every fact as links between the spans of its mentions; by choice the other mentions as spans without a link."""
    if occurrences not in ("first", "nearest", "all"):
        raise BadInput(f"The occurrences {occurrences!r} are unknown. Known: first, nearest, all.")
    work = _Teaching(doc, pieces, labels, occurrences)
    for k, fact in enumerate(doc.facts):
        work.teach(k, fact)
    free = work.all_mentions() if taught == "all" else set()
    spans = sorted(free | {cell for link in work.links for cell in (link.subject, link.object)})
    at = {cell: i for i, cell in enumerate(spans)}
    rows = sorted((link.relation, at[link.subject], at[link.object], k) for link, k in work.links.items())
    label, first, last = np.array(spans, np.int64).reshape(-1, 3).T
    relation, subject, object_, fact_of = np.array(rows, np.int64).reshape(-1, 4).T
    return Targets(
        label,
        first,
        last,
        relation,
        subject,
        object_,
        fact_of,
        unalignable=tuple(work.unalignable),
        unknown=tuple(work.unknown),
        ambiguous=tuple(work.ambiguous),
        merged=tuple(doc.facts[k] for k in work.merged()),
        lost_qualifiers=work.lost_qualifiers,
        free=np.array(sorted(at[cell] for cell in free), np.int64),
        lost_mentions=work.lost_mentions,
        known=known_labels(labels.link_relations, annotated_names(doc, "relations")),
    )


class _Teaching:
    """The links of one document, fact by fact."""

    def __init__(self, doc: Document, pieces: Pieces, labels: Labels, occurrences: Occurrences) -> None:
        self.labels = labels
        self.occurrences = occurrences
        first, last, ok = piece_spans(pieces, [m.start for m in doc.mentions], [m.end for m in doc.mentions])
        self.span = {m.id: (int(first[i]), int(last[i])) for i, m in enumerate(doc.mentions) if ok[i]}
        self.mention = {m.id: m for m in doc.mentions}
        self.entity = {e.id: e for e in doc.entities}
        self.link = {name: r for r, name in enumerate(labels.relations)}
        self.slot = {slot: r + len(labels.relations) for r, slot in enumerate(labels.slots)}
        self.links: dict[_Link, int] = {}
        self.told: dict[tuple[int, Cell], dict[int, set[tuple[int, Cell]]]] = {}  # by fact, at (relation, tail)
        self.unalignable: list[Fact] = []
        self.unknown: list[Fact] = []
        self.ambiguous: list[Fact] = []
        self.lost_qualifiers = 0
        self.lost_mentions = 0

    def teach(self, k: int, fact: Fact) -> None:
        heads, tails = self._mentions(fact.head, fact.head_mention), self._mentions(fact.tail, fact.tail_mention)
        if not heads or not tails:
            self.unalignable.append(fact)
            return
        pairs = _choose(heads, tails, self.occurrences)
        cells = [(self._cell(h, "subject"), self._cell(t, "object"), t) for h, t in pairs]
        if fact.relation not in self.link or any(s is None or o is None for s, o, _ in cells):
            self.unknown.append(fact)
            return
        if len(heads) * len(tails) > 1:
            self.ambiguous.append(fact)
        relation = self.link[fact.relation]
        for subject, object_, tail in cells:
            if subject is not None and object_ is not None:
                self.links.setdefault(_Link(relation, subject, object_), k)
                told = self.told.setdefault((relation, object_), {}).setdefault(k, set())
                told.update(self._qualify(fact, tail))

    def _qualify(self, fact: Fact, tail: Mention) -> Iterator[tuple[int, Cell]]:
        for q in fact.qualifiers:
            slot, values = self.slot.get((fact.relation, q.role)), self._mentions(q.entity, q.mention)
            subject = self._cell(tail, "subject")
            chosen = [self._cell(v, "object") for _, v in _choose([tail], values, self.occurrences)] if values else []
            if slot is None or subject is None or not chosen or None in chosen:
                self.lost_qualifiers += 1
                continue
            for cell in chosen:
                if cell is not None:
                    self.links.setdefault(_Link(slot, subject, cell), -1)
                    yield slot, cell

    def merged(self) -> list[int]:
        """Facts of one relation at one tail whose qualifiers differ."""
        return sorted({k for told in self.told.values() if len({*map(frozenset, told.values())}) > 1 for k in told})

    def all_mentions(self) -> set[Cell]:
        """Every mention in every role that its type can play."""
        found = set[Cell]()
        for m in self.mention.values():
            cells = {self._cell(m, "subject"), self._cell(m, "object")} - {None} if m.id in self.span else set()
            self.lost_mentions += not cells
            found |= {cell for cell in cells if cell is not None}
        return found

    def _mentions(self, entity: str, pinned: str | None) -> list[Mention]:
        """Those that may stand for an argument and lie at borders of pieces, in the order of the text."""
        ids = self.entity[entity].mentions if pinned is None else (pinned,)
        found = [self.mention[id] for id in ids if id in self.span]
        return sorted(found, key=lambda m: (m.start, m.end))

    def _cell(self, m: Mention, role: Literal["subject", "object"]) -> Cell | None:
        label = self.labels.subject(m.type) if role == "subject" else self.labels.object(m.type)
        return None if label is None else (label, *self.span[m.id])


def _choose(heads: list[Mention], tails: list[Mention], occurrences: Occurrences) -> list[tuple[Mention, Mention]]:
    """Which pairs are meant; two mentions of one place are a pair only where there is no other."""
    pairs = [(h, t) for h in heads for t in tails]
    pairs = [(h, t) for h, t in pairs if (h.start, h.end) != (t.start, t.end)] or pairs
    if occurrences == "first":
        return pairs[:1]
    if occurrences == "nearest":
        return [min(pairs, key=lambda pair: _distance(*pair))]
    return pairs


def _distance(a: Mention, b: Mention) -> tuple[bool, int, int, int]:
    """Characters between; those that overlap come last, and of equals the earlier comes first."""
    gap = max(a.start, b.start) - min(a.end, b.end)
    return gap < 0, max(gap, 0), a.start, b.start


# ---- decode ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """How found links become facts."""

    schema: Schema = field(default_factory=Schema)  # leaves out types that do not fit; functional: one tail stays
    complete: bool = False  # add what follows from symmetric and inverse relations, with the qualifiers of its source
    mentions: Literal["linked", "all"] = "linked"  # all: spans without a link are mentions too
    sift: bool = False  # leave out arguments that are no names, and of several mentions in a sentence all but one pair
    assertion: bool = False  # tell the status of facts
    scale: Scale = field(default_factory=Scale)  # of facts
    span_scale: Scale = field(default_factory=Scale)  # of mentions


REASONS = ("no name", "schema", "several mentions", "functional", "loose qualifier")


@dataclass(frozen=True)
class Decoded:
    mentions: tuple[Mention, ...]
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    dropped: dict[str, int]  # links left out, found or completed, by reason; REASONS


def decode(found: Found, doc: Document, pieces: Pieces, labels: Labels, rules: Rules | None = None) -> Decoded:
    """Mentions in the order of the text, entities by text and type, and facts pinned to both mentions."""
    rules, dropped = rules or Rules(), Counter[str]()
    spots = [Spot(*char_span(pieces, first, last), labels.type_of(label)) for label, first, last in found.spans()]
    best: dict[Spot, float] = {}
    for spot, score in zip(spots, found.span_score, strict=True):
        best[spot] = max(best.get(spot, -np.inf), float(score))
    facts, slots = _links(found, spots, labels)
    whole = completed(sound(facts, doc, dropped) if rules.sift else facts, rules.schema, rules.complete, dropped)
    same = one_pair(whole.scores, doc, dropped) if rules.sift else {told: [told] for told in whole.scores}
    qualified = {
        told: sorted({slot for key in _tails(group, whole.source) for slot in slots.get(key, ())})
        for told, group in same.items()
    }
    work = _Nouns(doc, best, whole.scores, qualified, rules)
    status = work.judged() if rules.assertion or any(one_tail(told.relation, rules.schema) for told in same) else {}
    kept = functional(whole, same, {told: fact.assertion for told, fact in status.items()}, doc.text, rules.schema)
    dropped["functional"] = len(same) - len(kept)
    held = {key for told in kept for key in _tails(same[told], whole.source)}
    dropped["loose qualifier"] = sum(len(values) for key, values in slots.items() if key not in held)
    mentions, entities, told_facts = work.of(kept)
    if rules.assertion:
        told_facts = tuple(
            replace(fact, assertion=status[told].assertion, cue=status[told].cue)
            for told, fact in zip(sorted(kept), told_facts, strict=True)
        )
    return Decoded(mentions, entities, told_facts, dict(+dropped))


def _links(
    found: Found, spots: list[Spot], labels: Labels
) -> tuple[dict[Told, float], dict[tuple[str, Spot], list[tuple[str, Spot]]]]:
    """The facts with their best scores, and the qualifiers (role, value) by relation and tail."""
    facts: dict[Told, float] = {}
    slots: dict[tuple[str, Spot], list[tuple[str, Spot]]] = {}
    for r, s, o, score in zip(found.relation, found.subject, found.object, found.score, strict=True):
        head, tail = spots[s], spots[o]
        if head.start == head.end or tail.start == tail.end:  # pieces that carry no characters
            continue
        if r < len(labels.relations):
            told = Told(head, labels.relations[r], tail)
            facts[told] = max(facts.get(told, -np.inf), float(score))
        else:
            relation, role = labels.slots[r - len(labels.relations)]
            slots.setdefault((relation, head), []).append((role, tail))
    return facts, slots


def _tails(group: Iterable[Told], source: dict[Told, Told]) -> set[tuple[str, Spot]]:
    """At which relation and tail the qualifiers of a fact hang: those of all it stands for, or follows from."""
    return {(x.relation, x.tail) for told in group for x in (told, source.get(told, told))}


@dataclass(frozen=True)
class _Nouns:
    """What facts become when they are chosen."""

    doc: Document
    best: dict[Spot, float]  # the score of every span
    scores: dict[Told, float]
    qualified: dict[Told, list[tuple[str, Spot]]]
    rules: Rules

    def judged(self) -> dict[Told, Fact]:
        """Every fact with its status, all of them told."""
        mentions, entities, facts = self.of(self.qualified)
        doc = replace(self.doc, mentions=mentions, entities=entities, facts=facts, events=())
        return dict(zip(sorted(self.qualified), with_assertions(doc).facts, strict=True))

    def of(self, chosen: Collection[Told]) -> tuple[tuple[Mention, ...], tuple[Entity, ...], tuple[Fact, ...]]:
        """Mentions, entities and facts, sorted, with ids for everything."""
        text = self.doc.text
        spots = sorted(self._used(chosen))
        mention = {spot: f"m{i}" for i, spot in enumerate(spots)}
        groups: dict[tuple[str, str], list[Spot]] = {}
        for spot in spots:
            groups.setdefault((text[spot.start : spot.end], spot.type), []).append(spot)
        entity = {spot: f"e{i}" for i, group in enumerate(groups.values()) for spot in group}
        scale = self.rules.span_scale
        mentions = (Mention(id, x.start, x.end, text[x.start : x.end], x.type, scale.probability(self.best[x]))
                    for x, id in mention.items())  # fmt: skip
        entities = (Entity(f"e{i}", tuple(mention[x] for x in group), type, name)
                    for i, ((name, type), group) in enumerate(groups.items()))  # fmt: skip
        return tuple(mentions), tuple(entities), tuple(self._fact(told, mention, entity) for told in sorted(chosen))

    def _used(self, chosen: Iterable[Told]) -> set[Spot]:
        used = {spot for told in chosen for spot in (told.head, told.tail, *(x for _, x in self.qualified[told]))}
        return used | {spot for spot in self.best if spot.start < spot.end and self.rules.mentions == "all"}

    def _fact(self, told: Told, mention: dict[Spot, str], entity: dict[Spot, str]) -> Fact:
        sentences = {self.doc.sentence_of(spot.start) for spot in (told.head, told.tail)}
        return Fact(
            entity[told.head],
            told.relation,
            entity[told.tail],
            mention[told.head],
            mention[told.tail],
            self.rules.scale.probability(self.scores[told]),
            tuple(Evidence(i) for i in sorted(i for i in sentences if i is not None)),
            qualifiers=tuple(Qualifier(role, entity[x], mention[x]) for role, x in self.qualified[told]),
        )

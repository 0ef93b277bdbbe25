"""Decode triples: spans and links that a head found -> mentions, entities and facts."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Qualifier, Schema
from factpin.language.assertion import with_assertions
from factpin.tasks.links import Labels, Links
from factpin.tasks.scale import Scale
from factpin.tasks.triples.rules import DraftFact, Spot, completed, functional, one_pair, one_tail, sound
from factpin.tokens import Pieces, char_span


@dataclass(frozen=True)
class Rules:
    """How found links become facts."""

    schema: Schema = field(default_factory=Schema)  # leaves out types that do not fit; functional: one tail stays
    complete: bool = False  # add what follows from symmetric and inverse relations, with the qualifiers of its source
    mentions: Literal["linked", "all"] = "linked"  # all: spans without a link are mentions too
    sift: bool = False  # leave out arguments that are not names, and of several mentions in a sentence all but one pair
    assertion: bool = False  # add the assertion status of facts
    scale: Scale = field(default_factory=Scale)  # of facts
    shifts: Mapping[str, float] = field(default_factory=dict)  # relation -> how much higher its scores must be
    span_scale: Scale = field(default_factory=Scale)  # of mentions


REASONS = ("no name", "schema", "several mentions", "functional", "loose qualifier")


@dataclass(frozen=True)
class Decoding:
    """The mentions, entities and facts of a document, and how many links were left out."""

    mentions: tuple[Mention, ...]
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    dropped: dict[str, int]  # links left out, found or completed, by reason; REASONS


def decode(found: Links, doc: Document, pieces: Pieces, labels: Labels, rules: Rules | None = None) -> Decoding:
    """Mentions in the order of the text, entities by text and type, and facts pinned to both mentions."""
    rules, dropped = rules or Rules(), Counter[str]()
    spots = spots_of(found, pieces, labels)
    best: dict[Spot, float] = {}
    for spot, score in zip(spots, found.span_score, strict=True):
        best[spot] = max(best.get(spot, -np.inf), float(score))
    facts, slots = fact_links(found, spots, labels)
    whole = completed(sound(facts, doc, dropped) if rules.sift else facts, rules.schema, rules.complete, dropped)
    same = one_pair(whole.scores, doc, dropped) if rules.sift else {draft: [draft] for draft in whole.scores}
    qualified = {
        draft: sorted({slot for key in _tails(group, whole.source) for slot in slots.get(key, ())})
        for draft, group in same.items()
    }
    work = _Nouns(doc, best, whole.scores, qualified, rules)
    status = (
        work.with_status() if rules.assertion or any(one_tail(draft.relation, rules.schema) for draft in same) else {}
    )
    kept = functional(whole, same, {draft: fact.assertion for draft, fact in status.items()}, doc.text, rules.schema)
    dropped["functional"] = len(same) - len(kept)
    held = {key for draft in kept for key in _tails(same[draft], whole.source)}
    dropped["loose qualifier"] = sum(len(values) for key, values in slots.items() if key not in held)
    mentions, entities, told_facts = work.of(kept)
    if rules.assertion:
        told_facts = tuple(
            replace(fact, assertion=status[draft].assertion, cue=status[draft].cue)
            for draft, fact in zip(sorted(kept), told_facts, strict=True)
        )
    return Decoding(mentions, entities, told_facts, dict(+dropped))


def spots_of(found: Links, pieces: Pieces, labels: Labels) -> list[Spot]:
    """Where in the text each found span is, and its type."""
    return [Spot(*char_span(pieces, first, last), labels.type_of(label)) for label, first, last in found.spans()]


def fact_links(
    found: Links, spots: list[Spot], labels: Labels
) -> tuple[dict[DraftFact, float], dict[tuple[str, Spot], list[tuple[str, Spot]]]]:
    """The facts with their best scores, and the qualifiers (role, value) by relation and tail."""
    facts: dict[DraftFact, float] = {}
    slots: dict[tuple[str, Spot], list[tuple[str, Spot]]] = {}
    for r, s, o, score in zip(found.relation, found.subject, found.object, found.score, strict=True):
        head, tail = spots[s], spots[o]
        if head.start == head.end or tail.start == tail.end:  # pieces that carry no characters
            continue
        if r < len(labels.relations):
            draft = DraftFact(head, labels.relations[r], tail)
            facts[draft] = max(facts.get(draft, -np.inf), float(score))
        else:
            relation, role = labels.slots[r - len(labels.relations)]
            slots.setdefault((relation, head), []).append((role, tail))
    return facts, slots


def _tails(group: Iterable[DraftFact], source: dict[DraftFact, DraftFact]) -> set[tuple[str, Spot]]:
    """The relation and tail of the qualifiers of a fact, and of all facts it represents or follows from."""
    return {(x.relation, x.tail) for draft in group for x in (draft, source.get(draft, draft))}


@dataclass(frozen=True)
class _Nouns:
    """What facts become when they are chosen."""

    doc: Document
    best: dict[Spot, float]  # the score of every span
    scores: dict[DraftFact, float]
    qualified: dict[DraftFact, list[tuple[str, Spot]]]
    rules: Rules

    def with_status(self) -> dict[DraftFact, Fact]:
        """The status of every fact, by its draft."""
        mentions, entities, facts = self.of(self.qualified)
        doc = replace(self.doc, mentions=mentions, entities=entities, facts=facts, events=())
        return dict(zip(sorted(self.qualified), with_assertions(doc).facts, strict=True))

    def of(self, chosen: Collection[DraftFact]) -> tuple[tuple[Mention, ...], tuple[Entity, ...], tuple[Fact, ...]]:
        """Mentions, entities and facts, sorted, with ids for everything."""
        text = self.doc.text
        spots = sorted(self._used(chosen))
        mention = {spot: f"m{i}" for i, spot in enumerate(spots)}
        groups: dict[tuple[str, str], list[Spot]] = {}
        for spot in spots:
            groups.setdefault((text[spot.start : spot.end], spot.type), []).append(spot)
        entity = {spot: f"e{i}" for i, group in enumerate(groups.values()) for spot in group}
        scale = self.rules.span_scale
        mentions = (
            Mention(id, x.start, x.end, text[x.start : x.end], x.type, scale.probability(self.best[x]))
            for x, id in mention.items()
        )
        entities = (
            Entity(f"e{i}", tuple(mention[x] for x in group), type, name)
            for i, ((name, type), group) in enumerate(groups.items())
        )
        return tuple(mentions), tuple(entities), tuple(self._fact(draft, mention, entity) for draft in sorted(chosen))

    def _used(self, chosen: Iterable[DraftFact]) -> set[Spot]:
        used = {spot for draft in chosen for spot in (draft.head, draft.tail, *(x for _, x in self.qualified[draft]))}
        return used | {spot for spot in self.best if spot.start < spot.end and self.rules.mentions == "all"}

    def _fact(self, draft: DraftFact, mention: dict[Spot, str], entity: dict[Spot, str]) -> Fact:
        sentences = {self.doc.sentence_of(spot.start) for spot in (draft.head, draft.tail)}
        return Fact(
            entity[draft.head],
            draft.relation,
            entity[draft.tail],
            mention[draft.head],
            mention[draft.tail],
            self.rules.scale.probability(self.scores[draft] - self.rules.shifts.get(draft.relation, 0.0)),
            tuple(Evidence(i) for i in sorted(i for i in sentences if i is not None)),
            qualifiers=tuple(Qualifier(role, entity[x], mention[x]) for role, x in self.qualified[draft]),
        )

"""Decode document relations: relations that a head found -> facts of the document's own entities."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from factpin.documents import Document, Evidence, Fact, Mention, Schema
from factpin.language.assertion import standing, with_assertions
from factpin.tasks.document_relations.find import Relations
from factpin.tasks.document_relations.targets import types_of
from factpin.tasks.links import fits
from factpin.tasks.scale import Scale


@dataclass(frozen=True)
class Rules:
    """How what was found becomes facts."""

    schema: Schema = field(default_factory=Schema)  # leaves out types that do not fit; functional: one tail stays
    complete: bool = False  # add what follows from symmetric and inverse relations
    scale: Scale = field(default_factory=Scale)


@dataclass(frozen=True)
class Decoding:
    """The facts of a document, and how many were left out."""

    facts: tuple[Fact, ...]
    dropped: dict[str, int]  # left out, by reason: schema, functional


Key = tuple[int, str, int]  # head, relation, tail


def decode(found: Relations, doc: Document, relations: Sequence[str], rules: Rules | None = None) -> Decoding:
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
    return Decoding(
        tuple(_fact(key, kept[key], proofs.get(key, set()), doc, mentions, rules.scale) for key in sorted(kept)),
        dict(+dropped),
    )


def naming(found: Relations, doc: Document) -> Relations:
    """Without the sentences that name neither entity: attention of a pair to them does not support a fact."""
    starts = {m.id: m.start for m in doc.mentions}
    named = [{doc.sentence_of(starts[id]) for id in entity.mentions} for entity in doc.entities]
    pairs = zip(found.head[found.proof_of], found.tail[found.proof_of], found.proof.tolist(), strict=True)
    about = np.array([s in named[h] or s in named[t] for h, t, s in pairs], np.bool_)
    return replace(found, proof_of=found.proof_of[about], proof=found.proof[about])


def _functional(score: dict[Key, float], status: dict[Key, str | None], schema: Schema) -> dict[Key, float]:
    """A functional relation keeps one tail: what is asserted before what is not, then the highest score, of equals the
    earliest entity. What is negated says what the tail is not, and is kept beside it."""
    best: dict[tuple[int, str], Key] = {}
    compete = {key for key in score if _one_tail(key, schema) and status[key] != "negated"}
    for key in sorted(compete, key=lambda key: (standing(status[key]), -score[key], key)):
        best.setdefault(key[:2], key)
    return {key: x for key, x in score.items() if key not in compete or best[key[:2]] == key}


def _statuses(keys: Iterable[Key], proofs: dict[Key, set[int]], doc: Document, rules: Rules) -> dict[Key, str | None]:
    """How the document says the facts of functional relations: the others replace no fact."""
    mentions = {m.id: m for m in doc.mentions}
    bound = [key for key in keys if _one_tail(key, rules.schema)]
    facts = tuple(_fact(key, 0.0, proofs.get(key, set()), doc, mentions, rules.scale) for key in bound)
    judged = with_assertions(replace(doc, facts=facts, events=())).facts if bound else ()
    return {key: fact.assertion for key, fact in zip(bound, judged, strict=True)}


def _one_tail(key: Key, schema: Schema) -> bool:
    relation = schema.relations.get(key[1])
    return relation is not None and relation.functional


def _following(score: dict[Key, float], schema: Schema) -> list[tuple[Key, Key]]:
    """(a kept fact, what follows from it by symmetry or as its inverse)."""
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
    """The probability that a mention is right: a relation was scored as if it were, and is wrong if it is not."""
    return 1.0 if mention.score is None else mention.score


def nearest(heads: Sequence[Mention], tails: Sequence[Mention]) -> tuple[Mention, Mention]:
    """The two with the fewest characters between; those that overlap come last, and of equals the earlier first."""
    by_start, by_end = sorted(tails, key=_start), sorted(tails, key=lambda m: (m.end, -m.start))
    starts, ends = [m.start for m in by_start], [m.end for m in by_end]
    apart = []
    for h in heads:
        before, after = bisect_right(ends, h.start), bisect_left(starts, h.end)
        apart += [(h, t) for t in (*by_end[max(0, before - 1) : before], *by_start[after : after + 1])]
    if not apart:
        return min(heads, key=_start), min(tails, key=_start)
    return min(apart, key=lambda pair: (_gap(*pair), pair[0].start, pair[1].start))


def _gap(h: Mention, t: Mention) -> int:
    return max(h.start, t.start) - min(h.end, t.end)


def _start(mention: Mention) -> int:
    return mention.start

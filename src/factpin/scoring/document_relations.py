"""Score relations between the entities of a document, as DocRED does.

    strict    (document, head, tail, relation), each once; an entity is the set of its mentions, whatever its id
    intra     strict, over pairs with a head and a tail mention in the same sentence; inter: over the others
    filtered  strict, without pairs that gold leaves open (CDR: broader terms; see documents/notes.py)
    evidence  (document, head, tail, relation, sentence): a sentence is right only under a right fact
    Ign F1    p = (tp - seen) / (predicted - seen), r = tp / gold, F1 = 2 p r / (p + r)
              seen: right facts with a (head name, tail name, relation) that is in the training set, where the
              names of an entity are the texts of all its mentions
    end to end, if the entities are predicted too; papers differ in what makes an entity right:
      all_mentions    exactly its mentions                                   (_typed: and its type)
      first_mention   its first mention, by place in the text                (_typed: and its type)

Differences from the public script: it adds 1e-5 to the denominator of Ign precision, and counts the evidence of gold
facts that are listed twice two times. Sentences are those of gold; a gold document without sentences is split by rules.
If the predicted sentences differ, evidence is mapped by its place in the text.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from factpin.documents import Document, Evidence, Span
from factpin.language.sentences import split_sentences
from factpin.scoring.align import Pair
from factpin.scoring.confusions import Mistakes
from factpin.scoring.counts import Floats, Row, Rows, as_rows, by_label, divide, row
from factpin.scoring.scores import Scores

Place: TypeAlias = tuple[int, int]
Relation: TypeAlias = tuple[str, str, str]  # head, relation, tail: entity ids of gold, or of unknown entities
Names: TypeAlias = frozenset[tuple[str, str, str]]  # head name, relation, tail name
UNKNOWN = "\0"  # prefix for the ids of predicted entities that are not in gold; no gold id has it

END_TO_END = ("all_mentions", "all_mentions_typed", "first_mention", "first_mention_typed")
CONVENTIONS = ("strict", "filtered", "intra", "inter", "evidence", *END_TO_END)


@dataclass(frozen=True)
class EntityKey:
    """An entity as it is compared, without its id."""

    places: frozenset[Place]
    names: frozenset[str]
    type: str


@dataclass(frozen=True)
class Facts:
    """The facts of one document, with the entity ids of gold."""

    things: dict[str, EntityKey]
    evidence: dict[Relation, set[int]]  # for each fact
    scores: dict[Relation, float]


def score(pairs: Sequence[Pair]) -> Scores:
    """Rows of all conventions, strict counts by relation, confusions, and the outcome of every scored fact."""
    rows: dict[str, list[Row]] = {name: [] for name in CONVENTIONS}
    right_by, predicted_by, gold_by = Counter[str](), Counter[str](), Counter[str]()
    mistakes = Mistakes()
    outcomes: list[tuple[float, bool]] = []
    for pair in pairs:
        gold, predicted = _both(pair)
        right = gold.evidence.keys() & predicted.evidence.keys()
        right_by.update(relation for _, relation, _ in right)
        gold_by.update(relation for _, relation, _ in gold.evidence)
        predicted_by.update(relation for _, relation, _ in predicted.evidence)
        outcomes += [(value, fact in right) for fact, value in predicted.scores.items()]
        rows["strict"].append(row(len(right), len(predicted.evidence), len(gold.evidence)))
        rows["filtered"].append(_filtered(pair.gold, gold, predicted))
        rows["evidence"].append(_evidence(gold, predicted, right))
        for name, counts in _by_distance(_split(pair.gold), gold, predicted).items():
            rows[name].append(counts)
        for name in END_TO_END:
            rows[name].append(_end_to_end(name, gold, predicted))
        _explain(pair.gold, gold, predicted, mistakes)
    return Scores(
        rows={name: as_rows(values) for name, values in rows.items()},
        labels=by_label(right_by, predicted_by, gold_by),
        confusions=mistakes.worst(),
        outcomes=outcomes,
    )


def train_names(documents: Iterable[Document]) -> Names:
    """(head name, relation, tail name) of every fact, for all names of both entities."""
    found: set[tuple[str, str, str]] = set()
    for doc in documents:
        things = _things(doc)
        for fact in doc.facts:
            found.update(_named(things[fact.head], fact.relation, things[fact.tail]))
    return frozenset(found)


def ign_rows(pairs: Sequence[Pair], train: Names) -> Rows:
    """(documents, 5): tp, partial (0), fp, fn as in `strict`, and the right facts that were seen in training."""
    rows = []
    for pair in pairs:
        gold, predicted = _both(pair)
        right = gold.evidence.keys() & predicted.evidence.keys()
        seen = sum(1 for h, r, t in right if not train.isdisjoint(_named(gold.things[h], r, gold.things[t])))
        rows.append((*row(len(right), len(predicted.evidence), len(gold.evidence)), seen))
    return np.array(rows, dtype=np.float64).reshape(len(rows), 5)


def ign_figures(totals: Floats) -> tuple[Floats, Floats, Floats]:
    """Totals (…, 5) -> Ign precision, recall, Ign F1, each (…); 0/0 is 0."""
    tp, _, fp, fn, seen = np.moveaxis(totals, -1, 0)
    precision, recall = divide(tp - seen, tp + fp - seen), divide(tp, tp + fn)
    return precision, recall, divide(2 * precision * recall, precision + recall)


def _named(head: EntityKey, relation: str, tail: EntityKey) -> list[tuple[str, str, str]]:
    return [(h, relation, t) for h in head.names for t in tail.names]


def _things(doc: Document) -> dict[str, EntityKey]:
    mentions = {m.id: m for m in doc.mentions}
    things = {}
    for entity in doc.entities:
        own = [mentions[id] for id in entity.mentions]
        places = frozenset((m.start, m.end) for m in own)
        things[entity.id] = EntityKey(places, frozenset(m.text for m in own), entity.type or own[0].type)
    return things


def _both(pair: Pair) -> tuple[Facts, Facts]:
    things, guessed = _things(pair.gold), _things(pair.predicted)
    names = _same_entities(things, guessed)
    gold = _facts(pair.gold, things, {id: id for id in things}, pair.gold)
    return gold, _facts(pair.predicted, {names[id]: thing for id, thing in guessed.items()}, names, pair.gold)


def _same_entities(gold: dict[str, EntityKey], predicted: dict[str, EntityKey]) -> dict[str, str]:
    """predicted id -> gold id with the same mentions. Ids only decide between identical gold entities."""
    by_places: dict[frozenset[Place], list[str]] = {}
    for id, thing in gold.items():
        by_places.setdefault(thing.places, []).append(id)
    names: dict[str, str] = {}
    taken: set[str] = set()
    for id, thing in predicted.items():
        same = by_places.get(thing.places, [])
        if id in same:
            names[id] = id
        else:
            names[id] = next(
                (g for g in same if g not in taken and g not in predicted), same[0] if same else UNKNOWN + id
            )
        taken.add(names[id])
    return names


def _facts(doc: Document, things: dict[str, EntityKey], names: dict[str, str], gold: Document) -> Facts:
    evidence: dict[Relation, set[int]] = {}
    scores: dict[Relation, float] = {}
    for fact in doc.facts:
        key = (names[fact.head], fact.relation, names[fact.tail])
        sentences = evidence.setdefault(key, set())
        sentences.update(_gold_sentence(doc, gold, item) for item in fact.evidence)
        if fact.score is not None:
            scores[key] = max(fact.score, scores.get(key, 0.0))
    return Facts(things, evidence, scores)


def _gold_sentence(doc: Document, gold: Document, evidence: Evidence) -> int:
    if doc.sentences == gold.sentences:
        return evidence.sentence
    start = doc.sentences[evidence.sentence][0] if evidence.start is None else evidence.start
    found = gold.sentence_of(start)
    return -1 - evidence.sentence if found is None else found  # negative: not in any gold sentence, so always wrong


def _evidence(gold: Facts, predicted: Facts, right: Iterable[Relation]) -> Row:
    found = sum(len(gold.evidence[fact] & predicted.evidence[fact]) for fact in right)
    return row(found, sum(map(len, predicted.evidence.values())), sum(map(len, gold.evidence.values())))


def _filtered(doc: Document, gold: Facts, predicted: Facts) -> Row:
    out = {frozenset(doc.entities[i].id for i in pair) for pair in doc.notes.excluded_pairs}
    counted, found = ({f for f in facts.evidence if frozenset((f[0], f[2])) not in out} for facts in (gold, predicted))
    return row(len(counted & found), len(found), len(counted))


def _split(doc: Document) -> Document:
    return doc if doc.sentences else replace(doc, sentences=tuple(Span(*s) for s in split_sentences(doc.text)))


def _by_distance(doc: Document, gold: Facts, predicted: Facts) -> dict[str, Row]:
    things = predicted.things | gold.things
    inside: dict[str, set[int | None]] = {}

    def sentences(id: str) -> set[int | None]:
        if id not in inside:
            inside[id] = {doc.sentence_of(start) for start, _ in things[id].places}
        return inside[id]

    def intra(fact: Relation) -> bool:
        return not sentences(fact[0]).isdisjoint(sentences(fact[2]))

    near_gold = {fact for fact in gold.evidence if intra(fact)}
    near = {fact for fact in predicted.evidence if intra(fact)}
    far_gold, far = gold.evidence.keys() - near_gold, predicted.evidence.keys() - near
    return {
        "intra": row(len(near_gold & near), len(near), len(near_gold)),
        "inter": row(len(far_gold & far), len(far), len(far_gold)),
    }


def _end_to_end(rule: str, gold: Facts, predicted: Facts) -> Row:
    view = _VIEWS[rule]
    sides = []
    for facts in (gold, predicted):
        seen = {id: view(thing) for id, thing in facts.things.items()}
        sides.append({(seen[h], r, seen[t]) for h, r, t in facts.evidence})
    return row(len(sides[0] & sides[1]), len(sides[1]), len(sides[0]))


_VIEWS: dict[str, Callable[[EntityKey], Any]] = {
    "all_mentions": lambda thing: thing.places,
    "all_mentions_typed": lambda thing: (thing.places, thing.type),
    "first_mention": lambda thing: min(thing.places),
    "first_mention_typed": lambda thing: (min(thing.places), thing.type),
}


def _explain(doc: Document, gold: Facts, predicted: Facts, mistakes: Mistakes) -> None:
    """Another relation between the same entities is a confusion; the rest is missed or spurious."""
    wrong: dict[tuple[str, str], list[Relation]] = {}
    for fact in sorted(predicted.evidence.keys() - gold.evidence.keys()):
        wrong.setdefault((fact[0], fact[2]), []).append(fact)
    for h, relation, t in sorted(gold.evidence.keys() - predicted.evidence.keys()):
        places = _closest(gold.things[h], gold.things[t])
        others = wrong.get((h, t))
        if others:
            mistakes.add("label", doc, gold=relation, predicted=others.pop(0)[1], places=places)
        else:
            mistakes.add("missed", doc, gold=relation, places=places)
    for h, relation, t in (fact for facts in wrong.values() for fact in facts):
        mistakes.add("spurious", doc, predicted=relation, places=_closest(predicted.things[h], predicted.things[t]))


def _closest(head: EntityKey, tail: EntityKey) -> tuple[Place, Place]:
    """The two mentions that are nearest to each other."""
    return min(((h, t) for h in head.places for t in tail.places), key=lambda two: (abs(two[0][0] - two[1][0]), two))

"""Score triples (head, relation, tail) under five conventions, with a row of counts for each document.

    strict      head span, relation, tail span                    ("boundaries" in the papers on joint extraction)
    typed       strict, and both arguments have the right type    ("strict" in the same papers)
    text        head text, relation, tail text, once per document, wherever it is stated (most papers)
    last_word   text, with only the last word of both arguments   ("partial match" on NYT* and WebNLG*)
    complex     text, and all qualifiers as (role, text); over facts with qualifiers, if there are any (DuIE)

Equal triples of a document count once. A fact without mentions stands for every mention of its entities: any of them
can match, but each fact only once. Its text is the name of the entity, or else its first mention. Facts whose arguments
are not in the text (`document.notes.unfound`) have no offsets: they only count where texts are compared. Words end at
white space, so a Chinese argument is one word. Assertions are not compared.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias, TypeVar

from factpin.documents import Document
from factpin.scoring.align import Pair
from factpin.scoring.confusions import Mistakes
from factpin.scoring.counts import Row, as_rows, by_label, row
from factpin.scoring.scores import Scores

T = TypeVar("T")
Place: TypeAlias = tuple[int, int]
CONVENTIONS = ("strict", "typed", "text", "last_word", "complex")


class Key(NamedTuple):
    """A triple as compared by offsets: the names that must be equal, and the possible spans of head and tail."""

    names: tuple[str, ...]  # relation, or relation and both types
    head: frozenset[Place]
    tail: frozenset[Place]

    @property
    def pinned(self) -> bool:
        return len(self.head) == 1 and len(self.tail) == 1


@dataclass(frozen=True, slots=True)
class TripleEnd:
    """The head or tail of a triple: its possible spans, its text and its type."""

    places: frozenset[Place]
    text: str
    type: str


@dataclass(frozen=True, slots=True)
class PlacedTriple:
    """A fact with the spans, texts and types of its ends."""

    head: TripleEnd
    relation: str
    tail: TripleEnd
    score: float | None
    slots: frozenset[tuple[str, str]] = frozenset()  # (role, text) of every qualifier

    def key(self) -> Key:
        return Key((self.relation,), self.head.places, self.tail.places)

    def typed(self) -> Key:
        return Key((self.relation, self.head.type, self.tail.type), self.head.places, self.tail.places)

    def text(self) -> "TextTriple":
        return TextTriple(self.head.text, self.relation, self.tail.text, self.slots)


class TextTriple(NamedTuple):
    """A triple as compared by text."""

    head: str
    relation: str
    tail: str
    slots: frozenset[tuple[str, str]] = frozenset()

    def bare(self) -> tuple[str, str, str]:
        return self[:3]

    def last_word(self) -> tuple[str, str, str]:
        return last_word(self.head), self.relation, last_word(self.tail)


def score(pairs: Sequence[Pair]) -> Scores:
    """Rows of all conventions, strict counts by relation, confusions, and the outcome of every scored fact."""
    rows: dict[str, list[Row]] = {name: [] for name in CONVENTIONS}
    right_by, predicted_by, gold_by = Counter[str](), Counter[str](), Counter[str]()
    mistakes = Mistakes()
    outcomes: list[tuple[float, bool]] = []
    for pair in pairs:
        gold, predicted = triples(pair.gold), triples(pair.predicted)
        gold_keys, predicted_keys = {t.key() for t in gold}, {t.key() for t in predicted}
        matches = match(gold_keys, sorted(predicted_keys, key=_order))
        right_by.update(g.names[0] for g in matches.values())
        gold_by.update(g.names[0] for g in gold_keys)
        predicted_by.update(p.names[0] for p in predicted_keys)
        outcomes += _outcomes(predicted, matches)
        _explain(pair.gold, gold_keys - set(matches.values()), predicted_keys - matches.keys(), mistakes)
        rows["strict"].append(row(len(matches), len(predicted_keys), len(gold_keys)))
        typed = {t.typed() for t in gold}, {t.typed() for t in predicted}
        rows["typed"].append(row(len(match(*typed)), len(typed[1]), len(typed[0])))
        here, there = (
            [*(t.text() for t in own), *unfound_triples(doc)]
            for own, doc in ((gold, pair.gold), (predicted, pair.predicted))
        )
        rows["text"].append(_by_set({t.bare() for t in here}, {t.bare() for t in there}))
        rows["last_word"].append(_by_set({t.last_word() for t in here}, {t.last_word() for t in there}))
        rows["complex"].append(_by_set({t for t in here if t.slots}, {t for t in there if t.slots}))
    if not any(map(any, rows["complex"])):
        del rows["complex"]
    return Scores(
        rows={name: as_rows(values) for name, values in rows.items()},
        labels=by_label(right_by, predicted_by, gold_by),
        confusions=mistakes.worst(),
        outcomes=outcomes,
    )


def triples(doc: Document) -> list[PlacedTriple]:
    """The facts of a document as they are compared."""
    if not doc.facts:
        return []
    mentions = {m.id: m for m in doc.mentions}
    entities = {e.id: e for e in doc.entities}

    @cache
    def argument(entity_id: str, mention_id: str | None) -> TripleEnd:
        entity = entities[entity_id]
        if mention_id is not None:
            m = mentions[mention_id]
            return TripleEnd(frozenset(((m.start, m.end),)), m.text, m.type or entity.type)
        own = [mentions[id] for id in entity.mentions]
        places = frozenset((m.start, m.end) for m in own)
        return TripleEnd(places, entity.name or own[0].text, entity.type or own[0].type)

    return [
        PlacedTriple(
            argument(f.head, f.head_mention),
            f.relation,
            argument(f.tail, f.tail_mention),
            f.score,
            frozenset((q.role, argument(q.entity, q.mention).text) for q in f.qualifiers),
        )
        for f in doc.facts
    ]


def unfound_triples(doc: Document) -> list[TextTriple]:
    """The facts of the corpus whose arguments are not in the text."""
    return [TextTriple(fact.head, fact.relation, fact.tail, fact.qualifiers) for fact in doc.notes.unfound]


def last_word(text: str) -> str:
    """The last word of an argument, or all of it if it has no white space."""
    words = text.split()
    return words[-1] if words else text


def match(gold: Collection[Key], predicted: Collection[Key]) -> dict[Key, Key]:
    """predicted -> gold: a maximum one-to-one matching; equal keys first, then in the order of the predictions.

    Earlier predictions keep a match: the first k predictions have as many matches as they would have alone.
    """
    gold = set(gold)
    found = {key: key for key in predicted if key in gold}
    loose = [key for key in dict.fromkeys(predicted) if key not in found]
    free = sorted(gold - found.keys(), key=_order)
    if not loose or not free or (all(k.pinned for k in loose) and all(k.pinned for k in free)):
        return found
    by_names: dict[tuple[str, ...], list[Key]] = {}
    for g in free:
        by_names.setdefault(g.names, []).append(g)
    fits = {p: [g for g in by_names.get(p.names, ()) if g.head & p.head and g.tail & p.tail] for p in loose}
    taken: dict[Key, Key] = {}  # gold -> predicted

    def place(p: Key, tried: set[Key]) -> bool:
        """Match p with a gold fact; a prediction that already has it moves to another one if possible."""
        for g in fits[p]:
            if g not in tried:
                tried.add(g)
                if g not in taken or place(taken[g], tried):
                    taken[g] = p
                    return True
        return False

    for p in loose:
        place(p, set())
    return found | {p: g for g, p in taken.items()}


def _order(key: Key) -> tuple[tuple[str, ...], list[Place], list[Place]]:
    return key.names, sorted(key.head), sorted(key.tail)


def _by_set(gold: set[T], predicted: set[T]) -> Row:
    return row(len(gold & predicted), len(predicted), len(gold))


def _outcomes(predicted: Sequence[PlacedTriple], matches: dict[Key, Key]) -> list[tuple[float, bool]]:
    best: dict[Key, float] = {}
    for t in predicted:
        if t.score is not None:
            key = t.key()
            best[key] = max(t.score, best.get(key, 0.0))
    return [(value, key in matches) for key, value in best.items()]


def _explain(doc: Document, missed: set[Key], wrong: set[Key], mistakes: Mistakes) -> None:
    """Explain each triple as a wrong relation, wrong boundaries, or missed or spurious."""
    by_arguments: dict[tuple[frozenset[Place], frozenset[Place]], list[Key]] = {}
    by_names: dict[tuple[str, ...], list[Key]] = {}
    for p in sorted(wrong, key=_order):
        by_arguments.setdefault((p.head, p.tail), []).append(p)
        by_names.setdefault(p.names, []).append(p)
    left = set(wrong)
    for g in sorted(missed, key=_order):
        relation, places = g.names[0], _places(g)
        same = next((p for p in by_arguments.get((g.head, g.tail), ()) if p in left), None)
        near = next((p for p in by_names.get(g.names, ()) if p in left and _touch(g, p)), None)
        if same:
            left.remove(same)
            mistakes.add("label", doc, gold=relation, predicted=same.names[0], places=places)
        elif near:
            left.remove(near)
            mistakes.add("boundary", doc, gold=relation, predicted=relation, places=places, instead=_places(near))
        else:
            mistakes.add("missed", doc, gold=relation, places=places)
    for p in sorted(left, key=_order):
        mistakes.add("spurious", doc, predicted=p.names[0], places=_places(p))


def _touch(g: Key, p: Key) -> bool:
    """Whether both the heads and the tails overlap."""
    return all(any(a[0] < b[1] and b[0] < a[1] for a in x for b in y) for x, y in ((g.head, p.head), (g.tail, p.tail)))


def _places(key: Key) -> tuple[Place, Place]:
    return min(key.head), min(key.tail)

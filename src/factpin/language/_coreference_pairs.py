"""Pairs for a scorer: which earlier mentions each mention may go with, what is known of them, and what came back.

    antecedent    indices of earlier mentions, -1 where there are fewer than K       (M, K)
    distance      bucket of the mentions between the two: 0 1 2 3 4 5-7 8-15 …       (M, K)
    features      one column for each of FEATURES                                    (M, K, F)
    probability   of each, the rest up to 1 being "none of them"                     (M, K)

Mentions are counted in the order of the text. The candidates are the latest mention of each name that a rule links to,
then the nearest. Probabilities of mentions of one name add up: a scorer need not choose between "Obama" and "Obama".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from factpin.documents.nouns import Document, Mention
from factpin.errors import BadInput
from factpin.language._coreference_clusters import Link
from factpin.language._coreference_forms import initials, like_person, part_of
from factpin.language._coreference_names import MentionNames, Name, read

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Pair = tuple[int, int]

RULE_FEATURES = ("abbreviation", "alias", "containment", "nominal", "pronoun", "same_name", "variant")
KIND_FEATURES = ("same_type", "other_type", "is_pronoun", "is_nominal", "from_pronoun", "from_nominal")
FEATURES = (*RULE_FEATURES, *KIND_FEATURES)
EDGES = (1, 2, 3, 4, 5, 8, 16, 32, 64)  # mentions between two, from which a bucket begins
BUCKETS = len(EDGES) + 1
KEEP = 0.1  # default of PairScores.keep
ADD = 0.5  # default of PairScores.add
PEOPLE = 0.9  # what two names need that may be people's and no rule links: a guess must not make two people one
WEAK = 0.9  # below this strength a rule only suggests: the scorer's word counts; and the most a scorer's word weighs


@dataclass(frozen=True)
class MentionPairs:
    """For each mention, the earlier mentions it can refer to, and the features of each pair."""

    antecedent: Ints  # (M, K)
    distance: Ints  # (M, K)
    features: Floats  # (M, K, F)


@dataclass(frozen=True)
class PairScores:
    """What a scorer said about candidates, and how much of it is believed."""

    antecedent: Ints  # (M, K)
    probability: Floats  # (M, K)
    keep: float = KEEP  # a link of a rule stays where the scorer gives it this part of what it gives its favourite
    add: float = ADD  # a mention that is this likely to go with any earlier one is linked, to the likeliest first

    @property
    def silent(self) -> bool:
        """Is nothing of it believed?"""
        return self.add > 1 and self.keep <= 0

    def __post_init__(self) -> None:
        if self.antecedent.shape != self.probability.shape or self.antecedent.ndim != 2:
            raise BadInput(
                f"Expected antecedents and probabilities of the same shape (M, K), got {self.antecedent.shape} and "
                f"{self.probability.shape}. Give one probability a candidate."
            )


def ordered(doc: Document) -> tuple[Mention, ...]:
    """The mentions in the order of the text, as candidates count them."""
    return read(doc).mentions


def candidates_of(reading: MentionNames, proposed: Iterable[Link], most: int) -> MentionPairs:
    """At most `most` for each mention, the latest first."""
    M, said = len(reading.mentions), _said(reading, proposed)
    linked: dict[int, set[int]] = {}
    for one, other in said:
        linked.setdefault(one, set()).add(other)
        linked.setdefault(other, set()).add(one)
    latest: dict[int, int] = {}  # name -> its latest mention so far
    chosen: list[list[int]] = []
    for i, name in enumerate(reading.name_of):
        favoured = sorted((latest[n] for n in {name.index, *linked.get(name.index, ())} if n in latest), reverse=True)
        near = range(i - 1, max(-1, i - 1 - most), -1)
        chosen.append(sorted([*dict.fromkeys([*favoured, *near])][:most], reverse=True))
        latest[name.index] = i
    K = max([len(row) for row in chosen], default=0)
    antecedent = np.full((M, K), -1, np.int64)
    features = np.zeros((M, K, len(FEATURES)))
    for i, row in enumerate(chosen):
        antecedent[i, : len(row)] = row
        for k, j in enumerate(row):
            features[i, k] = _features(reading.name_of[i], reading.name_of[j], said)
    between = np.arange(M)[:, None] - antecedent - 1
    distance = np.where(antecedent < 0, 0, np.searchsorted(EDGES, between, side="right"))
    return MentionPairs(antecedent, distance.astype(np.int64), features)


def targets(doc: Document, candidates: MentionPairs) -> Bools:
    """(M, K): which candidates are of the same entity; a mention of several entities counts with each."""
    owners: dict[str, set[str]] = {}
    for entity in doc.entities:
        for id in entity.mentions:
            owners.setdefault(id, set()).add(entity.id)
    of = [owners.get(mention.id, set()) for mention in ordered(doc)]
    gold = np.zeros(candidates.antecedent.shape, np.bool_)
    for (i, k), j in np.ndenumerate(candidates.antecedent):
        gold[i, k] = j >= 0 and not of[i].isdisjoint(of[j])
    return gold


def _said(reading: MentionNames, proposed: Iterable[Link]) -> dict[Pair, dict[str, float]]:
    """What the rules said about two names, the earlier first."""
    said: dict[Pair, dict[str, float]] = {}
    for link in proposed:
        one, other = _names(reading, link.child, link.host)
        if one != other:
            rules = said.setdefault((one, other), {})
            rules[link.rule] = max(link.strength, rules.get(link.rule, 0.0))
    return said


def _names(reading: MentionNames, i: int, j: int) -> Pair:
    one, other = sorted((reading.name_of[i].index, reading.name_of[j].index))
    return one, other


def _features(name: Name, before: Name, said: dict[Pair, dict[str, float]]) -> Sequence[float]:
    one, other = sorted((name.index, before.index))
    rules = {"same_name": 1.0} if one == other else said.get((one, other), {})
    typed = bool(name.type and before.type)
    kinds = (
        typed and name.type == before.type, typed and name.type != before.type, name.kind == "pronoun",
        name.kind == "nominal", before.kind == "pronoun", before.kind == "nominal",
    )  # fmt: skip
    return [*(rules.get(rule, 0.0) for rule in RULE_FEATURES), *map(float, kinds)]


def judge(reading: MentionNames, proposed: Sequence[Link], judged: PairScores) -> list[Link]:
    """The links of the rules that the scorer does not refuse, with its strengths, and its own.

    Rules link names, a scorer links mentions, so it may tell two things of one name apart. What an alias says and what
    the scorer was not asked stays as it is. Where it may neither add nor refuse, the rules decide alone.
    """
    M = len(reading.mentions)
    if judged.antecedent.shape[0] != M:
        raise BadInput(
            f"{reading.doc.id}: judged were {judged.antecedent.shape[0]} mentions, the document has {M}. "
            f"Judge the candidates of this very document."
        )
    if judged.silent:
        return list(proposed)
    rules: dict[Pair, list[Link]] = {}
    for link in proposed:
        rules.setdefault(_names(reading, link.child, link.host), []).append(link)
    links, asked = list[Link](), set[Pair]()
    for i in range(M):
        choices = _choices(reading, judged, i)
        asked.update(_names(reading, i, choice.mention) for choice in choices)
        links += _judge_one(reading, i, choices, rules, judged)
    return links + [
        link for link in proposed if link.rule == "alias" or _names(reading, link.child, link.host) not in asked
    ]


class _Choice(NamedTuple):
    """A name that a mention may go with: its likeliest mention, and the probability of all of them."""

    name: int
    mention: int
    mass: float


def _choices(reading: MentionNames, judged: PairScores, i: int) -> list[_Choice]:
    found: dict[int, tuple[float, int, float]] = {}  # name -> (probability, mention, sum)
    for j, p in zip(judged.antecedent[i].tolist(), judged.probability[i].tolist(), strict=True):
        if j >= 0:
            name = reading.name_of[j].index
            best, mention, total = found.get(name, (-1.0, -1, 0.0))
            best, mention = max((best, mention), (p, j))
            found[name] = (best, mention, total + p)
    return [_Choice(name, mention, total) for name, (_, mention, total) in found.items()]


def _judge_one(
    reading: MentionNames, i: int, choices: list[_Choice], rules: dict[Pair, list[Link]], judged: PairScores
) -> Iterator[Link]:
    """The links of a mention with earlier ones."""
    if not choices:
        return
    name = reading.name_of[i]
    any_of_them = sum(choice.mass for choice in choices)
    likeliest = max(choices, key=lambda choice: (choice.mass, choice.mention))
    favourite = max(1.0 - any_of_them, likeliest.mass)
    least, own = judged.keep * favourite, max(judged.keep, KEEP) * favourite  # of a rule's link, of the scorer's own
    for choice in choices:
        j = choice.mention
        said = rules.get(_names(reading, i, j), []) if choice.mass >= least else []
        if choice.name == name.index and said:
            yield Link(i, j, "same_name", 1.0)
            continue
        sure = WEAK * (any_of_them if choice is likeliest else choice.mass)
        for link in said:
            ends = (i, j) if reading.name_of[link.child] is name else (j, i)
            yield Link(*ends, link.rule, link.strength if link.strength >= WEAK else sure)
        other = reading.name_of[j]
        people = like_person(name) and like_person(other) and name is not other
        if not said and any_of_them >= judged.add and choice.mass >= (PEOPLE if people else own):
            ends = (j, i) if _is_lesser(other, name) else (i, j)
            yield Link(*ends, "scorer", sure)


def _is_lesser(earlier: Name, later: Name) -> bool:
    """Is the earlier one the child? What only refers is, beside a name, and a short form beside the long one."""
    if earlier.kind == later.kind == "name":
        return part_of(earlier, later) or initials(earlier, later)
    rank = {"pronoun": 0, "speaker": 0, "nominal": 1, "name": 2}
    return rank[earlier.kind] < rank[later.kind]

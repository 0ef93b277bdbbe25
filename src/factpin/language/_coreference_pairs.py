"""Pairs for a scorer: the earlier mentions that each mention may refer to, their features, and the scores.

    antecedent    indices of earlier mentions, -1 if there are fewer than K          (M, K)
    distance      bucket of the mentions between the two: 0 1 2 3 4 5-7 8-15 …       (M, K)
    features      one column for each of FEATURES                                    (M, K, F)
    probability   of each; the rest up to 1 is "none of them"                        (M, K)

Mentions are in the order of the text. The candidates are the latest mention of each name that a rule links to, then the
nearest mentions. The probabilities of mentions of one name are added: a scorer need not choose between "Obama" and
"Obama".
"""

from bisect import bisect_left
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
EDGES = (1, 2, 3, 4, 5, 8, 16, 32, 64)  # mentions between two at which a bucket begins
BUCKETS = len(EDGES) + 1
KEEP = 0.1  # default of PairScores.keep
ADD = 0.5  # default of PairScores.add
PEOPLE = 0.9  # what two names of possible people need without a rule: a guess must not merge two people
WEAK = 0.9  # below this strength the scorer overrules a rule; also the highest strength of a scorer's link


@dataclass(frozen=True)
class MentionPairs:
    """For each mention, the earlier mentions it can refer to, and the features of each pair."""

    antecedent: Ints  # (M, K)
    distance: Ints  # (M, K)
    features: Floats  # (M, K, F)


@dataclass(frozen=True)
class PairScores:
    """The probabilities that a scorer gives candidates, and how they are used."""

    antecedent: Ints  # (M, K)
    probability: Floats  # (M, K)
    keep: float = KEEP  # a link of a rule is kept if its probability is this share of the highest one
    add: float = ADD  # a mention is linked if this is the probability of any earlier one, to the likeliest first

    @property
    def silent(self) -> bool:
        """Whether the probabilities change nothing."""
        return self.add > 1 and self.keep <= 0

    def __post_init__(self) -> None:
        if self.antecedent.shape != self.probability.shape or self.antecedent.ndim != 2:
            raise BadInput(
                f"Expected antecedents and probabilities of the same shape (M, K), got {self.antecedent.shape} and "
                f"{self.probability.shape}. Give one probability per candidate."
            )


def ordered(doc: Document) -> tuple[Mention, ...]:
    """The mentions in the order of the text, which is the order of the candidates."""
    return read(doc).mentions


def candidates_of(reading: MentionNames, proposed: Iterable[Link], most: int) -> MentionPairs:
    """At most `most` candidates for each mention, the latest first."""
    M, said = len(reading.mentions), _said(reading, proposed)
    linked: dict[int, set[int]] = {}
    for one, other in said:
        linked.setdefault(one, set()).add(other)
        linked.setdefault(other, set()).add(one)
    once = {n: sorted(reading.names[o].mentions[0] for o in others if len(reading.names[o].mentions) == 1)
            for n, others in linked.items()}  # fmt: skip
    often = {n: [o for o in others if len(reading.names[o].mentions) > 1] for n, others in linked.items()}
    latest: dict[int, int] = {}  # name -> its latest mention so far
    chosen: list[list[int]] = []
    for i, name in enumerate(reading.name_of):
        single = once.get(name.index, [])  # pronouns, of which a name may have very many: the last ones are enough
        before = bisect_left(single, i)
        named = [latest[n] for n in (name.index, *often.get(name.index, ())) if n in latest]
        favoured = sorted({*named, *single[max(0, before - most) : before]}, reverse=True)
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
    """Which candidates are of the same entity (M, K). A mention of several entities counts for each."""
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
    """The rules that link two names, the earlier name first."""
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
    """The links of the rules that the scorer accepts, with its strengths, and the links that it adds.

    Rules link names, a scorer links mentions, so it can distinguish two things with the same name. Aliases, and links
    that the scorer did not judge, are kept as they are. If it may neither add nor reject links, only the rules count.
    """
    M = len(reading.mentions)
    if judged.antecedent.shape[0] != M:
        raise BadInput(
            f"{reading.doc.id}: got scores for {judged.antecedent.shape[0]} mentions, the document has {M}. "
            f"Score the candidates of this document."
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
    """A name that a mention may belong to: its likeliest mention, and the probability of all its mentions."""

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
    """The links of a mention to earlier ones."""
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
    """Whether the earlier one is the child: a pronoun or nominal with a name, or a short form with the long one."""
    if earlier.kind == later.kind == "name":
        return part_of(earlier, later) or initials(earlier, later)
    rank = {"pronoun": 0, "speaker": 0, "nominal": 1, "name": 2}
    return rank[earlier.kind] < rank[later.kind]

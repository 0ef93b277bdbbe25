"""Which pieces are asked for: units and a budget come in, groups of places go out.

Every sampler is `(units, budget, chance) -> groups`: units are the places of each word, phrase, … in order, the budget
counts pieces, a group is what is chosen together. No place is chosen twice; no special token can be chosen.

    ngram           n units from a random start, p(n) by `odds`; what overruns the budget is shortened, then skipped
    geometric       L ~ p (1 - p)^(L - 1) on 1..longest units; stops at the budget, inside a word if need be
    poisson_apart   L ~ Poisson(rate) on least..most, until the budget is reached; at least one unit between groups
    infill          the same with L = 0 allowed (an empty group) and the last one cut, so that the sum is the budget
    scattered       noise and the rest cut into equally many parts, every way of cutting equally likely (T5)
    xlnet_windows   k units, p(k) ~ 1/k, somewhere in a window of 6 k pieces; single pieces fill the budget
    fragment        one run of `budget` pieces: at the beginning, at the end, or anywhere (MASS)
    whole           units in random order until the budget is reached, never all of them (GLM's sentences)
    one_long        one run of at least `budget` pieces, up to the end with probability `tail` (GLM's document)

Rounding is int(x + 0.5) everywhere. Python and TensorFlow round 2.5 to 2, fairseq rounds by chance.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from factpin.layers.masks import Bools, Ints
from factpin.objectives.text import Chance

Units = Sequence[Ints]
Choose = Callable[[Units, int, Chance], list[Ints]]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Budget:
    """How many pieces are asked for. At least one piece is always left to read."""

    share: float = 0.15
    rounding: Literal["near", "down", "up", "chance"] = "near"
    framed: bool = True  # special tokens count as length, though they cannot be chosen
    least: int = 1

    def of(self, pieces: int, specials: int, chance: Chance) -> int:
        x = self.share * (pieces + specials * self.framed)
        match self.rounding:
            case "near":
                count = near(x)
            case "down":
                count = int(x)
            case "up":
                count = math.ceil(x)
            case "chance":
                count = int(x + chance.random())
        return min(max(count, self.least), pieces - 1)


def near(x: float) -> int:
    return int(x + 0.5)


def ngram(units: Units, budget: int, chance: Chance, *, odds: Sequence[float] = (1.0,)) -> list[Ints]:
    """odds[n - 1] is the weight of n units. Where no unit fits the budget, the shortest goes in: no view is empty."""
    p = np.asarray(odds) / np.sum(odds)
    taken = np.zeros(len(units), np.bool_)
    longest = 1 + chance.choice(len(p), len(units), p=p)
    found, left = [], budget
    for i in chance.permutation(len(units)):
        if left <= 0:
            break
        for n in range(longest[i], 0, -1):
            size = sum(len(unit) for unit in units[i : i + n])
            if size <= left and i + n <= len(units) and not taken[i : i + n].any():
                taken[i : i + n] = True
                left -= size
                found.append(np.concatenate(units[i : i + n]))
                break
    return found if found or budget < 1 else [min(units, key=len)]


def geometric_odds(p: float, longest: int) -> Floats:
    """The probabilities of the lengths 1..longest."""
    weight = p * (1 - p) ** np.arange(longest)
    return weight / weight.sum()


def geometric(units: Units, budget: int, chance: Chance, *, p: float = 0.2, longest: int = 10) -> list[Ints]:
    """Touching groups are one group."""
    odds = geometric_odds(p, longest)
    taken = np.zeros(units[-1][-1] + 1, np.bool_)
    left = min(budget, sum(len(unit) for unit in units))
    while left > 0:
        i = int(chance.integers(len(units)))
        if taken[units[i]].any():
            continue
        fresh = np.concatenate(units[i : i + 1 + int(chance.choice(longest, p=odds))])
        fresh = fresh[~taken[fresh]][:left]
        taken[fresh] = True
        left -= len(fresh)
    return runs(taken)


def poisson_odds(rate: float, least: int, most: int) -> Floats:
    """The probabilities of the lengths least..most."""
    logs = [k * math.log(rate) - math.lgamma(k + 1) for k in range(least, most + 1)]
    weight = np.exp(np.array(logs) - max(logs))
    return weight / weight.sum()


def poisson_apart(
    units: Units, budget: int, chance: Chance, *, rate: float = 3.0, least: int = 1, most: int = 39
) -> list[Ints]:
    """Here the budget counts units. The last group may overrun it."""
    lengths = _lengths(budget, poisson_odds(rate, least, most), least, chance)
    return _place([min(length, len(units) - 1) for length in lengths], units, chance)


def infill(units: Units, budget: int, chance: Chance, *, rate: float = 3.0, most: int = 39) -> list[Ints]:
    """Here the budget counts units, exactly. An empty group is a blank where nothing is missing.

    fairseq places groups so that they may overlap, and removes about a tenth less than it is asked for.
    """
    lengths = _lengths(budget, poisson_odds(rate, 0, most), 0, chance)
    lengths[-1] -= sum(lengths) - budget
    empty = [np.zeros(0, np.int64) for length in lengths if length == 0]
    return _place([length for length in lengths if length], units, chance) + empty


def scattered(
    units: Units, budget: int, chance: Chance, *, mean: float = 3.0, roll_below: int = 40, most: int | None = None
) -> list[Ints]:
    """Begins with the rest and ends with noise, so only the end of a short text would ever be asked for:

    below `roll_below` units the pattern is turned by a random distance. Of `most` groups each is longer instead.
    """
    n = len(units)
    parts = max(1, min(near(budget / mean), n - budget, most or n))
    noise, rest = _cut(budget, parts, chance), _cut(n - budget, parts, chance)
    pattern = np.repeat([False, True] * parts, np.stack([rest, noise], 1).ravel())
    if n < roll_below:
        pattern = np.roll(pattern, chance.integers(n))
    return [np.concatenate([units[i] for i in run]) for run in runs(pattern)]


def xlnet_windows(units: Units, budget: int, chance: Chance, *, longest: int = 5, stretch: int = 6) -> list[Ints]:
    """Public code counts pieces where it means words: its test for a word's end looks at the word's start."""
    starts = [int(unit[0]) for unit in units]
    odds = (1 / np.arange(1, longest + 1)) / (1 / np.arange(1, longest + 1)).sum()
    found, left, at = [], budget, starts[0]
    while left > 0:
        k = min(1 + int(chance.choice(longest, p=odds)), left)
        context, before = stretch * k, int(chance.integers(stretch * k))
        first = bisect_left(starts, at + before)
        if first + k > len(units):
            break
        while k and sum(len(unit) for unit in units[first : first + k]) > left:
            k -= 1
        if not k:
            break
        found.append(np.concatenate(units[first : first + k]))
        left -= len(found[-1])
        at = int(found[-1][-1]) + 1 + context - before
    rest = np.setdiff1d(np.concatenate(list(units)), np.concatenate([np.zeros(0, np.int64), *found]))
    return found + [np.array([i]) for i in chance.permutation(rest)[: max(left, 0)]]


def fragment(units: Units, budget: int, chance: Chance, *, ends: float = 0.2) -> list[Ints]:
    """At the beginning and at the end with probability `ends` each. Public code masks one piece too many, one too late:

    the first piece asked for stays visible in its encoder.
    """
    places = np.concatenate(list(units))
    room = len(places) - budget
    u = chance.random()
    start = 0 if u < ends else room if u < 2 * ends else int(chance.integers(room + 1))
    return [places[start : start + budget]]


def whole(units: Units, budget: int, chance: Chance) -> list[Ints]:
    found: list[Ints] = []
    for i in chance.permutation(len(units))[:-1]:
        if sum(len(group) for group in found) >= budget:
            break
        found.append(units[i])
    return sorted(found, key=lambda group: int(group[0]))


def one_long(units: Units, budget: int, chance: Chance, *, tail: float = 0.5) -> list[Ints]:
    places = np.concatenate(list(units))
    n = len(places)
    length = int(chance.integers(budget, max(budget, n - 2) + 1))
    start = n - length if chance.random() < tail else int(chance.integers(n - length + 1))
    return [places[start : start + length]]


def runs(chosen: Bools) -> list[Ints]:
    """The places that are True, neighbours together."""
    places = np.flatnonzero(chosen)
    return np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []


def _lengths(budget: int, odds: Floats, least: int, chance: Chance) -> list[int]:
    """Lengths until their sum is at least the budget."""
    lengths = [least + int(chance.choice(len(odds), p=odds))]
    while sum(lengths) < budget:
        lengths.append(least + int(chance.choice(len(odds), p=odds)))
    return lengths


def _place(lengths: list[int], units: Units, chance: Chance) -> list[Ints]:
    """Groups of these lengths in random order, at least one unit between two; what finds no room is dropped.

    The length drawn last overruns the budget, or is trimmed to it: always in the same place it would tell.
    """
    lengths = chance.permutation(lengths).tolist()
    while sum(lengths) + len(lengths) - 1 > len(units):
        lengths = lengths[:-1]
    room = len(units) - sum(lengths) - len(lengths) + 1
    found, used = [], 0
    for gap, length in zip(np.sort(chance.integers(room + 1, size=len(lengths))), lengths, strict=True):
        found.append(np.concatenate(units[gap + used : gap + used + length]))
        used += length + 1
    return found


def _cut(items: int, parts: int, chance: Chance) -> Ints:
    """The sizes of `parts` non-empty parts of `items`, every way of cutting equally likely."""
    cuts = np.sort(chance.choice(items - 1, parts - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], cuts, [items]])).astype(np.int64)

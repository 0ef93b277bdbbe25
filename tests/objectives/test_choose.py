"""Samplers: what they promise for any text; their distributions are checked by `proofs.statistics`."""

from functools import partial

import numpy as np
import pytest

from factpin.objectives.choose import (
    Budget,
    Choose,
    fragment,
    geometric,
    infill,
    ngram,
    one_long,
    poisson_apart,
    scattered,
    whole,
    xlnet_windows,
)
from proofs.world import alone, text

SAMPLERS = {
    "fragment": fragment,
    "geometric": geometric,
    "infill": infill,
    "ngram": ngram,
    "ngram 1/n": partial(ngram, odds=(1, 1 / 2, 1 / 3)),
    "one_long": one_long,
    "poisson_apart": poisson_apart,
    "scattered": scattered,
    "whole": whole,
    "xlnet_windows": xlnet_windows,
}
EXACT = {"fragment", "geometric", "infill", "ngram", "scattered", "xlnet_windows"}  # on units of one piece


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("n", [2, 3, 7, 39, 120])
def test_a_sampler_chooses_places_of_the_text_once_and_leaves_some(name: str, n: int) -> None:
    for seed in range(30):
        for units in (alone(n), text(n, seed).units("words"), text(n, seed).units("sentences")):
            if len(units) < 2:
                continue
            budget = min(max(1, n // 6), len(units) - 1)
            groups = SAMPLERS[name](units, budget, np.random.default_rng(seed))
            places = np.concatenate(groups).tolist()
            assert len(places) == len(set(places)) < n
            assert set(places) <= set(range(n))
            assert places or name == "infill"
            if name in EXACT and len(units) == n:
                assert len(places) == budget


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_same_chance_chooses_the_same(name: str) -> None:
    units = text(90).units("words")
    one, other, third = (SAMPLERS[name](units, 14, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert [group.tolist() for group in one] == [group.tolist() for group in other]
    assert [group.tolist() for group in one] != [group.tolist() for group in third]


def test_a_sampler_never_parts_a_word_but_geometric_at_its_budget() -> None:
    units = text(100).units("words")
    word = {int(i): k for k, unit in enumerate(units) for i in unit}
    for seed in range(40):
        for choose in (ngram, partial(ngram, odds=(1, 1 / 2, 1 / 3))):
            places = np.concatenate(choose(units, 15, np.random.default_rng(seed))).tolist()
            assert len(places) <= 15
            assert all(set(units[word[i]].tolist()) <= set(places) for i in places)
        places = np.concatenate(geometric(units, 15, np.random.default_rng(seed))).tolist()
        parted = {word[i] for i in places if not set(units[word[i]].tolist()) <= set(places)}
        assert len(places) == 15 and len(parted) <= 1


def test_where_no_word_fits_the_budget_the_shortest_goes_in() -> None:
    units = np.split(np.arange(9), [4, 7])
    assert ngram(units, 1, np.random.default_rng(0))[0].tolist() == [7, 8]
    assert ngram(units, 0, np.random.default_rng(0)) == []


@pytest.mark.parametrize(("choose", "n", "budget"), [(poisson_apart, 60, 9), (poisson_apart, 30, 4), (infill, 60, 18)])
def test_the_last_group_is_no_longer_or_shorter_than_the_others(choose: Choose, n: int, budget: int) -> None:
    chance, units, differences = np.random.default_rng(0), alone(n), []
    for _ in range(1500):
        lengths = [len(group) for group in choose(units, budget, chance) if len(group)]
        differences.append(lengths[-1] - np.mean(lengths))
    assert abs(np.mean(differences)) < 3 * np.std(differences) / len(differences) ** 0.5


def test_scattered_makes_no_more_groups_than_asked_and_keeps_its_budget() -> None:
    for most in (1, 5, 20):
        groups = scattered(alone(400), 60, np.random.default_rng(0), most=most)
        assert len(groups) == most and sum(map(len, groups)) == 60


def test_geometric_joins_groups_that_touch() -> None:
    for seed in range(30):
        groups = geometric(alone(40), 20, np.random.default_rng(seed))
        assert all(one[-1] + 1 < two[0] for one, two in zip(groups, groups[1:], strict=False))


def test_xlnet_groups_are_whole_words_before_single_pieces_fill_up() -> None:
    units = text(200).units("words")
    starts = {int(unit[0]) for unit in units} | {200}
    for seed in range(30):
        for group in xlnet_windows(units, 33, np.random.default_rng(seed)):
            assert len(group) == 1 or (group[0] in starts and group[-1] + 1 in starts)


def test_one_long_is_half_of_the_text_or_more_and_often_its_end() -> None:
    chance = np.random.default_rng(9)
    groups = [one_long(alone(60), 30, chance)[0] for _ in range(2000)]
    assert {len(group) for group in groups} == set(range(30, 59))
    last = np.mean([group[-1] == 59 for group in groups])
    assert 0.5 < last < 0.56


def test_whole_takes_units_until_the_budget_is_reached() -> None:
    units = text(120).units("sentences")
    for seed in range(30):
        groups = whole(units, 18, np.random.default_rng(seed))
        sizes = sorted(map(len, groups))
        assert sum(sizes) >= 18 and sum(sizes) - max(sizes) < 18 + max(sizes)
        assert all(any(np.array_equal(group, unit) for unit in units) for group in groups)


def test_budgets_round_as_their_papers_do() -> None:
    chance = np.random.default_rng(10)
    assert [Budget().of(n, 2, chance) for n in (2, 8, 48, 98)] == [1, 2, 8, 15]
    assert Budget(0.5, framed=False).of(5, 0, chance) == 3  # Python's round(2.5) is 2
    assert Budget(rounding="up", framed=False).of(41, 2, chance) == 7
    assert Budget(rounding="down").of(41, 1, chance) == 6
    assert Budget(0.5, framed=False).of(2, 0, chance) == 1
    assert Budget(share=1.0).of(5, 2, chance) == 4  # one piece is left to read
    draws = [Budget(rounding="chance", least=0).of(35, 2, chance) for _ in range(4000)]
    assert set(draws) == {5, 6}
    assert np.mean(draws) == pytest.approx(0.15 * 37, abs=3 * np.std(draws) / 4000**0.5)

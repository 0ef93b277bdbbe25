"""Samplers: what they promise for any text, and the distributions that they are named after."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from factpin.objectives.choose import (
    Budget,
    fragment,
    geometric,
    geometric_odds,
    infill,
    ngram,
    one_long,
    poisson_apart,
    poisson_odds,
    scattered,
    whole,
    xlnet_windows,
)
from tests.objectives.world import alone, text

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
CHI_2, CHI_4 = 13.8, 18.5  # 99.9 % of chi squared with 2 and 4 degrees of freedom


def chi_squared(counts: list[int], odds: list[float]) -> float:
    expected = np.array(odds) / sum(odds) * sum(counts)
    return float(((np.array(counts) - expected) ** 2 / expected).sum())


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


def test_ngram_lengths_follow_their_odds() -> None:
    units, chance = alone(600), np.random.default_rng(1)
    counts = Counter(len(ngram(units, 3, chance, odds=(6, 3, 2))[0]) for _ in range(2500))
    assert chi_squared([counts[n] for n in (1, 2, 3)], [6, 3, 2]) < CHI_2


def test_geometric_lengths_have_a_mean_of_3_8_words() -> None:
    assert (geometric_odds(0.2, 10) * np.arange(1, 11)).sum() == pytest.approx(3.797, abs=1e-3)
    units, chance = alone(50_000), np.random.default_rng(2)
    lengths = [len(group) for _ in range(6) for group in geometric(units, 500, chance)]
    assert np.mean(lengths) == pytest.approx(3.797, abs=3 * np.std(lengths) / len(lengths) ** 0.5)


def test_geometric_joins_groups_that_touch() -> None:
    for seed in range(30):
        groups = geometric(alone(40), 20, np.random.default_rng(seed))
        assert all(one[-1] + 1 < two[0] for one, two in zip(groups, groups[1:], strict=False))


def test_glm_lengths_are_poisson_without_zero_and_never_touch() -> None:
    assert (poisson_odds(3, 1, 39) * np.arange(1, 40)).sum() == pytest.approx(3 / (1 - np.exp(-3)), abs=1e-9)
    units, chance, lengths = alone(3000), np.random.default_rng(3), []
    for _ in range(15):
        groups = poisson_apart(units, 450, chance)
        assert all(one[-1] + 1 < two[0] for one, two in zip(groups, groups[1:], strict=False))
        assert sum(map(len, groups)) >= 450
        lengths += [len(group) for group in groups]
    assert np.mean(lengths) == pytest.approx(3.157, abs=3 * np.std(lengths) / len(lengths) ** 0.5)


def test_infill_removes_exactly_its_budget_of_words_and_has_empty_blanks() -> None:
    units, chance, empty, total = text(900).units("words"), np.random.default_rng(4), 0, 0
    for _ in range(40):
        groups = infill(units, 100, chance)
        places = set(np.concatenate(groups).tolist())
        assert sum(set(unit.tolist()) <= places for unit in units) == 100
        empty += sum(len(group) == 0 for group in groups)
        total += len(groups)
    p = np.exp(-3)
    assert empty / total == pytest.approx(p, abs=3 * (p * (1 - p) / total) ** 0.5)


def test_t5_takes_85_of_568_pieces_in_28_runs_never_the_first_always_the_last() -> None:
    budget = Budget(framed=False).of(568, 0, np.random.default_rng(0))
    lengths = []
    for seed in range(60):
        groups = scattered(alone(568), budget, np.random.default_rng(seed))
        assert (budget, len(groups), sum(map(len, groups))) == (85, 28, 85)
        assert groups[0][0] > 0 and groups[-1][-1] == 567
        lengths += [len(group) for group in groups]
    share = np.mean(np.array(lengths) == 1)  # 27 of the 84 borders are cuts
    assert share == pytest.approx(27 / 84, abs=3 * (0.32 * 0.68 / len(lengths)) ** 0.5)


def test_t5_cuts_its_noise_every_way_equally_often() -> None:
    chance = np.random.default_rng(5)
    counts = Counter(len(scattered(alone(44), 4, chance, mean=2)[0]) for _ in range(1500))
    assert chi_squared([counts[n] for n in (1, 2, 3)], [1, 1, 1]) < CHI_2


def test_t5_asks_for_every_place_of_a_short_text() -> None:
    chance = np.random.default_rng(6)
    asked = {int(i) for _ in range(300) for group in scattered(alone(12), 2, chance) for i in group}
    assert asked == set(range(12))


def test_xlnet_groups_have_lengths_by_1_over_k_and_fill_their_budget() -> None:
    chance = np.random.default_rng(7)
    counts = Counter(len(xlnet_windows(alone(90), 15, chance)[0]) for _ in range(1500))
    assert chi_squared([counts[k] for k in range(1, 6)], [1 / k for k in range(1, 6)]) < CHI_4
    windows = [sum(len(g) for g in xlnet_windows(alone(600), 600, chance) if len(g) > 1) for _ in range(40)]
    longer = (5 - 1) / 5  # of the pieces in windows, one in five stands alone: k p(k) is even
    assert np.mean(windows) / 600 == pytest.approx(longer / 6, abs=0.02)


def test_xlnet_groups_are_whole_words_before_single_pieces_fill_up() -> None:
    units = text(200).units("words")
    starts = {int(unit[0]) for unit in units} | {200}
    for seed in range(30):
        for group in xlnet_windows(units, 33, np.random.default_rng(seed)):
            assert len(group) == 1 or (group[0] in starts and group[-1] + 1 in starts)


def test_mass_begins_a_fifth_at_the_start_and_ends_a_fifth_at_the_end() -> None:
    chance = np.random.default_rng(8)
    starts = Counter(int(fragment(alone(40), 20, chance)[0][0]) for _ in range(3000))
    inner = 0.6 / 21
    for place, p in ((0, 0.2 + inner), (20, 0.2 + inner), (7, inner)):
        assert starts[place] / 3000 == pytest.approx(p, abs=3 * (p * (1 - p) / 3000) ** 0.5)


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

"""Corruption: shares, who moves with whom, and that what can be undone is undone."""

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.objectives.choose import infill
from factpin.objectives.spoil import Rates, back, collapse, delete, expand, insert, reorder, replace, split
from factpin.objectives.tape import MARK, NOISE, tape
from proofs.world import VOCABULARY, alone, text

MASK = VOCABULARY.mask


def test_of_the_chosen_pieces_80_are_masked_10_drawn_10_kept() -> None:
    n, chance = 6000, np.random.default_rng(0)
    before = tape(chance.integers(8, 208, n))
    after = replace(before, alone(n)[:4000], Rates(), VOCABULARY, chance)
    chosen = after.take(np.arange(4000))
    counts = np.array([(chosen.shows == MARK).sum(), (chosen.shows == NOISE).sum(), (chosen.shows >= 0).sum()])
    expected = 4000 * np.array([0.8, 0.1, 0.1])
    assert ((counts - expected) ** 2 / expected).sum() < 13.8
    assert (chosen.ids[chosen.shows == MARK] == MASK).all()
    assert np.array_equal(chosen.free, chosen.shows >= 0)
    assert not np.isin(after.ids[after.shows == NOISE], list(VOCABULARY.specials)).any()
    assert np.array_equal(after.ids[4000:], before.ids[4000:]) and not after.free[4000:].any()


def test_a_group_shares_one_decision_and_pieces_do_not() -> None:
    groups = np.split(np.arange(600), range(6, 600, 6))
    for by, kinds in (("group", 1), ("piece", 3)):
        after = replace(tape(np.full(600, 9)), groups, Rates(0.4, 0.3, by), VOCABULARY, np.random.default_rng(1))
        found = {len({int(min(after.shows[i], 0)) for i in group}) for group in groups}
        assert max(found) == kinds


def test_expand_undoes_collapse() -> None:
    for seed in range(40):
        x = text(60, seed)
        groups = [group for group in infill(x.units("words"), 9, np.random.default_rng(seed)) if len(group)]
        for markers in (VOCABULARY.sentinels, [MASK] * 60):
            holed = collapse(tape(x.ids), groups, markers)
            assert len(holed) == 60 - sum(map(len, groups)) + len(groups)
            assert np.array_equal(expand(holed.ids, markers, [x.ids[group] for group in groups]), x.ids)


def test_expand_undoes_insert_with_empty_runs() -> None:
    x = text(20)
    for gaps in ([], [0], [20], [3, 3, 20, 0]):
        wider = insert(tape(x.ids), gaps, MASK)
        assert len(wider) == 20 + len(gaps)
        assert np.array_equal(expand(wider.ids, [MASK], [x.ids[:0]] * len(gaps)), x.ids)


def test_reorder_is_undone_by_its_way_back() -> None:
    x = text(40)
    for seed in range(20):
        sentences = x.units("sentences")
        order = np.random.default_rng(seed).permutation(len(sentences))
        ranges = [(int(sentences[i][0]), int(sentences[i][-1]) + 1) for i in order]
        moved = reorder(tape(x.ids), ranges)
        assert np.array_equal(x.ids[moved.shows], moved.ids)
        assert np.array_equal(reorder(moved, back(ranges)).ids, x.ids)
        with pytest.raises(BadInput, match="once"):
            reorder(tape(x.ids), ranges[1:])


def test_delete_leaves_the_others_in_order() -> None:
    x = text(30)
    left = delete(tape(x.ids), [np.array([3, 4]), np.array([0])])
    assert left.shows.tolist() == [1, 2, *range(5, 30)]
    assert np.array_equal(left.ids, x.ids[left.shows])


def test_split_finds_the_runs_behind_markers() -> None:
    assert [run.tolist() for run in split(np.array([99, 8, 9, 98, 97, 10]), [99, 98, 97])] == [[8, 9], [], [10]]


def test_too_few_markers_and_blanks_with_holes_are_refused() -> None:
    x = text(20)
    with pytest.raises(BadInput, match="3 blanks need as many markers"):
        collapse(tape(x.ids), [np.array([1]), np.array([3]), np.array([5])], [99, 98])
    with pytest.raises(BadInput, match="run of neighbours"):
        collapse(tape(x.ids), [np.array([1, 3])], [99])
    with pytest.raises(BadInput, match="run of neighbours"):
        collapse(tape(x.ids), [np.array([4, 5]), np.array([5, 6])], [99, 98])
    with pytest.raises(BadInput, match="as many runs"):
        expand(np.array([99, 8]), [99], [])

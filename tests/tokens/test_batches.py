from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.errors import BadInput
from factpin.tokens import batches, shuffled_batches
from factpin.tokens.batches import START, InTurn

lengths_of_texts = st.lists(st.integers(0, 60), max_size=80)


def cost(batch, lengths):
    return len(batch) * max(lengths[i] for i in batch)


@given(lengths=lengths_of_texts, budget=st.integers(1, 200), items=st.none() | st.integers(1, 8))
def test_batches_hold_every_text_once_within_the_budget(lengths, budget, items):
    found = batches(lengths, budget, items)
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) == 1 or cost(batch, lengths) <= budget
        assert items is None or len(batch) <= items
    flat = [lengths[i] for batch in found for i in batch]
    assert flat == sorted(flat, reverse=True)


@given(
    lengths=st.lists(st.integers(0, 300), max_size=8), budget=st.integers(1, 900), items=st.none() | st.integers(1, 3)
)
def test_no_other_way_to_cut_the_order_costs_less(lengths, budget, items):
    found = batches(lengths, budget, items)
    order = [i for batch in found for i in batch]
    least = float("inf")
    for cuts in product((False, True), repeat=max(0, len(order) - 1)):
        borders = [0, *(k for k, cut in enumerate(cuts, start=1) if cut), len(order)]
        other = [order[a:b] for a, b in pairwise(borders) if b > a]
        fits = all(len(batch) == 1 or cost(batch, lengths) <= budget for batch in other)
        if fits and all(len(batch) <= (items or len(batch)) for batch in other):
            least = min(least, sum(START + cost(batch, lengths) for batch in other))
    assert sum(START + cost(batch, lengths) for batch in found) == least


@given(lengths=lengths_of_texts, seed=st.integers(0, 9), epoch=st.integers(0, 9))
def test_shuffled_batches_hold_every_text_once_and_come_again(lengths, seed, epoch):
    found = shuffled_batches(lengths, budget=100, seed=seed, epoch=epoch)
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or cost(batch, lengths) <= 100 for batch in found)
    assert found == shuffled_batches(lengths, budget=100, seed=seed, epoch=epoch)


def test_epochs_differ_and_batches_do_not_fall_in_length():
    lengths = [i % 50 + 1 for i in range(400)]
    first, second = (shuffled_batches(lengths, size=8, seed=1, epoch=epoch) for epoch in (0, 1))
    assert first != second
    assert all(len(batch) == 8 for batch in first)
    longest = [max(lengths[i] for i in batch) for batch in first]
    assert longest != sorted(longest, reverse=True)


def test_shuffled_batches_waste_little_padding():
    lengths = [(i * 37) % 100 + 1 for i in range(1000)]
    found = shuffled_batches(lengths, size=16, seed=0, epoch=0)
    assert sum(lengths) / sum(cost(batch, lengths) for batch in found) > 0.95


def test_a_batch_without_a_bound_is_refused():
    with pytest.raises(BadInput, match="budget"):
        shuffled_batches([1, 2], seed=0, epoch=0)
    with pytest.raises(BadInput):
        batches([1, 2], 0)


@given(count=st.integers(0, 60), size=st.integers(1, 9))
def test_batches_in_turn_hold_every_index_once_in_order(count, size):
    order = InTurn(count, size)
    found = [list(order[k]) for k in range(len(order))]
    assert [i for batch in found for i in batch] == list(range(count))
    assert all(len(batch) == size for batch in found[:-1])
    for outside in (-1, len(order)):
        with pytest.raises(IndexError):
            order[outside]


def test_batches_in_turn_take_no_memory():
    order = InTurn(3 * 10**15, 3)
    assert len(order) == 10**15 and order[10**15 - 1] == range(3 * 10**15 - 3, 3 * 10**15)

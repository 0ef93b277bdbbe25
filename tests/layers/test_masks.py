"""Masks against loops over their definitions, and what joining and placing them does."""

import numpy as np
import pytest
import torch

from factpin.errors import BadInput
from factpin.layers import masks
from factpin.layers.masks import MaskSpec

N = 7
DOCUMENTS = np.array([0, 0, 0, 1, 1, 4, 4])
RANK = np.array([0, 3, 0, 1, 2, 0, 4])
REAL = np.arange(N) < 5

CASES = {
    "full": (masks.full(N), lambda q, k: True),
    "causal": (masks.causal(N), lambda q, k: k <= q),
    "anticausal": (masks.anticausal(N), lambda q, k: k >= q),
    "prefix": (masks.prefix(N, 3), lambda q, k: k < 3 or k <= q),
    "prefix 0": (masks.prefix(N, 0), lambda q, k: k <= q),
    "window": (masks.window(N, 2, 1), lambda q, k: q - 2 <= k <= q + 1),
    "same": (masks.same(DOCUMENTS), lambda q, k: DOCUMENTS[q] == DOCUMENTS[k]),
    "only": (masks.only(N, REAL), lambda q, k: REAL[k]),
    "order": (masks.order(RANK, RANK), lambda q, k: RANK[k] <= RANK[q]),
    "later": (masks.later(RANK, RANK), lambda q, k: RANK[k] > RANK[q]),
    "packed": (masks.causal(N) & masks.same(DOCUMENTS), lambda q, k: k <= q and DOCUMENTS[q] == DOCUMENTS[k]),
    "global": (masks.window(N, 1, 1) | masks.prefix(N, 2) & masks.only(N, REAL),
               lambda q, k: abs(q - k) <= 1 or ((k < 2 or k <= q) and REAL[k])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_mask_is_its_definition(name: str) -> None:
    spec, definition = CASES[name]
    for q in range(N):
        for k in range(N):
            assert spec.dense()[q, k] == definition(q, k), (q, k)


def test_joining_masks_joins_their_matrices() -> None:
    for one, _ in CASES.values():
        for other, _ in CASES.values():
            assert ((one & other).dense() == (one.dense() & other.dense())).all()
            assert ((one | other).dense() == (one.dense() | other.dense())).all()


def test_order_and_later_share_all_cells() -> None:
    know, rank = np.array([-1, 0, 2]), np.array([0, 1, 2, 3])
    assert (masks.order(know, rank).dense() ^ masks.later(know, rank).dense()).all()


def test_content_sees_itself_and_its_query_does_not() -> None:
    content, query = masks.permuted(RANK, np.array([1, 3, 4, 6]))
    assert content.dense().diagonal().all()
    for row, cell in zip(query.dense(), (1, 3, 4, 6), strict=True):
        assert not row[cell]
        assert row.sum() == content.dense()[cell].sum() - 1


@pytest.mark.parametrize("name", CASES)
def test_within_places_a_mask_and_lets_nobody_else_see(name: str) -> None:
    spec, _ = CASES[name]
    big = spec.within(12, 11, top=3, left=2).dense()
    assert (big[3:10, 2:9] == spec.dense()).all()
    assert big.sum() == spec.dense().sum()


def test_masks_between_different_streams_are_oblong() -> None:
    assert masks.full(2, 5).dense().shape == (2, 5)
    assert masks.full(2, 0).dense().shape == (2, 0)
    assert masks.full(2, 0).blind() == [0, 1]


def test_additive_is_zero_where_allowed_and_minus_infinity_elsewhere() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        added = masks.causal(4).additive(dtype)
        assert added.shape == (1, 1, 4, 4) and added.dtype == dtype
        assert torch.equal(added[0, 0] == 0, torch.ones(4, 4).tril().bool())
        assert torch.equal(added[0, 0] == -torch.inf, torch.ones(4, 4).triu(1).bool())


def test_a_row_that_sees_nothing_is_named_and_refused() -> None:
    spec = masks.order(np.array([0, -1, 5]), np.array([0, 1, 2]))
    assert spec.blind() == [1]
    with pytest.raises(BadInput, match="row 1 sees nothing"):
        spec.additive(torch.float32)


def test_masks_of_different_shapes_cannot_be_joined() -> None:
    with pytest.raises(BadInput, match="7 x 7 and 3 x 3"):
        masks.full(7) & masks.full(3)
    with pytest.raises(BadInput, match="does not fit"):
        masks.full(3).within(4, 4, top=2)


def test_a_spec_costs_by_its_length_and_not_by_its_square() -> None:
    spec = masks.causal(100_000) & masks.same(np.zeros(100_000, np.int64))
    assert isinstance(spec, MaskSpec)
    assert sum(len(order.know) + len(order.rank) for term in spec.terms for order in term) == 600_000

"""Positions against loops over their definitions, and buckets against transformers' own."""

import math

import pytest
import torch
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder
from transformers.models.t5.modeling_t5 import T5Attention

from factpin.layers.positions import buckets, by_index, distances, functional, shift, sinusoid, sum_by_index


def test_a_sinusoid_is_its_definition_in_both_layouts() -> None:
    width = 6
    found = sinusoid(torch.tensor([0, 3, -2, 700]), width, "interleaved", torch.float64)
    for row, at in zip(found, (0, 3, -2, 700), strict=True):
        for i in range(width // 2):
            angle = at / 10000 ** (2 * i / width)
            assert row[2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert row[2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)
    halves = sinusoid(torch.tensor([0, 3, -2, 700]), width, "concatenated", torch.float64)
    assert torch.equal(halves, found[:, [0, 2, 4, 1, 3, 5]])


@pytest.mark.parametrize("keys", [4, 7])
@pytest.mark.parametrize("ways", ["left", "both"])
def test_the_shift_is_a_lookup_by_distance(keys: int, ways: str) -> None:
    Q = 4
    at = distances(Q, keys, ways)
    s = torch.randn(2, 3, Q, len(at))
    shifted = shift(s, keys, ways)
    assert shifted.shape == (2, 3, Q, keys)
    place = {int(distance): r for r, distance in enumerate(at)}
    for i in range(Q):
        for j in range(keys):
            distance = i + keys - Q - j
            if distance >= 0 or ways == "both":
                assert torch.equal(shifted[:, :, i, j], s[:, :, i, place[distance]])


def test_golden_shift_of_two_queries_behind_one_key() -> None:
    """Columns hold distances 2, 1, 0; row 0 becomes 1, 0 and a cell that a mask hides, row 1 becomes 2, 1, 0."""
    s = distances(2, 3, "left").expand(1, 2, 3)
    assert shift(s, 3, "left")[0, 0, :2].tolist() == [1, 0]
    assert shift(s, 3, "left")[0, 1].tolist() == [2, 1, 0]


def test_lookup_and_sum_by_index_are_loops() -> None:
    chance = torch.Generator().manual_seed(0)
    s, index = torch.randn(2, 3, 4, 5, generator=chance), torch.randint(0, 5, (2, 4, 6), generator=chance)
    p = torch.rand(2, 3, 4, 6, generator=chance)
    found, summed = by_index(s, index), sum_by_index(p, index, 5)
    for b in range(2):
        for q in range(4):
            for k in range(6):
                assert torch.equal(found[b, :, q, k], s[b, :, q, index[b, q, k]])
            for r in range(5):
                assert torch.allclose(summed[b, :, q, r], (p[b, :, q] * (index[b, q] == r)).sum(-1))


def test_buckets_are_those_of_t5_and_mpnet() -> None:
    ahead = torch.arange(-300, 300)
    both = T5Attention._relative_position_bucket(ahead, bidirectional=True)
    left = T5Attention._relative_position_bucket(ahead, bidirectional=False)
    assert torch.equal(buckets(ahead, ways="both"), both)
    assert torch.equal(buckets(ahead, ways="left"), left)
    assert torch.equal(buckets(ahead), MPNetEncoder.relative_position_bucket(ahead))
    fewer = T5Attention._relative_position_bucket(ahead, num_buckets=12, max_distance=40)
    assert torch.equal(buckets(ahead, count=12, farthest=40), fewer)


def test_functional_positions_begin_at_the_limit_to_the_left() -> None:
    table = functional(8, 3, torch.float64)
    assert table.shape == (7, 8)
    assert torch.equal(table[0], sinusoid(torch.tensor(0), 8, "interleaved", torch.float64))
    assert torch.equal(table[6], sinusoid(torch.tensor(6), 8, "interleaved", torch.float64))

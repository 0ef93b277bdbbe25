"""Rotary positions: the definition, and what follows from it."""

import math

import torch

from factpin.layers.rotary import rotate, turns

CPU = torch.device("cpu")


def test_each_pair_is_rotated_by_the_angle_of_its_token() -> None:
    x = torch.randn(2, 5, 8)
    y = rotate(x, *turns(5, 8, CPU))
    for i in range(5):
        for m in range(4):
            angle = i * 10000 ** (-2 * m / 8)
            turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            assert torch.allclose(y[:, i, 2 * m : 2 * m + 2], x[:, i, 2 * m : 2 * m + 2] @ turn.T, atol=1e-6)


def test_moving_both_tokens_by_the_same_distance_changes_no_score() -> None:
    q, k = torch.randn(2, 1, 1, 3, 16).unbind()
    cos, sin = turns(600, 16, CPU)
    at = lambda x, i: rotate(x, cos[i : i + 1], sin[i : i + 1])  # noqa: E731
    score = (at(q, 3) * at(k, 10)).sum(-1)
    for moved in (1, 77, 580):
        assert torch.allclose((at(q, 3 + moved) * at(k, 10 + moved)).sum(-1), score, atol=1e-4)
    assert not torch.allclose((at(q, 3) * at(k, 11)).sum(-1), score, atol=1e-3)


def test_tables_of_different_lengths_agree_and_are_made_once() -> None:
    short, long = turns(100, 32, CPU), turns(128, 32, CPU)
    assert torch.equal(short[0], long[0][:100]) and torch.equal(short[1], long[1][:100])
    assert short[0].data_ptr() == long[0].data_ptr()


def test_a_table_made_while_predicting_serves_training() -> None:
    with torch.inference_mode():
        turns(7, 10, CPU)
    x = torch.randn(1, 7, 10, requires_grad=True)
    rotate(x, *turns(7, 10, CPU)).square().sum().backward()
    assert torch.allclose(x.grad, 2 * x, atol=1e-5)  # a rotation keeps lengths


def test_turns_for_no_tokens_are_empty() -> None:
    assert turns(0, 8, CPU)[0].shape == (0, 4)

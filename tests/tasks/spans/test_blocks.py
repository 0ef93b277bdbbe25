"""Cells of pointer scores against a loop over all of them. Scores are whole numbers, so every sum is exact."""

import tracemalloc

import numpy as np
import pytest

from factpin.arrays import Bools, Floats32
from factpin.errors import BadInput
from factpin.tasks.spans import blocks, find_spans
from factpin.tasks.spans.scores import FactoredScores, PointerScores

B, L, N, D = 3, 4, 23, 5
Rows = list[tuple[int, int, int, int, float]]


def real_tokens(chance: np.random.Generator) -> Bools:
    """Special tokens at the ends, holes in the first text, and nothing in the last."""
    real = np.zeros((B, N), np.bool_)
    real[0, 1:20] = chance.random(19) < 0.8
    real[1, 1:9] = True
    return real


def whole(chance: np.random.Generator, *shape: int, level: int = 0) -> Floats32:
    return chance.integers(-3, 4, shape).astype(np.float32) + level


def scores_of(
    kind: str, seed: int, max_span: int | None, level: int = 0
) -> tuple[PointerScores | FactoredScores, Floats32]:
    """Scores and the same as a dense table (B, L, N, N)."""
    chance = np.random.default_rng(seed)
    real = real_tokens(chance)
    if kind == "pairs":
        q, k = whole(chance, B, N, L, D), whole(chance, B, N, L, D)
        return PointerScores(q, k, real, max_span), np.einsum("bild,bjld->blij", q, k)
    q, k, u, v = (
        whole(chance, B, N, D),
        whole(chance, B, N, D),
        whole(chance, B, L, N, level=level),
        whole(chance, B, L, N),
    )
    dense = np.einsum("bid,bjd->bij", q, k)[:, None] + v[:, :, None, :] + u[:, :, :, None]
    return FactoredScores(q, k, u, v, real, max_span), dense


def loop(dense: Floats32, real: Bools, max_span: int | None, cut: Floats32) -> Rows:
    """The definition."""
    found = []
    for b, label, i, j in np.ndindex(*dense.shape):
        exists = real[b, i] and real[b, j] and i <= j and (max_span is None or j - i < max_span)
        if exists and dense[b, label, i, j] > cut[label]:
            found.append((b, label, i, j, float(dense[b, label, i, j])))
    return found


@pytest.mark.parametrize("kind", ["pairs", "factored"])
@pytest.mark.parametrize("max_span", [None, 1, 6])
@pytest.mark.parametrize("cut", [-np.inf, -5.0, 0.0, 9.0, 30.0, np.inf])
@pytest.mark.parametrize(("rows", "block", "crowded"), [(1, 100, 0.0), (4, 100, 1.0), (64, 1 << 20, 0.2)])
def test_cells_are_those_of_a_loop_over_all_scores(
    kind: str, max_span: int | None, cut: float, rows: int, block: int, crowded: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "ROWS", rows)
    monkeypatch.setattr(blocks, "BLOCK", block)
    monkeypatch.setattr(blocks, "CROWDED", crowded)
    for seed in range(3):
        scores, dense = scores_of(kind, seed, max_span)
        table = (cut + np.arange(L) * 2).astype(np.float32)
        found = find_spans(scores, table)
        expected = loop(dense, scores.real, max_span, table)
        assert [(*row, score) for row, score in zip(found.rows(), found.score.tolist(), strict=True)] == expected
        assert found.score.dtype == np.float32


@pytest.mark.parametrize("crowded", [0.0, 1.0])
def test_no_block_is_larger_than_it_may_be(crowded: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "CROWDED", crowded)
    monkeypatch.setattr(blocks, "BLOCK", 100)
    scores, dense = scores_of("factored", 0, None, level=40)
    sizes = [len(part) for part in blocks.factored_blocks(scores, np.zeros(L, np.float32))]
    assert max(sizes) <= (B * N * N if crowded == 0.0 else 100)
    assert sum(sizes) == len(loop(dense, scores.real, None, np.zeros(L, np.float32))) > 400


@pytest.mark.parametrize("kind", ["pairs", "factored"])
def test_millions_of_cells_above_the_cut_need_the_memory_of_a_block(kind: str) -> None:
    chance, size, labels = np.random.default_rng(0), 400, 30
    real = np.ones((1, size), np.bool_)
    if kind == "pairs":
        q, k = (chance.standard_normal((1, size, labels, 8), np.float32) for _ in range(2))
        parts = blocks.pair_blocks(PointerScores(q, k, real), np.zeros(labels, np.float32))
    else:
        q, k = (chance.standard_normal((1, size, 8), np.float32) for _ in range(2))
        u, v = (chance.standard_normal((1, labels, size), np.float32) for _ in range(2))
        parts = blocks.factored_blocks(FactoredScores(q, k, u, v, real), np.zeros(labels, np.float32))
    tracemalloc.start()
    total = sum(len(part) for part in parts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total > 1_000_000 and peak < 40 * 2**20  # all cells at once are 40 bytes each, and as much to make them


def test_a_cut_is_a_number_or_one_for_each_label() -> None:
    scores, _ = scores_of("pairs", 0, None)
    assert find_spans(scores, 3.0).rows() == find_spans(scores, [3.0] * L).rows()
    with pytest.raises(BadInput, match="each of the 4 labels"):
        find_spans(scores, [0.0, 0.0])

"""The best cells of many, whatever the blocks they come in."""

import numpy as np
import pytest

from factpin.arrays import Ints
from factpin.tasks.spans import cells as module
from factpin.tasks.spans.cells import BestCells, SpanCells, best_of

TEXTS, LABELS = 3, 4
Row = tuple[int, int, int, int, float]


def rows_of(found: SpanCells) -> list[Row]:
    return [(*row, score) for row, score in zip(found.rows(), found.score.tolist(), strict=True)]


def random_blocks(step: float) -> list[SpanCells]:
    """Cells of three texts in any order; the last text has few."""
    chance = np.random.default_rng(4)
    places = [(b, c, i, j) for b in range(TEXTS) for c in range(LABELS) for i in range(9 if b < 2 else 2)
              for j in range(i, 9 if b < 2 else 2)]  # fmt: skip
    table = chance.permutation(np.array(places, np.int64))
    score = chance.standard_normal(len(table)).astype(np.float32)
    score = np.round(score / step) * np.float32(step) if step else score
    return [SpanCells(*table[at : at + 31].T, score[at : at + 31]) for at in range(0, len(table), 31)]


def plain(blocks: list[SpanCells], group: Ints, most: int | None) -> tuple[list[Row], list[bool]]:
    """The definition: everything at once, sorted."""
    everything = [row for block in blocks for row in rows_of(block)]
    kept, more = [], []
    for g in range(int(group.max()) + 1):
        own = sorted((row for row in everything if group[row[0], row[1]] == g), key=lambda row: (-row[4], row[:4]))
        kept += own[:most]
        more.append(most is not None and len(own) > most)
    return sorted(kept), more


@pytest.mark.parametrize("room", [0, 20, 1 << 17])
@pytest.mark.parametrize("most", [None, 0, 1, 7, 60, 10_000])
@pytest.mark.parametrize("step", [0.0, 0.5, 100.0])  # scores on a grid: none are equal, many, all
def test_the_best_of_blocks_are_the_best_of_all_and_of_equals_the_earlier(
    step: float, most: int | None, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROOM", room)
    blocks, group = random_blocks(step), np.arange(TEXTS)[:, None] * 2 + np.array([0, 0, 1, 1])
    expected, more = plain(blocks, group, most)
    for order in (blocks, blocks[::-1]):
        best = best_of(order, group, most)
        assert rows_of(best.cells) == expected and best.more.tolist() == more
    assert any(more) == (most is not None and most < 10_000)


def test_no_more_is_held_than_the_best_and_some_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROOM", 50)
    chance, size = np.random.default_rng(5), 40
    pool = module._CellPool(np.arange(2)[:, None], 10)
    for block in range(100):
        batch, zero = np.arange(size) % 2, np.zeros(size, np.int64)
        score = (chance.standard_normal(size) + block / 50).astype(np.float32)  # better ones come late
        pool.add(SpanCells(batch, zero, zero + block, np.arange(size), score))
        assert sum(len(part) for part in pool.parts) <= 2 * 10 + 50
    assert pool.best().more.all() and len(pool.best().cells) == 2 * 10


def test_the_best_of_nothing_are_none() -> None:
    for blocks in ([], [SpanCells.chain([])]):
        best: BestCells = best_of(blocks, np.arange(3)[:, None], 5)
        assert len(best.cells) == 0 and best.more.tolist() == [False] * 3


def test_sorted_orders_by_batch_label_start_end() -> None:
    rows = [(1, 0, 2, 3), (0, 1, 0, 0), (0, 0, 5, 6), (0, 0, 5, 5), (0, 0, 2, 9)]
    cells = SpanCells(*np.array(rows, np.int64).T, np.arange(5, dtype=np.float32)).sorted()
    assert cells.rows() == sorted(rows) and cells.score.tolist() == [4.0, 3.0, 2.0, 1.0, 0.0]

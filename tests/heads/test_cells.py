"""Cells: columns of one length, and clear words for gold that cannot be."""

import pytest
import torch

from factpin.errors import FactpinError
from factpin.heads.cells import Cells, check_gold

REAL = torch.tensor([[False, True, True, True, False], [False, True, True, False, False]])


def test_no_cells_are_cells() -> None:
    cells = Cells.of([])
    assert len(cells) == 0 and cells.rows() == [] and cells.batch.dtype == torch.int64


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(FactpinError, match="one length"):
        Cells(torch.zeros(2), torch.zeros(2), torch.zeros(3), torch.zeros(2))


def test_gold_comes_back_once_and_in_order() -> None:
    gold = check_gold(Cells.of([(1, 0, 1, 2), (0, 1, 2, 2), (1, 0, 1, 2)]), REAL, 2, None)
    assert torch.stack((gold.batch, gold.label, gold.start, gold.end), 1).tolist() == [[0, 1, 2, 2], [1, 0, 1, 2]]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ((2, 0, 1, 1), "outside"),
        ((-1, 0, 1, 1), "outside"),
        ((0, 2, 1, 1), "outside"),
        ((0, 0, 1, 5), "outside"),
        ((0, 0, -1, 1), "outside"),
        ((0, 0, 2, 1), "ends before it starts"),
        ((0, 0, 0, 1), "padding or a special token"),
        ((1, 0, 2, 3), "padding or a special token"),
        ((0, 0, 1, 3), "3 tokens wide, max_span is 2"),
    ],
)
def test_gold_that_cannot_exist_is_refused_with_its_place(cell: tuple[int, int, int, int], words: str) -> None:
    with pytest.raises(FactpinError, match=words) as error:
        check_gold(Cells.of([(0, 0, 1, 1), cell]), REAL, 2, 2)
    assert f"batch {cell[0]}, label {cell[1]}, tokens {cell[2]}..{cell[3]}" in str(error.value)


def test_the_last_cells_that_can_exist_are_accepted() -> None:
    real = torch.ones(2, 4, dtype=torch.bool)
    last = [(1, 2, 3, 3), (1, 2, 2, 3), (0, 0, 0, 0)]  # the last text, label and token; as wide as max_span; the first
    gold = check_gold(Cells.of(last), real, 3, 2)
    assert torch.stack((gold.batch, gold.label, gold.start, gold.end), 1).tolist() == sorted(map(list, last))
    for cell in ((1, 3, 3, 3), (1, -1, 3, 3), (1, 2, 3, 4), (1, 2, 1, 3)):  # one beyond each
        with pytest.raises(FactpinError):
            check_gold(Cells.of([cell]), real, 3, 2)

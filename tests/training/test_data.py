"""The corpus of a recipe."""

from pathlib import Path

import pytest

from factpin import formats
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.formats import Options
from factpin.training.data import read_training


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for at, path in enumerate(paths):
        formats.write([Document(f"{at}{i}", "text") for i in range(3)], path, format="jsonl")
    return [str(path) for path in paths]


def ids(parts: tuple[list[Document], list[Document]]) -> tuple[str, str]:
    return tuple(" ".join(doc.id for doc in part) for part in parts)  # type: ignore[return-value]


def test_several_files_are_one_part_and_the_limit_is_of_all(files: list[str]) -> None:
    assert ids(read_training({"train": files, "limit": 4}, Options())) == ("00 01 02 10", "")


def test_held_out_documents_are_the_last_and_are_not_learned_from(files: list[str]) -> None:
    assert ids(read_training({"train": files, "limit": 5, "hold_out": 2}, Options())) == ("00 01 02", "10 11")


@pytest.mark.parametrize("held", [0, 6, -1])
def test_a_hold_out_that_leaves_nothing_is_refused(files: list[str], held: int) -> None:
    with pytest.raises(BadInput, match="hold_out is"):
        read_training({"train": files, "hold_out": held}, Options())


def test_a_hold_out_beside_dev_is_refused(files: list[str]) -> None:
    with pytest.raises(BadInput, match="Both dev and hold_out"):
        read_training({"train": files[0], "dev": files[1], "hold_out": 1}, Options())

"""What is said about a file that no format fits: what it holds instead, or where it is damaged."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from factpin import formats
from factpin.errors import BadInput
from factpin.formats import questions

GUESSES = (formats.guess, questions.guess)
SQUAD = {"data": [{"title": "t", "paragraphs": [{"context": "in Rome", "qas": [
    {"id": "1", "question": "Where?", "answers": [{"text": "Rome", "answer_start": 3}]}]}]}]}  # fmt: skip


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize(
    "text, fault",
    [
        ('{"id": "a", "text": "In Ro', "line 1 is not JSON (unterminated string, column 21)"),
        ('{"id": "a", "text": "In Ro\n{"id": "b", "text": "Rome"}\n', "line 1 is not JSON (unterminated string, col"),
        ('\n\n{"id": "a",\n{"id": "b", "text": "Rome"}\n', "line 3 is not JSON (expecting property name enclosed in"),
        ('{\n "id": "a",\n "text": Rome\n}', "line 3 is not JSON (expecting value, column 10)"),
        ('[{"id": "a", "text" "Rome"}]', "line 1 is not JSON (expecting ':' delimiter, column 21)"),
        ("[" * 9000, "line 1 is not JSON"),
    ],
)
def test_damaged_json_is_named_with_its_line(
    guess: Callable[[Path], str], text: str, fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInput) as refused:
        guess(path)
    assert f"damaged.jsonl: {fault}" in str(refused.value) and "Repair the file" in str(refused.value)


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("text", ['{"a": "' + "x" * 300_000 + '"}', '{"a": 1}', "[1, 2]", "[]"])
def test_json_that_goes_on_or_holds_something_else_is_not_called_damaged(
    guess: Callable[[Path], str], text: str, tmp_path: Path
) -> None:
    """Only the beginning of a file is read, so a long record seems to be cut off."""
    path = tmp_path / "long.json"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInput, match=r"no format (of questions )?fits"):
        guess(path)


def test_a_file_of_the_other_kind_is_named_by_its_format(tmp_path: Path) -> None:
    asked, annotated, empty = tmp_path / "asked.json", tmp_path / "annotated.jsonl", tmp_path / "empty.json"
    asked.write_text(json.dumps(SQUAD))
    annotated.write_text('{"id": "a", "text": "Rome"}\n')
    empty.write_text(" \n")
    assert questions.guess(asked) == "squad" and formats.guess(annotated) == "jsonl"
    with pytest.raises(BadInput, match=r"the file holds questions \(squad\)"):
        formats.guess(asked)
    with pytest.raises(BadInput, match=r"the file holds documents \(jsonl\)"):
        questions.guess(annotated)
    with pytest.raises(BadInput, match="the file is empty; expected questions"):
        questions.guess(empty)

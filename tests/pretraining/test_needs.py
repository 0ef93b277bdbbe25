"""What a row needs is found by asking it."""

import pytest

from factpin.objectives import OBJECTIVES
from factpin.pretraining.needs import needs, needs_of


@pytest.mark.parametrize(
    ("name", "expected", "marks"),
    [
        ("bert", {"foreign", "pair"}, {"cls", "sep", "mask"}),
        ("wwm", {"words", "foreign", "pair"}, {"cls", "sep", "mask"}),
        ("roberta", set(), {"cls", "sep", "mask"}),
        ("ernie_entity", {"words", "entities", "foreign", "pair"}, {"cls", "sep", "mask"}),
        ("ernie_phrase", {"words", "phrases", "foreign", "pair"}, {"cls", "sep", "mask"}),
        ("gpt", set(), set()),
        ("transformer_xl", {"memory"}, set()),
        ("glm_sentence", set(), {"cls", "gap", "start", "end"}),
        ("t5", set(), {"pad", "end", "sentinels"}),
        ("bart_infill", {"words"}, {"cls", "sep", "mask"}),
    ],
)
def test_needs_of_a_row(name: str, expected: set[str], marks: set[str]) -> None:
    found = needs(OBJECTIVES[name])
    assert {part for part, value in vars(found).items() if value is True} == expected
    assert found.marks == marks


def test_needs_of_several_rows_are_those_of_each() -> None:
    found = needs_of([OBJECTIVES["gpt"], OBJECTIVES["bart_infill"], OBJECTIVES["transformer_xl"]])
    assert found.words and found.memory and not found.pair and found.marks == {"cls", "sep", "mask"}

"""Counts agree with their nouns, and shares do not round to all or to nothing."""

import pytest

from factpin.words import count, plural, share


def test_counts_agree_in_number() -> None:
    assert [count(n, "document") for n in (0, 1, 2, 2000)] == [
        "0 documents", "1 document", "2 documents", "2,000 documents",
    ]  # fmt: skip
    assert count(1, "bad file or record", "bad files or records") == "1 bad file or record"
    assert count(2, "weight is", "weights are") == "2 weights are"


@pytest.mark.parametrize(
    "noun, more", [("entity", "entities"), ("day", "days"), ("box", "boxes"), ("class", "classes"), ("type", "types")]
)
def test_plurals(noun: str, more: str) -> None:
    assert plural(noun) == more


@pytest.mark.parametrize(
    "value, shown", [(0, "0 %"), (1.0, "100 %"), (1 / 3, "33.3 %"), (0.99999, "99.9 %"), (0.00001, "0.1 %")]
)
def test_all_and_nothing_are_said_of_nothing_less(value: float, shown: str) -> None:
    assert share(value) == shown

"""Relatives two steps away."""

import pytest

from factpin.answers.ask import ask
from factpin.answers.kin import in_steps
from factpin.memory import TypedFact, open_store


@pytest.mark.parametrize(("question", "steps"), [
    ("Who is Ann Ash's maternal grandfather?", "Who is Ann Ash's mother's father?"),
    ("Who is the paternal grandmother of Bo Birch?", "Who is the mother of the father of Bo Birch?"),
    ("Who is the mother in law of Bo Birch?", "Who is the mother of the spouse of Bo Birch?"),
    ("王五的外公是谁？", "王五的母亲的父亲是谁？"),
    ("Who is Ann Ash's grandfather?", "Who is Ann Ash's grandfather?"),
    ("外公是谁？", "外公是谁？"),
    ("《我的外公》的导演是谁？", "《我的外公》的导演是谁？"),
])  # fmt: skip
def test_both_steps_are_named(question: str, steps: str) -> None:
    assert in_steps(question) == steps


def test_the_father_of_the_father_is_not_the_father() -> None:
    with open_store("memory:", create=True) as store:
        store.add(TypedFact("Ann Ash", "father", "Bo Birch", "person", "person"))
        assert ask("Who is Ann Ash's paternal grandfather?", store).abstained
        assert ask("Who is Ann Ash's father's father?", store).abstained
        store.add(TypedFact("Bo Birch", "father", "Cy Cole", "person", "person"))
        answer = ask("Who is Ann Ash's paternal grandfather?", store)
        assert answer.text == "Cy Cole" and answer.question == "Who is Ann Ash's paternal grandfather?"

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents.keys import (
    LONGEST,
    digest,
    document_key,
    entity_key,
    fact_key,
    fold,
    name_key,
    passage_key,
    text_key,
)


def test_a_key_never_changes() -> None:
    """Stores keep these: another value here is another format of the store."""
    assert document_key("news/gu.txt") == "31b070bdc497b97687b657a4"
    assert fact_key(entity_key("谷爱凌", "人物"), "出生地", entity_key("旧金山", "地点")) == "ee5e1a86007f7fa13ca6be40"
    assert name_key("a" * 5000) == "a" * 176 + digest("a" * 5000) and name_key("a" * LONGEST) == "a" * LONGEST
    assert (text_key("Ann lives."), passage_key("d", 1, 12)) == ("80ef9e283dad5faa982e2824", "42d7288c19d9d6dedafa313c")


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_parts_have_different_keys(a: list[str], b: list[str]) -> None:
    assert (digest(*a) == digest(*b)) == (a == b)


def test_kinds_do_not_share_keys() -> None:
    assert len({document_key("a"), text_key("a"), entity_key("a", ""), digest("a")}) == 4
    assert passage_key("d", 1, 12) != passage_key("d", 11, 2)


def test_the_order_of_qualifiers_makes_no_difference() -> None:
    one, two = ("place", "e1"), ("date", "e2")
    assert fact_key("a", "r", "b", qualifiers=[one, two]) == fact_key("a", "r", "b", qualifiers=[two, one])
    assert fact_key("a", "r", "b", qualifiers=[one]) != fact_key("a", "r", "b")
    assert fact_key("a", "r", "b", "2020") != fact_key("a", "r", "b", "", "2020")
    assert fact_key("a", "r", "b") != fact_key("b", "r", "a")


def test_copies_of_a_text_share_its_key() -> None:
    assert text_key("Ann  lives\nin Rome. ") == text_key("Ann lives in Rome.") != text_key("ann lives in Rome.")


@pytest.mark.parametrize(
    "name, other",
    [
        ("ＡＢＣ公司", "abc公司"),
        ("Straße", "STRASSE"),
        ("New  York", "new york"),
        ("Dr. Anna Weber", "anna weber"),
        ("Prof Weber", "weber"),
        ("李小明先生", "李小明"),
        ("《流浪地球》", "流浪地球"),
        ("“活着”", "活着"),
    ],
)
def test_spellings_of_one_name(name: str, other: str) -> None:
    assert name_key(name) == name_key(other)


@pytest.mark.parametrize("name, key", [("王先生", "王先生"), ("Dr.", "dr."), ("“”", "“”"), ("Drake", "drake")])
def test_what_is_left_of_a_name_is_never_empty(name: str, key: str) -> None:
    assert name_key(name) == key


def test_a_link_outweighs_the_name() -> None:
    assert name_key("Eileen Gu", "Q5") == name_key("谷爱凌", "Q5") == "link:Q5" != name_key("q5")


def test_long_names_are_cut_and_stay_apart() -> None:
    long = "a" * 5000
    assert len(name_key(long)) <= LONGEST
    assert name_key(long) != name_key(long + "b")


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.memory.terms import LONGEST, after_prefix, is_prefix, query_terms, terms


@pytest.mark.parametrize(
    "text, expected",
    [
        ("谷爱凌 won GOLD", ["谷爱", "爱凌", "凌", "won", "gold"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("iPhone15发布", ["iphone15", "发布", "布"]),
        ("café Straße", ["café", "strasse"]),
        ("cafe\u0301", ["café"]),
        ("𠮷野家", ["𠮷野", "野家", "家"]),
        ("서울 특별시", ["서울", "울", "특별", "별시", "시"]),
        ("a_b-c.d", ["a", "b", "c", "d"]),
        ("😀。！ \n", []),
        ("李", ["李"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("text, expected", [("谷爱凌 Gold gold", ["谷爱", "爱凌", "gold"]), ("李", ["李"]), ("？", [])])
def test_terms_of_a_question(text: str, expected: list[str]) -> None:
    assert query_terms(text) == expected


@given(st.text(), st.integers(0, 50))
def test_every_chinese_character_begins_a_term(text: str, at: int) -> None:
    text = text[:at] + "李" + text[at:]
    assert any(term.startswith("李") for term in terms(text))


@given(st.text())
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    found = terms(text)
    for term in query_terms(text):
        assert any(t.startswith(term) for t in found) if is_prefix(term) else term in found


def test_endless_words_are_cut() -> None:
    assert terms("x" * 5000) == ["x" * LONGEST]


def test_a_single_character_is_a_prefix_and_a_letter_is_not() -> None:
    assert is_prefix("李") and not is_prefix("a") and not is_prefix("李娜") and not is_prefix("")
    assert "李" < "李\U0003ffff" < after_prefix("李")
    assert (after_prefix("李"), after_prefix("ab")) == ("杏", "ac")  # nothing else lies between

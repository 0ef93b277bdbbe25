import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.errors import BadInput
from factpin.memory.passages import PassageSettings, cut, weigh
from tests.formats.strategies import PIECES

texts = st.lists(st.sampled_from([*PIECES, "A sentence. ", "一句话。", "\n\n", "，", "long" * 9]), max_size=60).map(
    "".join
)


@given(texts, st.integers(8, 40))
def test_every_character_stands_in_exactly_one_passage(text: str, size: int) -> None:
    spans = cut(text, PassageSettings(size))
    at = 0
    for start, end in spans:
        assert text[at:start].strip() == "" and at <= start < end
        assert text[start:end] == text[start:end].strip()
        at = end
    assert text[at:].strip() == ""


@given(texts, st.integers(8, 40))
def test_no_passage_is_longer_than_the_size(text: str, size: int) -> None:
    assert all(weigh(text[start:end]) <= 4 * size for start, end in cut(text, PassageSettings(size)))


def test_passages_end_with_sentences() -> None:
    text = "谷爱凌出生在旧金山。她是滑雪运动员。" * 30
    spans = cut(text, PassageSettings(64))
    assert all(text[start:end].endswith("。") for start, end in spans)
    assert all(weigh(text[start:end]) > 4 * 32 for start, end in spans)


def test_a_blank_line_is_the_best_place_to_cut() -> None:
    one, two = "This is the first paragraph. It has two sentences.", "This is the second one. It has two as well."
    text = f"{one}\n\n{two}"
    assert [text[a:b] for a, b in cut(text, PassageSettings(18))] == [one, two]


def test_a_long_sentence_is_cut_at_clauses_then_at_blanks() -> None:
    text = "first clause here, second clause here, third clause here"
    assert [text[a:b] for a, b in cut(text, PassageSettings(8))] == [
        "first clause here,", "second clause here,", "third clause here",
    ]  # fmt: skip
    words = "word " * 40
    assert all(words[a:b].startswith("word") and words[a:b].endswith("word") for a, b in cut(words, PassageSettings(8)))


def test_a_short_text_is_one_passage_and_an_empty_one_is_none() -> None:
    assert cut(" 短。 ", PassageSettings()) == [(1, 3)]
    assert cut("", PassageSettings()) == cut(" \n ", PassageSettings()) == []


def test_given_sentences_are_kept_whole() -> None:
    text = "aaaa bbbb cccc dddd eeee ffff gggg hhhh"
    assert [text[a:b] for a, b in cut(text, PassageSettings(8), [(0, 19), (20, 39)])] == [text[:19], text[20:]]


def test_a_size_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(BadInput, match="at least 8"):
        PassageSettings(0)


@pytest.mark.timeout(60)
def test_long_texts_without_any_structure_are_cut_in_time() -> None:
    for text in ("字" * 200_000, "x," * 100_000, "word " * 50_000, "a\n" * 50_000):
        assert cut(text, PassageSettings())

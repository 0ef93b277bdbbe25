"""Words: every letter in exactly one, Chinese by the dictionary, mixed text by both."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.errors import MissingExtra
from factpin.tokens.words import By, word_spans

MIXED = "南京市长江大桥 was built in 1968；他穿T恤, don't ask. 3.14 пи"


def words(text: str, by: By = "jieba") -> list[str]:
    return [text[start:end] for start, end in word_spans(text, by)]


def test_spaced_languages_need_no_dictionary() -> None:
    assert words("The F-16 didn't cost 3.5 m; Größe, слово!") == ["The", "F-16", "didn't", "cost", "3.5", "m", "Größe",
                                                                    "слово"]  # fmt: skip
    assert words("") == words("。，!  \n") == []


def test_every_chinese_character_is_a_word_by_characters() -> None:
    assert words("长江大桥ok2号", "characters") == ["长", "江", "大", "桥", "ok2", "号"]


def test_mixed_text_is_cut_by_dictionary_and_by_spaces() -> None:
    pytest.importorskip("rjieba")
    assert words(MIXED) == ["南京市", "长江大桥", "was", "built", "in", "1968", "他", "穿", "T恤", "don't", "ask",
                            "3.14", "пи"]  # fmt: skip


@pytest.mark.parametrize("by", ["characters", "jieba"])
@given(text=st.text(alphabet=st.sampled_from("南京市长江大桥𠮷の한글aB9 .,'-_。，\n\ud800é"), max_size=40))
def test_every_letter_and_digit_stands_in_exactly_one_word(by: By, text: str) -> None:
    if by == "jieba":
        pytest.importorskip("rjieba")
        text = text.replace("\ud800", "")
    spans = word_spans(text, by)
    assert all(a < b for a, b in spans) and all(b <= c for (_, b), (c, _) in zip(spans, spans[1:], strict=False))
    inside = {i for a, b in spans for i in range(a, b)}
    assert {i for i, char in enumerate(text) if re.match(r"[^\W_]", char)} <= inside


def test_chinese_without_rjieba_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rjieba", None)
    assert words("only English") == ["only", "English"]
    with pytest.raises(MissingExtra, match=r"factpin\[words\].*--words characters"):
        words("中文")

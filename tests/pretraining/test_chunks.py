"""Phrases and entities that are found by rules."""

import pytest

from factpin.pretraining.chunks import Chunks

pytest.importorskip("rjieba")


def found(text: str) -> tuple[list[str], list[str]]:
    phrases, entities = Chunks().find(text)
    return [text[a:b] for a, b in phrases or ()], [text[a:b] for a, b in entities or ()]


def test_chinese_names_and_noun_phrases_are_found() -> None:
    phrases, entities = found("王小明毕业于清华大学，研究人工智能技术。")
    assert entities == ["王小明", "清华大学"] and "研究人工智能技术" in phrases


def test_english_names_have_capitals_and_phrases_stand_between_function_words() -> None:
    phrases, entities = found("The large language model of Anna Weber was trained in Berlin. Nobody saw it.")
    assert entities == ["Anna Weber", "Berlin"]
    assert "large language model" in phrases and "Anna Weber" in phrases


def test_no_two_phrases_and_no_two_entities_overlap() -> None:
    text = "北京市海淀区中关村 New York Times 和 IBM Research 的人工智能研究 result of deep neural network models."
    for spans in Chunks().find(text):
        assert spans is not None
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))

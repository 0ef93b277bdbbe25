"""Pairs of texts in every family's layout, and windows of a long second text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import processors

from factpin.errors import BadInput
from factpin.language.sentences import split_sentences
from factpin.tokens import Tokenizer
from factpin.tokens.pairs import frame_pair, pair_frame, windows_beside
from factpin.tokens.small import build_tokenizer
from tests.tokens.families import CORPUS, byte_level, unigram, word_piece

ONE, TWO = np.array([11, 12], np.int32), np.array([21, 22, 23], np.int32)


def with_template(single: str, pair: str, *names: str) -> Tokenizer:
    """A tokenizer whose post-processor has a template for pairs."""
    tokenizer = build_tokenizer(CORPUS, 260)
    library = tokenizer._library
    tokens = [(name, library.token_to_id(name)) for name in names]
    library.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=tokens)
    return Tokenizer(library, tokenizer.names)


def layout(tokenizer: Tokenizer) -> tuple[list[int], list[int], list[bool], int]:
    pair = frame_pair(tokenizer, ONE, TWO)
    return pair.ids.tolist(), pair.segments.tolist(), pair.real.tolist(), pair.second_at


BERT = with_template("[CLS] $A [SEP]", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", "[CLS]", "[SEP]")


@pytest.mark.parametrize("tokenizer", [word_piece(), BERT], ids=["without a template for pairs", "with one"])
def test_the_layout_of_bert(tokenizer: Tokenizer) -> None:
    cls, sep = tokenizer.prefix[0], tokenizer.suffix[0]
    ids, segments, real, at = layout(tokenizer)
    assert ids == [cls, 11, 12, sep, 21, 22, 23, sep]
    assert segments == [0, 0, 0, 0, 1, 1, 1, 1]
    assert real == [False] * 4 + [True] * 3 + [False] and at == 4


def test_the_layout_of_roberta() -> None:
    tokenizer = with_template("[CLS] $A [SEP]", "[CLS]:0 $A:0 [SEP]:0 [SEP]:0 $B:0 [SEP]:0", "[CLS]", "[SEP]")
    cls, sep = tokenizer.prefix[0], tokenizer.suffix[0]
    ids, segments, _, at = layout(tokenizer)
    assert ids == [cls, 11, 12, sep, sep, 21, 22, 23, sep] and segments == [0] * 9 and at == 5


def test_the_layout_of_xlnet() -> None:
    tokenizer = with_template("$A:0 [SEP]:0 [CLS]:2", "$A:0 [SEP]:0 $B:1 [SEP]:1 [CLS]:2", "[CLS]", "[SEP]")
    sep, cls = tokenizer.suffix
    ids, segments, _, at = layout(tokenizer)
    assert ids == [11, 12, sep, 21, 22, 23, sep, cls] and segments == [0, 0, 0, 1, 1, 1, 1, 2] and at == 3


@pytest.mark.parametrize("build", [byte_level, unigram])
def test_a_tokenizer_without_a_post_processor(build) -> None:
    tokenizer = build()
    ids, _, real, at = layout(tokenizer)
    assert ids == [*tokenizer.prefix, 11, 12, *tokenizer.suffix, 21, 22, 23, *tokenizer.suffix]
    assert at == len(tokenizer.prefix) + 2 + len(tokenizer.suffix) and sum(real) == 3


def test_a_frame_is_found_once() -> None:
    tokenizer = word_piece()
    assert pair_frame(tokenizer) is pair_frame(tokenizer)
    assert pair_frame(tokenizer).size == 3


def test_empty_texts() -> None:
    nothing = np.zeros(0, np.int32)
    pair = frame_pair(word_piece(), nothing, nothing)
    assert len(pair.ids) == 3 and not pair.real.any()


@given(st.integers(0, 30), st.integers(1, 200), st.integers(0, 20))
def test_every_window_fits_beside_the_question(question: int, sentences: int, overlap: int) -> None:
    tokenizer = word_piece()
    text = "北京大学的学生们去了上海。" * sentences
    pieces, first = tokenizer.encode(text), np.full(question, 11, np.int32)
    found = windows_beside(tokenizer, first, pieces, split_sentences(text), 64, overlap)
    for window in found:
        pair = frame_pair(tokenizer, first, pieces.ids[window.first : window.last])
        assert len(pair.ids) <= 64
        assert (pair.ids[pair.real] == pieces.ids[window.first : window.last]).all()
    kept = [place for window in found for place in range(window.keep_first, window.keep_last)]
    assert kept == list(range(len(pieces)))


def test_a_question_that_leaves_no_room_is_refused() -> None:
    tokenizer = word_piece()
    pieces = tokenizer.encode("北京")
    with pytest.raises(BadInput, match="A question of 50 tokens leaves 11 of 64"):
        windows_beside(tokenizer, np.full(50, 11, np.int32), pieces, [(0, 2)], 64, 8)

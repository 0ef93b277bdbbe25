"""Questions beside passages: characters to tokens and back, choices, windows, batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.answers.pair_reader import PairReader, collate_pairs
from factpin.errors import BadInput
from tests.tokens.families import byte_level, unigram, word_piece

TEXT = (
    "谷爱凌出生于美国加利福尼亚州旧金山。北京大学的学生们去了上海。Hello world, the café in Zürich opened in 2024." * 3
)


@pytest.mark.parametrize("build", [word_piece, byte_level, unigram])
@given(data=st.data())
def test_characters_survive_the_way_to_tokens_and_back(build, data: st.DataObject) -> None:
    reader = PairReader(build(), 96, 16, ("yes", "no"))
    cut = reader.cut(TEXT)
    read = reader.beside("北京?", cut)
    i = data.draw(st.integers(0, len(cut.pieces) - 1))
    j = data.draw(st.integers(i, min(i + 6, len(cut.pieces) - 1)))
    start, end = int(cut.pieces.start[i]), int(cut.pieces.end[j])
    for w, (window, pair) in enumerate(zip(read.windows, read.pairs, strict=True)):
        cell = read.cell(w, start, end)
        if cell is None:
            continue
        assert window.start <= start and end <= window.end
        assert pair.real[cell[0]] and pair.real[cell[1]]
        there = read.characters(w, *cell)
        assert there is not None and TEXT[slice(*there)].strip() == TEXT[start:end].strip()


def test_every_aligned_span_is_in_some_window() -> None:
    reader = PairReader(word_piece(), 64, 16)
    read = reader.beside("北京?", reader.cut(TEXT))
    assert len(read.windows) > 3
    start = TEXT.rindex("上海")
    cells = [read.cell(w, start, start + 2) for w in range(len(read.windows))]
    assert any(cells)
    for w, cell in enumerate(cells):
        if cell is not None:
            assert read.characters(w, *cell) == (start, start + 2)


def test_choices_stand_before_the_question_and_can_be_pointed_at() -> None:
    tokenizer = word_piece()
    reader = PairReader(tokenizer, 96, 16, ("北京", "上海"))
    read = reader.beside("Hello?", reader.cut("旧金山。"))
    (pair,) = read.pairs
    for (first, last), word in zip(read.choices, reader.choices, strict=True):
        assert (pair.ids[first : last + 1] == tokenizer.encode(word).ids).all()
        assert pair.real[first : last + 1].all()
    assert pair.real.sum() == 4 + len(tokenizer.encode("旧金山。"))
    assert not pair.real[0]
    assert read.characters(0, read.choices[0][0], pair.second_at) is None  # from a choice into the passage
    plain = PairReader(tokenizer, 96, 16).beside("Hello?", reader.cut("旧金山。"))
    assert plain.choices == () and plain.pairs[0].real.sum() == len(tokenizer.encode("旧金山。"))


def test_an_empty_passage_has_no_pair() -> None:
    reader = PairReader(word_piece(), 96, 16)
    assert reader.beside("Hello?", reader.cut("")).pairs == ()
    assert reader.beside("Hello?", reader.cut("  \n ")).pairs == ()


def test_a_question_that_is_too_long_is_refused() -> None:
    reader = PairReader(word_piece(), 64, 16)
    with pytest.raises(BadInput, match="Shorten the question"):
        reader.beside("北京大学" * 20, reader.cut("上海"))


def test_a_batch_is_padded_and_holds_every_pair() -> None:
    reader = PairReader(word_piece(), 64, 16)
    read = reader.beside("北京?", reader.cut(TEXT))
    batch = collate_pairs(read.pairs, pad_id=0)
    for row, pair in enumerate(read.pairs):
        n = len(pair.ids)
        assert (batch.ids[row, :n] == pair.ids).all() and (batch.ids[row, n:] == 0).all()
        assert (batch.segments[row, :n] == pair.segments).all()
        assert batch.mask[row].sum() == n and not batch.real[row, n:].any()
        assert (batch.real[row, :n] == pair.real).all()
    assert batch.ids.dtype == np.int64 and batch.ids.shape[1] == max(len(np.asarray(p.ids)) for p in read.pairs)

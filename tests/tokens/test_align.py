import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.tokens import char_span, piece_span, piece_spans
from tests.tokens.families import FAMILIES, characters, soup, unigram, word_piece


def every_range(text):
    return [(s, e) for s in range(len(text) + 1) for e in range(s, len(text) + 1)]


def by_definition(pieces, start, end):
    """Loops over the definition: the pieces that touch the trimmed range must fill it from border to border."""
    while start < end and pieces.text[start].isspace():
        start += 1
    while start < end and pieces.text[end - 1].isspace():
        end -= 1
    carrying = [k for k in range(len(pieces)) if pieces.start[k] < pieces.end[k]]
    touching = [k for k in carrying if pieces.start[k] < end and pieces.end[k] > start]
    if start >= end or not touching:
        return None
    exact = pieces.start[touching[0]] == start and pieces.end[touching[-1]] == end
    return (touching[0], touching[-1]) if exact else None


@pytest.mark.parametrize("name", FAMILIES)
@given(text=soup.map(lambda text: text[:14]))
def test_piece_spans_follow_the_definition(name, text):
    pieces = FAMILIES[name]().encode(text)
    ranges = every_range(text)
    first, last, ok = piece_spans(pieces, [s for s, _ in ranges], [e for _, e in ranges])
    for (s, e), i, j, aligned in zip(ranges, first, last, ok, strict=True):
        assert ((i, j) if aligned else None) == by_definition(pieces, s, e)


@pytest.mark.parametrize("name", FAMILIES)
@given(text=soup, data=st.data())
def test_char_span_undoes_piece_span(name, text, data):
    pieces = FAMILIES[name]().encode(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    found = piece_span(pieces, start, end)
    if found is not None:
        s, e = char_span(pieces, *found)
        assert text[s:e] == text[start:end].strip()
        assert start <= s and e <= end


@pytest.mark.parametrize("name", FAMILIES)
@given(text=soup, data=st.data())
def test_piece_span_undoes_char_span_where_no_neighbour_shares_a_character(name, text, data):
    pieces = FAMILIES[name]().encode(text)
    carrying = np.flatnonzero(pieces.start < pieces.end).tolist()
    if not carrying:
        return
    a = data.draw(st.integers(0, len(carrying) - 1))
    b = data.draw(st.integers(a, len(carrying) - 1))
    span = char_span(pieces, carrying[a], carrying[b])
    shared = (a > 0 and pieces.end[carrying[a - 1]] > span[0]) or (
        b + 1 < len(carrying) and pieces.start[carrying[b + 1]] < span[1]
    )
    assert shared or piece_span(pieces, *span) == (carrying[a], carrying[b])


def test_a_border_inside_a_piece_cannot_be_aligned():
    pieces = word_piece().encode("Hello world")
    assert pieces.surfaces() == ["Hello", "world"]
    assert piece_span(pieces, 0, 5) == (0, 0)
    assert piece_span(pieces, 0, 4) is None and piece_span(pieces, 1, 5) is None
    assert piece_span(pieces, 0, 11) == (0, 1)


def test_a_character_that_became_two_pieces_is_one_span():
    pieces = unigram().encode("Ⅳ")
    first, last = piece_span(pieces, 0, 1)
    assert char_span(pieces, first, last) == (0, 1) and last >= first


def test_ranges_outside_the_text_and_empty_ones_have_no_pieces():
    pieces = characters().encode("北 京")
    for start, end in [(-1, 1), (0, 9), (2, 1), (1, 1), (1, 2)]:
        assert piece_span(pieces, start, end) is None


def test_no_ranges_give_no_spans():
    first, last, ok = piece_spans(characters().encode("北京"), [], [])
    assert len(first) == len(last) == len(ok) == 0

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.errors import BadInput
from factpin.tokens import Pieces, merge, owner, windows
from tests.tokens.families import characters


def plain(n):
    """n pieces of one character each."""
    at = np.arange(n, dtype=np.int32)
    return Pieces("x" * n, at, at, at + 1, np.zeros(n, bool))


@st.composite
def layouts(draw):
    """A text of one-character pieces, its sentences, a window's size and overlap."""
    lengths = draw(st.lists(st.integers(1, 30), min_size=1, max_size=12))
    ends = np.cumsum(lengths).tolist()
    sentences = list(zip([0, *ends[:-1]], ends, strict=True))
    size = draw(st.integers(1, 24))
    return plain(ends[-1]), sentences, size, draw(st.integers(0, size - 1))


@pytest.mark.parametrize("context", ["sentence", "window"])
@given(layout=layouts())
def test_kept_parts_are_disjoint_and_cover_every_piece(context, layout):
    pieces, sentences, size, overlap = layout
    found = windows(pieces, sentences, size, overlap, context=context)
    kept = [piece for window in found for piece in range(window.keep_first, window.keep_last)]
    assert kept == list(range(len(pieces)))
    for window in found:
        assert 0 <= window.first <= window.keep_first < window.keep_last <= window.last <= len(pieces)
        assert len(window) <= size
        assert (window.start, window.end) == (window.first, window.last)


@given(layout=layouts())
def test_every_span_up_to_the_overlap_stands_whole_in_the_window_that_keeps_its_centre(layout):
    pieces, sentences, size, overlap = layout
    found = windows(pieces, sentences, size, overlap)
    keeper = [k for k, window in enumerate(found) for _ in range(window.keep_first, window.keep_last)]
    for first in range(len(pieces)):
        for last in range(first, min(first + overlap + 1, len(pieces))):
            k = keeper[(first + last) // 2]
            assert found[k].first <= first and last < found[k].last
            assert owner(found, first, last) == k


@given(layout=layouts())
def test_every_span_inside_a_sentence_up_to_the_overlap_has_an_owner(layout):
    pieces, sentences, size, overlap = layout
    found = windows(pieces, sentences, size, overlap, context="sentence")
    for start, end in sentences:
        for first in range(start, end):
            for last in range(first, min(first + overlap + 1, end)):
                k = owner(found, first, last)
                assert k is not None and found[k].keep_first <= (first + last) // 2 < found[k].keep_last


@given(layout=layouts())
def test_sentence_windows_never_cross_a_sentence(layout):
    pieces, sentences, size, overlap = layout
    for window in windows(pieces, sentences, size, overlap, context="sentence"):
        assert any(start <= window.first and window.last <= end for start, end in sentences)


@given(layout=layouts(), before=st.integers(0, 20), after=st.integers(0, 20))
def test_a_sentence_is_read_alike_alone_and_in_a_document(layout, before, after):
    _, sentences, size, overlap = layout
    n = sentences[0][1]
    alone = windows(plain(n), [(0, n)], size, overlap, context="sentence")
    spans = [(s, e) for s, e in [(0, before), (before, before + n), (before + n, before + n + after)] if s < e]
    inside = windows(plain(before + n + after), spans, size, overlap, context="sentence")
    inside = [w for w in inside if before <= w.first and w.last <= before + n]
    assert [(w.first, w.last, w.keep_first, w.keep_last) for w in alone] == [
        (w.first - before, w.last - before, w.keep_first - before, w.keep_last - before) for w in inside
    ]


@given(layout=layouts())
def test_windows_hold_whole_sentences_where_these_and_the_overlap_fit(layout):
    pieces, sentences, size, overlap = layout
    longest = max(end - start for start, end in sentences)
    found = windows(pieces, sentences, size, overlap)
    if 2 * longest + overlap <= size:
        borders = {0, *(end for _, end in sentences)}
        assert all(window.first in borders and window.last in borders for window in found)


@given(layout=layouts())
def test_a_text_that_fits_is_one_window(layout):
    pieces, sentences, _, overlap = layout
    (window,) = windows(pieces, sentences, len(pieces) + overlap, overlap)
    assert (window.first, window.last, window.keep_first, window.keep_last) == (0, len(pieces), 0, len(pieces))


@pytest.mark.parametrize("context", ["sentence", "window"])
@given(layout=layouts(), longest=st.integers(1, 40))
def test_merging_gives_every_span_that_some_window_saw_exactly_once(context, layout, longest):
    pieces, sentences, size, overlap = layout
    found = windows(pieces, sentences, size, overlap, context=context)
    seen = [[(i, j, "label") for i in range(len(w)) for j in range(i, min(i + longest, len(w)))] for w in found]
    wanted = {(i + w.first, j + w.first, what) for w, spans in zip(found, seen, strict=True) for i, j, what in spans}
    merged = merge(found, seen)
    assert len(merged) == len(set(merged)) and set(merged) == wanted
    assert [item[:2] for item in merged] == sorted(item[:2] for item in merged)


def test_characters_of_windows_are_those_of_their_pieces():
    text = "谷爱凌 出生于美国。 她 滑雪。"
    pieces = characters().encode(text)
    found = windows(pieces, [(0, 10), (11, 16)], 8, 2)
    assert found[0].start == 0 and found[-1].end == len(text)
    for window in found:
        assert text[window.start : window.end].strip()


def test_a_text_without_pieces_has_no_windows():
    assert windows(plain(0), [], 8, 2) == []


def test_a_text_without_sentences_is_one_sentence():
    assert len(windows(plain(5), [], 8, 2, context="sentence")) == 1


@pytest.mark.parametrize(("size", "overlap"), [(4, 4), (0, 0), (4, -1)])
def test_an_overlap_that_leaves_no_way_forward_is_refused(size, overlap):
    with pytest.raises(BadInput, match="overlap"):
        windows(plain(5), [], size, overlap)


def test_an_unknown_context_is_refused():
    with pytest.raises(BadInput, match="sentence, window"):
        windows(plain(5), [], 4, 1, context="document")

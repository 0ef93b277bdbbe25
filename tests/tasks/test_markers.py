"""Markers: every mention is wrapped, every offset stays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Mention
from factpin.errors import BadModel
from factpin.tasks.markers import MarkedPieces, mark, marker_id
from factpin.tokens import char_span, piece_spans
from factpin.tokens.small import build_tokenizer
from tests.tokens.families import FAMILIES, characters, soup

STAR = 10_000


def mentions(text: str, *spans: tuple[int, int]) -> list[Mention]:
    return [Mention(f"m{i}", s, e, text[s:e]) for i, (s, e) in enumerate(spans)]


def shown(marked: MarkedPieces) -> str:
    """The text with markers: [ opens, ] closes, by the piece that a marker leans on."""
    opening, out = set(marked.opening.tolist()), ""
    for at, (id, surface) in enumerate(zip(marked.pieces.ids, marked.pieces.surfaces(), strict=True)):
        out += ("[" if at in opening else "]") if id == STAR else surface
    return out


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], "甲乙丙丁"),
        ([(0, 1)], "[甲]乙丙丁"),
        ([(3, 4), (0, 2)], "[甲乙]丙[丁]"),
        ([(0, 2), (2, 4)], "[甲乙][丙丁]"),  # touching
        ([(1, 2), (0, 4)], "[甲[乙]丙丁]"),  # nested
        ([(0, 1), (0, 4)], "[[甲]乙丙丁]"),  # nested, one begin
        ([(3, 4), (0, 4)], "[甲乙丙[丁]]"),  # nested, one end
        ([(0, 3), (1, 4)], "[甲[乙丙]丁]"),  # crossing: the first opened closes first
        ([(0, 2), (0, 2)], "[甲乙]丙丁"),  # one place, one pair of markers
    ],
)
def test_every_mention_stands_between_its_markers(spans: list[tuple[int, int]], expected: str) -> None:
    text = "甲乙丙丁"
    assert shown(mark(characters().encode(text), mentions(text, *spans), STAR)) == expected
    assert shown(mark(characters().encode(text), mentions(text, *spans[::-1]), STAR)) == expected


def test_mentions_of_one_place_have_one_opening_and_nested_ones_their_own() -> None:
    text = "甲乙丙丁"
    marked = mark(characters().encode(text), mentions(text, (0, 2), (0, 2), (0, 4), (2, 3)), STAR)
    assert marked.opening.tolist() == [1, 1, 0, 5]  # [ [ 甲 乙 ] [ 丙 ] 丁 ]


@given(data=st.data())
@pytest.mark.parametrize("family", FAMILIES)
def test_offsets_stay_exact_whatever_is_marked(family: str, data: st.DataObject) -> None:
    text = data.draw(soup.filter(lambda text: text and not any("\ud800" <= c < "\ue000" for c in text)))
    place = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda x: x[0] < x[1])
    spans = data.draw(st.lists(place, max_size=6))
    pieces = FAMILIES[family]().encode(text)
    marked = mark(pieces, mentions(text, *spans), STAR)
    plain = marked.pieces.ids != STAR
    for before, after in (("ids", pieces.ids), ("start", pieces.start), ("end", pieces.end)):
        assert np.array_equal(getattr(marked.pieces, before)[plain], after)
    assert np.array_equal(marked.source[plain], np.arange(len(pieces)))
    assert (marked.pieces.start[~plain] == marked.pieces.end[~plain]).all()
    assert (np.diff(marked.pieces.start) >= 0).all() and (np.diff(marked.pieces.end) >= 0).all()
    first, last, ok = piece_spans(pieces, [s for s, _ in spans], [e for _, e in spans])
    for i, (start, end) in enumerate(spans):
        at = int(marked.opening[i])
        if ok[i]:
            again = piece_spans(marked.pieces, [start], [end])
            assert bool(again[2][0]) and marked.source[again[0][0]] == first[i] == marked.source[at]
            assert char_span(marked.pieces, int(again[0][0]), int(again[1][0])) == char_span(
                pieces, int(first[i]), int(last[i])
            )
            assert not marked.widened[i]
            continue
        held = np.flatnonzero((pieces.start < end) & (pieces.end > start) & (pieces.start < pieces.end))
        if not len(held):
            assert at == -1
            continue
        assert marked.widened[i] and marked.pieces.ids[at] == STAR and marked.source[at] <= held[0]
        group = [p for p in range(marked.source[at], held[0] + 1) if pieces.start[p] < pieces.end[p]]
        assert all(
            pieces.end[p] > pieces.start[q] for p, q in zip(group, group[1:], strict=False)
        )  # no wider than needed


def test_a_mention_inside_a_piece_is_marked_around_the_piece() -> None:
    tokenizer = build_tokenizer(["hello hello hello world *"] * 4, 60)
    text = "hello world"
    pieces = tokenizer.encode(text)
    assert pieces.surfaces() == ["hello", "world"]
    marked = mark(pieces, mentions(text, (1, 3), (6, 11)), STAR)
    assert shown(marked) == "[hello][world]" and marked.widened.tolist() == [True, False]


def test_a_mention_that_no_piece_holds_has_no_opening() -> None:
    text = "甲  乙"
    marked = mark(characters().encode("甲乙"), [], STAR)
    assert len(marked.opening) == 0 and len(marked.pieces) == 2
    blank = build_tokenizer(["甲 乙"], 30).encode(text)
    marked = mark(blank, mentions(text, (1, 3), (3, 4)), STAR)
    assert marked.opening.tolist()[0] == -1 and shown(marked) == "甲[乙]"


def test_the_marker_is_a_star_where_the_vocabulary_has_one() -> None:
    star = build_tokenizer(["a * b # c"], 40)
    assert star.token(marker_id(star)) == "*"
    other = build_tokenizer(["a b # c"], 40)
    assert other.token(marker_id(other)) == "#"
    with pytest.raises(BadModel, match="none of"):
        marker_id(build_tokenizer(["a b c"], 40))

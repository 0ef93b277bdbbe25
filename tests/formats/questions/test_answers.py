"""Where answers are found that have no offset, or a wrong one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Span
from factpin.formats import Options, ReadContext
from factpin.formats.questions._answers import Site, occurrences
from factpin.formats.questions._records import join_sentences


def site(**options: object) -> Site:
    return Site(ReadContext(Path("q.json"), Options(**options)), 3, "q")


@pytest.mark.parametrize(
    "text, answer, found, exact",
    [
        ("Aaron met Ron.", "Ron", ["Ron"], True),
        ("Aaron slept.", "ron", ["ron"], True),  # inside a word only where it is nowhere else
        ("in 2010 and 20", "20", ["20"], True),
        ("The Kansas city", "Kansas City", ["Kansas city"], False),
        ("on August 21,\n2001 it", "August 21, 2001", ["August 21,\n2001"], False),
        ("他在北京出生", "北京。", ["北京"], False),
        ("他在北京出生，在北京长大", "北京", ["北京", "北京"], True),
        ("Catalonia", "cat", [], False),
        ("nothing", "", [], False),
        ("nothing", "。", [], False),
    ],
)
def test_occurrences(text: str, answer: str, found: list[str], exact: bool) -> None:
    spans, literally = occurrences(text, answer)
    assert [text[start:end] for start, end in spans] == found
    assert literally is exact


def test_a_right_offset_is_believed_although_there_are_others() -> None:
    here = site()
    assert here.place("a b a", "a", 4) == [Span(4, 5)]
    assert not here.reading.report.counts


def test_a_wrong_offset_moves_to_the_nearest_occurrence() -> None:
    here = site()
    assert here.place("a b a b a", "a", 5) == [Span(4, 5)]
    assert here.reading.report.counts == {"answer_moved": 1}
    assert here.reading.report.notes[0].line == 3


def test_without_an_offset_the_first_is_taken_or_all() -> None:
    here = site()
    assert here.place("a b a", "a", -1) == here.place("a b a", "a") == [Span(0, 1)]
    assert here.reading.report.counts == {"ambiguous_answer": 2}
    everywhere = site(occurrences="all")
    assert everywhere.place("a b a", "a") == [Span(0, 1), Span(4, 5)]
    assert not everywhere.reading.report.counts


def test_what_is_nowhere_is_counted() -> None:
    here = site()
    assert here.place("a b a", "c", 0) == []
    assert here.reading.report.counts == {"answer_not_found": 1}


@given(st.text("abAB 河北。", max_size=30), st.text("abAB 河北。", max_size=4))
def test_what_is_found_is_the_answer_but_for_case_blanks_and_outer_marks(text: str, answer: str) -> None:
    found, exact = occurrences(text, answer)
    assert bool(found) or answer == "" or answer not in text
    for start, end in found:
        there = text[start:end]
        assert there == answer if exact else there.lower().split() == answer.lower().strip(" 。").split()
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))


@given(st.lists(st.text("ab. ", max_size=5), max_size=6))
def test_sentences_are_joined_without_losing_a_character(sentences: list[str]) -> None:
    text, spans, places = join_sentences(sentences)
    assert "".join(text.split()) == "".join("".join(sentences).split())
    assert len(places) == len(sentences)
    for sentence, place in zip(sentences, places, strict=True):
        assert (place is None) == (not sentence.strip())
        if place is not None:
            assert text[slice(*spans[place])] == sentence.strip()

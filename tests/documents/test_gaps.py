"""The parts of a text that no model read."""

from factpin.documents import Span, Unread
from factpin.documents.gaps import gaps


def unread(text: str, *spans: tuple[int, int]) -> list[Unread]:
    return list(gaps(text, [Span(*span) for span in spans], lambda at: f"at {at}"))


def test_nothing_was_read() -> None:
    assert unread("ab") == [Unread(0, 2, "at 0")] and unread("") == [] and unread(" \n") == []


def test_gaps_before_between_and_after_are_found_and_white_space_is_none() -> None:
    assert unread("a bc d", (2, 4)) == [Unread(0, 2, "at 0"), Unread(4, 6, "at 5")]
    assert unread("ab cd", (0, 2), (3, 5)) == [] and unread("abxcd", (0, 2), (3, 5)) == [Unread(2, 3, "at 2")]


def test_spans_may_overlap_and_lie_in_each_other() -> None:
    assert unread("abcdef", (0, 5), (1, 3)) == [Unread(5, 6, "at 5")]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.errors import BadDocument
from factpin.formats._utf16 import from_utf16, to_utf16

texts = st.lists(
    st.sampled_from(["a", "é", "北京", "😀", "👨\u200d👩\u200d👧", "𠮷", "\u200b", "\n"]), max_size=20
).map("".join)


@given(texts)
def test_there_and_back_is_the_same_offset(text):
    to, back = to_utf16(text), from_utf16(text)
    assert [back(to(i)) for i in range(len(text) + 1)] == list(range(len(text) + 1))


@given(texts)
def test_an_offset_counts_the_units_of_utf16(text):
    to = to_utf16(text)
    assert all(to(i) == len(text[:i].encode("utf-16-le")) // 2 for i in range(len(text) + 1))


def test_an_offset_inside_an_emoji_is_an_error_that_names_the_option():
    with pytest.raises(BadDocument, match="inside the character '😀'.*--utf16"):
        from_utf16("a😀b")(2)


@pytest.mark.parametrize("offset", [-1, 5, 10**30])
def test_an_offset_outside_the_text_is_an_error(offset):
    with pytest.raises(BadDocument, match="4 UTF-16 units"):
        from_utf16("a😀b")(offset)

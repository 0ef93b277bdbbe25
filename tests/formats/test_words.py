import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span
from factpin.formats import _words

TOKENS = st.lists(
    st.sampled_from(["word", "Bc", "北", "北京", "。", ",", "3.5", "😀", "\xa0", "", "é", "x-y", "1"]), max_size=12
)


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["It", "rained", ",", "twice", "."], "It rained , twice ."),
        (["北", "京", "1", "9", "5", "0", "年"], "北京1950年"),
        (["青石", "茶馆", "2003", "年", "创办"], "青石茶馆2003年创办"),
        (["茶馆", "New", "Moon", "开业", "了"], "茶馆New Moon开业了"),
        (["The", "word", "北京", "means", "capital"], "The word 北京 means capital"),
        ([], ""),
    ],
)
def test_tokens_are_joined_as_their_script_is_written(tokens, text):
    assert _words.join(tokens)[0] == text


@given(TOKENS)
def test_borders_of_joined_tokens_are_the_tokens(tokens):
    text, borders = _words.join(tokens)
    assert [text[start:end] for start, end in borders] == tokens
    assert _words.rebuilds(text, borders)


@given(TOKENS)
def test_the_same_tokens_come_back_from_meta(tokens):
    text, borders = _words.join(tokens)
    doc = Document("d", text, meta=_words.token_meta(text, borders))
    assert _words.borders(doc) == borders


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Pi is 3.14, or so.", ["Pi", "is", "3.14", ",", "or", "so", "."]),
        ("林晓1998年生。", ["林", "晓", "1998", "年", "生", "。"]),
        ("e\u0301tude 👨\u200d👩\u200d👧 a_b", ["e\u0301tude", "👨\u200d👩\u200d👧", "a_b"]),
        ("他用C++写诗", list("他用C++写诗")),
        ("word 北京 Bc", ["word", "北京", "Bc"]),
    ],
)
def test_a_text_without_tokens_is_split_by_rule(text, tokens):
    assert [text[start:end] for start, end in _words.split(text)] == tokens


def test_meta_is_left_out_where_the_rule_finds_the_same_tokens():
    assert _words.token_meta(*_words.join(["a", "b"])) == {}
    assert _words.token_meta(*_words.join(["a-b", "c"])) == {"tokens": [[0, 3], [4, 5]]}


@pytest.mark.parametrize(
    "tokens",
    ["x", [[0]], [[0, 9]], [[1, 0]], [[0, 2], [1, 3]], [[True, 2]], [[0, 1]], [[0.0, 2]], {"a": 1}, [["0", "2"]]],
)
def test_tokens_of_meta_that_do_not_fit_the_text_are_not_used(tokens):
    doc = Document("d", "ab c", meta={"tokens": tokens})
    assert _words.borders(doc) == [(0, 2), (3, 4)]
    assert _words.at_tokens(doc)[2] == {"meta": 1}


def test_a_token_span_is_half_open_and_ends_at_borders():
    borders = [(0, 3), (4, 6), (6, 8)]
    assert _words.token_span(borders, 0, 3) == (0, 1)
    assert _words.token_span(borders, 4, 8) == (1, 3)
    assert _words.token_span(borders, 0, 8) == (0, 3)
    for start, end in ((0, 2), (1, 3), (3, 6), (0, 4), (4, 9), (8, 9)):
        assert _words.token_span(borders, start, end) is None
    assert _words.token_span([], 0, 1) is None


def test_sentences_part_the_tokens_or_are_refused():
    doc = Document("d", "a b c", sentences=(Span(0, 3), Span(4, 5)))
    borders = _words.borders(doc)
    assert _words.sentence_ranges(doc, borders) == [(0, 2), (2, 3)]
    for spans in ((Span(0, 2), Span(4, 5)), (Span(0, 1), Span(4, 5)), (Span(0, 3),), (Span(2, 5),)):
        assert _words.sentence_ranges(Document("d", "a b c", sentences=spans), borders) is None
    assert _words.sentence_ranges(Document("d", "a b c"), borders) == [(0, 3)]


def test_what_hangs_on_a_mention_inside_a_token_goes_with_it_and_is_counted():
    doc = Document(
        "d",
        "Northmere rains",
        sentences=(Span(0, 15),),
        mentions=(Mention("m0", 0, 9, "Northmere"), Mention("m1", 0, 5, "North"), Mention("m2", 10, 15, "rains")),
        entities=(Entity("e0", ("m0", "m1")), Entity("e1", ("m1",)), Entity("e2", ("m2",))),
        facts=(Fact("e0", "r", "e2", "m1", "m2", evidence=(Evidence(0),)), Fact("e1", "r", "e2")),
    )
    held, _, lost = _words.at_tokens(doc)
    assert lost == {"mentions inside a token": 1, "entities left without a mention": 1, "facts left without an end": 1}
    assert [e.mentions for e in held.entities] == [("m0",), ("m2",)]
    assert [(f.head_mention, f.tail_mention) for f in held.facts] == [(None, "m2")]

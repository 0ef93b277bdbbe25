import pytest

from factpin.documents import ASSERTIONS, Argument, Document, Entity, Event, Evidence, Fact, Mention, Span
from factpin.errors import BadDocument, OffsetMismatch

TEXT = "谷爱凌出生于美国。她滑雪。"


def test_a_mention_must_be_what_stands_at_its_offsets() -> None:
    Document("d", TEXT, mentions=(Mention("m", 6, 8, "美国"),))
    with pytest.raises(OffsetMismatch, match=r"text\[5:7\] is '于美', not '美国'. It stands at 6:8"):
        Document("d", TEXT, mentions=(Mention("m", 5, 7, "美国"),))
    with pytest.raises(OffsetMismatch, match="nowhere"):
        Document("d", TEXT, mentions=(Mention("m", 5, 7, "英国"),))


def test_inclusive_ends_are_recognised() -> None:
    with pytest.raises(OffsetMismatch, match="inclusively") as caught:
        Document("d", TEXT, mentions=(Mention("m", 6, 7, "美国"),))
    assert caught.value.inclusive
    assert caught.value.field == "mentions[0]"


def test_a_mention_past_the_end_is_refused() -> None:
    with pytest.raises(OffsetMismatch):
        Document("d", "ab", mentions=(Mention("m", 0, 3, "ab"),))


@pytest.mark.parametrize("start, end", [(2, 2), (3, 2), (-1, 1)])
def test_offsets_that_are_no_span_are_refused(start: int, end: int) -> None:
    with pytest.raises(BadDocument, match="expected 0 <= start < end"):
        Mention("m", start, end, "x")


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_score_is_a_probability(score: float) -> None:
    with pytest.raises(BadDocument, match="no probability"):
        Mention("m", 0, 1, "x", score=score)
    with pytest.raises(BadDocument, match="no probability"):
        Fact("a", "r", "b", score=score)


def test_half_an_emoji_is_refused_with_its_place() -> None:
    with pytest.raises(BadDocument, match="lone surrogate at character 2"):
        Document("d", "ab\ud83d")


@pytest.mark.parametrize("sentences", [((0, 5), (4, 9)), ((5, 9), (0, 5)), ((0, 99),), ((3, 3),)])
def test_sentences_stand_in_order_inside_the_text(sentences: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(BadDocument, match="sentence"):
        Document("d", TEXT, sentences=tuple(Span(*s) for s in sentences))


def test_what_is_named_must_exist() -> None:
    m = Mention("m", 6, 8, "美国")
    e = Entity("e", ("m",))
    good = Document("d", TEXT, sentences=(Span(0, 9),), mentions=(m,), entities=(e,))
    assert good.mention("m") == m and good.entity("e") == e
    cases = [
        {"entities": (Entity("e", ("nobody",)),)},
        {"entities": (e, e)},
        {"mentions": (m, m)},
        {"entities": (e,), "facts": (Fact("e", "r", "x"),)},
        {"entities": (e,), "facts": (Fact("e", "r", "e", head_mention="x"),)},
        {"entities": (e,), "facts": (Fact("e", "r", "e", evidence=(Evidence(7),)),)},
        {"events": (Event("v", "t", "x"),)},
        {"events": (Event("v", "t", "m", assertion="negated", cue=Span(7, 99)),)},
        {"events": (Event("v", "t", "m", (Argument("who", event="x"),)),)},
    ]
    for case in cases:
        with pytest.raises(BadDocument):
            Document("d", TEXT, **{"sentences": (Span(0, 9),), "mentions": (m,), **case})


def test_an_assertion_is_one_of_those_that_are_known() -> None:
    for make in (lambda said: Fact("e", "r", "e", assertion=said), lambda said: Event("v", "t", assertion=said)):
        assert [make(said).assertion for said in ASSERTIONS] == [*ASSERTIONS]
        with pytest.raises(BadDocument, match="expected one of asserted, negated"):
            make("denied")


def test_an_argument_is_a_mention_or_an_event() -> None:
    with pytest.raises(BadDocument):
        Argument("who")
    with pytest.raises(BadDocument):
        Argument("who", mention="m", event="v")


def test_the_sentence_of_a_character() -> None:
    doc = Document("d", TEXT, sentences=(Span(0, 9), Span(10, 13)))
    assert [doc.sentence_of(i) for i in (0, 8, 9, 10, 12, 13)] == [0, 0, None, 1, 1, None]


def test_nouns_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Mention("m", 0, 1, "x").start = 3  # type: ignore[misc]

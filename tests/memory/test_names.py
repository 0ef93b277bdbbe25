from collections.abc import Iterator

import pytest

from factpin.documents import Span
from factpin.errors import BadInput
from factpin.memory import Filter, Source, Store, open_store
from factpin.memory.names import NameCount, ranked, spans_of_names, title_key
from tests.memory.world import Said, tell


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("memory:") as store:
        yield store


def test_the_name_that_most_texts_use_is_shown() -> None:
    rows = [NameCount("e", "PER", "Ann W.", True, 2), NameCount("e", "PER", "Ann", True, 2),
            NameCount("e", "PER", "boss", False, 9), NameCount("e", "PER", "Ann", False, 1)]  # fmt: skip
    assert ranked(rows) == ["Ann W.", "Ann", "boss"]  # the whole name, though a part of it is used more


def test_spans_that_may_be_names() -> None:
    text = "Ann Weber，住在New York"
    found = {text[a:b] for a, b in spans_of_names(text)}
    assert {"Ann", "Ann Weber", "Weber", "New York", "住在", "在New York"} <= found
    assert not any("，" in name for name in found)


def test_titles_lose_their_brackets() -> None:
    assert title_key("Ed Wood (film)") == "ed wood" and title_key("李娜（网球）") == "李娜"
    assert title_key("(film)") and title_key(" ") == ""


def test_candidates_by_share_of_mentions(store: Store) -> None:
    person = Said("华盛顿", "出生地", "弗吉尼亚")
    place = Said("林肯", "住", "华盛顿")
    store.put(tell(person, person, place), Source("a"))
    first, second = store.candidates("华盛顿")
    assert (first.entity.type, first.mentions, first.prior) == ("PER", 2, pytest.approx(2 / 3))
    assert (second.entity.type, second.prior) == ("LOC", pytest.approx(1 / 3))
    assert store.candidates("无人") == []


def test_spellings_are_one_name(store: Store) -> None:
    store.put(tell(Said("Dr. Anna Weber", "住", "Rome"), Said("ANNA WEBER", "住", "Rome")), Source("a"))
    (candidate,) = store.candidates("anna  weber")
    assert candidate.names == ("ANNA WEBER", "Dr. Anna Weber") and candidate.mentions == 2


def test_a_linked_entity_is_found_by_all_its_names(store: Store) -> None:
    store.put(tell(Said("谷爱凌", "住", "北京", link="Q5")), Source("a"))
    store.put(tell(Said("Eileen Gu", "住", "北京", link="Q5")), Source("b"))
    assert store.entity("谷爱凌") == store.entity("eileen gu")
    assert len(store.facts()) == 1 and len(store.facts()[0].pins) == 2


def test_names_in_a_question_longest_first(store: Store) -> None:
    store.put(tell(Said("北京大学", "所在地", "北京", head_type="ORG")), Source("a"))
    found = store.names_in("北京大学在北京吗？")
    assert [span for span, _ in found] == [Span(0, 4), Span(0, 2), Span(5, 7)]
    assert found[0][1][0].entity.name == "北京大学"


def test_as_of_hides_names(store: Store) -> None:
    store.put(tell(Said("李娜", "住", "武汉")), Source("a", published="2020"))
    assert store.candidates("李娜", Filter("2019")) == []
    assert store.names_in("李娜", Filter("2019")) == []
    assert len(store.candidates("李娜", Filter("2020"))) == 1


def test_an_ambiguous_name_lists_its_entities(store: Store) -> None:
    store.put(tell(Said("华盛顿", "出生地", "弗吉尼亚"), Said("林肯", "住", "华盛顿")), Source("a"))
    with pytest.raises(BadInput, match="any of 2 entities: .*PER, 1 mention[)]"):
        store.entity("华盛顿")
    with pytest.raises(BadInput, match="Check the spelling"):
        store.entity("无人")
    key = store.candidates("华盛顿")[0].entity.id
    assert store.entity(key).id == key


def test_mentions_are_exact(store: Store) -> None:
    doc = tell(Said("李娜", "住", "武汉"), Said("李娜", "爱", "网球"))
    store.put(doc, Source("a"))
    pins = store.mentions(store.entity("李娜").id)
    assert [(p.quote, doc.text[p.start : p.end]) for p in pins] == [("李娜", "李娜")] * 2

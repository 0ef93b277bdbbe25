"""What the words of a sentence rule out."""

from dataclasses import replace

import pytest

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span
from factpin.extraction.wording import credible


def sentence_with(text: str, *facts: tuple[str, str, str], places: tuple[str, ...] = ()) -> Document:
    """A document of one sentence with facts between names, and with places that no fact names."""
    names = dict.fromkeys([*(name for head, _, tail in facts for name in (head, tail)), *places])
    mentions = tuple(
        Mention(
            f"m{i}", text.index(name), text.index(name) + len(name), name, "location" if name in places else "other"
        )
        for i, name in enumerate(names)
    )
    at = {m.text: m.id for m in mentions}
    entities = tuple(Entity(f"e{m.id}", (m.id,), m.type) for m in mentions)
    found = tuple(
        Fact(
            f"e{at[head]}",
            relation,
            f"e{at[tail]}",
            head_mention=at[head],
            tail_mention=at[tail],
            evidence=(Evidence(0),),
            score=0.9,
        )
        for head, relation, tail in facts
    )
    return Document("d", text, "zh", (Span(0, len(text)),), mentions, entities, found)


def test_studying_is_no_graduation() -> None:
    assert not credible(sentence_with("谷爱凌后来就读于斯坦福大学。", ("谷爱凌", "毕业院校", "斯坦福大学")))
    assert len(credible(sentence_with("钱钟书毕业于清华大学。", ("钱钟书", "毕业院校", "清华大学")))) == 1
    assert len(credible(sentence_with("他就读并毕业于清华大学。", ("他", "毕业院校", "清华大学")))) == 1


def test_the_country_before_a_name_is_its_nationality() -> None:
    doc = sentence_with(
        "中国选手谷爱凌获得金牌，法国选手泰丝获得银牌。",
        ("谷爱凌", "国籍", "中国"),
        ("谷爱凌", "国籍", "法国"),
        ("泰丝", "国籍", "中国"),
    )
    assert [(fact.head, fact.tail) for fact in credible(doc)] == [(doc.facts[0].head, doc.facts[0].tail)]
    assert len(credible(sentence_with("泰丝出生于法国，国籍是瑞士。", ("泰丝", "国籍", "瑞士")))) == 1


def test_a_country_counts_though_no_fact_names_it() -> None:
    text = "中国选手谷爱凌获得金牌，法国选手泰丝获得银牌。"
    assert not credible(sentence_with(text, ("泰丝", "国籍", "中国"), places=("法国",)))


def english(
    text: str, *facts: tuple[str, str, str], people: tuple[str, ...] = (), places: tuple[str, ...] = ()
) -> Document:
    """An English sentence with facts between names, and with people and places that no fact names."""
    doc = sentence_with(text, *facts, places=(*places, *people))
    mentions = tuple(replace(m, type="person") if m.text in people else m for m in doc.mentions)
    entities = tuple(replace(e, type=m.type, name=m.text) for e, m in zip(doc.entities, mentions, strict=True))
    return replace(doc, language="en", mentions=mentions, entities=entities)


def names(doc: Document) -> list[tuple[str, str]]:
    """Head and tail of the credible facts."""
    name = {e.id: e.name for e in doc.entities}
    return [(name[fact.head], name[fact.tail]) for fact in credible(doc)]


CITIZENSHIP = "country of citizenship"


def test_a_nationality_belongs_to_the_name_behind_it() -> None:
    text = "In 1971 the US researcher Stephen Cook and, working independently, Leonid Levin in the USSR proved it."
    doc = english(text, ("Stephen Cook", CITIZENSHIP, "US"), ("Leonid Levin", CITIZENSHIP, "US"))
    assert names(doc) == [("Stephen Cook", "US")]


@pytest.mark.parametrize(
    ("text", "name", "country", "said"),
    [
        ("Annabel Langbein is a New Zealand celebrity cook.", "Annabel Langbein", "New Zealand", True),
        ("William McKinley (1843) was the 25th President of the United States.", "William McKinley",
         "the United States", True),
        ("Ada Bello, from Nigeria, won the race.", "Ada Bello", "Nigeria", True),
        ("In India, Dave England applied leeches.", "Dave England", "India", False),
        ("Bhutan became a unified nation under Ngawang Namgyal.", "Ngawang Namgyal", "Bhutan", False),
        ("France's claim was superior, since Robert Cavelier had explored it.", "Robert Cavelier", "France", False),
        ("Anna Lee lived in England for years and wrote about Kenya.", "Anna Lee", "Kenya", False),
    ],
)  # fmt: skip
def test_a_nationality_is_said_of_somebody(text: str, name: str, country: str, said: bool) -> None:
    assert names(english(text, (name, CITIZENSHIP, country))) == [(name, country)] * said


@pytest.mark.parametrize(
    ("text", "name", "country", "said"),
    [
        ("伊维卡·奥利奇（，；），克罗地亚足球运动员，司职前锋。", "伊维卡·奥利奇", "克罗地亚", True),
        ("比鲁尼（973-1048）是最早的波斯地质学家之一。", "比鲁尼", "波斯", True),
        ("波斯学者 伊本·西那 提出了解释。", "伊本·西那", "波斯", True),
        ("美国最高法院的一项判决恢复了奥利弗·洛奇的专利。", "奥利弗·洛奇", "美国", False),
        ("路德的著作广为流传，早在1519年就传到了法国。", "路德", "法国", False),
        ("歌曲的美国版音乐录影带由乔尔·科发利执导。", "乔尔·科发利", "美国", False),
    ],
)
def test_a_nationality_is_said_of_somebody_in_chinese(text: str, name: str, country: str, said: bool) -> None:
    assert len(credible(sentence_with(text, (name, "国籍", country)))) == said


def test_what_comes_right_before_a_name_is_no_attribute_of_another() -> None:
    text = "Opposition Leader Tony Abbott welcomed it, while Greens leader Christine Milne opposed it."
    party = "member of political party"
    doc = english(text, ("Tony Abbott", party, "Greens"), ("Christine Milne", party, "Greens"))
    assert names(doc) == [("Christine Milne", "Greens")]
    chinese = sentence_with(
        "新意公司总经理陈某先后送钱，由主任苏某保管。", ("陈某", "任职", "新意公司"), ("苏某", "任职", "新意公司")
    )
    assert [fact.head for fact in credible(chinese)] == [chinese.facts[0].head]


def test_the_country_of_a_place_is_a_country() -> None:
    text = "Waterford is a town in New York, and Venezuela a country in South America."
    doc = english(text, ("Waterford", "country", "New York"), ("Venezuela", "country", "South America"))
    assert names(doc) == []
    assert names(english("Lyon is a city in France.", ("Lyon", "country", "France"))) == [("Lyon", "France")]
    nested = english("Thailand borders Myanmar.", ("Myanmar", "country", "Thailand"))
    assert names(nested) == []


def test_some_relations_need_a_word_besides_the_names() -> None:
    school = "Shawnee High School"
    assert names(english(f"Hudson coached at {school} for years.", ("Hudson", "educated at", school))) == []
    assert names(english(f"Hudson attended {school}.", ("Hudson", "educated at", school))) == [("Hudson", school)]


def test_a_title_does_not_contain_a_person() -> None:
    doc = sentence_with("民警龙某及协警覃某受伤。", ("覃某", "职务", "民警龙某及协警"), places=("龙某",))
    types = {"民警龙某及协警": "title", "龙某": "person"}
    mentions = tuple(replace(m, type=types.get(m.text, m.type)) for m in doc.mentions)
    assert not credible(replace(doc, mentions=mentions))


def test_an_adjective_says_whose_country_it_is() -> None:
    fact = "Claire Denis", "country of citizenship", "French"
    assert len(credible(english("The French director Claire Denis won.", fact))) == 1
    assert len(credible(english("Claire Denis is a French director.", fact))) == 1
    assert not credible(english("The French Federal Police raided Claire Denis.", fact))
    assert not credible(english("Claire Denis met him, and the French minister was in Rome.", fact))


def test_what_follows_a_later_work_belongs_to_it() -> None:
    first, second = ("碧血蓝天", "主演", "贾静雯"), ("神医侠侣", "主演", "贾静雯")
    doc = works("《碧血蓝天》由林伟伦导演。《神医侠侣》由贾静雯主演。", first, second)
    assert [fact.head for fact in credible(doc)] == [doc.facts[1].head]
    both = works("《碧血蓝天》、《神医侠侣》由贾静雯主演。", first, second)
    assert len(credible(both)) == 2


def test_somebody_whom_an_institution_dealt_with_does_not_work_there() -> None:
    assert not credible(
        sentence_with("被告人黄某在工商银行鞍山分行申请了一张信用卡。", ("黄某", "任职", "工商银行鞍山分行"))
    )
    assert len(credible(sentence_with("黄某是工商银行鞍山分行的经理。", ("黄某", "任职", "工商银行鞍山分行")))) == 1


def test_an_adjective_of_a_text_is_nobodys_nationality() -> None:
    fact = "Clytie Siddall", "country of citizenship", "Vietnamese"
    assert not credible(english("Clytie Siddall was a contributor of Vietnamese translations.", fact))
    assert len(credible(english("Clytie Siddall was a Vietnamese painter.", fact))) == 1


def test_where_something_was_built_is_no_headquarters() -> None:
    fact = "Acorn Computers", "headquarters location", "Great Britain"
    assert not credible(english("It was built in Great Britain by Acorn Computers.", fact))
    assert len(credible(english("Acorn Computers is based in Great Britain.", fact))) == 1


def test_a_place_in_the_name_of_an_organization_is_not_meant() -> None:
    fact = "Story", "residence", "Austin"
    doc = english("Story lived near the Museum of Austin.", fact, places=("Austin",))
    assert len(credible(doc)) == 1
    start = doc.text.index("Museum")
    museum = Mention("museum", start, len(doc.text) - 1, doc.text[start:-1], "organization")
    assert not credible(replace(doc, mentions=(*doc.mentions, museum)))


def test_a_people_is_no_place_of_birth() -> None:
    fact = "塔西罗夫", "出生地", "东干"
    assert not credible(sentence_with("塔西罗夫，东干族，吉尔吉斯斯坦集体耕作运动发起人之一。", fact))
    assert len(credible(sentence_with("塔西罗夫，东干人。", fact))) == 1


def test_a_senate_is_no_employer() -> None:
    assert not credible(
        english("Baldwin worked in the Massachusetts Senate.", ("Baldwin", "employer", "Massachusetts Senate"))
    )
    assert len(credible(english("Baldwin worked at Intel.", ("Baldwin", "employer", "Intel")))) == 1


def works(text: str, *facts: tuple[str, str, str]) -> Document:
    """A Chinese document in which the heads of the facts are works."""
    doc = sentence_with(text, *facts)
    heads = {head for head, _, _ in facts}
    return replace(doc, mentions=tuple(replace(m, type="work") if m.text in heads else m for m in doc.mentions))

"""Borders of mentions that the characters settle, and mentions that the words show to be none."""

from dataclasses import replace

import pytest

import factpin
from factpin.documents import Document, Entity, Mention
from factpin.extraction.extract import hide_unsure
from factpin.extraction.names import doubtful, mend


def document(text: str, name: str, kind: str, language: str) -> Document:
    start = text.index(name)
    mention = Mention("m0", start, start + len(name), name, kind, 0.9)
    return Document("d", text, language, mentions=(mention,), entities=(Entity("e0", ("m0",), kind, name),))


@pytest.mark.parametrize(
    ("text", "name", "kind", "whole"),
    [
        ("成化二十一年，生于北京。", "二十一年", "date", "成化二十一年"),
        ("发生于天正3年（1575年）。", "3年", "date", "天正3年"),
        ("显宗二年八月十五日生。", "二年八月十五日", "date", "显宗二年八月十五日"),
        ("吸引李某1等60名被害人。", "李某", "person", "李某1"),
        ("让刘某甲给购买者邮售。", "刘某", "person", "刘某甲"),
        ("被告人谢某某处。", "谢某", "person", "谢某某"),
        ("杨某2014年离职。", "杨某", "person", "杨某"),
        ("宪宗1465年即位。", "1465年", "date", "1465年"),
        ("被告人张某利用职务便利。", "张某利", "person", "张某"),
        ("被告人陈某华到案。", "陈某华", "person", "陈某华"),
        ("他联系项城市公安局报案。", "联系项城市公安局", "organization", "项城市公安局"),
    ],
)
def test_borders_are_put_right(text: str, name: str, kind: str, whole: str) -> None:
    mended = mend(document(text, name, kind, "zh"))
    (m,), (e,) = mended.mentions, mended.entities
    assert m.text == e.name == whole == mended.text[m.start : m.end]


@pytest.mark.parametrize(
    ("text", "name", "kind", "language"),
    [
        ("He worked there for two years.", "two years", "date", "en"),
        ("(2) access to the source", "2", "number", "en"),
        ("5. You may charge a fee.", "5", "number", "en"),
        ("the 420 FLTF was moved", "420 FLTF", "number", "en"),
        ("lv3:lwin_switch selects it", "lwin_switch", "other", "en"),
        ("They chose voto en blanco.", "voto en blanco", "organization", "en"),
        ('They did "Some Nights" live.', 'They did "Some Nights', "other", "en"),
        ("about 88 of them", "88", "date", "en"),
        ("判处有期徒刑一年五个月。", "一年五个月", "date", "zh"),
        ("缓刑二年。", "二年", "date", "zh"),
        ("应在40日内举行。", "40日", "date", "zh"),
        ("阔别41年的妻子。", "41年", "date", "zh"),
        ("经审理查明，他有罪。", "查明", "person", "zh"),
        ("四年九月壬申，北魏征士。", "壬申", "person", "zh"),
        ("天宝五载，她被选为王妃。", "天宝五载", "person", "zh"),
        ("杜把他介绍给周某。", "杜", "person", "zh"),
        ("父母为亚美尼亚人。", "亚美尼亚", "location", "zh"),
        ("俄国发生十月革命。", "十月", "date", "zh"),
        ("行贿20万某。", "万某", "person", "zh"),
        ("他以印度学家著称。", "学家", "title", "zh"),
        ("他向考生出售答案。", "考生", "title", "zh"),
        ("建筑师森佩尔 应科尔要求。", "森佩尔 应科尔", "person", "zh"),
        ("如今它是博物馆。", "如今", "date", "zh"),
        ("Hackers met. Hacker is what hackers say.", "Hackers", "person", "en"),
        ("He was VP of sales.", "VP", "organization", "en"),
        ("for the past two days", "past two", "date", "en"),
        ("Today it is a region.", "Today", "date", "en"),
    ],
)
def test_what_is_no_name_is_not_shown(text: str, name: str, kind: str, language: str) -> None:
    doc = document(text, name, kind, language)
    assert doubtful(doc) == {"m0"}
    shown, hidden = hide_unsure(doc, 0.7, 0.5)
    assert not shown.mentions
    assert hidden == 1
    assert hide_unsure(doc, 0.7, 0.0) == (doc, 0)  # everything is asked for
    assert hide_unsure(doc, 0.0, 0.5) == (doc, 0)  # a model that hides nothing


@pytest.mark.parametrize(
    ("text", "name", "kind", "language"),
    [
        ("He left two years ago, in 1988.", "1988", "date", "en"),
        ("It weighs 250 KB now.", "250 KB", "number", "en"),
        ("Linux and macOS are systems.", "macOS", "other", "en"),
        ("She joined in the 1960s.", "the 1960s", "date", "en"),
        ("始于1985年。", "1985年", "date", "zh"),
        ("三月，他去了北京。", "三月", "date", "zh"),
        ("二十世纪的中国。", "二十世纪", "date", "zh"),
        ("九十年代的上海。", "九十年代", "date", "zh"),
        ("266年正月，他去巡查。", "266年", "date", "zh"),
        ("中国人民银行在北京。", "中国", "location", "zh"),
        ("杜甫是诗人。", "杜甫", "person", "zh"),
    ],
)
def test_names_dates_and_numbers_stay(text: str, name: str, kind: str, language: str) -> None:
    assert not doubtful(document(text, name, kind, language))


def test_a_sentence_of_news_gives_all_its_entities() -> None:
    (doc,) = factpin.extract("Tim Cook, the CEO of Apple, visited Berlin on Monday.")
    assert [(m.text, m.type) for m in doc.mentions] == [
        ("Tim Cook", "person"),
        ("Apple", "organization"),
        ("Berlin", "location"),
        ("Monday", "date"),
    ]


def test_who_a_court_calls_so_and_an_era_are_whole() -> None:
    (doc,) = factpin.extract("经审理查明：弘治十五年，被告人李某1在北京。")
    assert "查明" not in {m.text for m in doc.mentions}
    assert {"弘治十五年", "李某1"} <= {m.text for m in doc.mentions}


def test_years_ago_keep_their_first_character() -> None:
    text = "这里在距今11600年前有人居住。"
    doc = mend(Document("d", text, "zh", mentions=(Mention("m0", 4, 11, "今11600年", "date"),)))
    assert doc.mentions[0].text == "距今11600年" == text[doc.mentions[0].start : doc.mentions[0].end]


@pytest.mark.parametrize(
    ("text", "name", "kind", "now"),
    [
        ("Her film Avatar won.", "Avatar", "other", "work"),
        ("“Let It Be” is on it.", "Let It Be", "other", "work"),
        ("Hollow City is a 2014 dark fantasy novel.", "Hollow City", "other", "work"),
        ("She won the “Turing Award” then.", "Turing Award", "other", "other"),
        ("a French film", "French", "other", "other"),
        ("Then Debian gained users.", "Debian", "person", "other"),
    ],
)
def test_titles_are_works_and_systems_no_people(text: str, name: str, kind: str, now: str) -> None:
    mended = mend(document(text, name, kind, "en"))
    assert mended.mentions[0].type == mended.entities[0].type == now


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Ann Lee MDCM", "Ann Lee"),
        ("Ann Lee, KCMG", "Ann Lee"),
        ("Ann Lee, OBE, FRS", "Ann Lee"),
        ("Ann LEE", "Ann LEE"),
    ],
)
def test_honours_are_not_part_of_a_name(name: str, bare: str) -> None:
    text = f"{name} came."
    doc = Document("d", text, language="en", mentions=(Mention("m", 0, len(name), name, "person"),),
                   entities=(Entity("e", ("m",), "person", name),))  # fmt: skip
    for one in (doc, replace(doc, text=text + "李安")):
        found = mend(one)
        assert [m.text for m in found.mentions] == [bare] == [e.name for e in found.entities]
        assert text[found.mentions[0].start : found.mentions[0].end] == bare


@pytest.mark.parametrize(
    ("text", "whole", "type", "bare"),
    [
        ("He died in Leeds in January 2018.", "Leeds in January", "location", "Leeds"),
        ("He died in Newcastle in Maine.", "Newcastle in Maine", "location", "Newcastle in Maine"),
        ("新华社巴黎电 法国总统马克龙说。", "新华社巴黎电 法国总统", "title", "法国总统"),
    ],
)
def test_what_is_beside_a_name_is_cut_off(text: str, whole: str, type: str, bare: str) -> None:
    start = text.index(whole)
    doc = Document("d", text, language="zh" if type == "title" else "en",
                   mentions=(Mention("m", start, start + len(whole), whole, type),),
                   entities=(Entity("e", ("m",), type, whole),))  # fmt: skip
    found = mend(doc)
    assert [m.text for m in found.mentions] == [bare] == [e.name for e in found.entities]
    assert text[found.mentions[0].start : found.mentions[0].end] == bare

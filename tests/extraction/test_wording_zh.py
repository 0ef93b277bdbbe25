"""What the words of Chinese sentences rule out."""

from dataclasses import replace

import pytest

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span
from factpin.extraction.wording import credible

KINDS = {"人": "person", "构": "organization", "作": "work", "地": "location", "时": "date", "数": "number",
         "职": "title", "它": "other"}  # fmt: skip


def sentence(marked: str, relation: str, head: int, tail: int, assertion: str | None = None) -> Document:
    """A sentence with marks such as 「人:陈某」 around its mentions, and a fact between two of them."""
    text, mentions = "", list[Mention]()
    for part in marked.replace("」", "「").split("「"):
        kind, _, name = part.partition(":")
        if name and kind in KINDS:
            i = len(mentions)
            mentions.append(Mention(f"m{i}", len(text), len(text) + len(name), name, KINDS[kind], 0.9))
            text += name
        else:
            text += part
    entities = tuple(Entity(f"e{m.id}", (m.id,), m.type, m.text) for m in mentions)
    cue = Span(0, 1) if assertion == "negated" else None
    fact = Fact(f"em{head}", relation, f"em{tail}", f"m{head}", f"m{tail}", 0.9, (Evidence(0),))
    fact = replace(fact, assertion=assertion, cue=cue)
    return Document("d", text, "zh", (Span(0, len(text)),), tuple(mentions), entities, (fact,))


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail"),
    [
        ("「构:新意公司」总经理「人:陈某」到庭。", "任职", 1, 0),
        ("「人:陈某」任「构:新意公司」经理。", "任职", 0, 1),
        ("「人:陈某」毕业后在「构:新意公司」工作。", "任职", 0, 1),
        ("「构:北大人民医院」「人:曹照龙」教授提出他的见解。", "任职", 1, 0),
        ("「人:赵莉」，出生于「地:四川成都」。", "出生地", 0, 1),
        ("「人:黄某」（「时:2015年12月16日」出生）在房间休息。", "出生日期", 0, 1),
        ("「时:1986年」，总社举行签约仪式，正式成立「构:南京旅行社」。", "成立日期", 1, 0),
        ("《「作:周末报导」》由「人:雷文科」主持。", "主持人", 0, 1),
        ("「人:张平」的长篇小说《「作:抉择」》获奖。", "作者", 1, 0),
        ("「地:佛爷山」，海拔「数:143米」。", "海拔", 0, 1),
        ("「构:湾田煤业集团有限公司」（以下简称「构:湾田公司」）涉案。", "简称", 0, 1),
        ("「职:北京大学教授」「人:高某」说。", "职务", 1, 0),
        ("「构:红十字会」位于「地:旧金山」。", "地址", 0, 1),
    ],
)
def test_what_is_stated_stays(marked: str, relation: str, head: int, tail: int) -> None:
    assert len(credible(sentence(marked, relation, head, tail))) == 1


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail"),
    [
        ("「人:黄某清」已向「构:清流县纪律检查委员会」退交赃款。", "任职", 0, 1),
        ("「职:应蒙古总理」「人:额尔登」邀请访问。", "职务", 1, 0),
        ("「构:七名法律学院」教员「人:麦某」联署投诉。", "任职", 1, 0),
        ("《「作:王魁」》由「人:刘某」音乐设计，演出三场。", "主演", 0, 1),
        ("「构:天津市公安局」鉴定，「人:刘某」死因系溺水。", "任职", 1, 0),
        ("「构:元光公司」任命「人:张某」为天净公司经理。", "任职", 1, 0),
        ("在「人:李安宅」的推荐下，成为「构:边疆研究所」的副研究员。", "任职", 0, 1),
        ("「人:金庸」生于海宁，1948年移居「地:香港」。", "出生地", 0, 1),
        ("「人:马克里」于「时:2015年12月10日」宣誓就职。", "出生日期", 0, 1),
        ("「人:王某」和「人:邢某」（「时:1998年9月13日」出生）在场。", "出生日期", 0, 2),
        ("「构:新时代集团」于「时:1996年」申请设立电台。", "成立日期", 0, 1),
        ("《「作:武则天」》、演员「人:潘迎紫」主演的《「作:一代女皇」》", "主演", 0, 1),
        ("「人:路德」的译本是《「作:圣经」》译本。", "作者", 1, 0),
        ("香港「作:四大才子」中的「人:倪匡」主持《今夜不设防》。", "作者", 0, 1),
        ("他说“「人:罗琳」的书很多。正如《「作:X战警」》的作者”", "作者", 1, 0),
        ("「地:玉桂山」又称「地:佛爷山」，海拔「数:143米」。", "海拔", 0, 2),
        ("「构:某区法院」办理「构:无锡公司」案件。", "简称", 1, 0),
        ("「职:香港警方拘捕」「人:彭利来」。", "职务", 1, 0),
        ("「职:财政局长」「人:常常」兼任地税局长。", "职务", 1, 0),
        ("1938年赴「构:波士顿大学」，师从「人:史密斯」，次年毕业。", "毕业院校", 1, 0),
        ("「构:摩托车」带到「地:渭南」。", "地址", 0, 1),
        ("《「作:中国青年报」》记者「人:信海光」尝试之。", "作者", 0, 1),
        ("关中和氐、「它:羌族」的物资供应出现问题，令「人:曹爽军」缺乏军资。", "民族", 1, 0),
    ],
)
def test_what_is_merely_beside_it_goes(marked: str, relation: str, head: int, tail: int) -> None:
    assert not credible(sentence(marked, relation, head, tail))


def test_what_somebody_is_called_in_passing_is_not_denied() -> None:
    (fact,) = credible(sentence("「职:行动党秘书长」「人:林冠英」没有同意。", "职务", 1, 0, "negated"))
    assert fact.assertion == "asserted" and fact.cue is None

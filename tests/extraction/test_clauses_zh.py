"""Chinese facts whose names were cut wrongly, or that a clause beside them says of something else."""

from dataclasses import replace

import pytest

from factpin.documents import Span
from factpin.extraction.clauses_zh import RULES
from factpin.extraction.scene import Scene
from factpin.extraction.wording import credible
from tests.extraction.test_wording_zh import sentence


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail", "out"),
    [
        ("「职:吸毒人员」「人:梅某」到庭。", "职务", 1, 0, True),
        ("「职:野牛镍币的设计师」「人:弗雷泽」同意。", "职务", 1, 0, True),
        ("「职:晋升海军中尉」「人:卡特」服役。", "职务", 1, 0, True),
        ("「职:海军中尉」「人:卡特」服役。", "职务", 1, 0, False),
        ("「职:特朗普的总统顾问」「人:康威」说。", "职务", 1, 0, False),
        ("「职:铸币局局长」和「人:麦克尼尔」通话。", "职务", 1, 0, True),
        ("「人:陳誠係」「时:1898年」出生。", "出生日期", 0, 1, True),
        ("「人:陳誠」「时:1898年」出生。", "出生日期", 0, 1, False),
        ("「构:阿里巴巴集團執行」副主席「人:蔡崇信」透露。", "任职", 1, 0, True),
        ("「时:1989年」，「构:总参谋部」成立军事法律顾问办公室。", "成立日期", 1, 0, True),
        ("「时:1989年」，「构:顾问办公室」成立大会召开。", "成立日期", 1, 0, False),
        ("「构:中央医院」（「时:1947年」2月改编成后方医院）", "成立日期", 0, 1, True),
        ("成立了「构:環境署」及之後「时:1992年」的大會。", "成立日期", 0, 1, True),
        ("「构:環境署」成立於「时:1992年」。", "成立日期", 0, 1, False),
        ("「人:薩圖克」的叔父「人:奧古爾」繼位。", "父亲", 0, 1, True),
        ("「人:薩圖克」的父亲「人:奧古爾」繼位。", "父亲", 0, 1, False),
        ("《「作:全唐诗」》收「人:项斯」诗一卷。", "作者", 0, 1, True),
        ("《「作:我不要黑道」》是连载的小说，作者是「人:艾柔」。", "作者", 0, 1, False),
        ("「职:飓风专家」「人:卡特」确认。", "职务", 1, 0, True),
        ("「人:项斯」在《「作:人民文学」》上发表一文。", "作者", 1, 0, True),
        ("「人:项斯」发表《「作:北极村童话」》。", "作者", 1, 0, False),
        ("「人:辛迪」导致3人遇难，其中「地:乔治亚州」2人。", "出生地", 0, 1, True),
        ("「人:辛迪」，「地:乔治亚州」人。", "出生地", 0, 1, False),
        ("「职:朝美双方代表」「人:姜锡柱」到达。", "职务", 1, 0, True),
        ("「职:联合驻英公使」「人:刘玉麟」到达。", "职务", 1, 0, True),
        ("「职:联合创始人」「人:刘玉麟」到达。", "职务", 1, 0, False),
        ("「人:卡特」出生于「地:台湾」，祖籍河北。", "祖籍", 0, 1, True),
        ("「人:卡特」出生于台湾，祖籍「地:河北」。", "祖籍", 0, 1, False),
        ("「人:李四」出生于「地:上海」3人之家。", "出生地", 0, 1, False),
        ("「人:李四」，「地:上海」一名医之后。", "出生地", 0, 1, False),
        ("「人:刘慈欣」和「人:王晋康」的《「作:三体」》出版。", "作者", 2, 0, False),
        ("「人:张艺谋」的《「作:红高粱」》，作者「人:莫言」。", "作者", 1, 2, False),
        ("「职:世界银行首席经济学家」「人:林毅夫」说。", "职务", 1, 0, False),
        ("「职:批评家协会主席」「人:林毅夫」说。", "职务", 1, 0, False),
        ("「人:莫言」在《「作:红高粱」》发表后成名。", "作者", 1, 0, False),
        ("《「作:求是」》第16期刊登「人:项斯」的文章。", "作者", 0, 1, True),
        ("「人:达布斯」引用了「人:班固」《「作:汉书」》的话。", "作者", 2, 0, True),
        ("「人:达布斯」引用了「人:班固」《「作:汉书」》的话。", "作者", 2, 1, False),
        ("「职:呼籲国防部长」「人:奥斯汀」調查。", "职务", 1, 0, True),
        ("「构:中银大厦」於「时:1997年4月」动工。", "成立日期", 0, 1, True),
        ("受「人:龚一」教授启蒙，2010年毕业于「构:中央音乐学院」。", "毕业院校", 0, 1, True),
        ("「人:龚一」2010年毕业于「构:中央音乐学院」。", "毕业院校", 0, 1, False),
    ],
)
def test_names_and_clauses_rule_facts_out(marked: str, relation: str, head: int, tail: int, out: bool) -> None:
    doc = sentence(marked, relation, head, tail)
    scene = Scene.of(doc)
    assert any(rule(scene, doc.facts[0]) for rule in RULES) == out


def test_what_precedes_the_clause_that_reports_something_is_asserted() -> None:
    doc = sentence("「人:爱德华兹」于「时:1808年」出生，据记载，他的父亲是农民。", "出生日期", 0, 1)
    (fact,) = doc.facts
    at = doc.text.index("据记载")
    reported = replace(doc, facts=(replace(fact, assertion="reported", cue=Span(at, at + 3)),))
    assert [fact.assertion for fact in credible(reported)] == ["asserted"]
    early = replace(doc, facts=(replace(fact, assertion="reported", cue=Span(0, 1)),))
    assert [fact.assertion for fact in credible(early)] == ["reported"]

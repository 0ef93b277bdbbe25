"""How directly Chinese sentences state facts, and what that does to their scores."""

from dataclasses import replace

import pytest

from factpin.documents import Document, Entity, Fact, Mention
from factpin.extraction.evidence import LEAST, features, weigh
from factpin.extraction.evidence_zh import is_cut, is_stated
from factpin.extraction.scene import Scene
from tests.extraction.test_wording_zh import sentence

PLAIN = {"shift": 0.0, "score": 1.0, "stated": 1.0, "loose": -1.0, "doubted": -1.0, "family": -1.0, "author": -1.0,
         "cut": -1.0, "doubtful": -1.0}  # fmt: skip


def scored(doc: Document, weights: dict[str, float] = PLAIN, free: tuple[tuple[int, int, str], ...] = ()) -> float:
    (fact,) = weigh(Scene.of(doc), doc.facts, weights, free)
    assert fact.score is not None
    return fact.score


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail", "stated"),
    [
        ("「职:教育部部长」「人:马叙伦」指出。", "职务", 1, 0, True),
        ("「职:教育部部长」会见了「人:马叙伦」。", "职务", 1, 0, False),
        ("「构:教育部」部长「人:马叙伦」指出。", "任职", 1, 0, True),
        ("「人:徐某」任「构:新意公司」副总经理。", "任职", 0, 1, True),
        ("「人:徐某」回国后受到「构:新意公司」总经理邀请。", "任职", 0, 1, False),
        ("「地:荷兰」选手「人:克罗莫维」夺冠。", "国籍", 1, 0, True),
        ("「人:迈杰希」「时:1942年」出生。", "出生日期", 0, 1, True),
        ("「构:延边电视台」成立于「时:1977年」。", "成立日期", 0, 1, True),
        ("「时:1977年」，各地合并成立「构:延边电视台」。", "成立日期", 1, 0, True),
        ("「构:延边电视台」搬到新楼，「时:1977年」播出。", "成立日期", 0, 1, False),
        ("「人:王森」毕业于「构:北京大学」。", "毕业院校", 0, 1, True),
        ("「人:米尔斯」和第二任妻子「人:哈珀」来访。", "妻子", 0, 1, True),
        ("「人:米尔斯」和「人:哈珀」结为夫妻。", "妻子", 0, 1, False),
        ("「人:米尔斯」来访，妻子说「人:哈珀」同意。", "妻子", 0, 1, False),
        ("「人:黄有龙」随父亲「人:黄孝成」移居。", "父亲", 0, 1, True),
        ("「人:司马衷」是「人:司马炎」的长子。", "父亲", 0, 1, True),
        ("《「作:左耳」》由「人:陈国富」执导。", "导演", 0, 1, True),
        ("「人:陈国富」执导的《「作:左耳」》。", "导演", 1, 0, True),
        ("「人:陈国富」谈到，《「作:左耳」》获奖。", "导演", 1, 0, False),
        ("「构:公司」在「地:旧金山」。", "地址", 0, 1, False),
    ],
)
def test_a_fact_is_stated_where_words_join_its_names(
    marked: str, relation: str, head: int, tail: int, stated: bool
) -> None:
    doc = sentence(marked, relation, head, tail)
    assert is_stated(Scene.of(doc), doc.facts[0]) == stated


def test_each_feature_moves_the_score_by_its_weight() -> None:
    doc = sentence("「职:教育部部长」「人:马叙伦」指出。", "职务", 1, 0)
    stated = scored(doc)
    person = doc.mentions[1]
    assert stated > 0.9 > scored(doc, {**PLAIN, "stated": -1.0})
    assert scored(doc, free=((person.start, person.end, person.type),)) == pytest.approx(
        0.9
    )  # what one adds, one takes
    found = features(Scene.of(sentence("「人:甲」在「人:乙」。", "妻子", 0, 1, "negated")), doc.facts[0], ())
    assert set(found) == set(PLAIN) - {"shift"}


def test_what_the_model_thinks_unlikely_keeps_its_score() -> None:
    doc = sentence("「职:教育部部长」「人:马叙伦」指出。", "职务", 1, 0)
    (fact,) = doc.facts
    low = weigh(Scene.of(doc), [replace(fact, score=LEAST - 0.01)], PLAIN, ())
    assert low[0].score == LEAST - 0.01


@pytest.mark.parametrize(
    ("marked", "head", "tail", "cut"),
    [
        ("「职:北平綏靖公署主任」「人:張學良轉」任軍事委員會。", 1, 0, True),
        ("「职:北平綏靖公署主任」「人:張學良」轉任軍事委員會。", 1, 0, False),
        ("日本官「人:方縮小」的统计，「职:主任」说。", 0, 1, True),
    ],
)
def test_a_name_that_ends_within_a_word_is_cut(marked: str, head: int, tail: int, cut: bool) -> None:
    doc = sentence(marked, "职务", head, tail)
    assert is_cut(Scene.of(doc), doc.facts[0]) == cut


def test_a_part_of_the_head_cuts_no_word() -> None:
    title, group = Mention("a", 0, 5, "教育部部长", "other"), Mention("b", 0, 2, "教育", "organization")
    entities = (Entity("e", ("a",), "other", "教育部部长"), Entity("f", ("b",), "organization", "教育"))
    part = Fact("e", "隶属机构", "f", head_mention="a", tail_mention="b")
    doc = Document("d", "教育部部长指出。", language="zh", mentions=(title, group), entities=entities, facts=(part,))
    assert not is_cut(Scene.of(doc), part)
    other = replace(part, head="f", head_mention="b", tail="e", tail_mention="a")
    assert is_cut(Scene.of(doc), other)
    office = replace(doc, mentions=(replace(title, type="title"), group))
    assert not is_cut(Scene.of(office), other)  # 中国作家协会|主席


def test_a_weight_that_a_model_lacks_says_nothing() -> None:
    doc = sentence("「职:教育部部长」「人:马叙伦」指出。", "职务", 1, 0)
    assert scored(doc, {"shift": 0.0, "score": 1.0, "stated": 1.0}) == scored(doc)

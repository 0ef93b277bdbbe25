"""Assertion status: the minimal pairs, the conventions of the module one by one, and that no text breaks it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import (
    ASSERTIONS,
    Argument,
    Document,
    Entity,
    Event,
    Evidence,
    Fact,
    Mention,
    Span,
    from_json,
    to_json,
)
from factpin.language._assertion_sentence import PRECEDENCE, Status, language_of
from factpin.language.assertion import assertion, cues_among, with_assertions
from factpin.language.sentences import split_sentences

HERE = Path(__file__).parent
LANGUAGES = ("en", "zh")
FLOOR = {  # a little below what benchmarks/assertion.py prints, (en, zh); no cue was written for held3
    "dev": (0.99, 0.99),
    "held": (0.98, 0.99),
    "dev2": (0.99, 0.99),
    "held2": (0.98, 0.98),
    "dev3": (0.99, 0.99),
    "held3": (0.68, 0.72),
}


def pairs(language: str) -> list[dict]:
    return [json.loads(line) for line in (HERE / f"minimal_pairs_{language}.jsonl").read_text("utf-8").splitlines()]


def part_of(case: dict) -> str:
    return case.get("part", "dev" if case["pair"] % 2 else "held")


def judge(marked: str, language: str | None = None) -> tuple[str, str]:
    """The status and the cue's text of a sentence with its [head] and {tail} marked."""
    text, spans = "", {}
    for char in marked:
        if char in "[{":
            opened = char
            spans[opened] = [len(text)]
        elif char in "]}":
            spans[opened].append(len(text))
        else:
            text += char
    status = assertion(text, (0, len(text)), tuple(spans["["]), tuple(spans["{"]), language)
    return status.status, text[slice(*status.cue)] if status.cue else ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pairs_are_well_formed(language: str) -> None:
    cases = pairs(language)
    assert len({case["pair"] for case in cases}) >= 240
    assert {part_of(case) for case in cases} == set(FLOOR)
    assert len({(case["text"], *case["head"], *case["tail"]) for case in cases}) == len(cases)
    for case in cases:
        assert case["status"] in ASSERTIONS
        for start, end in (case["head"], case["tail"]):
            assert 0 <= start < end <= len(case["text"])
            assert case["text"][start:end].strip() == case["text"][start:end]
    for number in {case["pair"] for case in cases}:
        both = [case for case in cases if case["pair"] == number]
        assert len(both) == 2 and both[0]["status"] != both[1]["status"], f"pair {number} is not minimal"


@pytest.mark.parametrize("part", FLOOR)
@pytest.mark.parametrize("language", LANGUAGES)
def test_minimal_pairs_are_told_apart(language: str, part: str) -> None:
    cases = [case for case in pairs(language) if part_of(case) == part]
    right = 0
    for case in cases:
        status = assertion(case["text"], (0, len(case["text"])), tuple(case["head"]), tuple(case["tail"]), language)
        right += status.status == case["status"]
    assert right / len(cases) >= FLOOR[part][LANGUAGES.index(language)]


@pytest.mark.parametrize(
    ("marked", "status", "cue"),
    [
        ("[Messi] never played for {China}.", "negated", "never"),
        ("[Messi] didn’t play for {China}.", "negated", "didn’t"),
        ("According to the paper, [Orion] bought {Vega}.", "reported", "According to"),
        ("Perhaps [Orion] bought {Vega}.", "hedged", "Perhaps"),
        ("Unless they agree, [Orion] will buy {Vega}.", "conditional", "Unless"),
        ("Did [Orion] buy {Vega}?", "hedged", "?"),
        ("It remains to be seen whether [Orion] buys {Vega}.", "hedged", "whether"),
        ("[梅西]从未为{中国队}效力。", "negated", "从未"),
        ("[梅西]從未為{中國隊}效力。", "negated", "從未"),
        ("据新华社报道，[甲公司]收购了{乙公司}。", "reported", "据新华社报道"),
        ("[甲公司]沒有收購{乙公司}。", "negated", "沒有"),
        ("[甲公司]收购了{乙公司}吗？", "hedged", "？"),
    ],
)
def test_the_cue_is_the_exact_characters(marked: str, status: str, cue: str) -> None:
    assert judge(marked) == (status, cue)


@pytest.mark.parametrize(
    ("marked", "status"),
    [
        ("He said that if it did not rain, [Orion] might buy {Vega}.", "conditional"),
        ("He said that [Orion] might not buy {Vega}.", "negated"),
        ("He said that [Orion] might buy {Vega}.", "hedged"),
        ("He said that [Orion] bought {Vega}.", "reported"),
        ("他说，[甲公司]可能不会收购{乙公司}。", "negated"),
        ("他说，[甲公司]可能收购{乙公司}。", "hedged"),
    ],
)
def test_the_strongest_of_several_statuses_is_taken(marked: str, status: str) -> None:
    assert judge(marked)[0] == status


@pytest.mark.parametrize(
    "marked",
    [
        "[Bhutan] borders {India}, but never joined the pact.",
        "[The plant] in {Berlin}, Germany, was founded in May 1990.",
        "They did not open a shop in [Berlin], {Germany}.",
        "[The ship] (not to be confused with the older Argo) sailed to {Rome}.",
        "The drug did not reduce [cocaine]-induced {seizures}.",
        "He did not meet with [Orion]'s founder {Anna Hill}.",
        '[Jay] released the single "Maybe Not" in {Rome}.',
        "[Orion] bought {Vega}, which announced a loss in spring.",
        "The mechanism by which [lithium] caused {tremor} is unclear.",
        "他没有见到[济川药业]董事长{曹先生}。",
        "当时还没有名气的[演员]出演了{该剧}。",
        "[甲公司]收购了{乙公司}，表示将扩大生产。",
        "[不丹]与{印度}接壤。",
        "[冯小刚]执导了{《我不是潘金莲》}。",
        "[冯小刚]凭《我不是潘金莲》获得{金马奖}。",
        "[该厂]位于{美索不达米亚}。",
        "主要是[甲公司]收购了{乙公司}。",
        "[Anna] was born in {Rome} and never married.",
        "[Anna] of {Rome} never completed the merger.",
        "No one has ever disputed that [Orion] owns {Vega}.",
        "[Orion] owns almost all of {Vega}.",
        "It was not for money that [Karl] left {Ajax}.",
        "Hardly had [Karl] reached {Lyon} when war broke out.",
        "收购失败后[甲公司]更名为{乙公司}。",
        "[母羊]因{布病}流产。",
        "[韩国]非政府组织进入{缅甸}。",
        "谁也不会怀疑[甲公司]控制{乙公司}。",
        "[日本]应向{美国}出口。",
    ],
)
def test_what_only_looks_like_a_cue_or_speaks_of_something_else_leaves_a_fact_asserted(marked: str) -> None:
    assert judge(marked) == ("asserted", "")


@pytest.mark.parametrize(
    ("marked", "cue"),
    [
        ("[Anna] and {Karl} lived in Rome and never married.", "never"),
        ("The sale of [Vega] to {Orion} was agreed and never completed.", "never"),
        ("There is no question of [Orion] buying {Vega}.", "no"),
        ("It was not in {Ulm} that [Karl] was born.", "It was not"),
        ("Instead of joining {Vega}, [Karl] went to sea.", "Instead of"),
        ("Nobody suggests that [Orion] owns {Vega}.", "Nobody"),
        ("[甲公司]收購{乙公司}失敗。", "失敗"),
        ("[鯨]非{魚類}。", "非"),
    ],
)
def test_a_denial_reaches_the_pair_that_it_speaks_about(marked: str, cue: str) -> None:
    assert judge(marked) == ("negated", cue)


@pytest.mark.parametrize(
    ("marked", "status", "cue"),
    [
        ("若[甲公司]收购{乙公司}，丙公司将退出。", "conditional", "若"),
        ("Subject to approval, [Orion] will buy {Vega}.", "conditional", "Subject to"),
        ("[Orion] will buy {Vega}, provided that the board agrees.", "conditional", "provided that"),
        ("[甲公司]将收购{乙公司}，除非丙公司反对。", "conditional", "除非"),
        ("除非监管机构否决，[甲公司]将收购{乙公司}。", "conditional", "除非"),
        ("Unless [Orion] fails to buy {Vega}, shares will rise.", "conditional", "Unless"),
        ("如果董事会拒绝，[甲公司]将收购{乙公司}。", "conditional", "如果"),
        ("如果[甲公司]没有收购{乙公司}，丙公司会收购。", "negated", "没有"),
        ("[王五]涉嫌挪用{甲公司}资金。", "hedged", "涉嫌"),
        ("[王五]因涉嫌受贿被{检察院}起诉。", "asserted", ""),
        ("[王五]被传加盟{甲公司}。", "hedged", "被传"),
        ("[甲公司]辩称与{乙公司}无劳动关系。", "negated", "无"),
        ("[甲公司]辩稱與{乙公司}無勞動關係。", "negated", "無"),
        ("[患者]左肺占位，{肺癌}待排除。", "hedged", "待排除"),
        ("[若昂·菲利克斯]加盟{马竞}，签约七年。", "asserted", ""),
        ("[Orion] is subject to taxes in {Vega}.", "asserted", ""),
        ("[Karl] joined {Vega}, and if he stays, he will lead it.", "asserted", ""),
        ("[日本]无视中国主权进犯{延边}。", "asserted", ""),
    ],
)
def test_conditions_suspicions_and_denials_reach_as_far_as_they_speak(marked: str, status: str, cue: str) -> None:
    assert judge(marked) == (status, cue)


def test_a_mention_is_no_cue_for_itself() -> None:
    assert judge("[谈判]{破裂}。") == ("asserted", "")
    assert judge("[甲公司]与{乙公司}谈判破裂。") == ("negated", "破裂")


def test_cues_are_told_from_names() -> None:
    text = "《三体》的作者可能是他。“如果”由王菲演唱。May may sing."
    doc = Document("d", text, "zh", (Span(0, 12), Span(12, 22), Span(22, 34)))
    places = [(text.index(word), text.index(word) + len(word)) for word in ("三体", "可能", "如果", "王菲", "May")]
    assert cues_among(doc, places) == {places[1]}
    english = Document("d", "May may sing, or not.")
    assert cues_among(english, [(0, 3), (4, 7), (17, 20), (8, 12)]) == {(4, 7)}
    assert cues_among(Document("d", "Orion may sing.", "de"), [(6, 9)]) == set()


def test_the_order_of_head_and_tail_changes_nothing() -> None:
    for language in LANGUAGES:
        for case in pairs(language):
            text, head, tail = case["text"], tuple(case["head"]), tuple(case["tail"])
            there = assertion(text, (0, len(text)), head, tail, language)
            assert there == assertion(text, (0, len(text)), tail, head, language)


def test_text_around_the_sentence_changes_nothing() -> None:
    for language in LANGUAGES:
        for case in pairs(language):
            text, (a, b), (c, d) = case["text"], case["head"], case["tail"]
            alone = assertion(text, (0, len(text)), (a, b), (c, d), language)
            before = "It was not so. " if language == "en" else "没有。"
            n = len(before)
            inside = assertion(before + text + before, (n, n + len(text)), (a + n, b + n), (c + n, d + n), language)
            moved = Span(alone.cue.start + n, alone.cue.end + n) if alone.cue else None
            assert inside == Status(alone.status, moved)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_group_of_the_pattern_is_a_row(language: str) -> None:
    compiled = language_of(language)
    assert compiled.cues.groups == len(compiled.rows)
    assert {status for status, _ in compiled.rows} <= {"", *ASSERTIONS}


def test_the_precedence_names_every_status() -> None:
    assert sorted(PRECEDENCE) == sorted(ASSERTIONS)


CUES = (
    "not |never |no evidence that |said |if |may |until |, |(|)|; | and was |but |Anna |\n| |?"
    "|It was not for | that |met |almost lost |far from |and never completed |the sale "
    "|unless |, provided that |subject to "
    "|不|没有|据|报道|如果|可能|除非|若|涉嫌|被|无|关系|待排除|，|《|》|但|的|说：“|”|。|北京|非|收购|失败|计划|差点"
)
PARTS = st.sampled_from(CUES.split("|"))
TEXTS = st.one_of(st.text(max_size=80), st.lists(PARTS, max_size=30).map("".join))
OFFSETS = st.integers(-5, 120)


@given(
    text=TEXTS,
    sentence=st.tuples(OFFSETS, OFFSETS),
    head=st.tuples(OFFSETS, OFFSETS),
    tail=st.tuples(OFFSETS, OFFSETS),
    language=st.sampled_from(["en", "en_GB", "zh", "zh-Hant", "de", None]),
)
def test_no_text_and_no_offsets_break_it(text, sentence, head, tail, language) -> None:
    status = assertion(text, sentence, head, tail, language)
    assert status.status in ASSERTIONS
    assert (status.cue is None) == (status.status == "asserted")
    if status.cue:
        assert max(0, sentence[0]) <= status.cue.start < status.cue.end <= min(len(text), sentence[1])


def document(text: str, sentences: list[tuple[int, int]], names: list[str], evidence: tuple[int, ...] = ()) -> Document:
    """One fact between the first two names; further names are further mentions of the second entity."""
    mentions = tuple(
        Mention(f"m{i}", text.index(name), text.index(name) + len(name), name) for i, name in enumerate(names)
    )
    entities = (Entity("e0", ("m0",)), Entity("e1", tuple(m.id for m in mentions[1:])))
    fact = Fact("e0", "r", "e1", "m0", "m1", evidence=tuple(Evidence(index) for index in evidence))
    return Document("d", text, None, tuple(Span(*s) for s in sentences), mentions, entities, (fact,))


def test_a_document_gets_statuses_and_cues_and_keeps_the_rest() -> None:
    doc = document("Messi never played for China.", [(0, 29)], ["Messi", "China"])
    done = with_assertions(doc)
    assert done.facts[0].assertion == "negated"
    start, end = done.facts[0].cue
    assert done.text[start:end] == "never"
    assert (done.text, done.mentions, done.entities) == (doc.text, doc.mentions, doc.entities)
    assert with_assertions(done) == done
    assert from_json(to_json(done)) == done


def test_a_fact_across_sentences_takes_the_strongest_status_of_its_evidence() -> None:
    text = "Messi is a footballer. He never played for China. China is large."
    sentences = [(0, 22), (23, 49), (50, 65)]
    assert with_assertions(document(text, sentences, ["Messi", "China"])).facts[0].assertion == "negated"
    assert with_assertions(document(text, sentences, ["Messi", "China"], (0,))).facts[0].assertion == "asserted"
    assert with_assertions(document(text, sentences, ["Messi", "China"], (0, 1))).facts[0].assertion == "negated"


def happening(text: str, *events: tuple[str | None, dict[str, str]], language: str | None = None) -> Document:
    """Events of a trigger and arguments, all named by their text; sentences end with 。 or with a line."""
    names = dict.fromkeys(x for trigger, roles in events for x in (trigger, *roles.values()) if x)
    mentions = tuple(Mention(x, text.index(x), text.index(x) + len(x), x) for x in names)
    made = tuple(Event(f"v{k}", "t", trigger, tuple(Argument(role, x) for role, x in roles.items()))
                 for k, (trigger, roles) in enumerate(events))  # fmt: skip
    return Document("d", text, language, tuple(Span(*s) for s in split_sentences(text)), mentions, events=made)


@pytest.mark.parametrize(
    ("text", "trigger", "status", "cue"),
    [
        ("蓝天科技没有裁员。", "裁员", "negated", "没有"),
        ("如果京海集团收购北方药业，将裁员300人。", "收购", "conditional", "如果"),
        ("如果京海集团收购北方药业，将裁员300人。", "裁员", "conditional", "如果"),
        ("据报道，东海银行昨日宣布裁员1200人。", "裁员", "reported", "据报道"),
        ("东海银行可能裁员。", "裁员", "hedged", "可能"),
        ("东海银行昨日裁员1200人。", "裁员", "asserted", ""),
        ("东海银行与西山银行的谈判破裂。", "破裂", "asserted", ""),  # a trigger is no cue for itself
        ("The merger of Orion and Vega was called off.", "merger", "negated", "was called off"),
        ("Orion did not acquire Vega.", "acquire", "negated", "did not"),
        ("Did Orion acquire Vega?", "acquire", "hedged", "?"),
        ("Orion acquired Vega, which does not sell ships.", "acquired", "asserted", ""),
    ],
)
def test_an_event_is_judged_by_its_trigger(text: str, trigger: str, status: str, cue: str) -> None:
    done = with_assertions(happening(text, (trigger, {})))
    assert (done.events[0].assertion, done.events[0].cue and text[slice(*done.events[0].cue)] or "") == (status, cue)
    assert with_assertions(done) == done
    assert from_json(to_json(done)) == done


def test_an_event_without_a_trigger_is_judged_where_most_of_its_arguments_stand() -> None:
    roles = {"who": "蓝天科技", "how many": "300人", "when": "昨日"}
    (event,) = with_assertions(happening("昨日没有下雨。蓝天科技可能裁员300人。", (None, roles))).events
    assert event.assertion == "hedged"
    (event,) = with_assertions(happening("昨日没有下雨。蓝天科技裁员300人。", (None, roles))).events
    assert event.assertion == "asserted"
    (event,) = with_assertions(
        happening("昨日没有下雨。蓝天科技裁员。", (None, {"who": "蓝天科技", "x": "下雨"}))
    ).events
    assert event.assertion == "negated"  # as many here as there: the denial decides


def test_events_of_events_and_of_other_languages_are_left_open() -> None:
    doc = happening("蓝天科技没有裁员。", ("裁员", {}))
    outer = Event("w", "t", None, (Argument("what", event="v0"),))
    assert [e.assertion for e in with_assertions(replace(doc, events=(*doc.events, outer))).events] == ["negated", None]
    assert with_assertions(replace(doc, language="de")).events[0].assertion is None
    kept = replace(doc, events=(replace(doc.events[0], assertion="reported"),))
    assert with_assertions(kept) == kept


def test_an_assertion_that_is_there_already_is_kept() -> None:
    doc = document("Messi never played for China.", [(0, 29)], ["Messi", "China"])
    marked = Document(**{**_fields(doc), "facts": (Fact("e0", "r", "e1", "m0", "m1", assertion="reported"),)})
    assert with_assertions(marked) == marked


def test_facts_without_mentions_and_other_languages_are_left_open() -> None:
    doc = document("Messi never played for China.", [(0, 29)], ["Messi", "China"])
    assert with_assertions(Document(**{**_fields(doc), "facts": (Fact("e0", "r", "e1"),)})).facts[0].assertion is None
    assert with_assertions(Document(**{**_fields(doc), "language": "de"})).facts[0].assertion is None


@pytest.mark.parametrize("tag", ["en", "EN", "en-US", "en_GB"])
def test_a_tag_of_english_is_english(tag: str) -> None:
    doc = document("Messi never played for China.", [(0, 29)], ["Messi", "China"])
    assert with_assertions(Document(**{**_fields(doc), "language": tag})).facts[0].assertion == "negated"
    assert judge("[Messi] never played for {中国队}.", tag) == ("negated", "never")


@pytest.mark.parametrize("tag", ["zh", "ZH", "zh-CN", "zh_TW", "zh-Hans"])
def test_a_tag_of_chinese_is_chinese(tag: str) -> None:
    doc = document("冯远没有加入京东集团。", [(0, 11)], ["冯远", "京东集团"])
    assert with_assertions(Document(**{**_fields(doc), "language": tag})).facts[0].assertion == "negated"


def test_a_document_without_sentences_is_read_as_one() -> None:
    doc = document("Messi never played for China.", [], ["Messi", "China"])
    assert with_assertions(doc).facts[0].assertion == "negated"


def test_cues_inside_any_mention_of_the_document_are_none() -> None:
    doc = document("Mary sang Let It Never End in Rome.", [(0, 35)], ["Mary", "Rome", "Let It Never End"])
    assert with_assertions(doc).facts[0].assertion == "asserted"


@pytest.mark.parametrize("other", ["没有", "没有加入京东集团", "冯远没有"])
def test_a_wrong_name_over_a_cue_does_not_hide_it(other: str) -> None:
    doc = document("冯远没有加入京东集团。", [(0, 11)], ["冯远", "京东集团", other])
    assert with_assertions(doc).facts[0].assertion == "negated"


def _fields(doc: Document) -> dict:
    return {name: getattr(doc, name) for name in doc.__dataclass_fields__}

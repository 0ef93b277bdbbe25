"""Assertion status: the minimal pairs, the conventions of the module one by one, and that no text breaks it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import ASSERTIONS, Document, Entity, Evidence, Fact, Mention, Span, from_json, to_json
from factpin.tasks.assertion import _LANGUAGES, PRECEDENCE, Status, assertion, with_assertions

HERE = Path(__file__).parent
LANGUAGES = ("en", "zh")
FLOOR = {  # a little below what benchmarks/assertion.py prints, (en, zh); nothing was mended after held3 was scored
    "dev": (0.99, 0.99),
    "held": (0.98, 0.99),
    "dev2": (0.99, 0.99),
    "held2": (0.98, 0.98),
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
    compiled = _LANGUAGES[language]
    assert compiled.cues.groups == len(compiled.rows)
    assert {status for status, _ in compiled.rows} <= {"", *ASSERTIONS}


def test_the_precedence_names_every_status() -> None:
    assert sorted(PRECEDENCE) == sorted(ASSERTIONS)


CUES = (
    "not |never |no evidence that |said |if |may |until |, |(|)|; | and was |but |Anna |\n| |?"
    "|It was not for | that |met |almost lost |far from |and never completed |the sale "
    "|不|没有|据|报道|如果|可能|，|《|》|但|的|说：“|”|。|北京|非|收购|失败|计划|差点"
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

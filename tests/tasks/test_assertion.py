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
FLOOR = {"dev": 0.97, "held": 0.80}  # below, something is broken; benchmarks/assertion.py prints the scores


def pairs(language: str) -> list[dict]:
    return [json.loads(line) for line in (HERE / f"minimal_pairs_{language}.jsonl").read_text("utf-8").splitlines()]


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
    assert len({case["pair"] for case in cases}) >= 120
    for case in cases:
        assert case["status"] in ASSERTIONS
        for start, end in (case["head"], case["tail"]):
            assert 0 <= start < end <= len(case["text"])
            assert case["text"][start:end].strip() == case["text"][start:end]
    for number in {case["pair"] for case in cases}:
        both = [case for case in cases if case["pair"] == number]
        assert len(both) == 2 and both[0]["status"] != both[1]["status"], f"pair {number} is not minimal"


@pytest.mark.parametrize("part", ["dev", "held"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_minimal_pairs_are_told_apart(language: str, part: str) -> None:
    cases = [case for case in pairs(language) if (case["pair"] % 2 == 1) == (part == "dev")]
    right = 0
    for case in cases:
        status = assertion(case["text"], (0, len(case["text"])), tuple(case["head"]), tuple(case["tail"]), language)
        right += status.status == case["status"]
    assert right / len(cases) >= FLOOR[part]


@pytest.mark.parametrize(
    ("marked", "status", "cue"),
    [
        ("[Messi] never played for {China}.", "negated", "never"),
        ("[Messi] didn’t play for {China}.", "negated", "didn’t"),
        ("According to the paper, [Orion] bought {Vega}.", "reported", "According to"),
        ("Perhaps [Orion] bought {Vega}.", "hedged", "Perhaps"),
        ("Unless they agree, [Orion] will buy {Vega}.", "conditional", "Unless"),
        ("Did [Orion] buy {Vega}?", "hedged", "?"),
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
    ],
)
def test_what_only_looks_like_a_cue_or_speaks_of_something_else_leaves_a_fact_asserted(marked: str) -> None:
    assert judge(marked) == ("asserted", "")


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
    "|不|没有|据|报道|如果|可能|，|《|》|但|的|说：“|”|。|北京"
)
PARTS = st.sampled_from(CUES.split("|"))
TEXTS = st.one_of(st.text(max_size=80), st.lists(PARTS, max_size=30).map("".join))
OFFSETS = st.integers(-5, 120)


@given(
    text=TEXTS,
    sentence=st.tuples(OFFSETS, OFFSETS),
    head=st.tuples(OFFSETS, OFFSETS),
    tail=st.tuples(OFFSETS, OFFSETS),
    language=st.sampled_from(["en", "zh", "de", None]),
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

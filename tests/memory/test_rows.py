from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Document, Entity, Event, Evidence, Fact, Mention, Qualifier, Span
from factpin.errors import BadDocument
from factpin.formats import FORMATS
from factpin.memory import PassageSettings, Source
from factpin.memory.dates import as_date, is_before
from factpin.memory.rows import Rows, document_of, rows_of
from tests.formats.strategies import documents
from tests.memory.world import Said, tell

SOURCE = Source("a.txt", "Title", "2020", "model")


def rows(doc: Document, source: Source = SOURCE, apart: dict[str, str] | None = None) -> Rows:
    return rows_of(doc, source, PassageSettings(), apart or {})


@given(documents(FORMATS["jsonl"].HOLDS))
def test_the_document_comes_back_and_rows_are_slices(doc: Document) -> None:
    found = rows(doc)
    assert document_of(found.document) == (doc, SOURCE)
    for mention in found.mentions:
        assert doc.text[mention.start : mention.end] == mention.surface
    entities = {row.id for row in found.entities}
    assert {m.entity for m in found.mentions} == entities
    assert all({fact.head, fact.tail} <= entities for fact in found.facts)
    assert {e.fact for e in found.evidence} == {fact.id for fact in found.facts}
    assert all(0 <= e.start < e.end <= len(doc.text) for e in found.evidence)
    assert len({e[:6] for e in found.evidence}) == len(found.evidence)


@given(documents(FORMATS["jsonl"].HOLDS), st.permutations(range(3)))
def test_ids_inside_a_document_make_no_difference(doc: Document, _: list[int]) -> None:
    renamed = replace(
        doc,
        mentions=tuple(replace(m, id=f"x{m.id}") for m in doc.mentions),
        entities=tuple(replace(e, id=f"y{e.id}", mentions=tuple(f"x{m}" for m in e.mentions)) for e in doc.entities),
        facts=tuple(
            replace(f, head=f"y{f.head}", tail=f"y{f.tail}", head_mention=f.head_mention and f"x{f.head_mention}",
                    tail_mention=f.tail_mention and f"x{f.tail_mention}",
                    qualifiers=tuple(replace(q, entity=f"y{q.entity}", mention=q.mention and f"x{q.mention}")
                                     for q in f.qualifiers))
            for f in doc.facts
        ),
        events=(),
    )  # fmt: skip
    old, new = rows(replace(doc, events=())), rows(renamed)
    assert old[1:] == new[1:]


def test_a_fact_is_pinned_to_its_sentence_and_mentions() -> None:
    doc = tell(Said("李娜", "出生地", "武汉", "{h}生于{t}。"), Said("姚明", "出生地", "上海", "{h}生于{t}。"))
    found = rows(doc)
    assert [doc.text[e.start : e.end] for e in found.evidence] in (
        ["李娜生于武汉。", "姚明生于上海。"], ["姚明生于上海。", "李娜生于武汉。"])  # fmt: skip
    for e in found.evidence:
        assert doc.text[e.head_start : e.head_end] in ("李娜", "姚明")
        assert doc.text[e.tail_start : e.tail_end] in ("武汉", "上海")


def far_apart(**more: Any) -> Document:
    text = "Ann is old. She lives far away. Rome is nice. Ann knows Rome."
    spans = [(0, 3), (32, 36), (46, 49), (56, 60)]
    mentions = tuple(Mention(f"m{i}", a, b, text[a:b], "X") for i, (a, b) in enumerate(spans))
    entities = (Entity("a", ("m0", "m2"), "PER", "Ann"), Entity("r", ("m1", "m3"), "LOC", "Rome"))
    sentences = (Span(0, 11), Span(12, 31), Span(32, 45), Span(46, 61))
    return Document("d", text, sentences=sentences, mentions=mentions, entities=entities,
                    facts=(Fact("a", "knows", "r", **more),))  # fmt: skip


def quotes(doc: Document) -> list[str]:
    return [doc.text[e.start : e.end] for e in rows(doc).evidence]


def test_where_a_fact_is_said() -> None:
    assert quotes(far_apart()) == ["Ann knows Rome."]  # the nearest pair
    assert quotes(far_apart(head_mention="m0", tail_mention="m1")) == ["Ann is old.", "Rome is nice."]
    assert quotes(far_apart(evidence=(Evidence(1), Evidence(3)))) == ["She lives far away.", "Ann knows Rome."]
    assert quotes(far_apart(evidence=(Evidence(1, 16, 21),))) == ["lives"]
    assert quotes(replace(far_apart(), sentences=())) == ["Ann knows Rome."]


def test_qualifiers_that_date_a_fact_become_its_dates() -> None:
    text = "Ann was CEO of Acme from 2010年5月 to 2015 in Rome."
    words = {"Ann": "PER", "Acme": "ORG", "2010年5月": "TIME", "2015": "TIME", "Rome": "LOC"}
    mentions = tuple(Mention(w, text.index(w), text.index(w) + len(w), w, t) for w, t in words.items())
    entities = tuple(Entity(w, (w,), t, w) for w, t in words.items())
    qualifiers = (Qualifier("valid_from", "2010年5月"), Qualifier("valid_to", "2015"), Qualifier("place", "Rome"))
    doc = Document("d", text, mentions=mentions, entities=entities,
                   facts=(Fact("Acme", "CEO", "Ann", qualifiers=qualifiers),))  # fmt: skip
    (fact,) = rows(doc).facts
    assert (fact.valid_from, fact.valid_to) == ("2010-05", "2015")
    assert fact.qualifiers.startswith('[["place", "')


def test_mentions_without_an_entity_are_names_and_triggers_are_not() -> None:
    mentions = (Mention("m0", 0, 2, "李娜", "PER"), Mention("m1", 2, 4, "结婚"))
    doc = Document("d", "李娜结婚。", mentions=mentions, events=(Event("v", "婚姻", "m1"),))
    assert [(e.key, e.type) for e in rows(doc).entities] == [("李娜", "PER")]


def test_a_pronoun_is_never_a_name() -> None:
    mentions = (Mention("m0", 0, 1, "她", "PER"), Mention("m1", 3, 5, "李娜", "PER"), Mention("m2", 6, 7, "她"))
    doc = Document("d", "她是。李娜 她", mentions=mentions, entities=(Entity("e", ("m0", "m1", "m2"), "PER"),))
    found = rows(doc)
    assert [e.key for e in found.entities] == ["李娜"]
    assert [m.surface_key for m in found.mentions] == ["", "李娜", ""]


def test_a_split_name_gets_a_key_of_its_own() -> None:
    doc = tell(Said("李娜", "出生地", "武汉"))
    plain, apart = rows(doc), rows(doc, apart={"李娜": " #x"})
    assert {e.key for e in apart.entities} == {"李娜 #x", "武汉"}
    assert plain.facts[0].id != apart.facts[0].id
    assert plain.document == apart.document


def test_the_digest_changes_with_everything_that_rows_depend_on() -> None:
    doc = tell(Said("李娜", "出生地", "武汉"))
    digests = {
        rows(doc).document.digest,
        rows(replace(doc, id="other")).document.digest,
        rows(replace(doc, meta={"k": 1})).document.digest,
        *(rows(doc, replace(SOURCE, **change)).document.digest
          for change in ({"title": "T"}, {"published": "2021"}, {"model": "m"})),
        rows_of(doc, SOURCE, PassageSettings(64), {}).document.digest,
    }  # fmt: skip
    assert len(digests) == 7


@pytest.mark.parametrize(
    "doc, field",
    [
        (Document("d", "a\x00b"), "text"),
        (Document("d", "ab", mentions=(Mention("m", 0, 1, "a", "x\x00"),)), "mentions[0].type"),
        (Document("d", "ab", mentions=(Mention("m", 0, 1, "a", "\ud800"),)), "mentions[0].type"),
        (Document("d", "ab", mentions=(Mention("m", 0, 1, "a"),), entities=(Entity("e", ("m",), "", "\x00"),)),
         "entities[0].name"),
        (Document("d", "ab", meta={"k": "\ud83d"}), "meta"),
        (Document("d", "ab", meta={"k": {1, 2}}), "meta"),
        (Document("d", "ab", mentions=(Mention("m", 0, 1, "a", "t" * 501),)), "mentions[0].type"),
    ],
)  # fmt: skip
def test_what_some_database_cannot_keep_is_refused_by_all(doc: Document, field: str) -> None:
    with pytest.raises(BadDocument) as caught:
        rows(doc)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "change", [{"uri": ""}, {"uri": "x" * 1001}, {"uri": "a\x00"}, {"title": "\ud800"}, {"published": "May"},
               {"published": "2020-13"}, {"published": "2020-02-30"}, {"published": "20"}],
)  # fmt: skip
def test_a_source_is_checked(change: dict[str, str]) -> None:
    with pytest.raises(BadDocument):
        Source(**{"uri": "a", **change})


@pytest.mark.parametrize(
    "text, date",
    [("2003", "2003"), ("2003-9-3", "2003-09-03"), ("2003年9月", "2003-09"), ("2003/09/03", "2003-09-03"),
     (" 2003年9月3日 ", "2003-09-03"), ("2003-13", ""), ("昨天", ""), ("12003", ""), ("", "")],
)  # fmt: skip
def test_dates_are_read(text: str, date: str) -> None:
    assert as_date(text) == date


def test_dates_are_compared_as_far_as_both_are_known() -> None:
    assert is_before("2019", "2020-05") and is_before("2020-04", "2020-05-01")
    assert not is_before("2020", "2020-05") and not is_before("2020-05", "2020")
    assert not is_before("", "2020") and not is_before("2020", "")

"""Several models over documents of several languages: who is asked, what is put together, what is counted."""

from dataclasses import replace
from pathlib import Path

import pytest

from factpin.documents import Coverage, Document, Entity, Fact, Mention, Span, Unread, from_json
from factpin.documents.gaps import gaps
from factpin.errors import BadInput
from factpin.extraction.coverage import coverage_notes
from factpin.extraction.extract import extract, hide_unlikely, hide_unsure, load_models, merge
from factpin.extraction.request import Request
from factpin.extraction.route import Route, reads
from factpin.extraction.summary import Cases, Summary
from factpin.models.extractor import Extractor
from factpin.models.settings import Settings
from tests.conftest import corpus
from tests.models.small_model import small_model, variant


@pytest.fixture(scope="module")
def folder(encoder_folder: Path) -> Path:
    return small_model(encoder_folder)


@pytest.fixture(scope="module")
def any_language(folder: Path) -> Extractor:
    return load_models([folder])[0]


@pytest.fixture(scope="module")
def routed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Extractor]:
    """A Chinese model that names places 地点, and an English one that names them town."""
    root = tmp_path_factory.mktemp("routed")
    return load_models([variant(folder, root / "zh", language="zh", labels=("人物", "地点")),
                        variant(folder, root / "en", language="en", labels=("man", "town"))])  # fmt: skip


def spans(doc: Document) -> list[tuple[int, int, str]]:
    return [(m.start, m.end, m.type) for m in doc.mentions]


def extract_all(documents: list[Document], models: list[Extractor]) -> tuple[list[Document], Summary]:
    """The documents, and the sum of their summaries."""
    parts: list[Summary] = []
    found = list(extract(documents, models, on_document=parts.append))
    assert len(parts) == len(documents)
    return found, sum(parts, Summary())


CHINESE, ENGLISH = Document("c", "王小明出生于北京。"), Document("e", "Anna Weber was born in Berlin.")


def test_a_model_is_asked_about_texts_of_its_language_only(routed: list[Extractor]) -> None:
    zh, en = extract([CHINESE, ENGLISH], routed)
    assert (zh.language, spans(zh)) == ("zh", [(0, 3, "人物"), (6, 8, "地点")])
    assert (en.language, spans(en)) == ("en", [(0, 10, "man"), (23, 29, "town")])


def test_a_language_that_the_document_states_is_believed(routed: list[Extractor]) -> None:
    for stated in ("en", "en-US", "EN_gb"):
        (doc,) = extract([replace(CHINESE, language=stated)], routed)
        assert {m.type for m in doc.mentions} <= {"man", "town"} and doc.language == stated


def test_a_text_that_no_model_reads_is_named_and_marked_unread(routed: list[Extractor]) -> None:
    text = "Столица России это Москва."
    (doc,), summary = extract_all([Document("r", text)], routed)
    assert doc.mentions == ()
    assert doc.coverage == Coverage((), (Unread(0, len(text), "no model reads the language 'unknown'"),))
    assert summary.without_model == Cases(1, ("r (unknown)",)) and summary.share_read == 0.0


def test_the_order_of_documents_is_kept_across_groups(routed: list[Extractor]) -> None:
    documents = [replace(doc, mentions=(), sentences=()) for doc in corpus(600, 11)]
    found = list(extract(documents, routed))
    assert [doc.id for doc in found] == [doc.id for doc in documents]
    assert [doc.text for doc in found] == [doc.text for doc in documents]


def test_two_models_that_find_the_same_give_it_once(any_language: Extractor) -> None:
    documents = [doc.text for doc in corpus(50, 12)]
    alone = any_language.extract(documents)
    twice = list(extract([Document(d.id, d.text) for d in alone], [any_language, any_language]))
    assert [spans(d) for d in twice] == [sorted(spans(d)) for d in alone]
    assert [d.coverage.read for d in twice if d.coverage] == [d.coverage.read for d in alone if d.coverage]


def test_chained_models_add_to_each_other(folder: Path, any_language: Extractor, tmp_path: Path) -> None:
    (towns,) = load_models([variant(folder, tmp_path / "towns", labels=("person", "town"))])
    (doc,) = extract([CHINESE], [any_language, towns])
    assert spans(doc) == [(0, 3, "person"), (6, 8, "place"), (6, 8, "town")]
    assert [m.id for m in doc.mentions] == ["m0", "m1", "m2"]


def test_of_two_equal_mentions_the_better_score_stays() -> None:
    text = "北京大学"

    def found(*mentions: tuple[int, int, str, float | None]) -> Document:
        made = tuple(Mention(f"x{i}", s, e, text[s:e], t, p) for i, (s, e, t, p) in enumerate(mentions))
        return Document("d", text, mentions=made)  # fmt: skip

    one, two = found((0, 4, "a", 0.5), (0, 2, "b", None)), found((0, 2, "b", 0.3), (0, 4, "a", 0.9), (0, 4, "b", 0.1))
    for pair in ([one, two], [two, one]):
        both = merge(Document("d", text), Route("zh", ()), {"spans": pair}, {"zh"})
        assert [(m.start, m.end, m.type, m.score) for m in both.mentions] == [
            (0, 2, "b", 0.3), (0, 4, "a", 0.9), (0, 4, "b", 0.1)]  # fmt: skip


def test_annotation_that_came_along_is_replaced_and_counted(any_language: Extractor) -> None:
    old = Mention("old", 3, 5, "出生", "verb")
    came = replace(CHINESE, mentions=(old,), entities=(Entity("e0", ("old",)),), meta={"kept": 1})
    (one, two), summary = extract_all([came, ENGLISH], [any_language])
    assert spans(one) == [(0, 3, "person"), (6, 8, "place")]
    assert one.entities == () and one.meta == {"kept": 1} and summary.replaced == 1


def test_fields_of_replaced_annotation_do_not_cling_to_the_new(any_language: Extractor) -> None:
    mention = {"start": 3, "end": 5, "text": "出生", "colour": "red"}
    came = from_json({"id": "c", "text": CHINESE.text, "mentions": [mention], "source": "x"})
    assert came.meta == {"source": "x", "extra": {"mentions[0]": {"colour": "red"}}}
    (doc,) = extract([came], [any_language])
    assert doc.meta == {"source": "x"}
    (doc,) = extract([replace(CHINESE, meta={"extra": {"mine": 1}})], [any_language])
    assert doc.meta == {"extra": {"mine": 1}}


def test_the_summary_counts_what_was_read_and_found(any_language: Extractor) -> None:
    documents = [CHINESE, ENGLISH, Document("blank", " \n\n "), Document("empty", "")]
    found, summary = extract_all(documents, [any_language])
    assert summary.documents == 4
    assert summary.characters == sum(len(doc.text) for doc in documents)
    assert summary.mentions == {"person": 2, "place": 2}
    assert summary.share_read == 1.0 and summary.without_model == Cases()
    assert summary.windows == sum(len(doc.coverage.read) for doc in found if doc.coverage)


def test_overflow_is_refused_by_choice(folder: Path) -> None:
    long = Document("long", "王小明，" * 60)
    assert next(extract([long], load_models([folder]))).mentions
    with pytest.raises(BadInput, match="long: .*--on-overflow window"):
        next(extract([long], load_models([folder], on_overflow="error")))


def test_gaps_hold_more_than_blanks() -> None:
    spans = [Span(0, 2), Span(1, 2), Span(4, 6)]
    assert list(gaps("ab  cd \n", spans, lambda _: "x")) == []
    assert list(gaps("abxycd!!", spans, lambda _: "x")) == [Unread(2, 4, "x"), Unread(6, 8, "x")]
    assert list(gaps("abcdef!", [Span(0, 6), Span(1, 2)], lambda _: "x")) == [Unread(6, 7, "x")]
    assert list(gaps("", [], lambda _: "x")) == []


def test_a_model_without_language_reads_all() -> None:
    assert reads("", None) and reads("", "ru") and reads("zh", "zh-Hant")
    assert not reads("zh", None) and not reads("zh", "en") and not reads("zh", "zha")


def test_a_part_in_a_language_that_no_model_reads_is_named_with_its_reason(routed: list[Extractor]) -> None:
    text = CHINESE.text + "Der Mann und die Frau sind nicht auf dem Weg."
    (doc,), summary = extract_all([Document("m", text)], routed)
    assert doc.coverage is not None
    assert doc.coverage.unread == (Unread(len(CHINESE.text), len(text), "no model reads the language 'de'"),)
    assert summary.partly_read == Cases(1, (f"m ({len(CHINESE.text)}–{len(text)}: no model reads the language 'de')",))


MIXED = "Anna was born. 王小明出生。"
READ = {"en": Span(0, 14), "zh": Span(15, 21)}


def relations(language: str) -> Settings:
    return Settings("document_relations", ("r",), "atlop", {}, "", language=language, name=f"{language}-relations")


def notes(main: str, spans: str, triples: str | None = None, *models: Settings) -> list[str]:
    """Of a text whose first sentence is English and whose second is Chinese, with finders of these languages."""
    languages = {"spans": spans, **({} if triples is None else {"triples": triples})}
    found = {task: [Document("d", MIXED, coverage=Coverage(tuple(READ[x] for x in own.split())))]
             for task, own in languages.items()}  # fmt: skip
    way = Route(main, ((0, 14, "en"), (15, 21, "zh")))
    doc = merge(Document("d", MIXED), way, found, {"en", "zh"})
    return coverage_notes(doc, way, found, models)


def test_where_models_of_one_task_did_not_look_is_noted() -> None:
    assert notes("en", "en zh", "en zh") == []
    assert notes("en", "en zh", "zh") == ["facts were not looked for in 0–15: no such model reads the language there"]


def test_facts_of_a_model_of_documents_count_as_looked_for() -> None:
    assert notes("en", "en zh", "zh", relations("en")) == []
    assert notes("en", "en zh", None, relations("")) == []
    assert notes("en", "en zh", None, relations("en")) == [
        "facts may be wrong or missing in 14–21: en-relations does not read zh"
    ]


def test_a_model_of_documents_in_another_language_is_said_not_to_have_read() -> None:
    told = "facts were not looked for in 0–15: en-relations does not read documents that are mainly zh"
    assert notes("zh", "en zh", "zh", relations("en")) == [told]
    assert notes("zh", "en zh", None, relations("en")) == [
        "facts were not looked for in 14–21: en-relations does not read zh", told.replace("0–15", "0–14")
    ]  # fmt: skip


def test_a_text_that_a_model_of_documents_does_not_read_at_all_is_noted_without_places() -> None:
    text, way = "王小明出生。", Route("zh", ((0, 6, "zh"),))
    found = {"spans": [Document("d", text, coverage=Coverage((Span(0, 6),)))]}
    doc = merge(Document("d", text), way, found, {"zh"})
    told = ["facts were not looked for: en-relations does not read zh"]
    assert coverage_notes(doc, way, found, [relations("en")]) == told
    assert coverage_notes(doc, Route("zh", ()), found, [relations("en")]) == told
    assert coverage_notes(doc, way, found, [relations("en"), relations("de")]) == [
        "facts were not looked for: en-relations and de-relations do not read zh"
    ]


def test_mentions_are_grouped_into_entities_on_request(any_language: Extractor) -> None:
    text = "王小明出生于北京。后来王小明离开了北京。"
    (plain,), (grouped,) = (extract([Document("d", text)], [any_language], coreference=x) for x in (False, True))
    assert plain.entities == () and plain.mentions == grouped.mentions
    assert {e.name: len(e.mentions) for e in grouped.entities} == {"王小明": 2, "北京": 2}


@pytest.mark.parametrize("min_score", [float("nan"), -0.1, 1.5])
def test_a_minimum_score_outside_0_to_1_is_refused(any_language: Extractor, min_score: float) -> None:
    with pytest.raises(BadInput, match="minimum score"):
        list(extract([CHINESE], [any_language], min_score))
    with pytest.raises(BadInput, match="minimum score"):
        Request(min_score=min_score)


def test_facts_that_score_less_than_asked_are_left_out_and_counted() -> None:
    text = "甲乙丙"
    mentions = tuple(Mention(f"m{i}", i, i + 1, text[i]) for i in range(3))
    entities = tuple(Entity(f"e{i}", (f"m{i}",)) for i in range(3))
    facts = (Fact("e0", "r", "e1", score=0.7), Fact("e0", "r", "e2", score=0.3), Fact("e1", "r", "e2"))
    doc = Document("d", text, mentions=mentions, entities=entities, facts=facts)
    assert hide_unlikely(doc, 0.0) == (doc, 0)
    found, hidden = hide_unlikely(doc, 0.5)
    assert hidden == 1
    assert found.facts == (facts[0], facts[2]) and found.coverage is not None
    assert found.coverage.notes == ("1 fact or event that is less likely than 0.5 is hidden",)


def test_mentions_that_the_model_is_not_sure_of_are_left_out_and_counted() -> None:
    text = "甲乙丙丁甲"
    scores = (0.9, 0.3, 0.4, 0.4, 0.4)
    mentions = tuple(Mention(f"m{i}", i, i + 1, text[i], score=score) for i, score in enumerate(scores))
    entities = (Entity("e0", ("m0", "m4")), *(Entity(f"e{i}", (f"m{i}",)) for i in range(1, 4)))
    fact = Fact("e0", "r", "e2", "m0", "m2", score=0.7)
    doc = Document("d", text, mentions=mentions, entities=entities, facts=(fact,))
    found, hidden = hide_unsure(doc, 0.6, 0.5)
    assert hidden == 2
    assert [m.text for m in found.mentions] == ["甲", "丙", "甲"]  # sure, of a fact, the same as a sure one
    assert [e.id for e in found.entities] == ["e0", "e2"] and found.facts == (fact,) and found.coverage is not None
    assert found.coverage.notes == ("2 mentions that are less likely than 0.6 are hidden",)
    assert hide_unsure(doc, 0.6, 0.8)[1] == 2
    assert hide_unsure(doc, 0.6, 0.35)[1] == 1
    assert hide_unsure(doc, 0.6, 0.0) == (doc, 0) == hide_unsure(doc, 0.0, 0.5)


def test_a_number_is_not_sure_because_the_same_number_is_sure_elsewhere() -> None:
    mentions = (Mention("m0", 0, 1, "2", "number", score=0.9), Mention("m1", 2, 3, "2", "number", score=0.2))
    doc = Document("d", "2 2", mentions=mentions, entities=(Entity("e0", ("m0", "m1"), "number"),))
    found, hidden = hide_unsure(doc, 0.6, 0.5)
    assert hidden == 1 and found.mentions == mentions[:1] and found.entities[0].mentions == ("m0",)


def test_a_note_tells_unlikely_mentions_from_those_that_are_none() -> None:
    text = "He left three months ago, in Rome."
    spans = (("three months", "date", 0.9), ("Rome", "location", 0.2))
    mentions = tuple(
        Mention(f"m{i}", text.index(name), text.index(name) + len(name), name, kind, score=score)
        for i, (name, kind, score) in enumerate(spans)
    )
    found, _ = hide_unsure(Document("d", text, language="en", mentions=mentions), 0.6, 0.5)
    assert found.coverage is not None and found.coverage.notes == (
        "1 mention that is less likely than 0.6 is hidden",
        "1 mention that is no name, date or number is hidden",
    )

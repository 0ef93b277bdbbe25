"""What every store must do. A class of tests/memory/test_stores.py inherits it for each entry of STORES."""

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from factpin.documents import Document
from factpin.errors import BadDocument, BadInput
from factpin.memory import Decision, Filter, PassageSettings, Pattern, Source, Store, TypedFact, open_store
from factpin.memory.terms import query_terms
from tests.memory.histories import SCHEMA, SMALL, Step, answers, histories, live
from tests.memory.world import ENCODER, Said, embed, fill, tell

SAME = [HealthCheck.differing_executors, HealthCheck.too_slow, HealthCheck.data_too_large]
STRANGE = ["\U00020bb7野家在東京。", "e\u0301 ﬁ １２ 😀👨\u200d👩", "'; DROP TABLE document; --",
           '" OR 1=1 NEAR(a b) * ^ {col}: -x', "\\N \\. \t\x01\x7f\u2028", "%s %% ? $1"]  # fmt: skip
BORN = Said("谷爱凌", "出生地", "旧金山", score=0.9)


class StoreConformance:
    """`fresh` opens a new, empty store; `kind` is its name in STORES."""

    kind = ""

    @pytest.fixture(scope="class")
    @classmethod
    def fresh(cls) -> Callable[[], Store]:
        raise NotImplementedError

    @pytest.fixture
    def store(self, fresh: Callable[[], Store]) -> Iterator[Store]:
        with fresh() as store:
            yield store

    # ---- the law --------------------------------------------------------------------------------------------------

    @settings(max_examples=30, suppress_health_check=SAME)
    @given(histories)
    def test_deleting_is_never_having_ingested(self, fresh: Callable[[], Store], history: list[Step]) -> None:
        law(fresh, history)

    @pytest.mark.verify
    @pytest.mark.timeout(3000)
    @settings(max_examples=300, suppress_health_check=SAME)
    @given(histories)
    def test_deleting_is_never_having_ingested_at_length(self, fresh: Callable[[], Store], history: list[Step]) -> None:
        law(fresh, history)

    # ---- documents ------------------------------------------------------------------------------------------------

    def test_put_says_what_it_did(self, store: Store) -> None:
        assert store.put(tell(BORN), Source("a")) == "added"
        assert store.put(tell(BORN), Source("a")) == "unchanged"
        assert store.put(tell(BORN), Source("a", published="2020")) == "replaced"
        assert store.document("a") == (tell(BORN), Source("a", published="2020"))

    def test_remove_says_what_went(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        store.put(tell(BORN, Said("谷爱凌", "住", "北京")), Source("b"))
        removed = store.remove("b")
        assert (removed.facts, removed.entities, removed.evidence, removed.mentions) == (1, 1, 2, 4)
        store.remove("a")
        assert {k: v for k, v in store.stats().items() if k in ("document", "entity", "fact", "passage")} == {
            "document": 0, "entity": 0, "fact": 0, "passage": 0}  # fmt: skip
        with pytest.raises(BadInput, match="there is no document 'a'"):
            store.remove("a")

    def test_several_changes_are_all_or_nothing(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        before = answers(store)
        with pytest.raises(RuntimeError), store.together():
            store.put(tell(Said("李娜", "住", "武汉")), Source("b"))
            store.remove("a")
            store.join("李娜", "武汉")
            fill(store)
            assert store.words(query_terms("李娜"), 5) and store.nearest(ENCODER, embed(["x"])[0], 5)
            raise RuntimeError
        assert_equal(before, answers(store))

    @pytest.mark.parametrize("text", STRANGE)
    def test_any_text_comes_back_and_is_found_by_its_words(self, store: Store, text: str) -> None:
        doc = Document(text, text, meta={"k": text})
        store.put(doc, Source(text, title=text))
        store.put(tell(BORN), Source("other"))
        assert store.document(text) == (doc, Source(text, title=text))
        (passage,) = store.passages_of(text)
        assert passage.text == text[passage.start : passage.end] and passage.title == text
        hits = store.words(query_terms(text), 10)
        assert [hit.passage for hit in hits] == ([passage.id] if query_terms(text) else [])
        assert store.check() == []

    def test_terms_are_never_a_query_language(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        for term in ('"', "*", "谷爱*", "NEAR(谷爱 爱凌)", "谷爱 OR 爱凌", "terms:谷爱", "%", "?", "'", "谷_", ""):
            assert store.words([term], 5) == []

    def test_one_character_is_found_wherever_it_stands(self, store: Store) -> None:
        for uri, text in (("a", "行李。"), ("b", "李娜来了"), ("c", "我姓李"), ("d", "桃李满天下"), ("e", "木子")):
            store.put(Document(uri, text), Source(uri))
        found = store.words(query_terms("李"), 10)
        assert {store.passages([hit.passage])[0].text for hit in found} == {
            "行李。",
            "李娜来了",
            "我姓李",
            "桃李满天下",
        }
        assert store.words(query_terms("子"), 10) and not store.words(query_terms("王"), 10)

    def test_what_cannot_be_kept_changes_nothing(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        before = store.stats()
        with pytest.raises(BadDocument, match="NUL"):
            store.put(Document("d", "a\x00b"), Source("b"))
        assert store.stats() == before

    # ---- search ---------------------------------------------------------------------------------------------------

    def test_better_passages_come_first(self, store: Store) -> None:
        texts = ["The cat sat.", "The cat sat on the cat mat.", "A dog barked at the moon.", "Nothing at all here."]
        for i, text in enumerate(texts):
            store.put(Document(str(i), text), Source(str(i)))
        hits = store.words(query_terms("cat mat"), 10)
        assert [store.passages([h.passage])[0].text for h in hits] == [texts[1], texts[0]]
        assert store.words(query_terms("cat mat"), 1) == hits[:1] and store.words(query_terms("cat"), 0) == []

    def test_a_title_counts_for_all_passages(self, store: Store) -> None:
        store.put(Document("d", "一句话。" * 30), Source("a", title="大熊猫"))
        assert len(store.words(query_terms("大熊猫"), 100)) == len(store.passages_of("a")) > 1

    def test_the_passages_hidden_by_a_date_weigh_nothing(self, store: Store) -> None:
        store.put(tell(BORN), Source("a", published="2020"))
        expected = store.words(query_terms("谷爱凌"), 10)
        for i in range(5):
            store.put(tell(BORN, extra=f"第{i}次。"), Source(f"later{i}", published="2023-01"))
        assert_equal(store.words(query_terms("谷爱凌"), 10, Filter("2022")), expected)
        assert len(store.words(query_terms("谷爱凌"), 10, Filter("2023"))) == 6

    def test_vectors_are_found_by_the_encoder_that_made_them(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        store.put(tell(Said("李娜", "住", "武汉")), Source("b"))
        with pytest.raises(BadInput, match="has no vectors yet"):
            store.nearest(ENCODER, embed(["x"])[0], 2)
        assert fill(store) == 2 and fill(store) == 0
        (passage,) = store.passages_of("b")
        best, other = store.nearest(ENCODER, embed([passage.text])[0], 5)
        assert best.passage == passage.id and other.score < best.score == pytest.approx(1.0, abs=1e-3)
        with pytest.raises(
            BadInput, match=r"made by hashes@0123456789ab-mean.*factpin index --db .* --vectors minilm-en"
        ):
            store.nearest("minilm-en@000000000000-mean", embed(["x"])[0], 2)
        with pytest.raises(BadInput, match="has 3 numbers; expected 8"):
            store.nearest(ENCODER, np.ones(3), 2)

    def test_vectors_of_another_width_or_name_are_refused(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        fill(store)
        (passage,) = store.passages_of("a")
        with pytest.raises(BadInput, match="differ in width"):
            store.put_vectors(ENCODER, {passage.id: np.ones(3)})
        with pytest.raises(BadInput, match="not a name of an encoder"):
            store.put_vectors("x'; --", {passage.id: np.ones(3)})
        with pytest.raises(BadInput, match="zero"):
            store.put_vectors("zeros", {passage.id: np.zeros(3)})
        store.put_vectors(ENCODER, {"0" * 24: np.ones(8)})
        assert store.encoders() == {ENCODER: 1}

    def test_a_changed_text_loses_its_vectors_and_an_unchanged_one_does_not(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        fill(store)
        store.split("a", "谷爱凌")
        store.put(tell(BORN), Source("a", published="2020"))
        assert store.encoders() == {ENCODER: 1}
        store.put(tell(replace(BORN, head="谷爱玲")), Source("a"))  # the same offsets, another text
        assert store.encoders() == {}

    def test_re_embedding(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        fill(store)
        fill(store, "other@1-cls")
        store.drop_vectors(ENCODER)
        assert store.encoders() == {"other@1-cls": 1}

    # ---- facts and decisions --------------------------------------------------------------------------------------

    def test_a_fact_has_the_pins_of_all_documents(self, store: Store) -> None:
        first, second = tell(BORN), tell(Said("姚明", "住", "上海"), BORN)
        store.put(first, Source("a", published="2020"))
        store.put(second, Source("b"))
        (fact,) = store.facts(Pattern(relations=("出生地",)))
        for pin, doc in zip(fact.pins, (first, second), strict=True):
            assert pin.quote == doc.text[pin.start : pin.end] == "谷爱凌的出生地是旧金山。"
            assert pin.head is not None and doc.text[slice(*pin.head)] == "谷爱凌"
            assert pin.tail is not None and doc.text[slice(*pin.tail)] == "旧金山"
        assert store.facts(Pattern(keys=(fact.id,))) == [fact]
        assert store.facts(Pattern(heads=(fact.head.id,), tails=(fact.tail.id,))) == [fact]
        assert store.facts(Pattern(heads=(fact.tail.id,))) == store.facts(Pattern(keys=())) == []

    def test_a_successor_and_a_denial(self, store: Store) -> None:
        store.set_schema(SCHEMA)
        old, new = Said("苹果", "CEO", "乔布斯"), Said("苹果", "CEO", "库克")
        store.put(tell(old), Source("a", published="2010"))
        store.put(tell(new, Said("谷爱凌", "出生地", "北京", assertion="negated")), Source("b", published="2012-03"))
        status = {f.fact.tail.name: f.status for f in store.judged()}
        assert status == {"乔布斯": "superseded", "库克": "active", "北京": "denied"}
        assert [f.status for f in store.judged(filter=Filter("2011"))] == ["active"]
        old_one = store.entity("乔布斯").id
        assert [f.status for f in store.judged(Pattern(tails=(old_one,)))] == ["superseded"]

    def test_a_conflict_has_both_citations(self, store: Store) -> None:
        store.set_schema(SCHEMA)
        store.put(tell(BORN), Source("a"))
        store.put(tell(Said("谷爱凌", "出生地", "北京")), Source("b"))
        (conflict,) = store.conflicts()
        assert {f.fact.pins[0].uri: f.fact.tail.name for f in conflict.facts} == {"a": "旧金山", "b": "北京"}

    def test_joined_entities_are_one_until_they_are_not(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        store.put(tell(replace(BORN, head="Eileen Gu", score=0.5)), Source("b"))
        before = answers(store)
        store.join("谷爱凌", "Eileen Gu", "me")
        (fact,) = store.facts()
        assert len(fact.pins) == 2 and store.entity("谷爱凌") == store.entity("Eileen Gu")
        assert store.judged()[0].confidence == pytest.approx(0.95)
        assert store.facts(Pattern(keys=(fact.id,))) == [fact]
        with pytest.raises(BadInput, match="already one entity"):
            store.join("谷爱凌", "Eileen Gu")
        store.unjoin("Eileen Gu", "谷爱凌")
        assert_equal(before, answers(store))
        with pytest.raises(BadInput, match="have not been joined"):
            store.unjoin("Eileen Gu", "谷爱凌")

    def test_entities_are_found_by_a_word_of_their_names(self, store: Store) -> None:
        store.put(tell(Said("Ann B_sh", "born in", "Rome")), Source("a"))
        store.put(tell(Said("Ann Cole", "born in", "Rome"), Said("Ann Cole", "born in", "Oslo")), Source("b"))
        store.put(tell(Said("埃隆·马斯克", "born in", "New Rome")), Source("c"))
        assert [c.entity.name for c in store.names_with("ann")] == ["Ann Cole", "Ann B_sh"]
        assert [c.prior for c in store.names_with("Ann")] == [2 / 3, 1 / 3]
        assert [c.entity.name for c in store.names_with("b_sh")] == ["Ann B_sh"]
        assert [c.entity.name for c in store.names_with("马斯克")] == ["埃隆·马斯克"]
        assert [c.entity.name for c in store.names_with("rome")] == ["New Rome"]  # Rome is a whole name
        for word in ("an", "b%sh", "%", "bxsh", "ann cole", "he"):
            assert store.names_with(word) == []

    def test_two_people_of_one_name_are_split(self, store: Store) -> None:
        store.set_schema(SCHEMA)
        store.put(tell(Said("李娜", "出生地", "武汉")), Source("tennis"))
        store.put(tell(Said("李娜", "出生地", "郑州")), Source("singer"))
        before = answers(store)
        assert len(store.conflicts()) == 1
        key = store.split("singer", "李娜")
        assert store.conflicts() == [] and len(store.candidates("李娜")) == 2
        assert [f.tail.name for f in store.facts(Pattern(heads=(key,)))] == ["郑州"]
        store.put(tell(Said("李娜", "出生地", "郑州"), Said("李娜", "住", "北京")), Source("singer"))
        assert len(store.facts(Pattern(heads=(key,)))) == 2  # the split outlives a change of the file
        store.put(tell(Said("李娜", "出生地", "郑州")), Source("singer"))
        for name in ("李娜", "姚明"):
            with pytest.raises(BadInput, match="already|no entity is called"):
                store.split("singer", name)
        store.unsplit("singer", "李娜")
        assert_equal(before, answers(store))
        with pytest.raises(BadInput, match="has not been split"):
            store.unsplit("singer", "李娜")

    def test_a_verdict_can_be_taken_back(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        (fact,) = store.facts()
        store.judge(fact.id, "rejected", "a slip")
        (rejected,) = store.judged()
        assert (rejected.status, rejected.confidence, rejected.fact.note) == ("rejected", 0.0, "a slip")
        store.put(tell(BORN, extra="又一句。"), Source("b"))
        assert store.judged()[0].status == "rejected"
        store.judge(fact.id, "")
        assert store.judged()[0].status == "active" and store.decisions() == []
        for id, verdict in ((fact.id, "maybe"), ("nothing", "rejected")):
            with pytest.raises(BadInput):
                store.judge(id, verdict)

    def test_a_fact_that_is_typed_is_a_document_like_any_other(self, store: Store) -> None:
        store.put(tell(Said("苹果", "总部", "加州", head_type="ORG")), Source("a"))
        typed = TypedFact("苹果", "CEO", "库克", tail_type="PER", valid_from="2011-08-24", valid_to="2026")
        uri = store.add(typed)
        assert store.add(typed) == uri
        (fact,) = store.facts(Pattern(relations=("CEO",)))
        assert fact.head == store.entity("苹果") and fact.tail.type == "PER"
        assert (fact.valid_from, fact.valid_to) == ("2011-08-24", "2026")
        assert fact.pins[0].quote == "苹果 CEO 库克 (2011-08-24 – 2026)" and fact.pins[0].uri == uri
        assert store.add(TypedFact("苹果", "CEO", "库克", valid_to="2026")) != uri
        store.remove(uri)
        for wrong in ({"head": " "}, {"valid_from": "soon"}):
            with pytest.raises(BadInput):
                TypedFact(**{"head": "a", "relation": "r", "tail": "b", **wrong})

    # ---- the whole ------------------------------------------------------------------------------------------------

    def test_compacting_changes_no_answer(self, store: Store) -> None:
        for name in ("a", "b"):
            store.put(tell(BORN, Said(f"谷{name}", "出生地", "北京"), id=name), Source(f"{name}.txt"))
        store.remove("a.txt")
        before = answers(store)
        store.compact()
        assert_equal(answers(store), before)
        assert store.check() == []

    def test_rebuilding_cuts_passages_anew(self, store: Store) -> None:
        store.put(Document("d", "一句话。" * 40), Source("a"))
        many = len(store.passages_of("a"))
        store.rebuild(PassageSettings(128))
        assert 1 < len(store.passages_of("a")) < many and store.check() == []
        assert store.stats()["passage_size"] == 128

    def test_check_sees_what_is_not_as_the_documents_say(self, store: Store) -> None:
        store.put(tell(BORN), Source("a"))
        assert store.check() == []
        with store.together():
            store.tables.put_decision(Decision("apart", store.tables.sources(Filter())[0].id, "谷爱凌", " #x"))
        assert any("is missing" in problem for problem in store.check())

    def test_documents_that_were_not_read_whole_are_named(self, store: Store) -> None:
        store.put(tell(BORN, partly=True), Source("a"))
        store.put(tell(BORN), Source("b"))
        assert store.partly_read() == ["a"] and store.stats()["partly_read"] == 1


def law(fresh: Callable[[], Store], history: list[Step]) -> None:
    """A store with a history answers as one that only saw what is left, and as one in memory does."""
    with fresh() as old, fresh() as new, open_store("memory:", passages=SMALL) as plain:
        old.set_schema(SCHEMA)
        left = live(old, history)
        assert {source.uri: (doc, source) for doc, source in old.documents()} == left
        assert old.check() == []
        found = answers(old)
        for other in (new, plain):
            other.set_schema(SCHEMA)
            for decision in old.decisions():
                other.tables.put_decision(decision)
            for uri in sorted(left, reverse=True):
                other.put(*left[uri])
            assert_equal(found, answers(other))


def assert_equal(a: Any, b: Any, where: str = "") -> None:
    """Equal values; numbers to 1e-9."""
    if isinstance(a, float) and isinstance(b, float):
        assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9), (where, a, b)
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_equal(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), (where, a, b)
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_equal(x, y, f"{where}[{i}]")
    elif is_dataclass(a):
        for field in fields(a):
            assert_equal(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    else:
        assert a == b, (where, a, b)

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from factpin.documents import Document, Span
from factpin.errors import BadInput
from factpin.memory import Filter, Hit, Source, Store, open_store
from factpin.memory.hops import linked, neighbours, paths
from factpin.memory.nouns import Floats
from factpin.memory.search import Search, Trial, by_ranks, by_scores, embed_passages, fit_weight
from tests.memory.world import ENCODER, Said, embed, tell

TEXTS = {
    "cat": "The cat sat on the mat.",
    "dog": "A dog barked at the moon.",
    "猫": "猫坐在垫子上。",
    "moon": "The moon.",
}


def meaning(texts: Sequence[str]) -> Floats:
    """A toy encoder: cats, dogs and the moon, in both languages."""
    signs = (("cat", "猫"), ("dog", "狗"), ("moon", "月"))
    return np.array([[0.1 + sum(sign in text.lower() for sign in group) for group in signs] for text in texts])


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("memory:") as store:
        for uri, text in TEXTS.items():
            store.put(Document(uri, text), Source(uri, published="2023" if uri == "moon" else "2020"))
        yield store


def found(store: Store, hits: Sequence[Hit]) -> list[str]:
    return [store.uris([p.document])[p.document] for p in store.passages([hit.passage for hit in hits])]


def test_words_need_nothing_but_the_store(store: Store) -> None:
    search = Search(store)
    assert found(store, search("Where is the MOON?", 2)) == ["moon", "dog"]
    assert found(store, search("猫在哪里", 5)) == ["猫"]
    with pytest.raises(BadInput, match="needs an encoder"):
        search("x", 5, by="vectors")


def test_vectors_cross_languages_and_both_merge(store: Store) -> None:
    assert embed_passages(store, "toy@1-mean", meaning, at_once=3) == 4
    assert embed_passages(store, "toy@1-mean", meaning) == 0
    search = Search(store, meaning, "toy@1-mean")
    assert set(found(store, search("哪只猫", 2, by="vectors"))) == {"cat", "猫"}
    assert found(store, search("哪只猫坐", 2)) == ["猫", "cat"]
    assert found(store, search("moon", 5, by="vectors", filter=Filter("2021")))[0] == "dog"
    weighed = Search(store, meaning, "toy@1-mean", weight=0.0)
    assert found(store, weighed("the moon", 1)) == found(store, Search(store)("the moon", 1))


def test_excluded_passages_are_replaced_by_the_next(store: Store) -> None:
    search = Search(store)
    first, second = search("the moon", 2)
    assert search("the moon", 1, exclude=frozenset([first.passage])) == [second]


def test_the_encoder_of_a_question_must_be_that_of_the_store(store: Store) -> None:
    embed_passages(store, ENCODER, embed)
    with pytest.raises(BadInput, match="made by hashes@0123456789ab-mean"):
        Search(store, meaning, "toy@1-mean")("cat", 2)


def test_a_title_is_embedded_with_its_passage() -> None:
    with open_store("memory:") as store:
        store.put(Document("d", "text"), Source("a", title="title"))
        seen: list[str] = []

        def spy(texts: Sequence[str]) -> Floats:
            seen.extend(texts)
            return meaning(texts)

        embed_passages(store, "toy", spy)
        assert seen == ["title\ntext"]


def test_ranks_are_merged() -> None:
    a, b = [Hit("x", 9.0), Hit("y", 8.0)], [Hit("y", 0.9), Hit("z", 0.1)]
    merged = by_ranks(a, b)
    assert [hit.passage for hit in merged] == ["y", "x", "z"]
    assert merged[0].score == pytest.approx(1 / 62 + 1 / 61)


def test_scores_are_merged_with_a_weight() -> None:
    words, vectors = [Hit("x", 9.0), Hit("y", 8.0)], [Hit("y", 0.9), Hit("z", 0.1)]
    assert [h.passage for h in by_scores(words, vectors, 0.0)][0] == "x"
    assert [h.passage for h in by_scores(words, vectors, 1.0)][0] == "y"
    assert by_scores([], [], 0.5) == []
    with pytest.raises(BadInput, match="from 0 .words only. to 1"):
        Search(open_store("memory:"), weight=1.5)


def test_a_weight_is_fitted_to_the_better_side() -> None:
    right, wrong = (Hit("gold", 2.0), Hit("a", 1.0)), (Hit("a", 2.0), Hit("gold", 1.0))
    assert fit_weight([Trial(right, wrong, frozenset(["gold"]))]) < 0.5
    assert fit_weight([Trial(wrong, right, frozenset(["gold"]))]) > 0.5
    assert fit_weight([Trial(right, right, frozenset(["gold"]))]) == 0.5
    with pytest.raises(BadInput):
        fit_weight([])


def test_titles_in_a_passage_lead_to_their_documents() -> None:
    with open_store("memory:") as store:
        store.put(
            Document("1", "Ed Wood was directed by Tim Burton, who likes the cat."), Source("1", "Ed Wood (film)")
        )
        store.put(Document("2", "Born in Burbank."), Source("2", "Tim Burton"))
        store.put(Document("3", "Somebody else."), Source("3", "Burton", published="2030"))
        (passage,) = store.passages_of("1")
        first, second = linked(store, passage)
        assert (first.title, second.title) == ("Tim Burton", "Burton")
        assert passage.text[slice(*first.span)] == "Tim Burton"
        assert found(store, [Hit(id, 1.0) for id in first.passages]) == ["2"]
        assert [m.title for m in linked(store, passage, Filter("2020"))] == ["Tim Burton"]


def test_chinese_titles_are_found_inside_a_sentence() -> None:
    with open_store("memory:") as store:
        store.put(Document("1", "\n《活着》是余华的小说。"), Source("1", "活着"))
        store.put(Document("2", "浙江人。"), Source("2", "余华"))
        (passage,) = store.passages_of("1")
        (mentioned,) = linked(store, passage)
        assert mentioned.span == Span(6, 8) and store.document("1")[0].text[6:8] == "余华"


def test_facts_lead_from_one_entity_to_another() -> None:
    with open_store("memory:") as store:
        film = Said("活着", "作者", "余华", head_type="WORK", tail_type="PER", score=0.5)
        store.put(tell(film, Said("余华", "出生地", "杭州"), Said("莫言", "出生地", "高密")), Source("a"))
        store.put(tell(Said("余华", "出生地", "杭州"), Said("西湖", "所在地", "杭州", head_type="LOC")), Source("b"))
        (chain,) = paths(store, "活着", "西湖")
        assert [f.fact.relation for f in chain] == ["作者", "出生地", "所在地"]
        assert paths(store, "活着", "西湖", longest=2) == paths(store, "活着", "莫言") == []
        assert len(neighbours(store, [store.entity("余华").id])) == 2
        (fact,) = [f for f in store.facts() if f.relation == "作者"]
        store.judge(fact.id, "rejected")
        assert paths(store, "活着", "西湖") == []

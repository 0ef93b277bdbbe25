"""Approximate search: with an index nearly the same is found, and the scores are exact."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from factpin.documents import Document
from factpin.memory import Filter, Source, Store, ann, open_store
from factpin.memory.nouns import Floats

ENCODER = "clusters@1-mean"


def filled(store: Store, count: int) -> list[Floats]:
    """Passages in clusters, and questions near them."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 16))
    with store.together():
        for i in range(count):
            store.put(Document(str(i), f"text {i}"), Source(str(i), published="2020"))
    ids = [p.id for p in store.without_vectors(ENCODER)]
    store.put_vectors(ENCODER, {id: centres[i % 40] + rng.normal(size=16) / 3 for i, id in enumerate(ids)})
    return [centres[i] + rng.normal(size=16) / 3 for i in range(20)]


def recall(exact: list[list[str]], found: list[list[str]]) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(a) for a, b in zip(exact, found, strict=True)]))


def test_faiss_takes_over_where_it_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss")
    with open_store(str(tmp_path / "kb.db"), create=True) as store:
        questions = filled(store, 600)
        exact = [store.nearest(ENCODER, q, 10) for q in questions]
        monkeypatch.setattr(ann, "FROM", 100)
        monkeypatch.setattr(ann, "PER_CELL", 10)
        found = [store.nearest(ENCODER, q, 10) for q in questions]
        scores = {hit.passage: hit.score for hits in exact for hit in hits}
        assert recall([[h.passage for h in a] for a in exact], [[h.passage for h in a] for a in found]) > 0.95
        assert all(hit.score == pytest.approx(scores[hit.passage], abs=1e-9)
                   for hits in found for hit in hits if hit.passage in scores)  # fmt: skip
        assert store.nearest(ENCODER, questions[0], 10, Filter("2019")) == []
        store.remove("0")
        assert len(store.nearest(ENCODER, questions[0], 600)) == 599


def test_few_vectors_or_questions_need_no_index() -> None:
    assert not ann.worthwhile(ann.FROM - 1, 10**6) and not ann.worthwhile(10**7, 1)


def test_postgres_builds_an_index_on_request(fresh_postgres: Callable[[], Store]) -> None:
    with fresh_postgres() as store:
        questions = filled(store, 200)
        exact = [store.nearest(ENCODER, q, 5) for q in questions]
        store.tables.connection.approximate(ENCODER)  # type: ignore[attr-defined]
        found = [store.nearest(ENCODER, q, 5) for q in questions]
        assert recall([[h.passage for h in a] for a in exact], [[h.passage for h in a] for a in found]) > 0.9

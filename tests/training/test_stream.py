"""A stream of batches: every text once a pass, the same batch by every way, texts of like length together."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.objectives import Text
from factpin.training.corpus import Packed, Place
from factpin.training.stream import Drawn, Stream, mixed

COUNT, SIZE = 37, 4


def packed(k: int, document: int | None = None) -> Packed:
    n = 2 + k % 9
    text = Text(np.full(n, k), np.arange(n), np.array([n]))
    return Packed(text, frozenset([k // 2 if document is None else document]), Place(k + 1))


def texts(place: Place) -> Iterator[Packed]:
    """Text k is document k here, so that reading can begin anywhere."""
    return (packed(k) for k in range(place.document, COUNT))


def stream(seed: int = 0, **more: object) -> Stream:
    return Stream(texts, size=SIZE, buffer=11, seed=seed, **more)  # type: ignore[arg-type]


def content(drawn: Drawn) -> list[tuple[int, int]]:
    """(text, its foreign one) of a batch."""
    return [(int(t.ids[0]), -1 if t.foreign is None else int(t.foreign.ids[0])) for t in drawn.texts]


def test_every_text_comes_once_a_pass_in_another_order() -> None:
    passes: dict[int, list[int]] = {}
    going = stream()
    for n in range(40):
        drawn = going.batch(n)
        assert drawn.batch == n
        passes.setdefault(drawn.epoch, []).extend(k for k, _ in content(drawn))
    assert len(passes) > 3
    for epoch in range(3):
        assert Counter(passes[epoch]) == Counter(range(COUNT))
    assert passes[0] != passes[1] != passes[2]


def test_a_batch_is_the_same_by_every_way(tmp_path: Path) -> None:
    going = stream(kept=tmp_path / "marks.jsonl", fingerprint="x")
    straight = [content(going.batch(n)) for n in range(50)]
    pieces = [stream().batch(n).pieces for n in (7, 23)]
    again = stream(kept=tmp_path / "marks.jsonl", fingerprint="x")
    assert again.marks.before(49).batch > 40  # it begins near the batch
    for n in (49, 23, 0, 48, 7):
        assert content(again.batch(n)) == straight[n]
        assert content(stream().batch(n)) == straight[n]
    assert [again.batch(n).pieces for n in (7, 23)] == pieces
    assert content(stream(seed=1).batch(0)) != straight[0]


def test_marks_of_another_run_and_a_line_cut_off_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    first = stream(kept=path, fingerprint="x")
    straight = [content(first.batch(n)) for n in range(30)]
    path.write_bytes(path.read_bytes()[:-20])
    assert [content(stream(kept=path, fingerprint="x").batch(n)) for n in (29, 12)] == [straight[29], straight[12]]
    assert len(stream(kept=path, fingerprint="y").marks.marks) == 1


def test_the_last_batches_are_at_hand_without_reading_on() -> None:
    going = stream()
    held = [going.batch(n, again=3) for n in range(5)]
    assert [going.batch(n, again=3) for n in (2, 3, 4)] == held[2:]
    assert content(going.batch(5)) == content(stream().batch(5))


def test_a_foreign_text_is_of_another_document_or_there_is_none() -> None:
    going = stream()
    pairs = [pair for n in range(20) for pair in content(going.batch(n))]
    assert all(other == -1 or other // 2 != k // 2 for k, other in pairs)
    assert sum(other >= 0 for _, other in pairs) > 0.9 * len(pairs)


def test_one_document_is_not_enough_where_another_is_needed() -> None:
    one = Stream(lambda _: iter([packed(k, 0) for k in range(9)]), size=2, buffer=4, seed=0, needs_foreign=True)
    with pytest.raises(BadInput, match="--divide"):
        one.batch(0)


def test_texts_that_do_not_fit_are_passed_over() -> None:
    going = stream(fits=lambda text: len(text) > 5)
    assert all(len(text) > 5 for n in range(20) for text in going.batch(n).texts)
    with pytest.raises(BadInput, match="No text of the corpus fits"):
        stream(fits=lambda text: False).batch(0)


def test_mixed_gives_every_index_once_and_like_lengths_together() -> None:
    lengths = np.random.default_rng(0).integers(1, 500, size=640).tolist()
    batches = mixed(lengths, 8, np.random.default_rng(1))
    assert sorted(i for batch in batches for i in batch) == list(range(640))
    assert {len(batch) for batch in batches} == {8}
    spread = np.mean([max(lengths[i] for i in b) - min(lengths[i] for i in b) for b in batches])
    assert spread < 0.15 * 500

"""A stream of batches: every text once a pass, the same batch by every way, texts of like length together."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.objectives import Text
from factpin.pretraining.corpus import PackedTexts, Place
from factpin.pretraining.stream import BatchStream, DrawnBatch, Mark, StreamCounts, mixed

COUNT, SIZE = 37, 4


def packed(k: int, document: int | None = None) -> PackedTexts:
    n = 2 + k % 9
    text = Text(np.full(n, k), np.arange(n), np.array([n]))
    return PackedTexts(text, frozenset([k // 2 if document is None else document]), Place(k + 1))


def texts(place: Place) -> Iterator[PackedTexts]:
    """Text k is document k here, so that reading can begin anywhere."""
    return (packed(k) for k in range(place.document, COUNT))


def stream(seed: int = 0, **more: object) -> BatchStream:
    return BatchStream(texts, size=SIZE, buffer=11, seed=seed, **more)  # type: ignore[arg-type]


def content(drawn: DrawnBatch) -> list[tuple[int, int]]:
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
    seen = [stream().batch(n).seen for n in (7, 23)]
    again = stream(kept=tmp_path / "marks.jsonl", fingerprint="x")
    assert again.marks.before(49).batch > 40  # it begins near the batch
    for n in (49, 23, 0, 48, 7):
        assert content(again.batch(n)) == straight[n]
        assert content(stream().batch(n)) == straight[n]
    assert [again.batch(n).seen for n in (7, 23)] == seen
    assert content(stream(seed=1).batch(0)) != straight[0]


def test_marks_of_another_run_and_a_line_cut_off_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    first = stream(kept=path, fingerprint="x")
    straight = [content(first.batch(n)) for n in range(30)]
    path.write_bytes(path.read_bytes()[:-20])
    assert [content(stream(kept=path, fingerprint="x").batch(n)) for n in (29, 12)] == [straight[29], straight[12]]
    assert stream(kept=path, fingerprint="y").marks.before(29) == Mark()


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


def test_a_text_whose_block_has_one_document_gets_a_text_of_the_reserve(tmp_path: Path) -> None:
    """Three books of 30 texts; a block holds 12. Two texts of each book are in the reserve, others in every pass."""
    books = [PackedTexts(packed(k).text, frozenset([k // 30]), Place(k + 1)) for k in range(90)]
    asked: list[int] = []

    def reserve(epoch: int) -> list[PackedTexts]:
        asked.append(epoch)
        return [books[30 * book + 2 * epoch + k] for book in range(3) for k in (0, 1)]

    def made(kept: Path | None = None) -> BatchStream:
        return BatchStream(lambda place: iter(books[place.document :]), size=4, buffer=12, seed=0, needs_foreign=True,
                      reserve=reserve, kept=kept, fingerprint="x")  # fmt: skip

    going = made(tmp_path / "marks.jsonl")
    straight = [going.batch(n) for n in range(48)]  # 8 blocks, 23 batches a pass
    assert asked == [0, 1, 2]
    for epoch in (0, 1):
        pairs = [pair for drawn in straight if drawn.epoch == epoch for pair in content(drawn)]
        assert sorted(k for k, _ in pairs) == list(range(90))
        assert all(other >= 0 and other // 30 != k // 30 for k, other in pairs)
        inside = {other for k, other in pairs if k < 24}  # blocks of the first book alone
        assert inside == {30 * book + 2 * epoch + k for book in (1, 2) for k in (0, 1)}
    assert straight[45].seen.alone == 0 and straight[45].seen.texts == 180
    again = made(tmp_path / "marks.jsonl")
    for n in (40, 3, 46):
        assert content(again.batch(n)) == content(made().batch(n)) == content(straight[n])


def test_what_is_passed_over_is_counted_by_reason_and_by_every_way(tmp_path: Path) -> None:
    """Of 37 texts some are too short; documents 0 to 8 have two texts each, and the last 19 texts are one."""

    def some(place: Place) -> Iterator[PackedTexts]:
        return (packed(k, min(k // 2, 9)) for k in range(place.document, COUNT))

    def made(kept: Path | None = None) -> BatchStream:
        return BatchStream(
            some, size=SIZE, buffer=8, seed=0, fits=lambda text: len(text) > 4, needs_foreign=True, kept=kept
        )

    going = made(tmp_path / "marks.jsonl")
    drawn = [going.batch(n) for n in range(30)]
    third = next(one for one in drawn if one.epoch == 2)  # its block has the texts 0 to 13, of which 6 are too short
    learned = [text for one in drawn if one.epoch < 2 for text in one.texts]
    short = 2 * sum(2 + k % 9 <= 4 for k in range(COUNT))
    alone = 2 * COUNT - short - len(learned)
    pieces = sum(map(len, (*learned, *third.texts)))
    assert third.seen == StreamCounts(len(learned) + len(third.texts), pieces, short + 6, alone)
    assert 0 < alone < 2 * 19  # texts of the last document, in whose blocks there is no other
    again = made(tmp_path / "marks.jsonl")
    assert [again.batch(n).seen for n in (29, 5, 17)] == [drawn[n].seen for n in (29, 5, 17)]


def test_one_document_is_not_enough_where_another_is_needed() -> None:
    one = BatchStream(lambda _: iter([packed(k, 0) for k in range(9)]), size=2, buffer=4, seed=0, needs_foreign=True)
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

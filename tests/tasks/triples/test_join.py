"""Joins of spans against a scan over the definition. Scores are whole numbers or halves, so every sum is exact."""

import numpy as np
import pytest

from factpin.arrays import Bools, Floats32
from factpin.tasks.spans.cells import SpanCells
from factpin.tasks.spans.scores import FactoredScores
from factpin.tasks.triples import join as module
from factpin.tasks.triples.join import WORD, SpanCandidates, join, pack

B, N = 3, 9
Row = tuple[int, int, int, float]


def halves(chance: np.random.Generator, *shape: int, level: float = 0.0) -> Floats32:
    return np.round(chance.standard_normal(shape) * 2).astype(np.float32) / 2 + np.float32(level)


def links(R: int, level: float, seed: int = 0) -> FactoredScores:
    """k is the identity, so that q . k is q itself."""
    chance = np.random.default_rng(100 * R + seed)
    k = np.broadcast_to(np.eye(N, dtype=np.float32), (B, N, N))
    q, u, v = halves(chance, B, N, N, level=level), halves(chance, B, R, N), halves(chance, B, R, N)
    return FactoredScores(q, k, u, v, np.ones((B, N), np.bool_))


def spans(count: int, classes: int = 1) -> SpanCandidates:
    """Random spans of two roles, in the order of the texts; the last text has none."""
    chance, rows = np.random.default_rng(count), set()
    for _ in range(count):
        i, j = sorted(chance.integers(0, N, 2).tolist())
        rows.add((int(chance.integers(0, B - 1)), int(chance.integers(0, 2 * classes)), i, j))
    table = np.array(sorted(rows), np.int64).reshape(-1, 4)
    cells = SpanCells(*table.T, halves(chance, len(rows), level=1.0))
    subject = cells.label < classes
    return SpanCandidates(cells, np.flatnonzero(subject), np.flatnonzero(~subject))


def scan(
    found: SpanCandidates, heads: FactoredScores, tails: FactoredScores, cut: Floats32, allowed: Bools | None = None
) -> list[Row]:
    """The definition over dense scores: (subject, object, relation, score) in order."""
    h, t = (x.q[:, None] + x.v[:, :, None, :] + x.u[:, :, :, None] for x in (heads, tails))  # (B, R, N, N)
    p, rows = found.cells, []
    for s in found.subjects.tolist():
        for o in found.objects.tolist():
            b = int(p.batch[s])
            if b != int(p.batch[o]):
                continue
            least = np.minimum(h[b, :, p.start[s], p.start[o]], t[b, :, p.end[s], p.end[o]])
            least = np.minimum(least, min(p.score[s], p.score[o]))  # (R,)
            for r in np.flatnonzero(least > cut).tolist():
                if allowed is None or allowed[r, p.label[s], p.label[o]]:
                    rows.append((s, o, r, float(least[r])))
    return rows


def joined(*arguments, **options) -> tuple[list[Row], list[bool]]:
    found, truncated = join(*arguments, **options)
    rows = list(zip(*(x.tolist() for x in (found.subject, found.object, found.relation, found.score)), strict=True))
    return rows, truncated.tolist()


@pytest.mark.parametrize("block", [10, 1000, 1 << 22])
@pytest.mark.parametrize("level", [-5.0, -2.0, 0.0])
@pytest.mark.parametrize("R", [1, 7, 70, 130])
def test_a_join_is_the_scan_over_all_pairs_and_relations(
    R: int, level: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    case = (spans(30), links(R, level), links(R, level, 1), np.zeros(R, np.float32))
    assert joined(*case) == (scan(*case), [False] * B)


@pytest.mark.parametrize("block", [10, 1 << 22])
def test_every_relation_has_its_own_cut(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    cut = np.linspace(-2.0, 1.0, 7, dtype=np.float32)
    case = (spans(60), links(7, 1.0), links(7, 1.0, 1), cut)
    rows, _ = joined(*case)
    assert rows == scan(*case)
    assert all(score > cut[r] for _, _, r, score in rows) and {r for _, _, r, _ in rows} == set(range(7))


@pytest.mark.parametrize("block", [10, 1 << 22])
def test_classes_that_a_relation_does_not_allow_are_never_joined(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    allowed = np.random.default_rng(0).random((7, 6, 6)) < 0.3
    case = (spans(40, classes=3), links(7, 0.0), links(7, 0.0, 1), np.zeros(7, np.float32))
    rows, _ = joined(*case, allowed=allowed)
    assert rows == scan(*case, allowed)
    assert 0 < len(rows) < len(scan(*case))


@pytest.mark.parametrize("block", [10, 1000, 1 << 22])
@pytest.mark.parametrize("most", [0, 1, 5, 60, 10_000])
def test_the_best_are_kept_of_equals_the_earlier_and_the_rest_is_said_to_be_missing(
    most: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    case = (spans(40), links(7, 2.0), links(7, 2.0, 1), np.zeros(7, np.float32))
    everything = scan(*case)
    batch = case[0].cells.batch
    expected, truncated = [], []
    for text in range(B):
        own = [row for row in everything if batch[row[0]] == text]
        best = set(sorted(range(len(own)), key=lambda i: (-own[i][3], i))[:most])
        expected += [row for i, row in enumerate(own) if i in best]
        truncated.append(len(own) > most)
    assert joined(*case, most=most) == (expected, truncated)
    assert truncated[:2] == [most < 10_000] * 2 and not truncated[2]


@pytest.mark.parametrize("R", [1, 63, 64, 65, 130])
def test_words_hold_one_bit_for_every_relation(R: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 4 * WORD)
    chance = np.random.default_rng(R)
    A, u, v = halves(chance, 5, 6), halves(chance, 5, R), halves(chance, 6, R)
    cut = halves(chance, R)
    words = pack(A, u, v, cut)
    assert words.shape == (5, 6, -(-R // WORD))
    bits = np.unpackbits(words.view(np.uint8), axis=2)[..., :R]
    assert np.array_equal(bits, A[..., None] + v + u[:, None] > cut)


def test_nothing_to_join_is_no_trouble() -> None:
    case = (links(7, 0.0), links(7, 0.0, 1), np.zeros(7, np.float32))
    found, truncated = join(spans(0), *case)
    assert len(found) == 0 and truncated.tolist() == [False] * B
    lonely = spans(12)
    assert joined(SpanCandidates(lonely.cells, lonely.subjects, lonely.objects[:0]), *case)[0] == []

"""Joins of spans, and the best of them, against a scan over the definition, to the last bit."""

import pytest
import torch
from factpin.layers.join import BITS, Candidates, Links, join, pack, span_hits
from torch import Tensor

from factpin.layers import join as module
from factpin.layers import places
from factpin.layers.places import Best, Places, best_of
from factpin.layers.pointer import cells_that_exist

B, N = 3, 9
Row = tuple[int, int, int, float]


def links(R: int, level: float) -> Links:
    return Links(torch.randn(B, N, N) + level, torch.randn(B, R, N), torch.randn(B, R, N))


def spans(count: int, classes: int = 1) -> Candidates:
    """Random spans of two roles, in the order of the texts; the last text has none."""
    rows = set()
    for _ in range(count):
        i, j = sorted(torch.randint(0, N, (2,)).tolist())
        rows.add((int(torch.randint(0, B - 1, ())), int(torch.randint(0, 2 * classes, ())), i, j))
    table = torch.tensor(sorted(rows), dtype=torch.int64).view(-1, 4)
    place = Places(*table.unbind(1))
    subject = place.label < classes
    score = torch.randn(len(rows)) + 1.0
    return Candidates(place, score, subject.nonzero().squeeze(1), (~subject).nonzero().squeeze(1))


def scan(found: Candidates, heads: Links, tails: Links, threshold: Tensor, allowed: Tensor | None = None) -> list[Row]:
    """The definition over dense scores: (subject, object, relation, score) in order."""
    h, t = (x.A[:, None] + x.v[:, :, None, :] + x.u[:, :, :, None] for x in (heads, tails))  # (B, R, N, N)
    p, rows = found.place, []
    for s in found.subjects.tolist():
        for o in found.objects.tolist():
            b = int(p.batch[s])
            if b != int(p.batch[o]):
                continue
            least = torch.minimum(h[b, :, p.start[s], p.start[o]], t[b, :, p.end[s], p.end[o]])
            least = least.clamp_max(found.score[s]).clamp_max(found.score[o])  # (R,)
            for r in (least > threshold).nonzero().squeeze(1).tolist():
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
    torch.manual_seed(R)
    case = (spans(30), links(R, level), links(R, level), torch.zeros(R))
    assert joined(*case) == (scan(*case), [False] * B)


@pytest.mark.parametrize("block", [10, 1 << 22])
def test_every_relation_has_its_own_threshold(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    torch.manual_seed(0)
    threshold = torch.linspace(-2.0, 1.0, 7)
    case = (spans(30), links(7, 0.0), links(7, 0.0), threshold)
    rows, _ = joined(*case)
    assert rows == scan(*case)
    assert all(score > threshold[r] for _, _, r, score in rows) and {r for _, _, r, _ in rows} == set(range(7))


@pytest.mark.parametrize("block", [10, 1 << 22])
def test_classes_that_a_relation_does_not_allow_are_never_joined(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    torch.manual_seed(0)
    allowed = torch.rand(7, 6, 6) < 0.3
    case = (spans(40, classes=3), links(7, 0.0), links(7, 0.0), torch.zeros(7))
    rows, _ = joined(*case, allowed=allowed)
    assert rows == scan(*case, allowed)
    assert 0 < len(rows) < len(scan(*case))


@pytest.mark.parametrize("block", [10, 1000, 1 << 22])
@pytest.mark.parametrize("most", [0, 1, 5, 60, 10_000])
def test_the_best_are_kept_and_the_rest_is_said_to_be_missing(
    most: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    torch.manual_seed(1)
    case = (spans(30), links(7, 0.0), links(7, 0.0), torch.zeros(7))
    everything = scan(*case)
    batch = case[0].place.batch
    expected, truncated = [], []
    for text in range(B):
        own = [row for row in everything if batch[row[0]] == text]
        best = set(sorted(range(len(own)), key=lambda i: (-own[i][3], i))[:most])
        expected += [row for i, row in enumerate(own) if i in best]
        truncated.append(len(own) > most)
    assert joined(*case, most=most) == (expected, truncated)
    assert truncated[:2] == [most < 10_000] * 2 and not truncated[2]


def test_of_equal_scores_the_earlier_stay_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(2)
    found = spans(30)
    found = Candidates(found.place, torch.full_like(found.score, 0.5), found.subjects, found.objects)  # ties everywhere
    case = (found, links(7, 1.0), links(7, 1.0), torch.zeros(7))
    whole = joined(*case, most=20)
    for block in (10, 300):
        monkeypatch.setattr(module, "BLOCK", block)
        assert joined(*case, most=20) == whole


@pytest.mark.parametrize("R", [1, 61, 62, 63, 124, 130])
def test_words_hold_one_bit_for_every_relation(R: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 4 * BITS)
    torch.manual_seed(0)
    A, u, v = torch.randn(5, 6), torch.randn(R, 5), torch.randn(R, 6)
    threshold = torch.randn(R)
    words = pack(Links(A, u, v), threshold)
    s = A + v[:, None, :] + u[:, :, None]  # (R, I, J)
    for r in range(R):
        assert torch.equal((words[..., r // BITS] >> (r % BITS)) & 1 == 1, s[r] > threshold[r])
    assert (words >= 0).all() and words.shape[2] == -(-R // BITS)


@pytest.mark.parametrize("rows", [1, 4, 128])
@pytest.mark.parametrize("max_span", [None, 1, 3])
@pytest.mark.parametrize("threshold", [-torch.inf, -1.0, 0.5, torch.inf])
def test_span_hits_are_those_of_the_dense_scan(
    rows: int, max_span: int | None, threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROWS", rows)
    torch.manual_seed(0)
    q, k = torch.randn(2, B, N, 3, 4, dtype=torch.float64).unbind()
    real = torch.rand(B, N) < 0.8
    s = torch.einsum("bicd,bjcd->bcij", q, k).masked_fill(~cells_that_exist(real, max_span)[:, None], -torch.inf)
    blocks = list(span_hits(q, k, real, max_span, threshold))
    found, score = Places.join([place for place, _ in blocks], q.device), torch.cat([score for _, score in blocks])
    at = (found.batch, found.label, found.start, found.end)
    assert sorted(torch.stack(at, 1).tolist()) == (s > threshold).nonzero().tolist()
    assert torch.allclose(score, s[at])


# ---- the best -------------------------------------------------------------------------------------------------------


def rows_of(best: Best) -> list[tuple]:
    p = best.place
    return list(zip(*(x.tolist() for x in (p.batch, p.label, p.start, p.end, best.score)), strict=True))


def plain(blocks: list[tuple[Places, Tensor]], group: Tensor, most: int | None) -> tuple[list[tuple], list[bool]]:
    """The definition: everything at once, sorted; (batch, label, start, end, score) in order, and who had more."""
    everything = [row for place, score in blocks for row in rows_of(Best(place, score, group))]
    kept, more = [], []
    for g in range(int(group.max()) + 1):
        own = sorted((row for row in everything if group[row[0], row[1]] == g), key=lambda row: (-row[4], row[:4]))
        kept += own[:most]
        more.append(most is not None and len(own) > most)
    return sorted(kept), more


@pytest.mark.parametrize("room", [0, 20, 1 << 17])
@pytest.mark.parametrize("most", [None, 0, 1, 7, 60, 10_000])
@pytest.mark.parametrize("step", [0.0, 0.5, 100.0])  # scores on a grid: none are equal, many, all
def test_the_best_of_blocks_are_the_best_of_all_and_of_equals_the_earlier(
    step: float, most: int | None, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "ROOM", room)
    monkeypatch.setattr(module, "ROWS", 2)
    torch.manual_seed(4)
    q, k = torch.randn(2, B, N, 4, 4, dtype=torch.float64).unbind()
    real = torch.ones(B, N, dtype=torch.bool)
    real[2, 3:] = False
    blocks = list(span_hits(q, k, real, None, -1.0))
    if step:
        blocks = [(place, (score / step).round() * step) for place, score in blocks]
    group = torch.arange(B)[:, None] * 2 + torch.tensor([0, 0, 1, 1])
    expected, more = plain(blocks, group, most)
    best = best_of(blocks, group, most)
    assert rows_of(best) == expected and best.more.tolist() == more
    assert any(more) == (most is not None and most < 10_000)
    turned = best_of(blocks[::-1], group, most)
    assert rows_of(turned) == expected and turned.more.tolist() == more


def test_no_more_is_held_than_the_best_and_some_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "ROOM", 50)
    torch.manual_seed(5)
    held, size = places._Held(torch.arange(2)[:, None], 10), 40
    for block in range(100):
        batch, zero = torch.arange(size) % 2, torch.zeros(size, dtype=torch.int64)
        held.add(Places(batch, zero, zero + block, torch.arange(size)), torch.randn(size) + block / 50)  # better, late
        assert sum(score.numel() for score in held.scores) <= 2 * 10 + 50
    assert held.best().more.all() and held.best().score.numel() == 2 * 10


def test_the_best_of_nothing_are_none() -> None:
    for blocks in ([], [(Places.join([], torch.device("cpu")), torch.zeros(0))]):
        best = best_of(blocks, torch.arange(3)[:, None], 5)
        assert best.score.shape == (0,) and best.more.tolist() == [False] * 3


def test_nothing_to_join_is_no_trouble() -> None:
    none = spans(0)
    found, truncated = join(none, links(7, 0.0), links(7, 0.0), torch.zeros(7))
    assert found.score.shape == (0,) and truncated.tolist() == [False] * B
    lonely = spans(12)
    lonely = Candidates(lonely.place, lonely.score, lonely.subjects, lonely.objects[:0])
    assert joined(lonely, links(7, 0.0), links(7, 0.0), torch.zeros(7))[0] == []

"""GPLinker: its loss against float64, its triples against a scan over all scores, and what it learns."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span, canonical
from factpin.errors import FactpinError
from factpin.heads import Cells
from factpin.heads.efficient_global_pointer import EfficientGlobalPointerScores
from factpin.heads.global_pointer import GlobalPointerScores
from factpin.heads.gplinker import GPLinker, GPLinkerConfig, GPLinkerScores, TripleCells, gold_of
from factpin.layers.multilabel_loss import multilabel_loss
from factpin.tasks.links import LinkCells, labels_of, split_links
from factpin.tasks.spans import blocks, cells
from factpin.tasks.triples import decode, join, targets
from tests.heads import finding
from tests.tokens.families import characters

WIDTH = 20
# (batch, class, first, last); class 0: subjects, class 1: objects
SPANS = [(0, 0, 1, 2), (0, 1, 4, 6), (0, 1, 9, 9), (0, 0, 5, 6), (0, 1, 1, 2), (1, 0, 5, 6), (1, 1, 1, 3)]
TRIPLES = [
    (0, 0, 1),  # one subject, two objects
    (0, 0, 2),
    (2, 0, 1),  # one pair, two relations
    (1, 3, 1),  # the subject lies inside the object
    (1, 3, 4),  # a span that is a subject elsewhere; the subject follows its object
    (2, 5, 6),
]


def build(**options) -> GPLinker:
    """A head whose scores lie around zero, without its low start."""
    torch.manual_seed(0)
    head = GPLinker(GPLinkerConfig(**{"relations": ("r0", "r1", "r2"), "head_size": 16} | options), WIDTH)
    for part in (head.heads, head.tails):
        torch.nn.init.zeros_(part.bias.bias)
    return head


def batch() -> tuple[Tensor, Tensor]:
    """Two texts; special tokens are at the ends, and one in the middle."""
    torch.manual_seed(1)
    real = torch.zeros(2, 12, dtype=torch.bool)
    real[0, 1:11] = real[1, 1:7] = True
    real[0, 8] = False
    return torch.randn(2, 12, WIDTH), real


def scores_of(spans: Tensor, heads: tuple[Tensor, ...], tails: tuple[Tensor, ...], real: Tensor) -> GPLinkerScores:
    """Scores that are exactly the given ones: spans (B, C, N, N), and (A (B, N, N), u, v) of both links.

    k is the identity, so q . k gives q itself without rounding.
    """
    B, C, N, _ = spans.shape
    one = torch.eye(N, dtype=spans.dtype)
    links = [EfficientGlobalPointerScores(A, one.expand(B, N, N), u, v, real) for A, u, v in (heads, tails)]
    k = one[:, None].expand(B, N, C, N)
    return GPLinkerScores(GlobalPointerScores(torch.stack((spans.transpose(1, 2), k), dim=3), real), *links)


def dense_labels(gold: TripleCells, shapes: tuple[Tensor, Tensor, Tensor]) -> list[Tensor]:
    spans, heads, tails = (torch.zeros(s.shape, dtype=torch.bool) for s in shapes)
    for b, c, i, j in gold.spans.rows():
        spans[b, c, i, j] = True
    for b, r, (_, si, sj), (_, oi, oj) in gold.rows():
        heads[b, r, si, oi] = tails[b, r, sj, oj] = True
    return [spans, heads, tails]


def dense_loss(s: tuple[Tensor, Tensor, Tensor], gold: TripleCells) -> Tensor:
    parts = zip(s, dense_labels(gold, s), strict=True)
    return sum(multilabel_loss(x.flatten(2), y.flatten(2)).sum(1).mean() for x, y in parts) / 3


def scan(head: GPLinker, scores: GPLinkerScores, threshold: float | Tensor) -> dict[tuple, float]:
    """The definition: every pair of cells of the dense scores."""
    spans, heads, tails = head.dense(scores)
    S, found = len(head.config.subjects), {}
    cut = torch.as_tensor(threshold).expand(heads.shape[1])
    cells = (spans > cut.amin()).nonzero().tolist()
    for b, c, i, j in cells:
        for other, d, x, y in cells:
            if b != other or c >= S or d < S:
                continue
            least = torch.minimum(heads[b, :, i, x], tails[b, :, j, y]).clamp_max(spans[b, c, i, j])
            least = least.clamp_max(spans[b, d, x, y])
            for r in (least > cut).nonzero().squeeze(1).tolist():
                found[b, r, (c, i, j), (d, x, y)] = float(least[r])
    return found


def as_dict(found: LinkCells) -> dict[tuple, float]:
    assert len(set(found.rows())) == len(found)
    return dict(zip(found.rows(), found.score.tolist(), strict=True))


# ---- loss -----------------------------------------------------------------------------------------------------------


def on_a_grid(scale: float, *, seed: int = 0) -> tuple[list[Tensor], Tensor, TripleCells]:
    """spans, A, u, v, A, u, v of that size whose sums are exact in float32, so that only the loss itself rounds."""
    torch.manual_seed(seed)
    B, C, R, N = 2, 2, 3, 12
    step = 2.0 ** (torch.tensor(scale).log2().floor() - 8)
    shapes = [(B, C, N, N), *[(B, N, N), (B, R, N), (B, R, N)] * 2]
    return [(torch.randn(s) * scale / step).round() * step for s in shapes], batch()[1], TripleCells.of(SPANS, TRIPLES)


def value_and_gradients(parts: list[Tensor], real: Tensor, gold: TripleCells, *, lean: bool) -> list[Tensor]:
    head = build()
    parts = [x.clone().requires_grad_() for x in parts]
    scores = scores_of(parts[0], tuple(parts[1:4]), tuple(parts[4:]), real)
    loss = head.loss(scores, gold) if lean else dense_loss(head.dense(scores), gold)
    loss.backward()
    return [loss.detach().double(), *(x.grad.double() for x in parts)]


def worst(parts: list[Tensor], real: Tensor, gold: TripleCells) -> float:
    """The largest relative error of value and gradients against the dense form in float64."""
    truth = value_and_gradients([x.double() for x in parts], real, gold, lean=False)
    ours = value_and_gradients(parts, real, gold, lean=True)
    assert all(torch.isfinite(x).all() for x in ours)
    return max(float((x - y).abs().max() / y.abs().max().clamp_min(1e-30)) for x, y in zip(ours, truth, strict=True))


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 20.0, 50.0, 1e3, 1e4])
def test_loss_and_gradients_are_those_of_the_dense_form_in_float64(scale: float) -> None:
    assert worst(*on_a_grid(scale)) < 1e-5


@pytest.mark.parametrize("lift", [10.0, 15.0, 20.0, 60.0, 1e3, 1e4])
def test_positives_that_dominate_cost_no_precision(lift: float) -> None:
    parts, real, gold = on_a_grid(1.0)
    for b, c, i, j in gold.spans.rows():
        parts[0][b, c, i, j] += lift
    for b, _, (_, si, sj), (_, oi, oj) in gold.rows():
        parts[1][b, si, oi] += lift
        parts[4][b, sj, oj] += lift
    assert worst(parts, real, gold) < 1e-5


def test_taking_positives_out_by_subtraction_would_be_wrong() -> None:
    """log(sum over all - sum over positives), as public code has it, forgets the negatives where a positive is high."""

    def by_subtraction(s: Tensor, y: Tensor) -> Tensor:
        zero = s.new_zeros(1)
        everything = torch.cat((s, zero)).logsumexp(0)
        share = (s[y].logsumexp(0) - everything).exp()
        return torch.cat((-s[y], zero)).logsumexp(0) + everything + (1 - share).clamp(1e-10, 1).log()

    torch.manual_seed(0)
    s = torch.randn(64) - 6.0
    y = torch.arange(64) == 5
    for score, wrong in ((0.0, False), (20.0, True), (60.0, True)):
        s[5] = score
        truth = multilabel_loss(s.double(), y)
        error = abs(float(by_subtraction(s, y) - truth))
        assert (error > 1.0) if wrong else (error < 1e-5)
        assert abs(float(multilabel_loss(s, y) - truth)) < 1e-6


def test_the_loss_is_the_sum_over_classes_and_reaches_every_weight_but_no_padding() -> None:
    head = build()
    H, real = batch()
    H.requires_grad_()
    scores = head(H, real)
    gold = TripleCells.of(SPANS, TRIPLES)
    loss = head.loss(scores, gold)
    assert loss.shape == () and loss.item() == pytest.approx(dense_loss(head.dense(scores), gold).item(), rel=1e-6)
    loss.backward()
    assert all(torch.isfinite(p.grad).all() and p.grad.abs().sum() > 0 for p in head.parameters())
    assert H.grad[~real].abs().sum() == 0 and (H.grad[real].abs().sum(1) > 0).all()


def test_gold_given_twice_counts_once() -> None:
    head = build()
    scores = head(*batch())
    once = head.loss(scores, TripleCells.of(SPANS, TRIPLES))
    assert torch.equal(once, head.loss(scores, TripleCells.of(SPANS + SPANS[:2], [*TRIPLES, TRIPLES[0], (0, 7, 8)])))


@pytest.mark.parametrize("triple", [(3, 0, 1), (-1, 0, 1), (0, 1, 0), (0, 0, 3), (0, 0, 6), (0, 7, 1), (0, 0, -1)])
def test_a_gold_triple_that_cannot_be_is_refused(triple: tuple[int, int, int]) -> None:
    head = build()
    with pytest.raises(FactpinError, match="gold triple 1 "):
        head.loss(head(*batch()), TripleCells.of(SPANS, [(0, 0, 1), triple]))


def test_a_gold_span_that_cannot_be_is_refused() -> None:
    head = build()
    with pytest.raises(FactpinError, match="gold cell"):
        head.loss(head(*batch()), TripleCells.of([(0, 0, 0, 2)], []))


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(FactpinError, match="one length"):
        TripleCells(Cells.of([]), torch.zeros(1), torch.zeros(2), torch.zeros(1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_vectors_are_scored_in_float32(dtype: torch.dtype) -> None:
    head = build()
    H, real = batch()
    H = (H * 30).to(dtype).requires_grad_()
    gold = TripleCells.of(SPANS, TRIPLES)
    exact = head.loss(head(H.detach().float(), real), gold).item()
    with torch.autocast("cpu", dtype=dtype):
        scores = head(H, real)
        loss = head.loss(scores, gold)
        found = finding.triples(head, scores)
        loss.backward()
    assert loss.dtype == torch.float32 and found.score.dtype == np.float32
    assert loss.item() == pytest.approx(exact, rel=0.05)
    assert as_dict(found) == as_dict(finding.triples(head, scores))  # autocast must not have entered the join
    assert torch.isfinite(H.grad).all()


@pytest.mark.parametrize("block", [1, 1 << 22])
def test_two_passes_are_apart_as_their_dense_scores_are(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factpin.heads.gplinker.BLOCK", block)
    head = build()
    H, real = batch()
    one, two = head(H, real), head(H + 0.3 * torch.randn_like(H), real)
    apart = head.apart(one, two)
    expected = 0.0
    for s, t in zip(head.dense(one), head.dense(two), strict=True):
        cell = torch.isfinite(s)
        s, t = s.masked_fill(~cell, 0), t.masked_fill(~cell, 0)
        expected += ((s.sigmoid() - t.sigmoid()) * (s - t)).sum((1, 2, 3)).mean() / 2 / 3
    assert torch.allclose(apart, expected, rtol=1e-5) and apart.item() > 0
    grads = [torch.autograd.grad(x, head.heads.qk.weight, retain_graph=True)[0] for x in (apart, expected)]
    assert torch.allclose(*grads, atol=1e-6)
    assert head.apart(one, one).item() == 0.0


# ---- triples --------------------------------------------------------------------------------------------------------


def random_scores(R: int, level: float, real: Tensor, *, classes: int = 2) -> GPLinkerScores:
    """Spans and links around `level`, with some planted high ones."""
    B, N = real.shape
    spans = torch.randn(B, classes, N, N) * 2 + level
    links = [(torch.randn(B, N, N) * 2 + level, torch.randn(B, R, N), torch.randn(B, R, N)) for _ in range(2)]
    for b in range(B):
        text = real[b].nonzero().squeeze(1)
        for _ in range(4):
            (i, j), (x, y) = (sorted(text[torch.randint(0, len(text), (2,))].tolist()) for _ in range(2))
            r = int(torch.randint(0, R, ()))
            spans[b, 0, i, j] = spans[b, classes - 1, x, y] = 6.0
            links[0][0][b, i, x] = links[1][0][b, j, y] = 5.0
            links[0][1][b, r, i] = links[1][1][b, r, j] = 3.0
    return scores_of(spans, *links, real)


@pytest.mark.parametrize("block", [10, 1000, 1 << 22])
@pytest.mark.parametrize("level", [-12.0, 0.0])
@pytest.mark.parametrize("R", [1, 7, 70, 130])
def test_triples_are_those_of_a_scan_over_all_scores(
    R: int, level: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join, "BLOCK", block)
    torch.manual_seed(R)
    head = build(relations=tuple(f"r{r}" for r in range(R)))
    scores = random_scores(R, level, batch()[1][:, :8] if level == 0 else batch()[1])
    found = finding.triples(head, scores, max_spans=None, max_triples=None)
    assert as_dict(found) == scan(head, scores, 0.0) and len(found) > 0
    assert not found.truncated.any()


def test_a_triple_stands_above_the_threshold_of_its_relation() -> None:
    torch.manual_seed(0)
    head = build()
    scores = random_scores(3, -2.0, batch()[1])
    table = torch.tensor([-1.0, 0.5, 2.0])
    for threshold in (-1.0, 2.0, table):
        found = finding.triples(head, scores, threshold, max_spans=None, max_triples=None)
        assert as_dict(found) == scan(head, scores, threshold) and len(found) > 0
    with pytest.raises(FactpinError, match="each of the 3"):
        finding.triples(head, scores, torch.zeros(2))


def test_padding_order_and_size_of_a_batch_change_nothing() -> None:
    head = build()
    H, real = batch()
    wide = torch.full((2, 30, WIDTH), torch.nan)  # nothing may even be read
    wide[:, :12] = H.masked_fill(~real[..., None], torch.nan)
    more = torch.zeros(2, 30, dtype=torch.bool)
    more[:, :12] = real
    gold = TripleCells.of(SPANS, TRIPLES)
    assert torch.allclose(head.loss(head(H, real), gold), head.loss(head(wide, more), gold), rtol=1e-5)
    together = as_dict(finding.triples(head, head(H, real)))
    padded = as_dict(finding.triples(head, head(wide, more)))
    turned = {
        (1 - b, *rest): s for (b, *rest), s in as_dict(finding.triples(head, head(H.flip(0), real.flip(0)))).items()
    }
    alone = {}
    for b in (0, 1):
        found = as_dict(finding.triples(head, head(H[b : b + 1], real[b : b + 1])))
        alone |= {(b, *rest): s for (_, *rest), s in found.items()}
    assert len(together) > 10 and {b for b, *_ in together} == {0, 1}
    for other in (padded, turned, alone):
        assert other.keys() == together.keys()
        assert all(other[key] == pytest.approx(score, abs=1e-4) for key, score in together.items())


def test_an_untrained_model_stays_within_its_budget_and_says_so() -> None:
    head = build(relations=tuple(f"r{r}" for r in range(50)))
    torch.manual_seed(0)
    H, real = torch.randn(2, 96, WIDTH), torch.ones(2, 96, dtype=torch.bool)
    real[1, 3:] = False  # a short text has room enough
    scores = head(H, real)
    assert len(finding.spans(head.spans, scores.spans)) > 2000
    found = finding.triples(head, scores, max_spans=40, max_triples=500)
    assert found.truncated.tolist() == [True, False]
    text = found.spans.batch[found.subject]
    assert int((text == 0).sum()) == 500 and int((text == 1).sum()) < 500
    for role in (0, 1):
        assert int(((found.spans.batch == 0) & (found.spans.label == role)).sum()) == 40
    everything = finding.triples(head, scores, max_spans=40, max_triples=None)
    own = everything.score[everything.spans.batch[everything.subject] == 0]
    assert len(own) > 500 and found.truncated[0]
    assert np.array_equal(np.sort(found.score[text == 0]), np.sort(own)[-500:])


def test_the_best_spans_of_each_role_and_text_are_kept() -> None:
    head = build()
    scores = head(*batch())
    everything = finding.spans(head.spans, scores.spans, -torch.inf)
    found = finding.triples(head, scores, -torch.inf, max_spans=3, max_triples=None)
    for b in (0, 1):
        for role in (0, 1):
            own = everything.take((everything.batch == b) & (everything.label == role))
            best = own.take(np.argsort(-own.score)[:3]).sorted()
            kept = found.spans.take((found.spans.batch == b) & (found.spans.label == role))
            assert kept.rows() == best.rows()
    assert found.truncated.all()
    assert len(found) == 2 * 3 * 3 * 3  # above -inf everything is found


@pytest.mark.parametrize("room", [0, 40, 1 << 17])
def test_of_equal_spans_the_earlier_are_kept_however_many_are_held_at_once(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "ROOM", room)
    monkeypatch.setattr(blocks, "ROWS", 2)
    torch.manual_seed(6)
    head = build(subjects=("a", "b"), objects=("a", "b", "c"))
    scores = scores_of(torch.randn(2, 5, 12, 12).round() * 2, *[(torch.ones(2, 12, 12), torch.zeros(2, 3, 12),
                       torch.zeros(2, 3, 12))] * 2, batch()[1])  # fmt: skip
    everything = finding.spans(head.spans, scores.spans, -torch.inf)
    kept, role = [], (everything.label >= 2).tolist()
    for b in (0, 1):
        for side in (False, True):
            own = [i for i in range(len(everything)) if everything.batch[i] == b and role[i] == side]
            kept += sorted(own, key=lambda i: (-float(everything.score[i]), i))[:15]
    found = finding.triples(head, scores, -3.0, span_cut=-torch.inf, max_spans=15)
    assert found.spans.rows() == everything.take(np.array(sorted(kept))).rows()
    assert found.truncated.all()


@pytest.mark.parametrize("lowest", [-3.5, 0.0, 3.0])
def test_a_span_without_a_triple_passes_a_threshold_of_its_own(lowest: float) -> None:
    torch.manual_seed(0)
    head = build()
    scores = random_scores(3, -6.0, batch()[1])
    scores.spans.q.add_(3.0)  # k is the identity: more spans than links
    threshold = torch.tensor([lowest, 4.0, 4.0])
    everything = finding.spans(head.spans, scores.spans, -torch.inf)
    score = dict(zip(everything.rows(), everything.score.tolist(), strict=True))
    above = {row for row in score if score[row] > 0}
    found = finding.triples(head, scores, threshold, max_spans=None, max_triples=None)
    linked = {(b, *span) for b, _, *spans in found.rows() for span in spans}
    assert as_dict(found) == scan(head, scores, threshold) and linked
    assert found.spans.rows() == sorted(above | linked)
    if lowest < 0:
        assert linked - above and {row for row in score if score[row] > lowest} - above - linked
    else:
        assert linked < above
    none = finding.triples(head, scores, threshold, span_cut=torch.inf, max_spans=None, max_triples=None)
    assert as_dict(none) == as_dict(found) and none.spans.rows() == sorted(linked)


def test_texts_without_tokens_or_triples_are_no_trouble() -> None:
    head = build()
    H, real = batch()
    real[1] = False
    H.requires_grad_()
    loss = head.loss(head(H, real), TripleCells.of([], []))
    loss.backward()
    assert torch.isfinite(loss) and H.grad[1].abs().sum() == 0
    assert all(b == 0 for b, *_ in finding.triples(head, head(H, real)).rows())
    nothing = head(H, torch.zeros_like(real))
    assert head.loss(nothing, TripleCells.of([], [])).item() == 0.0
    assert len(finding.triples(head, nothing, -torch.inf)) == 0


# ---- learning -------------------------------------------------------------------------------------------------------


def learn(head: GPLinker, H: Tensor, real: Tensor, gold: TripleCells, steps: int = 150) -> list[float]:
    optimiser = torch.optim.Adam(head.parameters(), lr=0.03)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = head.loss(head(H, real), gold)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("rope", [False, True])
def test_triples_that_overlap_in_every_way_are_learned(rope: bool) -> None:
    head = build(rope=rope)
    H, real = batch()
    gold = TripleCells.of(SPANS, TRIPLES)
    losses = learn(head, H, real, gold)
    found = finding.triples(head, head(H, real))
    assert losses[-1] < losses[0] / 10
    assert sorted(found.rows()) == sorted(gold.rows())
    assert sorted(found.spans.rows()) == sorted(gold.spans.rows())
    assert (found.score > 0).all() and not found.truncated.any()


def test_typed_spans_are_learned_and_the_schema_may_forbid_pairs_of_types() -> None:
    head = build(subjects=("person", "work"), objects=("place", "person", "date"))
    H, real = batch()
    spans = [(0, 0, 1, 2), (0, 2, 4, 6), (0, 4, 9, 9), (1, 1, 5, 6), (1, 3, 1, 3)]
    gold = TripleCells.of(spans, [(0, 0, 1), (1, 0, 2), (2, 3, 4)])
    learn(head, H, real, gold)
    scores = head(H, real)
    assert sorted(finding.triples(head, scores).rows()) == sorted(gold.rows())
    allowed = np.ones((3, 5, 5), np.bool_)
    allowed[1, 0, 4] = False  # relation 1 may not join a person to a date
    rows = finding.triples(head, scores, allowed=allowed).rows()
    assert sorted(rows) == sorted(row for row in gold.rows() if row[1] != 1)


def sentence(text: str, facts: list[tuple[str, str, str]]) -> Document:
    """A sentence whose facts name their arguments; each occurs once."""
    names = sorted({name for head, _, tail in facts for name in (head, tail)}, key=text.index)
    mentions = [Mention(f"m{i}", text.index(x), text.index(x) + len(x), x) for i, x in enumerate(names)]
    of = {x: i for i, x in enumerate(names)}
    told = [Fact(f"e{of[h]}", r, f"e{of[t]}", f"m{of[h]}", f"m{of[t]}") for h, r, t in facts]
    entities = [Entity(f"e{i}", (f"m{i}",), name=x) for i, x in enumerate(names)]
    return Document(text, text, None, (Span(0, len(text)),), tuple(mentions), tuple(entities), tuple(told))


def test_a_few_sentences_are_learned_and_decoded_to_what_was_annotated() -> None:
    docs = [
        sentence("谷爱凌出生于美国", [("谷爱凌", "出生地", "美国")]),
        sentence("北京大学在北京", [("北京大学", "所在地", "北京"), ("北京大学", "出生地", "北京大学在北京")]),
        sentence(
            "美国的谷爱凌和李雷", [("谷爱凌", "国籍", "美国"), ("李雷", "国籍", "美国"), ("谷爱凌", "出生地", "美国")]
        ),
        sentence("没有什么", []),
    ]
    labels, pieces = labels_of(docs, typed=False), [characters().encode(doc.text) for doc in docs]
    gold = gold_of([targets(doc, p, labels) for doc, p in zip(docs, pieces, strict=True)], shift=1)
    real = torch.zeros(4, 12, dtype=torch.bool)
    for row, p in enumerate(pieces):
        real[row, 1 : 1 + len(p)] = True
    torch.manual_seed(2)
    H = torch.randn(4, 12, WIDTH)
    head = build(relations=labels.names)
    losses = learn(head, H, real, gold)
    assert losses[-1] < losses[0] / 10
    parts = split_links(finding.triples(head, head(H, real)), 4, shift=1)
    for doc, p, found in zip(docs, pieces, parts, strict=True):
        decoded = decode(found, doc, p, labels)
        mentions = tuple(replace(m, score=None) for m in decoded.mentions)
        facts = tuple(replace(f, score=None, evidence=()) for f in decoded.facts)
        assert all(f.score > 0.5 and f.evidence == (Evidence(0),) for f in decoded.facts)
        assert canonical(replace(doc, mentions=mentions, entities=decoded.entities, facts=facts)) == canonical(doc)


def test_weights_survive_saving_and_loading() -> None:
    head, other = build(), build()
    for p in other.parameters():
        torch.nn.init.normal_(p)
    other.load_state_dict(head.state_dict())
    assert as_dict(finding.triples(head, head(*batch()))) == as_dict(finding.triples(other, other(*batch())))


def test_a_relation_costs_two_terms_at_each_end() -> None:
    def count(R: int) -> int:
        return sum(p.numel() for p in build(relations=tuple(map(str, range(R)))).parameters())

    assert count(4) - count(3) == 2 * 2 * (2 * 16 + 1)

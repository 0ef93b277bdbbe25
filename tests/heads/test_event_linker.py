"""EventLinker: its loss against the dense form, its links against a scan over all scores, and what it learns."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor

from factpin.encoders import Encoder, small_encoder
from factpin.errors import FactpinError
from factpin.heads.efficient_global_pointer import EfficientGlobalPointerScores
from factpin.heads.event_linker import EventLinker, EventLinkerConfig, EventLinkerScores, gold_of
from factpin.heads.gplinker import TripleCells
from factpin.layers.multilabel_loss import multilabel_loss
from factpin.scoring import Pair, events
from factpin.scoring.counts import total
from factpin.tasks.events import decode, labels_of, targets
from factpin.tasks.links import LinkCells, split_links
from factpin.tasks.spans import cells as cells_module
from factpin.tokens import Pieces
from factpin.tokens.small import build_tokenizer
from tests.events_corpus import corpus
from tests.heads import finding
from tests.tokens.families import characters

WIDTH = 20
CONFIG = EventLinkerConfig(("T", "U"), (("T", "r"), ("T", "s"), ("U", "r"), ("V", "r")), head_size=16)
# (batch, class, first, last); classes: the triggers of T and U, T.r, T.s, U.r, V.r
SPANS = [
    (0, 0, 1, 2), (0, 2, 4, 6), (0, 3, 9, 9), (0, 2, 4, 4), (0, 3, 4, 6),
    (0, 1, 1, 2), (0, 4, 4, 6), (1, 0, 5, 6), (1, 2, 1, 3), (1, 5, 2, 3),
]  # fmt: skip
LINKS = [
    (0, 0, 1), (0, 0, 2), (0, 1, 2),  # an event of three
    (0, 0, 3), (0, 3, 4), (0, 0, 4),  # another: 3 lies inside 4 and begins with it
    (0, 5, 6),  # of another type, over the same tokens
    (0, 7, 8),  # the argument comes before the trigger
]  # fmt: skip


def build(**options) -> EventLinker:
    """A head whose scores lie around zero, without its low start."""
    torch.manual_seed(0)
    head = EventLinker(replace(CONFIG, **options), WIDTH)
    for part in (head.spans, head.heads, head.tails):
        torch.nn.init.zeros_(part.bias.bias)
    return head


def batch() -> tuple[Tensor, Tensor]:
    """Two texts; special tokens are at the ends, and one in the middle."""
    torch.manual_seed(1)
    real = torch.zeros(2, 12, dtype=torch.bool)
    real[0, 1:11] = real[1, 1:7] = True
    real[0, 8] = False
    return torch.randn(2, 12, WIDTH), real


def dense_labels(gold: TripleCells, s: tuple[Tensor, Tensor, Tensor]) -> list[Tensor]:
    spans, heads, tails = (torch.zeros(x.shape, dtype=torch.bool) for x in s)
    for b, c, i, j in gold.spans.rows():
        spans[b, c, i, j] = True
    for b, _, (_, i, j), (_, x, y) in gold.rows():
        heads[b, 0, min(i, x), max(i, x)] = tails[b, 0, min(j, y), max(j, y)] = True
    return [spans, heads, tails]


def dense_loss(s: tuple[Tensor, Tensor, Tensor], gold: TripleCells) -> Tensor:
    """The mean over every class of every text, by the definition."""
    both = zip(s, dense_labels(gold, s), strict=True)
    return torch.cat([multilabel_loss(x.flatten(2), y.flatten(2)) for x, y in both], dim=1).mean()


def scan(head: EventLinker, scores: EventLinkerScores, threshold: float | Tensor) -> dict[tuple, float]:
    """The definition: every pair of cells of the dense scores."""
    spans, heads, tails = head.dense(scores)
    cut = torch.as_tensor(threshold, dtype=torch.float32).expand(3)
    kinds = [("T", True), ("U", True), ("T", False), ("T", False), ("U", False), ("V", False)]
    above = spans > cut[["TUV".index(type) for type, _ in kinds]][:, None, None]
    spans, heads, tails = spans.tolist(), heads.tolist(), tails.tolist()
    found = {}
    for (b, c, i, j), (other, d, x, y) in combinations(above.nonzero().tolist(), 2):
        (type, trigger), (other_type, other_trigger) = kinds[c], kinds[d]
        if b != other or type != other_type or (trigger and other_trigger):
            continue
        (low, high), (near, far) = sorted((i, x)), sorted((j, y))
        least = min(spans[b][c][i][j], spans[b][d][x][y], heads[b][0][low][high], tails[b][0][near][far])
        if least > cut["TUV".index(type)]:
            found[b, 0, (c, i, j), (d, x, y)] = least
    return found


def as_dict(found: LinkCells) -> dict[tuple, float]:
    assert len(set(found.rows())) == len(found)
    return dict(zip(found.rows(), found.score.tolist(), strict=True))


def scores_at(level: float, real: Tensor) -> EventLinkerScores:
    """Random scores around `level`; k is the identity, so q . k is q itself."""
    B, N = real.shape
    one = torch.eye(N).expand(B, N, N)
    parts = [
        EfficientGlobalPointerScores(
            torch.randn(B, N, N) * 2 + level, one, torch.randn(B, C, N), torch.randn(B, C, N), real
        )
        for C in (6, 1, 1)
    ]
    return EventLinkerScores(*parts)


# ---- loss -----------------------------------------------------------------------------------------------------------


def test_loss_is_the_mean_over_all_classes_and_reaches_every_weight_but_no_padding() -> None:
    head = build()
    H, real = batch()
    H.requires_grad_()
    scores, gold = head(H, real), TripleCells.of(SPANS, LINKS)
    loss, truth = head.loss(scores, gold), dense_loss(head.dense(scores), gold)
    assert loss.shape == () and loss.item() == pytest.approx(truth.item(), rel=1e-6)
    ours, theirs = (torch.autograd.grad(x, [H, *head.parameters()], retain_graph=True) for x in (loss, truth))
    assert all(torch.allclose(a, b, atol=1e-6) and a.abs().sum() > 0 for a, b in zip(ours, theirs, strict=True))
    assert ours[0][~real].abs().sum() == 0 and (ours[0][real].abs().sum(1) > 0).all()


def test_gold_given_twice_or_turned_round_counts_once() -> None:
    head = build()
    scores = head(*batch())
    once = head.loss(scores, TripleCells.of(SPANS, LINKS))
    turned = [(0, b, a) for _, a, b in LINKS]
    assert torch.equal(once, head.loss(scores, TripleCells.of(SPANS, turned)))
    assert torch.equal(once, head.loss(scores, TripleCells.of(SPANS + SPANS[:2], LINKS + turned)))


@pytest.mark.parametrize("link", [(0, 0, 5), (0, 0, 6), (0, 0, 7), (0, 0, 10), (0, -1, 1)])
def test_a_gold_link_that_cannot_be_is_refused(link: tuple[int, int, int]) -> None:
    head = build()
    with pytest.raises(FactpinError, match="gold link 1 "):
        head.loss(head(*batch()), TripleCells.of(SPANS, [LINKS[0], link]))


def test_two_triggers_and_spans_that_cannot_be_are_refused() -> None:
    head = build()
    with pytest.raises(FactpinError, match="at most one of them a trigger"):
        head.loss(head(*batch()), TripleCells.of([(0, 0, 1, 2), (0, 0, 4, 5)], [(0, 0, 1)]))
    with pytest.raises(FactpinError, match="gold cell"):
        head.loss(head(*batch()), TripleCells.of([(0, 0, 0, 2)], []))


def test_two_passes_are_apart_as_their_dense_scores_are() -> None:
    head = build()
    H, real = batch()
    one, two = head(H, real), head(H + 0.3 * torch.randn_like(H), real)
    classes = []
    for s, t in zip(head.dense(one), head.dense(two), strict=True):
        s, t = s.masked_fill(torch.isinf(s), 0), t.masked_fill(torch.isinf(t), 0)
        classes.append(((s.sigmoid() - t.sigmoid()) * (s - t)).sum((2, 3)) / 2)
    apart = head.apart(one, two)
    assert torch.allclose(apart, torch.cat(classes, dim=1).mean(), rtol=1e-5) and apart.item() > 0
    assert head.apart(one, one).item() == 0.0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_vectors_are_scored_in_float32(dtype: torch.dtype) -> None:
    head = build()
    H, real = batch()
    H = (H * 30).to(dtype).requires_grad_()
    gold = TripleCells.of(SPANS, LINKS)
    exact = head.loss(head(H.detach().float(), real), gold).item()
    with torch.autocast("cpu", dtype=dtype):
        scores = head(H, real)
        loss = head.loss(scores, gold)
        found = finding.events(head, scores)
        loss.backward()
    assert loss.dtype == torch.float32 and found.score.dtype == np.float32
    assert loss.item() == pytest.approx(exact, rel=0.05)
    assert as_dict(found) == as_dict(finding.events(head, scores))
    assert torch.isfinite(H.grad).all()


# ---- spans and links ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.0, 1.5, torch.tensor([-1.0, 0.5, 2.0])])
@pytest.mark.parametrize("level", [-4.0, 0.0])
def test_links_are_those_of_a_scan_over_all_scores(level: float, threshold: float | Tensor) -> None:
    torch.manual_seed(3)
    head = build()
    scores = scores_at(level, batch()[1])
    found = finding.events(head, scores, threshold, max_spans=None, max_links=None)
    assert as_dict(found) == scan(head, scores, threshold)
    assert len(found) > 10 or level < 0
    assert (found.subject < found.object).all() and not found.truncated.any()


def test_a_threshold_for_each_type_is_asked_for() -> None:
    head = build()
    with pytest.raises(FactpinError, match="each of the 3"):
        finding.events(head, head(*batch()), torch.zeros(6))


def test_padding_order_and_size_of_a_batch_change_nothing() -> None:
    head = build()
    H, real = batch()
    wide = torch.full((2, 30, WIDTH), torch.nan)  # nothing may even be read
    wide[:, :12] = H.masked_fill(~real[..., None], torch.nan)
    more = torch.zeros(2, 30, dtype=torch.bool)
    more[:, :12] = real
    gold = TripleCells.of(SPANS, LINKS)
    assert torch.allclose(head.loss(head(H, real), gold), head.loss(head(wide, more), gold), rtol=1e-5)
    together = as_dict(finding.events(head, head(H, real)))
    padded = as_dict(finding.events(head, head(wide, more)))
    turned = {
        (1 - b, *rest): s for (b, *rest), s in as_dict(finding.events(head, head(H.flip(0), real.flip(0)))).items()
    }
    alone = {}
    for b in (0, 1):
        found = as_dict(finding.events(head, head(H[b : b + 1], real[b : b + 1])))
        alone |= {(b, *rest): s for (_, *rest), s in found.items()}
    assert len(together) > 10 and {b for b, *_ in together} == {0, 1}
    for other in (padded, turned, alone):
        assert other.keys() == together.keys()
        assert all(other[key] == pytest.approx(score, abs=1e-4) for key, score in together.items())


def test_an_untrained_model_stays_within_its_budget_and_says_so() -> None:
    head = build()
    torch.manual_seed(0)
    H, real = torch.randn(2, 64, WIDTH), torch.ones(2, 64, dtype=torch.bool)
    real[1, 3:] = False  # a short text has room enough
    scores = head(H, real)
    everything = finding.spans(head.spans, scores.spans)
    found = finding.events(head, scores, max_spans=40, max_links=5)
    assert found.truncated.tolist() == [True, False]
    own = everything.take(everything.batch == 0)
    assert len(own) > 1000
    kept = found.spans.take(found.spans.batch == 0)
    assert len(kept) == 40 and kept.score.min() == np.sort(own.score)[-40]
    links = as_dict(finding.events(head, scores, max_spans=40, max_links=None))
    best = sorted((s for (b, *_), s in links.items() if b == 0), reverse=True)
    assert sorted((s for (b, *_), s in as_dict(found).items() if b == 0), reverse=True) == best[:5]
    assert len(best) > 5


@pytest.mark.parametrize("room", [0, 30, 1 << 17])
def test_of_equal_spans_the_earlier_are_kept_however_many_are_held_at_once(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells_module, "ROOM", room)
    torch.manual_seed(6)
    head = build(max_span=6)
    scores = scores_at(0.0, batch()[1])
    spans = replace(scores.spans, q=scores.spans.q.round(), u=scores.spans.u.round(), v=scores.spans.v.round())
    scores = replace(scores, spans=spans)
    everything = finding.spans(head.spans, scores.spans, -2.0)
    kept = []
    for b in (0, 1):
        own = np.flatnonzero(everything.batch == b).tolist()
        kept += sorted(own, key=lambda i: (-float(everything.score[i]), i))[:25]
    found = finding.events(head, scores, -2.0, max_spans=25)
    assert found.spans.rows() == everything.take(np.array(sorted(kept))).rows()
    assert found.truncated.all()


def test_texts_without_tokens_or_events_are_no_trouble() -> None:
    head = build()
    H, real = batch()
    nothing = head(H, torch.zeros_like(real))
    assert head.loss(nothing, TripleCells.of([], [])).item() == 0.0
    found = finding.events(head, nothing, -torch.inf)
    assert len(found) == len(found.spans) == 0
    assert torch.isfinite(head.loss(head(H, real), TripleCells.of([], [])))
    bare = EventLinker(EventLinkerConfig((), (("V", "r"),), head_size=16), WIDTH)  # no triggers
    assert torch.isfinite(bare.loss(bare(H, real), TripleCells.of([(0, 0, 1, 2), (0, 0, 3, 3)], [(0, 0, 1)])))


def test_weights_survive_saving_and_loading() -> None:
    head, other = build(), build()
    for p in other.parameters():
        torch.nn.init.normal_(p)
    other.load_state_dict(head.state_dict())
    assert as_dict(finding.events(head, head(*batch()))) == as_dict(finding.events(other, other(*batch())))
    assert not [name for name in head.state_dict() if "type_of" in name or "is_trigger" in name]


def test_a_class_costs_two_terms() -> None:
    def count(roles: int) -> int:
        config = EventLinkerConfig(("T",), tuple(("T", str(r)) for r in range(roles)), head_size=16)
        return sum(p.numel() for p in EventLinker(config, WIDTH).parameters())

    assert count(4) - count(3) == 2 * (2 * 16 + 1)


# ---- learning -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rope", [False, True])
def test_events_that_share_and_nest_are_learned(rope: bool) -> None:
    head = build(rope=rope)
    H, real = batch()
    gold = TripleCells.of(SPANS, LINKS)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.03)
    losses = []
    for _ in range(120):
        optimiser.zero_grad()
        loss = head.loss(head(H, real), gold)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
    found = finding.events(head, head(H, real))
    assert sorted(found.spans.rows()) == sorted(gold.spans.rows())
    taught = {frozenset(row[2:]) for row in gold.rows() if row[0] == 1}
    assert {frozenset(row[2:]) for row in found.rows() if row[0] == 1} == taught


def test_a_small_encoder_learns_the_events_of_a_small_world() -> None:
    """The whole line: documents, pieces, targets, encoder, head, links, cliques, events, scores."""
    docs = corpus(33, 0)
    labels = labels_of(docs)
    torch.manual_seed(0)
    tokenizer = build_tokenizer([doc.text for doc in docs], vocab_size=300)
    encoder = small_encoder(tokenizer.vocab_size, width=48, layers=1, max_length=64, dropout=0.0, tokenizer=tokenizer)
    head = EventLinker(EventLinkerConfig(labels.triggers, labels.roles, head_size=32), encoder.width)
    pieces = [tokenizer.encode(doc.text) for doc in docs]
    y = [targets(doc, p, labels) for doc, p in zip(docs, pieces, strict=True)]
    assert not any(t.unalignable or t.merged or t.lost_arguments or t.invented for t in y)
    shift = len(tokenizer.prefix)
    H, real = _reader(encoder, pieces)
    gold = gold_of(y, shift)
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=5e-3)
    for _ in range(110):
        optimiser.zero_grad()
        head.loss(head(H(), real), gold).backward()
        optimiser.step()
    encoder.eval()
    with torch.no_grad():
        cells = finding.events(head, head(H(), real))
    assert not cells.truncated.any()
    pairs = []
    for doc, p, found in zip(docs, pieces, split_links(cells, len(docs), shift), strict=True):
        decoded = decode(found, doc, p, labels)
        pairs.append(Pair(doc, replace(doc, mentions=decoded.mentions, events=decoded.events)))
    figures = {name: total(rows).f1 for name, rows in events.score(pairs).rows.items()}
    assert figures["argument"] > 0.95 and figures["strict"] > 0.95 and figures["event"] > 0.9, figures


def _reader(encoder: Encoder, pieces: list[Pieces]) -> tuple[Callable[[], Tensor], Tensor]:
    """A function that gives the vectors of all texts, and where they carry text."""
    framed = [encoder.frame(p.ids) for p in pieces]
    ids, mask = encoder.batch([one for one, _ in framed])
    real = torch.zeros_like(mask)
    for row, (_, text) in enumerate(framed):
        real[row, : len(text)] = torch.from_numpy(text)
    return lambda: encoder(ids, mask).hidden, real


def test_gold_is_counted_from_the_frame_of_each_window() -> None:
    (doc,) = corpus(1, 0)
    labels = labels_of([doc])
    y = targets(doc, characters().encode(doc.text), labels)
    gold = gold_of([y, y], shift=2)
    size = len(y.label)
    assert gold.spans.start.tolist() == [*(y.first + 2), *(y.first + 2)]
    assert gold.spans.batch.tolist() == [0] * size + [1] * size
    assert (gold.spans.batch[gold.subject] == gold.spans.batch[gold.object]).all()
    assert len(gold) == 2 * len(y.links())

"""ATLOP: scores, loss and every gradient against the paper written out in loops; invariances; evidence; learning."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from factpin.encoders import small_encoder
from factpin.encoders.merge_windows import WindowLayout, merge_hidden, merge_rows, rows_of
from factpin.errors import BadInput, FactpinError
from factpin.heads import atlop
from factpin.heads.atlop import Atlop, AtlopConfig, AtlopGold, AtlopScores, PairQuery, gold_of, query_of
from factpin.layers import localized_context, pair_bilinear
from factpin.layers.window_attention import WindowAttention
from factpin.tasks.document_relations import decode, find_relations, targets
from factpin.tasks.markers import marker_id
from factpin.tokens import windows
from factpin.tokens.small import build_tokenizer
from tests.heads import finding
from tests.tasks.test_document_relations import village

WIDTH, HEADS, N = 10, 3, 29
RELATIONS = ("r0", "r1", "r2")
ENTITY = [0, 1, 0, 2, 3, 3, 3, 4]  # of each mention
PLACE = [1, 4, 9, 12, 15, 20, 22, 26]
SENTENCE = [-1] + [0] * 10 + [1] * 9 + [2] * 8 + [-1]


def build(**options) -> Atlop:
    torch.manual_seed(0)
    head = Atlop(AtlopConfig(**{"relations": RELATIONS, "size": 8, "group": 4} | options), WIDTH).double()
    with torch.no_grad():
        head.bilinear.weight.mul_(5)  # so that scores differ
    return head


def document(*, sentences: bool = True) -> tuple[Tensor, Tensor, PairQuery]:
    torch.manual_seed(1)
    H = torch.randn(N, WIDTH, dtype=torch.float64)
    A = torch.randn(len(PLACE), HEADS, N, dtype=torch.float64).mul(2).softmax(dim=2)
    head, tail = torch.cartesian_prod(torch.arange(5), torch.arange(5)).unbind(1)
    other = head != tail
    sentence = torch.tensor(SENTENCE if sentences else [-1] * N)
    asked = PairQuery(torch.tensor(PLACE), torch.tensor(ENTITY), 5, head[other], tail[other], sentence, 3 * sentences)
    return H, A, asked


GOLD = AtlopGold(
    pair=torch.tensor([0, 0, 3, 7, 19]),
    relation=torch.tensor([0, 2, 1, 1, 0]),
    proof_pair=torch.tensor([0, 0, 7]),
    proof=torch.tensor([0, 2, 1]),
)


def test_a_head_may_begin_without_its_context_and_learns_to_read_it() -> None:
    head, (H, A, asked) = Atlop(AtlopConfig(RELATIONS, 8, 4, context_start=0.0), WIDTH).double(), document()
    A.requires_grad_()
    s = head(H, A, asked).s
    assert torch.equal(s, head(H, A.roll(1, dims=2).contiguous(), asked).s)
    s.sum().backward()
    assert (head.head.weight.grad[:, WIDTH:].abs().sum(dim=1) > 0).all() and A.grad.abs().sum() == 0
    with pytest.raises(BadInput, match="context_start"):
        AtlopConfig(RELATIONS, context_start=2.0)


# ---- the paper ------------------------------------------------------------------------------------------------------


def slow_scores(head: Atlop, H: Tensor, A: Tensor, asked: PairQuery) -> tuple[Tensor, Tensor]:
    """s (P, 1 + R) and the attention q (P, N) of every pair."""
    c = head.config
    entities, attentions = [], []
    for e in range(asked.entities):
        own = [m for m in range(len(asked.place)) if int(asked.entity[m]) == e]
        entities.append(torch.stack([H[asked.place[m]] for m in own]).logsumexp(0))
        attentions.append(torch.stack([A[m] for m in own]).mean(0))
    rows, qs = [], []
    for h, t in zip(asked.head.tolist(), asked.tail.tolist(), strict=True):
        q = (attentions[h] * attentions[t]).mean(0)
        q = q / (q.sum() + 1e-5)
        context = [q @ H] if c.context else []
        z_h = torch.tanh(head.head(torch.cat([entities[h], *context])))
        z_t = torch.tanh(head.tail(torch.cat([entities[t], *context])))
        outer = []
        for k in range(0, c.size, c.group):
            outer.append(torch.outer(z_h[k : k + c.group], z_t[k : k + c.group]).flatten())
        rows.append(head.bilinear(torch.cat(outer)))
        qs.append(q)
    return torch.stack(rows), torch.stack(qs)


def slow_loss(head: Atlop, s: Tensor, q: Tensor, asked: PairQuery, gold: AtlopGold) -> Tensor:
    holds = {(int(p), int(r)) for p, r in zip(gold.pair, gold.relation, strict=True)}
    total = s.new_zeros(())
    for p, scores in enumerate(s):
        yes = [r for r in range(len(RELATIONS)) if (p, r) in holds]
        no = [r for r in range(len(RELATIONS)) if (p, r) not in holds]
        if head.config.threshold == "global":
            total = total - sum(torch.nn.functional.logsigmoid(scores[r]) for r in yes)
            total = total - sum(torch.nn.functional.logsigmoid(-scores[r]) for r in no)
            continue
        for r in yes:
            total = total - scores[r + 1] + torch.stack([scores[0], *(scores[x + 1] for x in yes)]).logsumexp(0)
        total = total - scores[0] + torch.stack([scores[0], *(scores[x + 1] for x in no)]).logsumexp(0)
    loss = total / len(s)
    if head.config.evidence:
        kl = []
        for p in sorted({int(x) for x in gold.proof_pair}):
            said = [int(x) for x, of in zip(gold.proof, gold.proof_pair, strict=True) if int(of) == p]
            share = torch.stack([q[p][asked.sentence == x].sum() for x in range(asked.sentences)])
            share = share / share.sum()
            kl.append(sum(1 / len(said) * (math.log(1 / len(said)) - share[x].log()) for x in said))
        loss = loss + head.config.evidence * sum(kl) / len(kl)
    return loss


def gradients(head: Atlop, H: Tensor, A: Tensor, form) -> list[Tensor]:
    head.zero_grad()
    H, A = H.clone().requires_grad_(), A.clone().requires_grad_()
    s, loss = form(H, A)
    loss.backward()
    attention = torch.zeros_like(A) if A.grad is None else A.grad
    return [s.detach(), loss.detach(), H.grad, attention, *(p.grad.clone() for p in head.parameters())]


SWITCHES = [
    {},
    {"context": False},
    {"threshold": "global"},
    {"evidence": 0.3},
    {"size": 12, "group": 2},  # another number of groups; many classes for the group
    {"size": 64, "group": 16},  # few classes for the group; context is pooled before it is projected
]


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("switch", SWITCHES, ids=str)
def test_scores_loss_and_all_gradients_are_those_of_the_paper(
    switch: dict, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:  # blocks and caps change nothing
        monkeypatch.setattr(localized_context, "CAP", 200)
        monkeypatch.setattr(pair_bilinear, "BLOCK", 7)
    head = build(**switch)
    H, A, asked = document()

    def fast(H: Tensor, A: Tensor) -> tuple[Tensor, Tensor]:
        scores = head(H, A if head.config.context else None, asked)
        return scores.s, head.loss([scores], [GOLD])

    def paper(H: Tensor, A: Tensor) -> tuple[Tensor, Tensor]:
        s, q = slow_scores(head, H, A, asked)
        return s, slow_loss(head, s, q, asked, GOLD)

    for ours, theirs in zip(gradients(head, H, A, fast), gradients(head, H, A, paper), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("size", [8, 64])
def test_projecting_before_or_after_pooling_is_the_same(size: int) -> None:
    """Many pairs are pooled after, few before."""
    head = build(size=size)
    H, A, asked = document()
    everything = head(H, A, asked).s
    for p in (0, 7, 19):
        one = replace(asked, head=asked.head[p : p + 1], tail=asked.tail[p : p + 1])
        torch.testing.assert_close(head(H, A, one).s[0], everything[p], atol=1e-12, rtol=1e-12)


# ---- invariances ----------------------------------------------------------------------------------------------------


def test_renaming_entities_renames_the_results() -> None:
    head = build()
    H, A, asked = document()
    name = torch.tensor([3, 0, 4, 2, 1])  # new number of each entity
    other = replace(asked, entity=name[asked.entity], head=name[asked.head], tail=name[asked.tail])
    one, two = head(H, A, asked), head(H, A, other)
    torch.testing.assert_close(one.s, two.s, atol=1e-12, rtol=0)
    torch.testing.assert_close(one.share[one.context], two.share[two.context], atol=1e-12, rtol=0)
    assert rows(head, one) == {(int(h), r, int(t)) for r, h, t in turned(rows(head, two), name)}


def turned(found: set[tuple[int, int, int]], name: Tensor) -> list[tuple[int, int, int]]:
    old = {int(new): i for i, new in enumerate(name)}
    return [(r, old[h], old[t]) for h, r, t in found]


def rows(head: Atlop, scores: AtlopScores, threshold: float | Tensor = -1.0) -> set[tuple[int, int, int]]:
    found = finding.relations(head, scores, threshold)
    assert len(found) > 3
    return set(zip(found.head.tolist(), found.relation.tolist(), found.tail.tolist(), strict=True))


def test_order_of_mentions_and_tokens_that_nobody_looks_at_change_nothing() -> None:
    head = build()
    H, A, asked = document()
    order = torch.randperm(len(PLACE))
    mixed = replace(asked, place=asked.place[order], entity=asked.entity[order])
    torch.testing.assert_close(head(H, A[order], mixed).s, head(H, A, asked).s, atol=1e-12, rtol=0)
    wide = torch.cat((H, torch.full((9, WIDTH), 1e3, dtype=H.dtype)))
    attention = torch.nn.functional.pad(A, (0, 9))
    padded = replace(asked, sentence=torch.nn.functional.pad(asked.sentence, (0, 9), value=-1))
    a, b = head(H, A, asked), head(wide, attention, padded)
    torch.testing.assert_close(a.s, b.s, atol=1e-12, rtol=0)
    torch.testing.assert_close(a.share, b.share, atol=1e-12, rtol=0)


def test_a_batch_of_documents_is_the_mean_over_its_pairs() -> None:
    head = build(evidence=0.5)
    H, A, asked = document()
    few = replace(asked, head=asked.head[:4], tail=asked.tail[:4])
    none = torch.zeros(0, dtype=torch.int64)
    gold = AtlopGold(torch.tensor([2]), torch.tensor([1]), none, none)
    one, two = head(H, A, asked), head(-H, A, few)
    bare = Atlop(replace(head.config, evidence=0.0), WIDTH)
    first, second = bare.loss([one], [GOLD]), bare.loss([two], [gold])
    both = (first * 20 + second * 4) / 24
    torch.testing.assert_close(bare.loss([one, two], [GOLD, gold]), both, atol=1e-12, rtol=0)
    proved = (head.loss([one], [GOLD]) - first).detach()  # the other document proves nothing
    torch.testing.assert_close(head.loss([two, one], [gold, GOLD]).detach(), both.detach() + proved, atol=1e-12, rtol=0)


def test_two_passes_are_apart_as_their_margins_are() -> None:
    head = build()
    H, A, asked = document()
    few = replace(asked, head=asked.head[:4], tail=asked.tail[:4])
    one, two = [head(H, A, asked), head(-H, A, few)], [head(H + 0.2, A, asked), head(0.5 - H, A, few)]
    m, n = (torch.cat([x.s[:, 1:] - x.s[:, :1] for x in scores]) for scores in (one, two))
    expected = ((m.sigmoid() - n.sigmoid()) * (m - n)).sum() / 2 / 24
    assert head.apart(one, two).item() == pytest.approx(expected.item(), rel=1e-5) and expected.item() > 0
    assert head.apart(one, one).item() == 0.0


def test_half_precision_is_scored_in_single_precision() -> None:
    head = build().float()
    H, A, asked = document()
    exact = head.loss([head(H.float(), A.float(), asked)], [GOLD]).item()
    for dtype in (torch.float16, torch.bfloat16):
        half = H.to(dtype).requires_grad_()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            scores = head(half, A.to(dtype), asked)
            loss = head.loss([scores], [GOLD])
            loss.backward()
        assert scores.s.dtype == torch.float32 and loss.item() == pytest.approx(exact, rel=0.05)
        assert half.grad.isfinite().all()


def test_three_hundred_entities_run() -> None:
    """89,700 pairs; all outer products at once would be 89,700 x 1,024 numbers."""
    head = Atlop(AtlopConfig(RELATIONS, size=64, group=16), 16)
    torch.manual_seed(0)
    E, N = 300, 128
    head_of, tail = (torch.ones(E, E) - torch.eye(E)).nonzero().unbind(1)
    entity = torch.arange(E).repeat(2)
    asked = PairQuery(torch.randint(0, N, (2 * E,)), entity, E, head_of, tail, torch.arange(N) // 16, 8)
    H = torch.randn(N, 16, requires_grad=True)
    A = torch.randn(2 * E, 4, N).softmax(2).requires_grad_()
    scores = head(H, A, asked)
    gold = AtlopGold(torch.arange(50), torch.zeros(50, dtype=torch.int64), torch.arange(50), torch.zeros(50).long())
    head.loss([scores], [gold]).backward()
    assert scores.s.shape == (89_700, 4) and scores.share.shape == (44_850, 8)
    assert H.grad.isfinite().all() and A.grad.isfinite().all() and A.grad.abs().sum() > 0


def test_documents_without_pairs_or_entities_are_no_trouble() -> None:
    head = build(evidence=0.1)
    H, A, asked = document()
    none = torch.zeros(0, dtype=torch.int64)
    gold = AtlopGold(none, none, none, none)
    alone = head(H, A, replace(asked, head=none, tail=none))
    empty = head(H, A[:0], PairQuery(none, none, 0, none, none, asked.sentence, 3))
    for scores in (alone, empty):
        assert head.loss([scores], [gold]).item() == 0.0 and len(finding.relations(head, scores)) == 0
    assert len(finding.relations(head, empty).head) == 0


def windowed() -> tuple[Tensor, WindowAttention, PairQuery]:
    """The same document, attended from three windows that overlap; entity 4 is seen from the last one alone."""
    H, A, asked = document()
    spans = [(0, 14), (10, 24), (18, N)]
    owner, window, rows = [], [], []
    for w, (first, last) in enumerate(spans):
        for m, place in enumerate(PLACE):
            if first <= place < last:
                owner.append(m)
                window.append(w)
                rows.append(torch.nn.functional.pad(A[m, :, first:last], (0, 14 - (last - first))))
    kept = tuple((0, last - first) for first, last in spans)
    starts = tuple(first for first, _ in spans)
    attention = WindowAttention(
        torch.stack(rows), torch.tensor(owner), torch.tensor(window), len(PLACE), starts, kept, N
    )
    return H, attention, asked


@pytest.mark.parametrize("size", [8, 64])
@pytest.mark.parametrize("cap", [40, 1 << 22])
def test_windows_apart_give_what_one_attention_over_the_document_gives(
    size: int, cap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(localized_context, "CAP", cap)
    head = build(size=size, evidence=0.3)
    H, attention, asked = windowed()

    def loss(H: Tensor, rows: Tensor, *, apart: bool) -> tuple[Tensor, Tensor]:
        own = replace(attention, rows=rows)
        scores = head(H, own if apart else own.dense(), asked)
        return scores.s, head.loss([scores], [GOLD])

    ours = gradients(head, H, attention.rows, lambda H, rows: loss(H, rows, apart=True))
    dense = gradients(head, H, attention.rows, lambda H, rows: loss(H, rows, apart=False))
    for x, expected in zip(ours, dense, strict=True):
        torch.testing.assert_close(x, expected, atol=1e-11, rtol=1e-10)


def test_prediction_in_blocks_is_as_training_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    head = build(evidence_share=0.1)
    H, attention, asked = windowed()
    scores = head(H, attention, asked)
    monkeypatch.setattr(atlop, "BLOCK", 3 * 2 * 8)  # three pairs at a time
    with torch.no_grad():
        blocks = head(H, attention, asked)
    assert blocks.share.is_sparse and not scores.share.is_sparse
    torch.testing.assert_close(blocks.s, scores.s.detach(), atol=1e-12, rtol=0)
    torch.testing.assert_close(blocks.share.to_dense(), scores.share.detach(), atol=1e-12, rtol=0)
    one, two = (finding.relations(head, x, -10.0) for x in (scores, blocks))
    assert one.proof_of.tolist() == two.proof_of.tolist() and one.proof.tolist() == two.proof.tolist()
    assert len(one.proof) > len(one)


# ---- prediction and evidence ----------------------------------------------------------------------------------------


def test_relations_above_their_pairs_threshold_are_found() -> None:
    head = build(top_k=2)
    scores = head(*document())
    found = finding.relations(head, scores)
    expected = {}
    for p, row in enumerate(scores.s.tolist()):
        high = sorted((r for r in range(3) if row[r + 1] > row[0]), key=lambda r: -row[r + 1])[:2]
        for r in high:
            expected[int(scores.head[p]), r, int(scores.tail[p])] = row[r + 1] - row[0]
    keys = zip(found.head.tolist(), found.relation.tolist(), found.tail.tolist(), strict=True)
    got = dict(zip(keys, found.score.tolist(), strict=True))
    assert got.keys() == expected.keys() and len(got) > 3
    assert all(got[key] == pytest.approx(score) for key, score in expected.items())


def test_a_global_threshold_is_one_number_or_one_for_each_relation() -> None:
    head = build(threshold="global", top_k=9)
    scores = head(*document())
    assert scores.s.shape == (20, 3)
    table = torch.tensor([-0.2, 0.0, 0.3])
    for threshold in (0.1, table):
        found = finding.relations(head, scores, threshold)
        assert len(found) == int((scores.s > torch.as_tensor(threshold)).sum()) > 0
    with pytest.raises(FactpinError, match="each of the 3"):
        finding.relations(head, scores, torch.zeros(2))


def test_sentences_with_a_large_share_prove_and_one_always_does() -> None:
    head = build(evidence_share=0.4)
    H, A, asked = document()
    scores = head(H, A, asked)
    torch.testing.assert_close(scores.share.sum(1), torch.ones(10, dtype=torch.float64))
    _, q = slow_scores(head, H, A, asked)
    found = finding.relations(head, scores, -10.0)
    pair = {(int(h), int(t)): p for p, (h, t) in enumerate(zip(asked.head, asked.tail, strict=True))}
    proofs = np.zeros((len(found), 3), np.bool_)
    proofs[found.proof_of, found.proof] = True
    for h, t, proof in zip(found.head.tolist(), found.tail.tolist(), proofs.tolist(), strict=True):
        share = torch.stack([q[pair[h, t]][asked.sentence == x].sum() for x in range(3)])
        share = share / share.sum()
        assert proof == [float(x) > 0.4 or x == share.max() for x in share]
    sparse = finding.relations(build(evidence_share=0.99), scores, -10.0)
    assert sparse.proof_of.tolist() == list(range(len(sparse)))


def test_without_sentences_there_is_no_evidence() -> None:
    head = build(evidence=0.1)
    scores = head(*document(sentences=False))
    assert scores.share is None and not len(finding.relations(head, scores, -10.0).proof)
    bare = build()
    torch.testing.assert_close(head.loss([scores], [GOLD]), bare.loss([scores], [GOLD]))


def test_the_evidence_loss_moves_attention_to_the_annotated_sentences() -> None:
    head = build(evidence=1.0)
    H, A, asked = document()
    logits = A.log().requires_grad_()
    steps = torch.optim.Adam([logits], 0.1)
    shares = []
    for _ in range(40):
        scores = head(H, logits.softmax(2), asked)
        p = scores.share[scores.context].detach()
        shares.append([float(p[0, 0] + p[0, 2]), float(p[7, 1])])
        steps.zero_grad()
        head.loss([scores], [GOLD]).backward()
        steps.step()
    assert shares[-1][0] > 0.9 and shares[-1][1] > 0.9 and min(shares[0]) < 0.7


# ---- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 10, "group": 4}, "groups of 4"),
        ({"top_k": 0}, "at least 1"),
        ({"threshold": "local"}, "adaptive, global"),
        ({"context": False, "evidence": 0.1}, "context=True"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict, message: str) -> None:
    with pytest.raises(FactpinError, match=message):
        AtlopConfig(RELATIONS, **options)


def test_attention_that_does_not_fit_is_refused() -> None:
    head = build()
    H, A, asked = document()
    for wrong in (None, A[:2], A[:, :, :5]):
        with pytest.raises(FactpinError, match="a row for each mention"):
            head(H, wrong, asked)
    with pytest.raises(FactpinError, match="sentence of each"):
        head(H, A, replace(asked, sentence=asked.sentence[:3]))


@pytest.mark.parametrize(("pair", "relation"), [(20, 0), (-1, 0), (0, 3), (0, -1)])
def test_a_gold_label_that_cannot_be_is_refused(pair: int, relation: int) -> None:
    head = build()
    none = torch.zeros(0, dtype=torch.int64)
    gold = AtlopGold(torch.tensor([0, pair]), torch.tensor([0, relation]), none, none)
    with pytest.raises(FactpinError, match="gold label 1 "):
        head.loss([head(*document())], [gold])


# ---- learning -------------------------------------------------------------------------------------------------------


def test_a_document_longer_than_the_encoder_is_learned_by_heart() -> None:
    doc = village()
    relations = tuple(sorted({fact.relation for fact in doc.facts}))
    tokenizer = build_tokenizer([doc.text, "* " * 5], 200)
    torch.manual_seed(0)
    encoder = small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=40, tokenizer=tokenizer, dropout=0.0)
    y = targets(doc, tokenizer.encode_sentences(doc.text, doc.sentences), marker_id(tokenizer), relations)
    parts = tuple(windows(y.pieces, doc.sentences, 40 - tokenizer.frame_size, 12))
    assert len(parts) > 2
    layout = WindowLayout(parts, len(y.pieces), len(tokenizer.prefix), len(tokenizer.suffix))
    asked, gold = query_of(y, layout.prefix, layout.suffix), gold_of(y)
    head = Atlop(AtlopConfig(relations, size=32, group=8, evidence=0.1), 32)
    ids, mask = encoder.batch([encoder.frame(y.pieces.ids[w.first : w.last])[0] for w in parts])
    wanted = rows_of(layout, torch.from_numpy(y.place))

    def scores() -> AtlopScores:
        encoded = encoder(ids, mask, wanted.of(range(len(parts))))
        A = merge_rows(encoded.attention, wanted, layout, len(y.place))
        return head(merge_hidden(list(encoded.hidden), layout), A, asked)

    weights = [*encoder.parameters(), *head.parameters()]
    steps = torch.optim.Adam(weights, 3e-3)
    losses = []
    for _ in range(60):
        loss = head.loss([scores()], [gold])
        steps.zero_grad()
        loss.backward()
        losses.append(loss.item())
        if len(losses) == 1:
            assert all(p.grad is None or p.grad.isfinite().all() for p in weights)
        steps.step()
    assert losses[-1] < losses[0] / 10
    facts = decode(find_relations(head.to_arrays(scores()), 0.0), doc, relations).facts
    assert {(f.head, f.relation, f.tail) for f in facts} == {(f.head, f.relation, f.tail) for f in doc.facts}


@pytest.mark.parametrize("threshold", ["adaptive", "global"])
def test_a_relation_that_does_not_fit_takes_no_place_among_the_best(threshold: Any) -> None:
    head = Atlop(AtlopConfig(("a", "b"), size=4, group=2, top_k=1, threshold=threshold), 8)
    s = torch.tensor([[0.0, 2.0, 1.0], [0.0, 2.0, 1.0]])[:, 0 if threshold == "adaptive" else 1 :]
    scores = AtlopScores(s, torch.tensor([0, 1]), torch.tensor([1, 0]))
    fits = torch.tensor([[False, True], [True, True]])
    found = finding.relations(head, scores, fits=fits.numpy())
    assert finding.relations(head, head.only(scores, fits)).relation.tolist() == [1, 0]
    assert found.relation.tolist() == [1, 0]
    assert found.score.tolist() == [1.0, 2.0]

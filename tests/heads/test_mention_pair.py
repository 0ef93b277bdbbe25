"""MentionPair: scores and loss against loops over the definition, batches that change nothing, and what it learns."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from factpin.documents import Document, Entity, Mention
from factpin.errors import BadInput
from factpin.heads import mention_pair
from factpin.heads.mention_pair import MentionBatch, MentionPair, MentionPairConfig, gold_of
from factpin.language.coreference import BUCKETS, FEATURES, MentionPairs, candidates, ordered, resolve, targets
from factpin.tasks.coreference import CandidateScores, find_links

WIDTH = 12


def build(**options) -> MentionPair:
    torch.manual_seed(0)
    return MentionPair(MentionPairConfig(**{"size": 8, "dropout": 0.0} | options), WIDTH)


def asked(M: int, K: int, seed: int = 0) -> tuple[np.ndarray, MentionPairs]:
    """Mentions of 1 to 3 tokens, each with the K latest before it."""
    chance = np.random.default_rng(seed)
    first = np.arange(M) * 3
    tokens = np.stack((first, first + chance.integers(0, 3, M)), axis=1)
    antecedent = np.arange(M)[:, None] - 1 - np.arange(K)[None]
    antecedent = np.where(antecedent < 0, -1, antecedent)
    distance = np.where(antecedent < 0, 0, np.minimum(np.arange(K)[None], BUCKETS - 1))
    return tokens, MentionPairs(antecedent, distance, chance.random((M, K, len(FEATURES))))


def by_hand(head: MentionPair, H: Tensor, tokens: np.ndarray, pairs: MentionPairs) -> Tensor:
    """The definition, pair by pair, of one text H (N, D)."""
    m = [
        torch.tanh(head.mention(torch.cat((H[a], H[b], H[a : b + 1].mean(0)))))
        for a, b in tokens.tolist()
    ]  # fmt: skip
    s = torch.full(pairs.antecedent.shape, -math.inf)
    for (i, k), j in np.ndenumerate(pairs.antecedent):
        if j >= 0:
            x = head.later(m[i]) + head.earlier(m[j]) + head.both(m[i] * m[j])
            x = x + head.distance.weight[pairs.distance[i, k]]
            x = x + head.features(torch.tensor(pairs.features[i, k], dtype=torch.float32))
            s[i, k] = head.score(torch.nn.functional.gelu(x))[0]
    return s


def loss_by_hand(s: Tensor, gold: Tensor) -> float:
    total = 0.0
    for row, right in zip(s.tolist(), gold.tolist(), strict=True):
        all_of_them = 1.0 + sum(math.exp(x) for x in row)
        chosen = sum(math.exp(x) for x, y in zip(row, right, strict=True) if y) if any(right) else 1.0
        total -= math.log(chosen / all_of_them)
    return total / len(s)


def some_gold(pairs: MentionPairs, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random(pairs.antecedent.shape) < 0.3) & (pairs.antecedent >= 0)


# ---- parity ---------------------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_definition() -> None:
    head, (tokens, pairs) = build(), asked(7, 4)
    H = torch.randn(1, 22, WIDTH)
    s = head(H, MentionBatch.of([(tokens, pairs)]))
    torch.testing.assert_close(s, by_hand(head, H[0], tokens, pairs), atol=1e-5, rtol=1e-5)
    assert s[0].isneginf().all()


def test_the_loss_is_that_of_the_definition() -> None:
    _, pairs = asked(7, 4)
    s = torch.randn(7, 4).masked_fill(torch.from_numpy(pairs.antecedent < 0), -torch.inf)
    gold = gold_of([some_gold(pairs)])
    assert gold.any() and not gold.any(1).all()
    assert float(build().loss(s, gold)) == pytest.approx(loss_by_hand(s, gold), abs=1e-6)


def test_probabilities_leave_the_rest_to_none() -> None:
    s = torch.tensor([[0.0, -torch.inf], [math.log(3.0), 0.0], [-torch.inf, -torch.inf]])
    scores = build().to_arrays(s)
    np.testing.assert_allclose(scores.probability(), [[0.5, 0.0], [0.6, 0.2], [0.0, 0.0]], atol=1e-6)
    assert float(scores.probability(temperature=1e6)[1, 0]) == pytest.approx(1 / 3, abs=1e-4)


def test_blocks_change_neither_scores_nor_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, pairs = asked(9, 5)
    H, gold = torch.randn(1, 30, WIDTH), gold_of([some_gold(pairs)])

    def outcome() -> list[Tensor]:
        head, x = build(), H.clone().requires_grad_()
        s = head(x, MentionBatch.of([(tokens, pairs)]))
        head.loss(s, gold).backward()
        return [s.detach(), x.grad, *(p.grad for p in head.parameters())]

    whole = outcome()
    monkeypatch.setattr(mention_pair, "BLOCK", 1)
    for one, other in zip(whole, outcome(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_dropout_is_the_same_in_the_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mention_pair, "BLOCK", 1)
    head, (tokens, pairs) = build(dropout=0.5), asked(9, 5)
    gold, H = gold_of([some_gold(pairs)]), torch.randn(1, 30, WIDTH, dtype=torch.float64)
    head.double()
    fixed = MentionBatch.of([(tokens, pairs)])
    fixed = MentionBatch(
        fixed.batch, fixed.first, fixed.last, fixed.antecedent, fixed.distance, fixed.features.double()
    )

    def loss(bias: Tensor) -> Tensor:
        torch.manual_seed(3)
        with torch.no_grad():
            head.later.bias.copy_(bias)
        return head.loss(head(H, fixed), gold)

    start = head.later.bias.detach().clone()
    loss(start).backward()
    step = torch.zeros_like(start)
    step[2] = 1e-5
    slope = (loss(start + step) - loss(start - step)) / 2e-5
    assert float(head.later.bias.grad[2]) == pytest.approx(float(slope.detach()), rel=1e-4, abs=1e-9)


# ---- invariance -----------------------------------------------------------------------------------------------------


def test_padding_and_neighbours_change_nothing() -> None:
    head = build()
    texts = [asked(7, 4, 1), asked(3, 2, 2), asked(5, 4, 3)]
    H = torch.randn(3, 25, WIDTH)
    s = head(H, MentionBatch.of(texts))
    assert s.shape == (15, 4)
    at = 0
    for b, (tokens, pairs) in enumerate(texts):
        M, K = pairs.antecedent.shape
        alone = head(H[b : b + 1, :24], MentionBatch.of([(tokens, pairs)]))
        torch.testing.assert_close(s[at : at + M, :K], alone, atol=1e-6, rtol=1e-5)
        assert s[at : at + M, K:].isneginf().all()
        at += M


def test_what_a_batch_says_goes_back_to_its_documents() -> None:
    texts = [asked(4, 3, 1), asked(2, 1, 2)]
    scores = CandidateScores(np.arange(18, dtype=np.float32).reshape(6, 3) / 10)
    one, other = find_links(scores, [pairs for _, pairs in texts], keep=0.2, add=0.7)
    np.testing.assert_allclose(one.probability, scores.probability()[:4])
    np.testing.assert_allclose(other.probability, scores.probability()[4:, :1])
    assert (one.keep, one.add) == (other.keep, other.add) == (0.2, 0.7)
    assert other.antecedent is texts[1][1].antecedent


def test_no_mentions_are_no_trouble() -> None:
    head = build()
    for pairs in (MentionBatch.of([]), MentionBatch.of([asked(0, 0)])):
        s = head(torch.randn(1, 5, WIDTH), pairs)
        assert s.shape == (0, 0) and len(pairs) == 0
        assert head.loss(s, gold_of([])).detach().item() == 0.0
    alone = head(torch.randn(1, 5, WIDTH), MentionBatch.of([asked(1, 0)]))
    assert head.loss(alone, gold_of([np.zeros((1, 0), bool)])).detach().item() == 0.0


def test_two_equal_passes_are_not_apart() -> None:
    s = torch.randn(4, 3).masked_fill(torch.tensor([True, False, False]), -torch.inf)
    head = build()
    assert float(head.apart(s, s)) == 0.0
    assert float(head.apart(s, s + torch.randn(4, 3))) > 0.0


# ---- errors ---------------------------------------------------------------------------------------------------------


def test_mentions_outside_the_text_are_named() -> None:
    with pytest.raises(BadInput, match=r"Mention 6 is tokens 18\.\.\d+ of text 0, the batch has 1 texts of 10 tokens"):
        tokens, pairs = asked(7, 4)
        tokens[:6] = 0
        build()(torch.randn(1, 10, WIDTH), MentionBatch.of([(tokens, pairs)]))


def test_gold_that_names_no_candidate_is_refused() -> None:
    _, pairs = asked(3, 2)
    s = torch.zeros(3, 2).masked_fill(torch.from_numpy(pairs.antecedent < 0), -torch.inf)
    with pytest.raises(BadInput, match="only at candidates"):
        build().loss(s, torch.ones(3, 2, dtype=torch.bool))
    with pytest.raises(BadInput, match="expected the same"):
        build().loss(s, torch.zeros(3, 1, dtype=torch.bool))


def test_tokens_must_fit_their_candidates() -> None:
    tokens, pairs = asked(3, 2)
    with pytest.raises(BadInput, match=r"expected \(3, 2\)"):
        MentionBatch.of([(tokens[:2], pairs)])


def test_a_config_without_room_is_refused() -> None:
    with pytest.raises(BadInput, match="at least 1"):
        MentionPairConfig(antecedents=0)


# ---- learning -------------------------------------------------------------------------------------------------------

DRUGS = ["paracetamol", "acetaminophen", "aspirin", "tylenol", "salicylate"]
SAME = {"paracetamol": 0, "acetaminophen": 0, "tylenol": 0, "aspirin": 1, "salicylate": 1}


def drugs(seed: int) -> Document:
    """Drugs by several names that no rule knows to be one."""
    chance = np.random.default_rng(seed)
    text, mentions, groups = "", [], {}
    for i in range(8):
        word = DRUGS[chance.integers(len(DRUGS))]
        mentions.append(Mention(f"m{i}", len(text), len(text) + len(word), word, "drug"))
        groups.setdefault(SAME[word], []).append(f"m{i}")
        text += word + " "
    return Document(
        "d", text, mentions=tuple(mentions), entities=tuple(Entity(f"g{k}", tuple(v)) for k, v in groups.items())
    )


def encoded(documents: list[Document]) -> tuple[Tensor, MentionBatch, list[MentionPairs]]:
    """One token a mention, its vector a word's own."""
    torch.manual_seed(5)
    table = dict(zip(DRUGS, torch.randn(len(DRUGS), WIDTH), strict=True))
    H = torch.stack([torch.stack([table[m.text] for m in ordered(doc)]) for doc in documents])
    pairs = [candidates(doc, most=6) for doc in documents]
    tokens = [np.stack((np.arange(8), np.arange(8)), axis=1) for _ in documents]
    return H, MentionBatch.of(list(zip(tokens, pairs, strict=True))), pairs


def partition(doc: Document) -> set[frozenset[str]]:
    return {frozenset(entity.mentions) for entity in doc.entities}


def test_it_learns_synonyms_that_the_rules_do_not_know() -> None:
    training, held = [drugs(i) for i in range(20)], [drugs(100 + i) for i in range(5)]
    H, pairs, per_document = encoded(training)
    gold = gold_of([targets(doc, c) for doc, c in zip(training, per_document, strict=True)])
    head = build(size=16)
    optimiser = torch.optim.Adam(head.parameters(), 0.02)
    losses = []
    for _ in range(80):
        loss = head.loss(head(H, pairs), gold)
        optimiser.zero_grad()
        loss.backward()
        assert all(bool(p.grad.isfinite().all()) for p in head.parameters())
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] / 10
    H, pairs, per_document = encoded(held)
    judged = find_links(head.to_arrays(head(H, pairs)), per_document)
    assert any(partition(resolve(doc)) != partition(doc) for doc in held)
    for doc, said in zip(held, judged, strict=True):
        assert partition(resolve(doc, judged=said)) == partition(doc)

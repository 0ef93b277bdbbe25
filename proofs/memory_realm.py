"""REALM: a retriever learns from answers alone, if it retrieves something at first and its index is kept fresh.

retrieval   256 passages with keys of two parts, asked by words that no passage has; a quarter of the questions is
            never trained. Joint, frozen, from nothing, and with an index that is never refreshed
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from factpin.answers.marginal import prior, sequence, utility
from factpin.answers.realm import nearest
from proofs import school
from proofs.compare import Compared, Proof
from proofs.experiment import Bar, Experiment, Figures

SYSTEM = "realm"
PARTS, VALUES, WIDTH, K = 16, 64, 32, 8  # 16 x 16 passages
SHARP = 10.0
SURE = 4.0  # of the reader, in the value that a passage has


def null_document() -> Iterator[Compared]:
    """The null document alone is worth nothing; a passage that knows more than it is worth something."""
    doc = prior(torch.zeros(1, 2, dtype=torch.float64))
    y = torch.tensor([[[-3.0], [-0.1]]], dtype=torch.float64)
    by_hand = float(torch.log(0.5 * torch.exp(y[0, 0, 0]) + 0.5 * torch.exp(y[0, 1, 0])) - y[0, 0, 0])
    yield Compared("utility", float(utility(doc, y)), by_hand, 1e-12)
    yield Compared("null document alone", float(utility(doc[:, :1] * 0, y[:, :1])), 0.0)


def own_document() -> Iterator[Compared]:
    """Random vectors: no query finds a passage of its own document, and all else is in the order of the scores."""
    own, unordered = 0, 0
    for seed in range(50):
        chance = np.random.default_rng(seed)
        vectors, owners = torch.tensor(chance.normal(size=(30, 8))), chance.integers(6, size=30)
        query, mine = torch.tensor(chance.normal(size=(1, 8))), int(chance.integers(6))
        (found,) = nearest(query, vectors, owners, [mine], 10)
        own += sum(int(owners[i]) == mine for i in found)
        scores = (query @ vectors.T)[0]
        slow = [i for i in scores.argsort(descending=True).tolist() if owners[i] != mine][: len(found)]
        unordered += found != slow
    yield Compared("passages of the own document", own, 0)
    yield Compared("lists in another order", unordered, 0)


PROOFS = (
    Proof(SYSTEM, "null document", "worked by hand", null_document),
    Proof(SYSTEM, "own document", "50 random pools", own_document),
)


class ToyRetriever(nn.Module):
    """Sums of word vectors: questions and passages have words of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.said = nn.Embedding(2 * PARTS, WIDTH), nn.Embedding(2 * PARTS, WIDTH)

    def query(self, keys: Tensor, part: int | None = None) -> Tensor:
        """Vectors of questions by their keys (B, 2); with `part`, half a question."""
        words = self.asked(keys + torch.tensor([0, PARTS]))  # (B, 2, W)
        return normalize(words.sum(1) if part is None else words[:, part], dim=-1)

    def document(self, keys: Tensor) -> Tensor:
        """Vectors of passages."""
        return normalize(self.said(keys + torch.tensor([0, PARTS])).sum(1), dim=-1)


def read(values: Tensor, answers: Tensor) -> Tensor:
    """log p (B, K, 1) of answers by a reader that believes the value of a passage (B, K), -1 in the null document."""
    logits = SURE * nn.functional.one_hot(values.clamp(min=0), VALUES).float() * (values >= 0)[..., None]
    return logits.log_softmax(-1).gather(-1, answers[:, None, None].expand(-1, values.shape[1], 1))


def learn(
    seed: int,
    *,
    warm: int = 25,
    frozen: bool = False,
    refresh: int = 50,
    k: int = K,
    fixed: str = "",
    steps: int = 600,
) -> dict[str, float]:
    """Recall of held-out questions before and after learning from answers.

    k: what the reader sees, the null document included. fixed: words that do not learn from answers, asked or said.
    """
    torch.manual_seed(seed)
    model, chance = ToyRetriever(), np.random.default_rng(seed)
    keys = torch.tensor([(a, b) for a in range(PARTS) for b in range(PARTS)])
    values = torch.tensor(chance.integers(VALUES, size=len(keys)))
    order = torch.tensor(chance.permutation(len(keys)))
    train, test = order[: len(keys) * 3 // 4], order[len(keys) * 3 // 4 :]
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(warm):  # in place of ICT: half a question and its passage
        some = train[torch.tensor(chance.permutation(len(train))[:32])]
        loss = cross_entropy(SHARP * model.query(keys[some], step % 2) @ model.document(keys[some]).T, torch.arange(32))
        _step(optimiser, loss)
    before = recall(model, keys, test)
    index = first = model.document(keys).detach()
    if fixed:
        getattr(model, fixed).requires_grad_(False)
        optimiser = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=1e-2)
    for step in range(0 if frozen else max(1, int(steps * school.SHARE))):
        if refresh and step % refresh == 0:
            index = model.document(keys).detach()
        some = train[torch.tensor(chance.permutation(len(train))[:64])]
        q = model.query(keys[some])
        found = (q.detach() @ index.T).topk(k - 1, dim=1).indices  # (B, k - 1)
        d = model.document(keys[found.flatten()]).view(64, k - 1, WIDTH)
        null = torch.zeros(64, 1)
        doc = prior(torch.cat([null, SHARP * torch.einsum("bd,bkd->bk", q, d)], dim=1))
        held = torch.cat([torch.full((64, 1), -1), values[found]], dim=1)
        _step(optimiser, -sequence(doc, read(held, values[some])).mean())
    after = recall(model, keys, test)
    moved = float((first * model.document(keys)).sum(-1).mean().detach())  # cosine of passages before and after
    return {"before": before[1], "recall@1": after[0], "recall@8": after[1], "cosine": moved}


def _step(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()


@torch.no_grad()
def recall(model: ToyRetriever, keys: Tensor, asked: Tensor) -> tuple[float, float]:
    """The share of questions whose passage is the best, and among the best eight."""
    best = (model.query(keys[asked]) @ model.document(keys).T).topk(K, dim=1).indices
    right = best == asked[:, None]
    return float(right[:, 0].float().mean()), float(right.any(1).float().mean())


def retrieval(seed: int) -> Figures:
    """Recall among eight for every arm."""
    joint, frozen, cold, stale = (
        learn(seed), learn(seed, frozen=True), learn(seed, warm=0), learn(seed, refresh=0)
    )  # fmt: skip
    return {
        "joint, recall@8": joint["recall@8"],
        "frozen, recall@8": frozen["recall@8"],
        "from nothing, recall@8": cold["recall@8"],
        "joint, recall@1": joint["recall@1"],
        "never refreshed, recall@1": stale["recall@1"],
        "frozen, recall@8 before": frozen["before"],
    }


EXPERIMENTS = {
    "realm_retrieval": Experiment(
        SYSTEM,
        "a retriever learns from answers alone",
        "256 passages with keys of two parts, asked by other words; the reader sees the eight that are retrieved.",
        "recall of held-out questions",
        retrieval,
        (
            Bar("joint, recall@8", least=0.85),
            Bar("joint, recall@8", least=0.2, minus="frozen, recall@8"),
            Bar("joint, recall@8", least=0.3, minus="from nothing, recall@8"),
            Bar("joint, recall@1", least=0.05, minus="never refreshed, recall@1"),
            Bar("frozen, recall@8", least=0.0, most=0.0, minus="frozen, recall@8 before"),
        ),
        "The reader is given: it believes the value of a passage. What is shown is the retriever, and why it "
        "begins with ICT and its index is kept fresh.",
    ),
}

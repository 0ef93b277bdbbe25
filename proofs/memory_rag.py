"""RAG: marginals and decoding are sums over everything there is, and each of its two forms does what the other cannot.

split    one passage has the first word of an answer, another the second: only token can put them together
rivals   two passages have an answer each: only sequence says one of them and no mixture
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import torch
from torch import Tensor, nn

from factpin.answers.marginal import posterior, prior, sequence, token
from factpin.answers.rag import Marginal, RagSettings, answer_log_p, rag_loss, write
from factpin.tokens.pieces import Ints
from proofs import school
from proofs.compare import Compared, Proof
from proofs.experiment import Bar, Experiment, Figures

SYSTEM = "rag"
WORDS, NOTHING, WIDTH = 6, 0, 48  # words 1 … 6, and none in a place
RATE, STEPS = 1e-3, 600


def marginals() -> Iterator[Compared]:
    """log p(y | x) against sums over passages and answers; both marginals are distributions."""
    chance = torch.Generator().manual_seed(0)
    doc = prior(torch.randn(3, generator=chance, dtype=torch.float64))
    first = torch.randn(3, 4, generator=chance, dtype=torch.float64).log_softmax(-1)
    second = torch.randn(3, 4, 4, generator=chance, dtype=torch.float64).log_softmax(-1)
    total = {"sequence": 0.0, "token": 0.0}
    for a, b in product(range(4), repeat=2):
        y = torch.stack([first[:, a], second[:, a, b]], dim=-1)[None]  # (1, 3, 2)
        p = doc.exp().tolist()
        whole = sum(p[k] * math.exp(float(y[0, k].sum())) for k in range(3))
        each = [sum(p[k] * math.exp(float(y[0, k, t])) for k in range(3)) for t in range(2)]
        yield Compared("sequence", float(sequence(doc[None], y)), math.log(whole), 1e-12)
        yield Compared("token", float(token(doc[None], y).sum()), math.log(math.prod(each)), 1e-12)
        yield Compared("posterior", float(posterior(doc[None], y).sum()), 1.0, 1e-12)
        total["sequence"] += whole
        total["token"] += math.prod(each)
    for name, value in total.items():
        yield Compared(f"all answers, {name}", value, 1.0, 1e-12)
    one = torch.randn(1, 3, 1, generator=chance).clamp(max=0)
    gap = (sequence(doc[None].float(), one) - token(doc[None].float(), one)[:, 0]).abs().max()
    yield Compared("one piece: sequence and token", float(gap), 0.0, 1e-6)


def gradient() -> Iterator[Compared]:
    """The gradient of the score of a passage is posterior minus prior."""
    for seed in range(5):
        torch.manual_seed(seed)
        scores = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
        y = torch.randn(4, 6, 3, dtype=torch.float64).clamp(max=0)
        sequence(prior(scores), y).sum().backward()  # type: ignore[no-untyped-call]
        expected = posterior(prior(scores), y) - prior(scores).exp()
        gap = torch.zeros(()) if scores.grad is None else (scores.grad - expected).abs().max()
        yield Compared("gradient", float(gap.detach()), 0.0, 1e-12)


def decoding() -> Iterator[Compared]:
    """Whatever a generator says: thorough is never below fast, and both have the same candidates."""
    below, other = 0, 0
    for seed in range(20):
        writer = ToyWriter(seed)
        prompts = [np.array([1 + seed % WORDS, 2]), np.array([3, 1 + seed % 4])]
        settings = RagSettings(longest=2, beams=2)
        scores = torch.tensor([0.3, -0.2])
        found = [{one.pieces: one.score for one in write(writer, prompts, scores, replace(settings, decode=how))}
                 for how in ("thorough", "fast")]  # fmt: skip
        other += found[0].keys() != found[1].keys()
        below += sum(found[0][y] < found[1][y] - 1e-5 for y in found[1])
    yield Compared("candidates that differ", other, 0)
    yield Compared("answers that thorough scores lower", below, 0)


class ToyWriter(nn.Module):
    """Says two words; a passage is the words in its two places, 0 for none."""

    end = WORDS + 1  # never said

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.words = nn.Embedding(WORDS + 2, WIDTH)
        self.places = nn.Embedding(2, WIDTH)
        self.layers = nn.Sequential(nn.Linear(4 * WIDTH, 64), nn.GELU(), nn.Linear(64, WORDS + 2))

    def encode(self, prompts: Sequence[Ints]) -> tuple[Tensor, Tensor]:
        """The words of passages as states (R, 2, 1)."""
        rows = torch.tensor(np.stack(prompts).astype(np.float32))[..., None]
        return rows, torch.ones(rows.shape[:2], dtype=torch.bool)

    def log_p(self, states: Tensor, mask: Tensor, said: Tensor) -> Tensor:  # noqa: ARG002
        """log p (R, T, V)."""
        R, T = said.shape
        held = self.words(states[..., 0].long()).flatten(1)  # (R, 2 W)
        before = torch.cat([torch.zeros_like(said[:, :1]), said[:, :-1]], dim=1)
        at = self.places(torch.arange(T)).expand(R, T, -1)
        rows = torch.cat([held[:, None].expand(R, T, -1), self.words(before), at], dim=-1)
        logs = self.layers(rows)
        logs[..., [NOTHING, self.end]] = -30.0
        return torch.as_tensor(logs.log_softmax(-1))


PROOFS = (
    Proof(SYSTEM, "marginals", "sums over everything there is", marginals),
    Proof(SYSTEM, "gradient", "posterior minus prior", gradient),
    Proof(SYSTEM, "decoding", "20 random generators", decoding),
)


def draw(chance: np.random.Generator, kind: str) -> tuple[list[Ints], tuple[int, int]]:
    """Two passages and an answer."""
    a, b, c, d = (int(i) for i in 1 + chance.choice(WORDS, size=4, replace=False))
    if kind == "split":
        return [np.array([a, NOTHING]), np.array([NOTHING, b])], (a, b)
    return [np.array([a, b]), np.array([c, d])], ((a, b) if chance.random() < 0.5 else (c, d))


def taught(seed: int, kind: str, marginal: Marginal) -> ToyWriter:
    """A writer that learned from passages of a kind."""
    writer = ToyWriter(seed)
    optimiser = torch.optim.AdamW(writer.parameters(), lr=RATE)
    for step in range(max(1, int(STEPS * school.SHARE))):
        drawn = [draw(np.random.default_rng([seed, step, j]), kind) for j in range(64)]
        states, mask = writer.encode([passage for passages, _ in drawn for passage in passages])
        said = torch.tensor([answer for _, answer in drawn])
        real = torch.ones_like(said, dtype=torch.bool)
        twice = (said.repeat_interleave(2, 0), real.repeat_interleave(2, 0))
        y = answer_log_p(writer, states, mask, *twice).view(64, 2, 2)
        optimiser.zero_grad()
        rag_loss(torch.zeros(64, 2), y, real, marginal).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return writer


def thorough_share(writer: ToyWriter, seed: int, beams: int, many: int = 100) -> tuple[float, float]:
    """Split answers: how many thorough decoding gets right, and in how many the right one is a candidate."""
    right = offered = 0
    for j in range(many):
        passages, answer = draw(np.random.default_rng([seed, 1 << 20, j]), "split")
        found = [one.pieces for one in write(writer, passages, torch.zeros(2), RagSettings(longest=2, beams=beams))]
        right += found[0] == answer
        offered += answer in found
    return right / many, offered / many


def forms(seed: int) -> Figures:
    """Split: the share of right answers. Rivals: the share that is one of the two answers."""
    found: dict[str, float] = {}
    for kind in ("split", "rivals"):
        for how, marginal in (("token", "token"), ("thorough", "sequence"), ("fast", "sequence")):
            writer, right, many = taught(seed, kind, "token" if marginal == "token" else "sequence"), 0, 100
            settings = RagSettings(longest=2, beams=3, decode=how)  # type: ignore[arg-type]
            for j in range(many):
                passages, answer = draw(np.random.default_rng([seed, 1 << 20, j]), kind)
                said = write(writer, passages, torch.zeros(2), settings)[0].pieces
                rivals = [tuple(int(i) for i in passage) for passage in passages]
                right += said == answer if kind == "split" else said in rivals
            found[f"{kind}, {how}"] = right / many
    return found


EXPERIMENTS = {
    "rag_forms": Experiment(
        SYSTEM,
        "token combines passages, sequence keeps to one",
        "Split: one passage has the first word of the answer, another the second. Rivals: two passages have an answer "
        "each.",
        "split: share of right answers; rivals: share of answers that are one of the two",
        forms,
        (
            Bar("split, token", least=0.9),
            Bar("split, thorough", most=0.5),
            Bar("split, token", least=0.4, minus="split, thorough"),
            Bar("rivals, thorough", least=0.9),
            Bar("rivals, thorough", least=0.2, minus="rivals, token"),
        ),
        "Both passages have the same probability, and the generator is given their words. With ten times the learning "
        "rate, passages without the word became as confident as those with it, and token decoding was right in 0.04.",
        design=2,
    ),
}


def drawn_documents() -> tuple[Tensor, Tensor]:
    """What the cards show: log p(z | x) and log p(y | x, z) of four passages, the first of which says nothing."""
    return prior(torch.tensor([0.4, 0.9, 0.2, 0.6])), torch.tensor([0.1, 0.05, 0.9, 0.3]).log()

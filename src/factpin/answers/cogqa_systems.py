"""The two systems of CogQA.

System 1 reads a passage for a question:

    [CLS] question [SEP] clue [SEP] clue … [SEP] passage [SEP]

    a, z      where hops and answers begin and end                   (B, 2, N)    -inf but at the passage and [CLS]
    hop       the best starts that are above a[CLS], at most K; each with its best end in the same sentence
    meaning   h_CLS of a lower layer, the fourth from the end        (B, D)
    loss      cross entropy of starts and ends, 1/k for each of k gold spans; without one a[CLS], with a weight of 0.1

System 2 reasons over the graph:

    A    2 I + edges (N, N), columns normalised
    X'   gelu(X W₂ + Aᵀ gelu(X W₁)), twice with the same weights, no bias
    F    the score of each node; yes or no and "x or y" have their own layers on meaning[x] - meaning[y]

Public code adds an embedding for the number of a sentence, and freezes System 1 until System 2 has learned something;
here there is neither, and both learn together from the beginning.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from factpin.answers.pair_reader import PairBatch
from factpin.answers.pair_tensors import to_tensors
from factpin.encoders import Encoder
from factpin.heads.answer_pointer import AnswerPointer, AnswerPointerConfig, AnswerPointerScores
from factpin.heads.cells import Cells
from factpin.layers.dropout import Dropout

HOP, ANSWER = 0, 1  # labels
FROM_END = 4  # layers from the end that the meaning of a node is taken from
NONE_WEIGHT = 0.1  # of a passage that names nothing
SELF = 2.0  # weight of a node beside that of each of its edges
SPREAD = 0.05  # of the first weights of the graph network
ROUNDS = 2


@dataclass(frozen=True, eq=False)
class SystemOneScores:
    """Where spans begin and end, and what each input means."""

    pointer: AnswerPointerScores  # a, z (B, 2, N)
    meaning: Tensor  # (B, D)


class System2(nn.Module):
    """Scores the nodes of a graph, and decides between two of them."""

    def __init__(self, width: int, dropout: float = 0.2) -> None:
        super().__init__()
        self.own, self.others = (nn.Parameter(SPREAD * torch.randn(width, width)) for _ in range(2))
        self.score = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Dropout(dropout),
            nn.Linear(width, 1),
        )  # fmt: skip
        self.yes_no, self.choice = (
            nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1)) for _ in range(2)
        )

    def forward(self, meaning: Tensor, edges: Sequence[tuple[int, int]]) -> Tensor:
        """meaning (N, D) -> scores (N,)."""
        X, A = meaning, adjacency(len(meaning), edges).to(meaning)
        for _ in range(ROUNDS):
            X = gelu(X @ self.own + A.T @ gelu(X @ self.others))  # (N, D)
        scores: Tensor = self.score(X).squeeze(-1)  # (N,)
        return scores

    def compare(self, kind: str, x: Tensor, y: Tensor) -> Tensor:
        """The score of yes, or of the first of two nodes, from their meanings (D,)."""
        layers = self.yes_no if kind == "yes_no" else self.choice
        score: Tensor = layers(x - y).squeeze(-1)
        return score


def adjacency(count: int, edges: Sequence[tuple[int, int]]) -> Tensor:
    """2 I + edges, with columns that sum to 1 (N, N)."""
    A = SELF * torch.eye(count)
    for source, target in set(edges):
        A[source, target] += 1.0
    return A / A.sum(dim=0)


class HopModel(nn.Module):
    """System 1 on an encoder, and System 2."""

    def __init__(self, encoder: Encoder, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        pointer = AnswerPointer(AnswerPointerConfig(("hop", "answer")), encoder.width)
        self.head = nn.ModuleDict({"spans": pointer, "system2": System2(encoder.width)})
        self.dropout = Dropout(dropout)

    @property
    def system2(self) -> System2:
        """The network over graphs."""
        system = self.head["system2"]
        if not isinstance(system, System2):
            raise TypeError("the head 'system2' is another module")
        return system

    def scores(self, batch: PairBatch) -> SystemOneScores:
        """What System 1 says of a batch."""
        ids, segments, mask, real = to_tensors(batch, next(self.parameters()).device)
        with lower_layer(self.encoder, FROM_END) as seen:
            hidden = self.encoder(ids, mask, segments=segments).hidden  # (B, N, D)
        lower = seen[-min(FROM_END, len(seen))] if seen else hidden
        return SystemOneScores(self.head["spans"](self.dropout(hidden), real), lower[:, 0].float())


@contextmanager
def lower_layer(encoder: Encoder, keep: int) -> Iterator[list[Tensor]]:
    """Collect what the last layers of an encoder put out while it reads."""
    stacks = [m for m in encoder.model.modules() if isinstance(m, nn.ModuleList) and len(m)]
    layers: Sequence[nn.Module] = max((list(stack) for stack in stacks), key=len, default=[])
    seen: list[Tensor] = []

    def watch(_: nn.Module, __: object, output: Any) -> None:
        seen.append(output[0] if isinstance(output, tuple) else output)
        del seen[:-keep]

    handles = [layer.register_forward_hook(watch) for layer in layers]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def span_loss(scores: AnswerPointerScores, gold: Cells) -> Tensor:
    """The mean over texts: for hops and answers each, the cross entropies of starts and ends, halved."""
    a, z = scores.a.float().log_softmax(-1), scores.z.float().log_softmax(-1)  # (B, 2, N)
    B, L, _ = a.shape
    counts = Counter((text, label) for text, label, _, _ in gold.rows())
    found = [(a[x, y, first] + z[x, y, last]) / 2 / counts[x, y] for x, y, first, last in gold.rows()]
    found += [NONE_WEIGHT * a[x, y, 0] for x in range(B) for y in range(L) if not counts[x, y]]
    return -torch.stack(found).sum() / B


def decode(
    a: Tensor, z: Tensor, label: int, ends: Sequence[int], most: int, longest: int, allow: float = 0.0
) -> tuple[list[tuple[int, int, float]], float]:
    """The spans (first, last, score) of one text whose starts are above [CLS], best first; and the gap of the best.

    a, z: (2, N). ends[i]: the token behind the sentence of token i. allow: how far below [CLS] a start may be.
    """
    starts, none = a[label, 1:], float(a[label, 0])
    found: list[tuple[int, int, float]] = []
    order = starts.argsort(descending=True, stable=True)[:most].tolist()
    best = float(starts[order[0]]) if order else -torch.inf
    for at in order:
        first = at + 1
        score = float(starts[at]) - none
        if score <= -allow or not torch.isfinite(starts[at]):
            break
        stop = max(first + 1, min(ends[first], first + longest))
        last = first + int(z[label, first:stop].argmax())
        found.append((first, last, score))
    return found, none - best

"""Scores for benchmarks/finding.py, as heads give them: of trained models (few cells are high) and of others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from factpin.heads import CONFIGS, HEADS
from factpin.heads.atlop import AtlopScores
from factpin.heads.crf import CRFScores
from factpin.heads.efficient_global_pointer import EfficientGlobalPointerScores
from factpin.heads.event_linker import EventLinkerScores
from factpin.heads.global_pointer import GlobalPointerScores
from factpin.heads.gplinker import GPLinkerScores
from factpin.language import coreference as rules

WIDTH, SIZE = 8, 64


@dataclass(frozen=True)
class Case:
    """Scores, and how to find in them."""

    task: str
    head: Any
    scores: Sequence[Any]  # of one batch after the other
    texts: int  # of a batch, at most
    cut: Any = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    allowed: Any = None  # of triples
    fits: Sequence[Any] = (None,)  # of document relations, for each batch
    asked: Any = None  # of coreference


def names(count: int) -> tuple[str, ...]:
    return tuple(f"label{n}" for n in range(count))


def build(name: str, **config: Any) -> Any:
    return HEADS[name](CONFIGS[name](**config), WIDTH).eval()


def real_tokens(B: int, N: int) -> Tensor:
    """Lengths from N / 3 to N, special tokens at both ends."""
    length = torch.linspace(N / 3, N, B).round().long() if B > 1 else torch.tensor([N])
    step = torch.arange(N)
    return (step > 0) & (step < length[:, None] - 1)


def planted(real: Tensor, labels: int, count: int) -> list[tuple[int, int, int, int]]:
    """A few spans (text, label, first, last) of every text."""
    rows = []
    for b, row in enumerate(real):
        tokens = row.nonzero().squeeze(1)
        for _ in range(count):
            at = int(torch.randint(0, len(tokens) - 4, ()))
            width = int(torch.randint(0, 4, ()))
            rows.append((b, int(torch.randint(0, labels, ())), int(tokens[at]), int(tokens[at]) + width))
    return rows


def pairs(B: int, N: int, L: int, *, trained: bool, count: int = 6) -> GlobalPointerScores:
    real = real_tokens(B, N)
    if not trained:
        return GlobalPointerScores(torch.randn(B, N, L, 2, SIZE) / SIZE**0.25 * real[:, :, None, None, None], real)
    qk = torch.randn(B, N, L, 2, SIZE) * 0.1
    qk[..., 0, -1], qk[..., 1, -1] = 3.5, -3.5  # every cell about -12
    for n, (b, label, i, j) in enumerate(planted(real, L, count)):
        qk[b, i, label, 0, n % (SIZE - 1)] = qk[b, j, label, 1, n % (SIZE - 1)] = 5.0
    return GlobalPointerScores(qk * real[:, :, None, None, None], real)


def factored(B: int, N: int, L: int, *, trained: bool, count: int = 6) -> EfficientGlobalPointerScores:
    real = real_tokens(B, N)
    q, k = torch.randn(B, N, SIZE) / SIZE**0.5 * real[..., None], torch.randn(B, N, SIZE) * real[..., None]
    u, v = torch.randn(B, L, N) * real[:, None], torch.randn(B, L, N) * real[:, None]
    if trained:
        u, v = u - 6, v - 6
        for b, label, i, j in planted(real, L, count):
            u[b, label, i] = v[b, label, j] = 5.0
    return EfficientGlobalPointerScores(q, k, u, v, real)


def spans(name: str, B: int, N: int, L: int, *, trained: bool) -> Case:
    torch.manual_seed(0)
    scores = (pairs if name == "global_pointer" else factored)(B, N, L, trained=trained)
    return Case("spans", build(name, labels=names(L)), [scores], B)


def crf(B: int, N: int, L: int, *, trained: bool) -> Case:
    torch.manual_seed(0)
    real = real_tokens(B, N)
    head = build("crf", labels=names(L))
    e = torch.randn(B, N, 4 * L + 1) * real[..., None]
    if trained:
        e[..., 0] += 8.0
        for b, label, i, j in planted(real, L, 6):
            e[b, i : j + 1, 0] -= 16.0
            e[b, i, 1 + 4 * label + (0 if i < j else 3)] += 8.0
            e[b, i + 1 : j, 2 + 4 * label] += 8.0
            e[b, j, 3 + 4 * label] += 8.0 if i < j else 0.0
    return Case("spans", head, [CRFScores(e, real)], B, -float("inf"))


def triples(B: int, N: int, R: int, *, trained: bool, types: int = 1, **options: Any) -> Case:
    torch.manual_seed(0)
    spans = pairs(B, N, 2 * types, trained=trained, count=12)
    links = [factored(B, N, R, trained=trained, count=6) for _ in range(2)]
    if trained:
        cells = build("global_pointer", labels=names(2 * types)).dense(spans)  # (B, C, N, N)
        for b, label, i, j in (cells > 0).nonzero().tolist():
            for x, token in zip(links, (i, j), strict=True):
                term = x.u if label < types else x.v
                term[b, (3 * i) % R if label < types else torch.arange(0, R, 5), token] = 5.0
    kinds = tuple(f"t{n}" for n in range(types))
    head = build("gplinker", relations=names(R), subjects=kinds, objects=kinds)
    return Case("triples", head, [GPLinkerScores(spans, *links)], B, options=options)


def events(B: int, N: int, types: int, *, trained: bool) -> Case:
    torch.manual_seed(0)
    roles = tuple((f"type{t}", f"role{r}") for t in range(types) for r in range(4))
    head = build("event_linker", triggers=tuple(f"type{t}" for t in range(types)), roles=roles)
    spans = factored(B, N, 5 * types, trained=trained, count=12)
    links = [factored(B, N, 1, trained=trained, count=24) for _ in range(2)]
    return Case("events", head, [EventLinkerScores(spans, *links)], B)


def relations(P: int, *, trained: bool) -> Case:
    torch.manual_seed(0)
    R, S = 97, 20
    s = torch.randn(P, 1 + R)
    if trained:
        s[:, 0] += 8.0
        s[torch.randint(0, P, (P // 30,)), torch.randint(1, 1 + R, (P // 30,))] += 12.0
    share = torch.rand(P, S).softmax(dim=1)
    entity = torch.arange(P)
    head = build("atlop", relations=names(R), size=8, group=4)
    return Case("document_relations", head, [AtlopScores(s, entity, entity, share, entity)], 1)


def coreference(M: int, K: int) -> Case:
    torch.manual_seed(0)
    antecedent = np.maximum(np.arange(M)[:, None] - 1 - np.arange(K), -1)
    s = torch.randn(M, K).masked_fill(torch.from_numpy(antecedent) < 0, -torch.inf)
    kind = getattr(rules, "MentionPairs", None) or rules.Candidates  # the older name
    asked = [kind(antecedent, np.zeros((M, K), np.int64), np.zeros((M, K, 13)))]
    return Case("coreference", build("mention_pair"), [s], 1, asked=asked)


def answers(B: int, N: int) -> Case:
    torch.manual_seed(0)
    table = torch.randn(B, 1, N, N).masked_fill(~torch.ones(N, N, dtype=torch.bool).triu(), -torch.inf)
    return Case("answers", None, [table], B)


def cases() -> dict[str, Callable[[], Case]]:
    found: dict[str, Callable[[], Case]] = {}
    for trained in (True, False):
        kind = "trained" if trained else "untrained"
        for B, N in ((1, 32), (16, 64), (16, 128), (8, 256), (4, 512)) if trained else ((1, 32), (16, 64), (16, 128)):
            found[f"global_pointer {kind} ({B}, {N}, 10)"] = lambda B=B, N=N, t=trained: spans(
                "global_pointer", B, N, 10, trained=t
            )
        for B, N, L in (
            ((1, 32, 6), (16, 64, 10), (8, 256, 50), (4, 512, 200)) if trained else ((1, 32, 6), (16, 64, 10))
        ):
            found[f"efficient_global_pointer {kind} ({B}, {N}, {L})"] = lambda B=B, N=N, L=L, t=trained: spans(
                "efficient_global_pointer", B, N, L, trained=t
            )
        for B, N, L in ((1, 32, 6), (16, 64, 6), (16, 128, 10)):
            found[f"crf {kind} ({B}, {N}, {4 * L + 1} tags)"] = lambda B=B, N=N, L=L, t=trained: crf(B, N, L, trained=t)
        for B, N, R in ((1, 32, 50), (8, 128, 50), (4, 256, 50), (2, 512, 200))[: 4 if trained else 2]:
            found[f"gplinker {kind} ({B}, {N}, {R})"] = lambda B=B, N=N, R=R, t=trained: triples(B, N, R, trained=t)
        for B, N, C in ((1, 32, 10), (8, 128, 100), (4, 256, 200))[: 3 if trained else 2]:
            found[f"event_linker {kind} ({B}, {N}, {C})"] = lambda B=B, N=N, C=C, t=trained: events(
                B, N, C // 5, trained=t
            )
        for P in (20, 400, 10000):
            found[f"atlop {kind} ({P} pairs, 97)"] = lambda P=P, t=trained: relations(P, trained=t)
    for N in (32, 48):
        found[f"gplinker untrained (1, {N}, 50), no budget"] = lambda N=N: triples(
            1, N, 50, trained=False, max_spans=None, max_triples=None
        )
    found["gplinker trained (8, 128, 50), 18 types"] = lambda: triples(8, 128, 50, trained=True, types=18)
    found["mention_pair (200, 50)"] = lambda: coreference(200, 50)
    found["answers (4, 384)"] = lambda: answers(4, 384)
    return found


CASES = cases()

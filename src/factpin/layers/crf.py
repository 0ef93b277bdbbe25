"""Linear-chain CRF: the sum over all tag paths, its gradient, the best path, and how sure the model is of a path.

    e        emissions, steps first..length of each text   (B, n, T)     T tags
    rules    transitions (T, T), start (T,), end (T,)      -inf where a step is illegal
    length   steps of each text, at least 1                (B,)

    score(y) = start[y_0] + sum_t e[t, y_t] + sum_t transitions[y_t, y_t+1] + end[y_last]
    log Z    = log of the sum over y of e^score(y)         (B,)

The sum over paths and its gradient are in layers/crf_chains.py.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from factpin.layers.crf_chains import Chains, run_chains
from factpin.layers.exact import exact, first_derivative_only


@dataclass(frozen=True)
class Rules:
    transitions: Tensor  # (T, T), from row to column
    start: Tensor  # (T,)
    end: Tensor  # (T,)


def log_partition(e: Tensor, rules: Rules, length: Tensor) -> Tensor:
    """log Z (B,) in float64."""
    return _LogPartition.apply(e, rules.transitions, rules.start, rules.end, length)  # type: ignore[no-untyped-call]


def path_score(e: Tensor, rules: Rules, length: Tensor, path: Tensor) -> Tensor:
    """score(path) (B,) in float64; path (B, n), read up to each length."""
    inside = torch.arange(e.shape[1], device=e.device) < length[:, None]  # (B, n)
    unary = e.gather(2, path[..., None]).squeeze(2).double()
    pair = rules.transitions[path[:, :-1], path[:, 1:]].double()
    last = path.gather(1, length[:, None] - 1).squeeze(1)
    total = unary.masked_fill(~inside, 0.0).sum(dim=1) + pair.masked_fill(~inside[:, 1:], 0.0).sum(dim=1)
    return total + rules.start[path[:, 0]].double() + rules.end[last].double()


def best_path(e: Tensor, rules: Rules, length: Tensor) -> Tensor:
    """The highest path (B, n) of each text; after its length the last tag is repeated. Ties go to the lower tag.

    The highest score of each step is kept, and only the tags on the path ask which tag they came from.
    """
    steps = e.detach().float().permute(1, 2, 0).contiguous().cpu().numpy()  # (n, T, B)
    transitions, start, end = (x.detach().float().cpu().numpy() for x in (rules.transitions, rules.start, rules.end))
    n, T, B = steps.shape
    best = np.empty_like(steps)
    best[0] = start[:, None] + steps[0]
    flat = best.reshape(n, T * B)
    into = np.repeat(transitions, B, axis=1)  # (from, to * text): rows this long add fast, rows of B do not
    for t in range(1, n):
        sums = best[t - 1].repeat(T, axis=0).reshape(T, T * B)
        sums += into
        np.maximum.reduce(sums, axis=0, out=flat[t])
        best[t] += steps[t]

    last = length.cpu().numpy() - 1
    tag = (best[last, :, np.arange(B)] + end).argmax(axis=1)  # (B,)
    best, into = np.ascontiguousarray(best.transpose(0, 2, 1)), np.ascontiguousarray(transitions.T)  # (n, B, T)
    path = np.empty((n, B), dtype=np.int64)
    path[n - 1] = tag
    for t in range(n - 2, -1, -1):
        tag = np.where(t < last, (best[t] + into[tag]).argmax(axis=1), tag)
        path[t] = tag
    return torch.from_numpy(path.T.copy()).to(e.device)


@dataclass(frozen=True)
class PathPosterior:
    """Logarithms of what the model thinks of one path, float64."""

    tag: Tensor  # (B, n)      P(y_t = path_t)
    follow: Tensor  # (B, n, T)   P(y_t+1 = column | y_t = path_t); -inf for all columns at the last step


def path_posterior(e: Tensor, rules: Rules, length: Tensor, path: Tensor) -> PathPosterior:
    """The posterior of a path (B, n), whose tags past the length are not read."""
    chains = run_chains(e.double(), rules.transitions.double(), rules.start.double(), rules.end.double(), length)
    at = path[..., None]
    tag = chains.marginal.gather(2, at).squeeze(2).log()
    log_w, log_beta = chains.logarithms()
    ahead = torch.full_like(log_w, -torch.inf)  # (B, n, T)
    ahead[:, :-1] = log_w[:, 1:]
    inside = torch.arange(1, e.shape[1] + 1, device=e.device) < length[:, None]
    follow = rules.transitions.double()[path] + ahead - log_beta.gather(2, at)
    return PathPosterior(tag, follow.masked_fill(~inside[..., None], -torch.inf))


class _LogPartition(torch.autograd.Function):
    """The gradient of log Z is the marginals: nothing is differentiated step by step."""

    @staticmethod
    def forward(ctx: FunctionCtx, e: Tensor, transitions: Tensor, start: Tensor, end: Tensor, length: Tensor) -> Tensor:
        with exact(e):
            chains = run_chains(e.double(), transitions.double(), start.double(), end.double(), length)
        ctx.chains, ctx.length = chains, length  # type: ignore[attr-defined]
        ctx.kinds = e.dtype, transitions.dtype  # type: ignore[attr-defined]
        return chains.log_Z.clone()  # ctx must not hold its own output: neither would ever be freed

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        first_derivative_only()
        chains: Chains = ctx.chains  # type: ignore[attr-defined]
        kind, rule_kind = ctx.kinds  # type: ignore[attr-defined]
        with exact(grad):
            de = chains.marginal * grad[:, None, None]  # (B, n, T)
            last = (ctx.length - 1)[:, None, None].expand(-1, 1, de.shape[2])  # type: ignore[attr-defined]
            dstart, dend = de[:, 0].sum(dim=0), de.gather(1, last).sum(dim=(0, 1))
            dtransitions = chains.pair_sum(grad)
        return de.to(kind), dtransitions.to(rule_kind), dstart.to(rule_kind), dend.to(rule_kind), None

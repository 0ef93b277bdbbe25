"""Linear-chain CRF: the sum over all tag paths, its gradient, and the score of a path.

    e        emissions, steps first..length of each text   (B, n, T)     T tags
    rules    transitions (T, T), start (T,), end (T,)      -inf where a step is illegal
    length   steps of each text, at least 1                (B,)

    score(y) = start[y_0] + sum_t e[t, y_t] + sum_t transitions[y_t, y_t+1] + end[y_last]
    log Z    = log of the sum over y of e^score(y)         (B,)

The sum over paths and its gradient are in layers/crf_chains.py, the best path in tasks/spans/chain.py.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from factpin.layers.crf_chains import ChainSums, run_chains
from factpin.layers.exact import exact, first_derivative_only


@dataclass(frozen=True)
class TagRules:
    """Scores of steps between tags, of first and of last tags; -inf where a step is illegal."""

    transitions: Tensor  # (T, T), from row to column
    start: Tensor  # (T,)
    end: Tensor  # (T,)


def log_partition(e: Tensor, rules: TagRules, length: Tensor) -> Tensor:
    """log Z (B,) in float64."""
    return _LogPartition.apply(e, rules.transitions, rules.start, rules.end, length)  # type: ignore[no-untyped-call]


def path_score(e: Tensor, rules: TagRules, length: Tensor, path: Tensor) -> Tensor:
    """score(path) (B,) in float64; path (B, n), read up to each length."""
    inside = torch.arange(e.shape[1], device=e.device) < length[:, None]  # (B, n)
    unary = e.gather(2, path[..., None]).squeeze(2).double()
    pair = rules.transitions[path[:, :-1], path[:, 1:]].double()
    last = path.gather(1, length[:, None] - 1).squeeze(1)
    total = unary.masked_fill(~inside, 0.0).sum(dim=1) + pair.masked_fill(~inside[:, 1:], 0.0).sum(dim=1)
    return total + rules.start[path[:, 0]].double() + rules.end[last].double()


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
        chains: ChainSums = ctx.chains  # type: ignore[attr-defined]
        kind, rule_kind = ctx.kinds  # type: ignore[attr-defined]
        with exact(grad):
            de = chains.marginal * grad[:, None, None]  # (B, n, T)
            last = (ctx.length - 1)[:, None, None].expand(-1, 1, de.shape[2])  # type: ignore[attr-defined]
            dstart, dend = de[:, 0].sum(dim=0), de.gather(1, last).sum(dim=(0, 1))
            dtransitions = chains.pair_sum(grad)
        return de.to(kind), dtransitions.to(rule_kind), dstart.to(rule_kind), dend.to(rule_kind), None

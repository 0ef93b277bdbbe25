"""The forward and the backward chain of a CRF, in float64 probabilities that are rescaled at every step.

    x_t       e^(e_t - max e_t)                          (B, T)
    M         e^(transitions - max)                      (T, T)
    alpha_t   weight of all paths up to t, with x_t      (B, T)    alpha_t = (alpha_t-1 M) * x_t
    w_t       weight of all paths from t, with x_t       (B, T)    w_t = beta_t * x_t
    beta_t    weight of all paths after t                (B, T)    beta_t = M w_t+1
    marginal  alpha_t * beta_t, normalised               (B, T)

Both chains have the same form, so they run as one: the backward one on the text reversed inside its own length. Where
float64 could lose a path (scores of one text more than several hundred apart) the text is run again in logarithms.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

SAFE = 1e-250  # far above the smallest float64: what underflows at a step is then less than 1e-50 of the sum


@dataclass(frozen=True)
class LogChains:
    """Chains of K texts, run in logarithms."""

    log_Z: Tensor  # (K,)
    marginal: Tensor  # (K, n, T), 0 past the length
    pairs: Tensor  # (K, T, T), expected number of each transition


@dataclass(frozen=True)
class ChainSums:
    """Both chains of B texts: what log Z and its gradient need."""

    log_Z: Tensor  # (B,)
    marginal: Tensor  # (B, n, T), 0 past the length
    alpha: Tensor  # (B, n, T), rescaled at every step; 0 for slow texts, as w
    w: Tensor  # (B, n, T)
    weight: Tensor  # (B, n - 1), 1 / sum of alpha_t M w_t+1; 0 past the length and for slow texts
    M: Tensor  # (T, T)
    slow: Tensor  # (K,) texts that were run in logarithms
    again: LogChains | None  # of those

    def pair_sum(self, grad: Tensor) -> Tensor:
        """Expected number of each transition, texts weighted by grad (B,) -> (T, T)."""
        before = (self.alpha[:, :-1] * (self.weight * grad[:, None])[..., None]).flatten(0, 1)  # (B * (n - 1), T)
        pairs = self.M * (before.mT @ self.w[:, 1:].flatten(0, 1))
        if self.again is not None:
            pairs = pairs + (self.again.pairs * grad[self.slow][:, None, None]).sum(dim=0)
        return pairs


def run_chains(e: Tensor, transitions: Tensor, start: Tensor, end: Tensor, length: Tensor) -> ChainSums:
    """e (B, n, T), transitions (T, T), start and end (T,), all float64; length (B,) at least 1."""
    n = e.shape[1]
    step = torch.arange(n, device=e.device)
    inside = step < length[:, None]  # (B, n)
    mirror = torch.where(inside, length[:, None] - 1 - step, step)  # (B, n), its own inverse
    top = e.amax(dim=-1)  # (B, n)
    x = (e - top[..., None]).exp_().masked_fill_(~inside[..., None], 1.0)  # past the length nothing decays
    shift = transitions.amax()
    M = (transitions - shift).exp()
    first = torch.stack((start - start.amax(), end - end.amax())).exp()  # (2, T)
    both = torch.stack((x, _reorder(x, mirror))).permute(2, 0, 1, 3).contiguous()  # (n, 2, B, T)
    state, before, scale = _scaled(both, torch.stack((M, M.mT)), first)

    alpha, w = state[:, 0].transpose(0, 1), _reorder(state[:, 1].transpose(0, 1), mirror)  # 2 x (B, n, T)
    beta = _reorder(before[:, 1].transpose(0, 1), mirror)
    scale_alpha = scale[:, 0, :, 0].mT  # (B, n)
    scale_w = scale[:, 1, :, 0].mT.gather(1, mirror)
    marginal = alpha * beta
    norm = marginal.sum(dim=-1)  # (B, n)
    last = norm.gather(1, length[:, None] - 1).squeeze(1)
    log_Z = (scale_alpha.log() + top).masked_fill(~inside, 0.0).sum(dim=1) + last.log()
    log_Z = log_Z + (length - 1) * shift + start.amax() + end.amax()

    unsafe = (~(norm * torch.minimum(scale_alpha, scale_w) >= SAFE) & inside).any(dim=1)
    slow = unsafe.nonzero().squeeze(1)  # (K,)
    marginal = marginal.div_(norm[..., None]).masked_fill_(~inside[..., None], 0.0)
    weight = (1 / norm[:, :-1]).masked_fill(~inside[:, 1:], 0.0)
    again = None
    if slow.numel():
        again = _in_logarithms(e[slow], transitions, start, end, length[slow])
        log_Z[slow], marginal[slow] = again.log_Z, again.marginal
        alpha, w = (x.masked_fill(unsafe[:, None, None], 0.0) for x in (alpha, w))  # they may hold 0 / 0
        weight = weight.masked_fill(unsafe[:, None], 0.0)
    return ChainSums(log_Z, marginal, alpha, w, weight, M, slow, again)


def _scaled(x: Tensor, M: Tensor, first: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x (n, 2, B, T), M (2, T, T), first (2, T) -> state, the product before x (n, 2, B, T), and scale (n, 2, B, 1)."""
    state, before = torch.empty_like(x), torch.empty_like(x)
    scale = x.new_empty(*x.shape[:3], 1)
    before[0] = first[:, None]
    old: Tensor | None = None
    for x_t, s_t, b_t, c_t in zip(x.unbind(), state.unbind(), before.unbind(), scale.unbind(), strict=True):
        if old is not None:
            torch.bmm(old, M, out=b_t)
        torch.mul(b_t, x_t, out=s_t)
        torch.amax(s_t, dim=-1, keepdim=True, out=c_t)
        old = s_t.div_(c_t)
    return state, before, scale


def _reorder(x: Tensor, order: Tensor) -> Tensor:
    """x (B, n, T) with its steps in the given order (B, n)."""
    return x.gather(1, order[..., None].expand_as(x))


def _in_logarithms(e: Tensor, transitions: Tensor, start: Tensor, end: Tensor, length: Tensor) -> LogChains:
    """The same chains for K texts (K, n, T), with a log-sum-exp at every step: slow, and right for any scores."""
    n = e.shape[1]
    inside = torch.arange(n, device=e.device) < length[:, None]  # (K, n)
    alpha, beta = torch.empty_like(e), torch.empty_like(e)
    alpha[:, 0] = start + e[:, 0]
    for t in range(1, n):
        grown = (alpha[:, t - 1, :, None] + transitions).logsumexp(dim=1) + e[:, t]
        alpha[:, t] = torch.where(inside[:, t, None], grown, alpha[:, t - 1])
    beta[:, n - 1] = end
    for t in range(n - 2, -1, -1):
        grown = (transitions + (e[:, t + 1] + beta[:, t + 1])[:, None]).logsumexp(dim=2)
        beta[:, t] = torch.where(inside[:, t + 1, None], grown, end)
    log_Z = (alpha[:, n - 1] + end).logsumexp(dim=1)
    marginal = (alpha + beta - log_Z[:, None, None]).exp().masked_fill(~inside[..., None], 0.0)
    ahead = e + beta
    pairs = e.new_zeros(e.shape[0], *transitions.shape)
    for t in range(n - 1):
        both = alpha[:, t, :, None] + transitions + ahead[:, t + 1, None]  # (K, T, T)
        pairs += (both - log_Z[:, None, None]).exp() * inside[:, t + 1, None, None]
    return LogChains(log_Z, marginal, pairs)

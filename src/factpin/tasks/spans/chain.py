"""The best path of a chain of tags, and how sure the model is of it.

    e        emissions of the steps of each text                (B, n, T)
    rules    transitions (T, T), start (T,), end (T,)           -inf where a step is illegal
    length   steps of each text, at least 1                     (B,)

    score(y) = start[y_0] + sum_t e[t, y_t] + sum_t transitions[y_t, y_t+1] + end[y_last]

    alpha_t  weight of all paths up to t, with e_t              (B, T)    alpha_t = (alpha_t-1 M) * x_t
    w_t      weight of all paths from t, with e_t               (B, T)    w_t = beta_t * x_t
    beta_t   weight of all paths after t                        (B, T)    beta_t = M w_t+1
             x = e^(e - max), M = e^(transitions - max)

Both chains run as one, in float64, rescaled at every step; the backward one on the text reversed inside its own length.
Where float64 could lose a path (scores of one text several hundred apart) the text is run again in logarithms.
layers/crf_chains.py has the same sums with their gradients.
"""

from dataclasses import dataclass

import numpy as np

from factpin.arrays import Floats, Floats32, Ints

SAFE = 1e-250  # far above the smallest float64: what underflows at a step is then less than 1e-50 of the sum


@dataclass(frozen=True)
class ChainRules:
    """Scores of the steps between tags; -inf where a step is illegal."""

    transitions: Floats32  # (T, T), from row to column
    start: Floats32  # (T,)
    end: Floats32  # (T,)


def best_path(e: Floats32, rules: ChainRules, length: Ints) -> Ints:
    """The highest path (B, n) of each text; after its length the last tag is repeated. Ties go to the lower tag.

    The highest score of each step is kept, and only the tags on the path ask which tag they came from.
    """
    steps = np.ascontiguousarray(e.transpose(1, 2, 0))  # (n, T, B)
    n, T, B = steps.shape
    best = np.empty_like(steps)
    best[0] = rules.start[:, None] + steps[0]
    flat = best.reshape(n, T * B)
    into = np.repeat(rules.transitions, B, axis=1)  # (from, to * text): rows this long add fast, rows of B do not
    for t in range(1, n):
        sums = best[t - 1].repeat(T, axis=0).reshape(T, T * B)
        sums += into
        np.maximum.reduce(sums, axis=0, out=flat[t])
        best[t] += steps[t]

    last = length - 1
    tag = (best[last, :, np.arange(B)] + rules.end).argmax(axis=1)  # (B,)
    best, into = np.ascontiguousarray(best.transpose(0, 2, 1)), np.ascontiguousarray(rules.transitions.T)  # (n, B, T)
    path = np.empty((n, B), np.int64)
    path[n - 1] = tag
    for t in range(n - 2, -1, -1):
        tag = np.where(t < last, (best[t] + into[tag]).argmax(axis=1), tag)
        path[t] = tag
    return path.T.copy()


@dataclass(frozen=True)
class ChainWeights:
    """The weights of all paths through every step. w and beta have a factor that depends only on the step."""

    marginal: Floats  # (B, n, T), P(y_t = tag); 0 past the length
    w: Floats  # (B, n, T)
    beta: Floats  # (B, n, T), of M w_t+1
    rules: ChainRules
    slow: Ints  # (K,) texts that were run in logarithms
    log_w: Floats  # (K, n, T), of those
    log_beta: Floats  # (K, n, T), of those

    def follow(self, row: Ints, step: Ints, tag: Ints, then: Ints) -> Floats:
        """log P(y_step+1 = then | y_step = tag); nonsense at and past the last step of a text."""
        shift = float(self.rules.transitions.max())
        with np.errstate(divide="ignore", invalid="ignore"):  # log 0 past the length
            ratio = np.log(self.w[row, step + 1, then]) - np.log(self.beta[row, step, tag]) - shift
        if len(self.slow):
            again = np.full(len(self.w), -1)
            again[self.slow] = np.arange(len(self.slow))
            k = np.broadcast_to(again[row], ratio.shape)
            ratio = np.where(k < 0, ratio, self.log_w[k, step + 1, then] - self.log_beta[k, step, tag])
        return np.asarray(self.rules.transitions[tag, then] + ratio)


def run_chains(e: Floats32, rules: ChainRules, length: Ints) -> ChainWeights:
    """Both chains of texts with emissions e (B, n, T)."""
    step = np.arange(e.shape[1])
    inside = step < length[:, None]  # (B, n)
    mirror = np.where(inside, length[:, None] - 1 - step, step)[..., None]  # (B, n, 1), its own inverse
    x = _from_highest(e, axis=2)
    x[~inside] = 1.0  # past the length nothing decays
    M, ends = _from_highest(rules.transitions), np.stack((_from_highest(rules.start), _from_highest(rules.end)))
    both = np.stack((x, np.take_along_axis(x, mirror, axis=1))).transpose(2, 0, 1, 3).copy()  # (n, 2, B, T)
    with np.errstate(invalid="ignore"):  # 0 / 0 where float64 loses every path
        state, before, scale = _scaled(both, np.stack((M, M.T)), ends)

    alpha, reverse, rest = state[:, 0], state[:, 1], before[:, 1]  # 3 x (n, B, T)
    w, beta = (np.take_along_axis(y.transpose(1, 0, 2), mirror, axis=1) for y in (reverse, rest))
    scale_w = np.take_along_axis(scale[:, 1].transpose(1, 0, 2), mirror, axis=1)[..., 0]
    marginal = alpha.transpose(1, 0, 2) * beta  # (B, n, T)
    norm = marginal.sum(axis=2)
    unsafe = (~(norm * np.minimum(scale[:, 0, :, 0].T, scale_w) >= SAFE) & inside).any(axis=1)
    slow = np.flatnonzero(unsafe)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 in slow texts
        marginal /= norm[..., None]
    marginal[~inside] = 0.0
    again = _in_logarithms(e[slow], rules, length[slow])
    marginal[slow] = again[0]
    return ChainWeights(marginal, w, beta, rules, slow, *again[1:])


def _from_highest(x: Floats32, axis: int | None = None) -> Floats:
    """e^(x - max x) in float64."""
    wide = x.astype(np.float64)
    wide -= wide.max(axis=axis, keepdims=True)
    return np.exp(wide, out=wide)


def _scaled(x: Floats, M: Floats, first: Floats) -> tuple[Floats, Floats, Floats]:
    """x (n, 2, B, T), M (2, T, T), first (2, T) -> state, the product before x (n, 2, B, T), and scale (n, 2, B, 1)."""
    state, before, scale = np.empty_like(x), np.empty_like(x), np.empty((*x.shape[:3], 1))
    before[0] = first[:, None]
    for t in range(len(x)):
        if t:
            np.matmul(state[t - 1], M, out=before[t])
        np.multiply(before[t], x[t], out=state[t])
        np.maximum.reduce(state[t], axis=2, keepdims=True, out=scale[t])
        state[t] /= scale[t]
    return state, before, scale


def _in_logarithms(e: Floats32, rules: ChainRules, length: Ints) -> tuple[Floats, Floats, Floats]:
    """marginal, log w, log beta (K, n, T) with a log-sum-exp at every step: slow, and right for any scores."""
    x, n = e.astype(np.float64), e.shape[1]
    transitions, end = rules.transitions.astype(np.float64), rules.end.astype(np.float64)
    inside = (np.arange(n) < length[:, None])[..., None]  # (K, n, 1)
    alpha, beta = np.empty_like(x), np.empty_like(x)
    if not len(x):
        return x, alpha, beta
    alpha[:, 0] = rules.start + x[:, 0]
    for t in range(1, n):
        grown = _log_sum_exp(alpha[:, t - 1, :, None] + transitions, axis=1) + x[:, t]
        alpha[:, t] = np.where(inside[:, t], grown, alpha[:, t - 1])
    beta[:, n - 1] = end
    for t in range(n - 2, -1, -1):
        grown = _log_sum_exp(transitions + (x[:, t + 1] + beta[:, t + 1])[:, None], axis=2)
        beta[:, t] = np.where(inside[:, t + 1], grown, end)
    log_Z = _log_sum_exp(alpha[:, n - 1] + end, axis=1)
    marginal = np.where(inside, np.exp(alpha + beta - log_Z[:, None, None]), 0.0)
    return marginal, x + beta, beta


def _log_sum_exp(x: Floats, axis: int) -> Floats:
    top = x.max(axis=axis, keepdims=True)
    top[top == -np.inf] = 0.0
    with np.errstate(divide="ignore"):  # log 0 where every entry is -inf
        return np.asarray(np.log(np.exp(x - top).sum(axis=axis)) + top.squeeze(axis))

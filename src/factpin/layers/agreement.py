"""How far two passes of one text under dropout are apart (R-Drop): the symmetric divergence of what they say.

    yes or no by a score s:   KL(p||q) + KL(q||p) = (p - q)(s_p - s_q)               p = sigmoid(s)
    one of T by scores e:     KL(p||q) + KL(q||p) = sum_t (p_t - q_t)(log p_t - log q_t)    p = softmax(e)

Both are halved, as in the paper. Never negative; 0 where the two agree.
"""

import torch
from torch import Tensor


def yes_no_apart(s: Tensor, t: Tensor) -> Tensor:
    """Scores (B, L, N, N) of two passes, -inf where there is no cell -> the sum over cells, mean over (B, L)."""
    cell = torch.isfinite(s) & torch.isfinite(t)
    s, t = s.masked_fill(~cell, 0.0).float(), t.masked_fill(~cell, 0.0).float()
    apart = (s.sigmoid() - t.sigmoid()) * (s - t)  # (B, L, N, N)
    return apart.sum(dim=(2, 3)).mean() / 2


def one_of_apart(e: Tensor, f: Tensor, real: Tensor) -> Tensor:
    """Emissions (B, N, T) of two passes, real (B, N) -> the sum over tokens, mean over texts."""
    p, q = e.float().log_softmax(dim=-1), f.float().log_softmax(dim=-1)
    apart = ((p.exp() - q.exp()) * (p - q)).sum(dim=-1)  # (B, N)
    return (apart * real).sum() / len(real) / 2

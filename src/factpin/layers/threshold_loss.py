"""Which relations of a pair are high enough: the adaptive-threshold loss, its decision rule, and the global ablation.

    s   scores; adaptive: column 0 is TH, the threshold of that pair   (P, 1 + R);  global: (P, R)
    y   True at relations that hold                                     (P, R) bool

    L1 = - sum over r in y of log( e^s[r] / sum of e^s over y and TH )        relations that hold rise above TH
    L2 = - log( e^s[TH] / sum of e^s over not y and TH )                      TH rises above the others
    adaptive = L1 + L2,  global = binary cross-entropy of every s[r];  both summed over relations, mean over pairs

    m   margins of a student, t of a teacher: s[r] - s[TH], or s[r] with a global threshold              (P, R)

    taught = T^2 * sum over r of KL( sigmoid(t / T) || sigmoid(m / T) ),  mean over pairs;  T the temperature

A pair may have several relations, so a teacher answers yes or no for each, above TH or not; the answers do not
add up to one. T^2 keeps the gradient's size (Hinton et al. 2015, arXiv 1503.02531).

TH is part of every softmax, so none is empty and -inf masks the rest in any precision; sums run in float32 at least.
Differs from wzhouad/ATLOP (losses.py:10-34): labels have no column for TH and are never written to, and masks are not
1e30, which half precision cannot hold. Relations that tie at the top_k-th place are cut to the earlier ones, not kept.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def adaptive_threshold_loss(s: Tensor, y: Tensor) -> Tensor:
    """s (P, 1 + R), y (P, R) -> the mean over pairs; 0 where there are none."""
    s = _wide(s)
    some = y.any(dim=1)  # (P,) few: most pairs have no relation
    L2 = s.log_softmax(dim=1)[:, 0].masked_fill(some, 0.0)  # (P,) of pairs without
    rows = some.nonzero().squeeze(1)  # (Q,) of pairs with
    here, s_here = F.pad(y[rows], (1, 0)), s[rows]  # (Q, 1 + R), False at TH
    L2_here = s_here.masked_fill(here, -torch.inf).log_softmax(dim=1)[:, 0]  # (Q,)
    outside = ~here
    outside[:, 0] = False
    # filled with 0 before it is summed: a product with -inf would be NaN
    L1 = s_here.masked_fill(outside, -torch.inf).log_softmax(dim=1).masked_fill(~here, 0.0)
    return -(L1.sum() + L2.sum() + L2_here.sum()) / max(1, len(s))


def global_threshold_loss(s: Tensor, y: Tensor) -> Tensor:
    """s and y (P, R) -> the mean over pairs; 0 where there are none. One threshold for all is fitted later."""
    s = _wide(s)
    return F.binary_cross_entropy_with_logits(s, y.to(s.dtype), reduction="sum") / max(1, len(s))


def taught_loss(m: Tensor, taught: Tensor, temperature: float) -> Tensor:
    """Margins m and taught, both (P, R) -> the mean over pairs; 0 where they are equal, and where there are none."""
    m, taught = _wide(m) / temperature, _wide(taught).to(m.device) / temperature
    yes = taught.sigmoid() * (F.logsigmoid(taught) - F.logsigmoid(m))
    no = (-taught).sigmoid() * (F.logsigmoid(-taught) - F.logsigmoid(-m))
    return temperature**2 * (yes + no).sum() / max(1, len(m))


def margins(s: Tensor) -> Tensor:
    """How far every relation is above the threshold of its pair: s (P, 1 + R) -> (P, R)."""
    s = _wide(s)
    return s[:, 1:] - s[:, :1]


def _wide(s: Tensor) -> Tensor:
    return s.float() if s.dtype in (torch.float16, torch.bfloat16) else s

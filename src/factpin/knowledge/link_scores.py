"""The scores of a KAR's linker as decisions and probabilities: which candidate a mention refers to, or none (NIL).

    p    softmax(a · [ψ of the candidates; n])     n: what NIL scores     a: how sharp

n is chosen so that most mentions are right, then a so that p is likeliest, on texts that were kept aside.
"""

from collections.abc import Sequence

import numpy as np

from factpin.knowledge.mentions import NIL
from factpin.memory.link_fit import Array, softmax

SHARPEST = 10.0  # and 1 / SHARPEST the least sharp
TRIED = 81

Scored = tuple[Array, int]  # the scores of a mention's candidates (C,), and the right one or NIL


def chances(scores: Array, nil: float, sharpness: float) -> Array:
    """Probabilities of the candidates and of NIL (C + 1,)."""
    return softmax(sharpness * np.append(scores, nil))


def fit_scores(scored: Sequence[Scored]) -> tuple[float, float]:
    """n and a."""
    nil = _fit_nil(scored)
    if not scored:
        return nil, 1.0
    tried = np.geomspace(1 / SHARPEST, SHARPEST, TRIED)
    return nil, float(min(tried, key=lambda a: _surprise(scored, nil, float(a))))


def _fit_nil(scored: Sequence[Scored]) -> float:
    """Between the best scores of two mentions, or below all of them, or above."""
    found = sorted((float(s.max()), int(s.argmax()) == gold, gold == NIL) for s, gold in scored)
    if not found:
        return 0.0
    right = [sum(ok for _, ok, _ in found)]  # nothing is NIL
    for _, ok, nil in found:
        right.append(right[-1] - ok + nil)
    at = int(np.argmax(right))  # so many of the lowest are NIL
    lowest = found[at - 1][0] if at else found[0][0] - 1
    return (lowest + (found[at][0] if at < len(found) else lowest + 1)) / 2


def _surprise(scored: Sequence[Scored], nil: float, sharpness: float) -> float:
    """The mean of -log p of what is right."""
    return float(np.mean([-np.log(chances(s, nil, sharpness)[gold] + 1e-12) for s, gold in scored]))

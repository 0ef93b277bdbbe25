"""The scores of a KAR's linker as decisions and probabilities: which candidate a mention refers to, or none (NIL).

    p     softmax(a · [ψ of the candidates; n])     n: what NIL scores     a: how sharp
    loss  the mean of -log p of what is right + LEASH / mentions · (n² + (log a)²)

n and a are fitted together on texts that were kept aside. Where these have too few names, nothing is fitted, and
`memory.linking` says how probable NIL is, as it does without a trained linker.
"""

from collections.abc import Sequence

import numpy as np

from factpin.knowledge.mentions import NIL
from factpin.memory.link_fit import Array, softmax

UNFITTED = (0.0, 1.0)
FEW = 30  # mentions below which nothing is fitted
FEW_OF_EACH = 5  # the same of mentions that are NIL, and of those that are not
LEASH = 2.0
NILS = np.linspace(-10, 10, 401)  # that are tried
SHARP = np.geomspace(1 / 10, 10, 81)

Scored = tuple[Array, int]  # the scores of a mention's candidates (C,), and the right one or NIL


def chances(scores: Array, nil: float, sharpness: float) -> Array:
    """Probabilities of the candidates and of NIL (C + 1,)."""
    return softmax(sharpness * np.append(scores, nil))


def is_enough(scored: Sequence[Scored]) -> bool:
    """Whether there are enough mentions, with and without an entity, to fit anything."""
    without = sum(gold == NIL for _, gold in scored)
    return len(scored) >= FEW and min(without, len(scored) - without) >= FEW_OF_EACH


def fit_scores(scored: Sequence[Scored]) -> tuple[float, float]:
    """n and a."""
    if not is_enough(scored):
        return UNFITTED
    each = (_losses(scored, float(a)) + LEASH / len(scored) * (NILS**2 + np.log(a) ** 2) for a in SHARP)
    losses = np.stack(list(each))  # (a, n)
    a, n = np.unravel_index(int(losses.argmin()), losses.shape)
    return float(NILS[n]), float(SHARP[a])


def _losses(scored: Sequence[Scored], a: float) -> Array:
    """The mean of -log p of what is right, for every n."""
    of_nil, total = a * NILS, np.zeros(len(NILS))
    for scores, gold in scored:
        right = of_nil if gold == NIL else a * scores[gold]
        total += np.logaddexp(np.logaddexp.reduce(a * scores), of_nil) - right
    found: Array = total / len(scored)
    return found

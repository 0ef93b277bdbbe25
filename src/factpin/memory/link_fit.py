"""Fit the weights of linking: a softmax over the candidates of a name and NIL.

    x     features of candidates                           (n, C, F)
    y     1 / (mentions of the name + 1)                   (n,)   high for rare names
    s     x · w for candidates, b0 + b1 · log y for NIL    (n, C + 1)
    loss  the mean of -log softmax(s)[gold] + LEASH · |w - start|²

The weights stay close to the defaults where there are few examples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FEATURES = ("prior", "context", "type", "near")  # of a candidate
LEASH = 2.0  # divided by the number of examples
STEPS = 400
RATE = 0.05


@dataclass(frozen=True, slots=True)
class LinkWeights:
    """How much each feature counts, and what NIL scores: bias, and slope on the log of how rare a name is."""

    features: tuple[float, ...] = (1.0, 8.0, 0.5, 1.0)
    bias: float = -0.5
    rare: float = 1.0

    def scores(self, features: Array, count: int) -> Array:
        """features (C, F), how often the name occurs -> scores of the candidates and of NIL (C + 1,)."""
        nil = self.bias - self.rare * np.log(count + 1)
        return np.append(features @ np.array(self.features), nil)


@dataclass(frozen=True, eq=False, slots=True)
class LinkExample:
    """The candidates of a mention whose entity is known."""

    features: Array  # (C, F)
    count: int  # mentions of the name
    gold: int  # the number of the candidate, or -1 for NIL

    def without_type(self) -> "LinkExample":
        """The same mention as if no type were known."""
        return LinkExample(np.where(np.array(FEATURES) == "type", 0.0, self.features), self.count, self.gold)


def softmax(scores: Array) -> Array:
    """Probabilities over the last axis."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found: Array = shifted / shifted.sum(axis=-1, keepdims=True)
    return found


def fit(examples: Sequence[LinkExample], start: LinkWeights = LinkWeights()) -> LinkWeights:
    """The weights under which the gold candidates are likeliest; Adam on the whole set."""
    if not examples:
        return start
    first = np.array([*start.features, start.bias, start.rare])
    x, gold = _side_by_side(examples)  # (n, C, F + 2), (n,)
    real = np.abs(x).sum(axis=-1) > 0  # padding has no features
    w, m, v = first.copy(), np.zeros_like(first), np.zeros_like(first)
    at = np.arange(len(examples))
    for step in range(1, STEPS + 1):
        p = softmax(np.where(real, x @ w, -1e9))
        p[at, gold] -= 1.0
        slope = np.einsum("nc,ncf->f", p, x) / len(examples) + 2 * LEASH / len(examples) * (w - first)
        m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
        w = w - RATE * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return LinkWeights(tuple(w[:-2].tolist()), float(w[-2]), float(w[-1]))


def _side_by_side(examples: Sequence[LinkExample]) -> tuple[Array, NDArray[np.int64]]:
    """Candidates padded to the most, NIL last, and the number of the gold one."""
    most, width = max(len(one.features) for one in examples), examples[0].features.shape[1]
    x = np.zeros((len(examples), most + 1, width + 2))
    for i, one in enumerate(examples):
        x[i, : len(one.features), :width] = one.features
        x[i, : len(one.features), :width] += 1e-12  # so that a candidate without features is not padding
        x[i, most, width:] = 1.0, -np.log(one.count + 1)
    return x, np.array([most if one.gold < 0 else one.gold for one in examples])

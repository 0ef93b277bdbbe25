"""The head of coreference in arrays: what heads/mention_pair.py computes, from the weights of a folder."""

import math

import numpy as np

from factpin.arrays import Floats32, Ints
from factpin.models.weights import Weights
from factpin.tasks.coreference.find import CandidateScores
from factpin.tasks.examples import DocumentExample

BLOCK = 1 << 20  # numbers of one block of pairs
ERF = (0.3275911, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))  # within 2e-7


def mention_pair(H: Floats32, doc: DocumentExample, w: Weights) -> CandidateScores:
    """H (N, D) -> the scores of the K candidates of each mention (M, K), -inf where there is none."""
    pairs = doc.targets.candidates
    m = _mentions(H, doc.targets.tokens(doc.layout.prefix), w)  # (M, d)
    later = m @ w["head.later.weight"].T + w["head.later.bias"]
    earlier = m @ w["head.earlier.weight"].T
    M, K = pairs.antecedent.shape
    s = np.full((M, K), -np.inf, np.float32)
    step = max(1, BLOCK // max(1, K * m.shape[1]))
    for at in range(0, M, step):
        i, k = np.nonzero(pairs.antecedent[at : at + step] >= 0)
        i += at
        j = pairs.antecedent[i, k]
        x = (m[i] * m[j]) @ w["head.both.weight"].T + later[i] + earlier[j]  # (p, d)
        x += w["head.distance.weight"][pairs.distance[i, k]]
        x += pairs.features[i, k].astype(np.float32) @ w["head.features.weight"].T
        s[i, k] = gelu(x) @ w["head.score.weight"][0] + w["head.score.bias"]
    return CandidateScores(s)


def gelu(x: Floats32) -> Floats32:
    """x times the share of a normal distribution below it (Abramowitz and Stegun 7.1.26)."""
    z = np.abs(x) * np.float32(math.sqrt(0.5))
    scale, terms = ERF
    t = 1 / (1 + np.float32(scale) * z)
    tail = np.zeros_like(t)
    for term in terms:
        tail = (tail + np.float32(term)) * t
    erf = np.copysign(1 - tail * np.exp(-z * z), x)
    found: Floats32 = x * np.float32(0.5) * (1 + erf)
    return found


def _mentions(H: Floats32, tokens: Ints, w: Weights) -> Floats32:
    """m (M, d) of mentions with these first and last tokens (M, 2)."""
    first, last = tokens.T
    mean = [H[i : j + 1].mean(axis=0) for i, j in tokens.tolist()]
    x = np.concatenate((H[first], H[last], np.reshape(mean, (len(tokens), H.shape[1]))), axis=1)
    found: Floats32 = np.tanh(x @ w["head.mention.weight"].T + w["head.mention.bias"])
    return found

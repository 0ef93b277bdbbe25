"""Find coreference: scores of candidates -> the probability that a mention goes with each of them.

s   scores of the K candidates of every mention, -inf where there is none      (M, K)
p   softmax([0; s] / temperature) without the 0, which is that of "none"       (M, K)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factpin.arrays import Floats, Floats32
from factpin.language.coreference import ADD, KEEP, MentionPairs, PairScores


@dataclass(frozen=True)
class CandidateScores:
    """Scores of the candidates of the mentions of a batch of documents, one after the other."""

    s: Floats32  # (M, K), -inf where there is no candidate

    def probability(self, temperature: float = 1.0) -> Floats:
        """p (M, K); what is left to 1 is the probability of none."""
        s = self.s / np.float32(temperature)
        top = s.max(axis=1, keepdims=True, initial=0.0)
        e = np.exp(s - top)
        return np.asarray(e / (np.exp(-top) + e.sum(axis=1, keepdims=True)), np.float64)


def find_links(
    scores: CandidateScores,
    documents: Sequence[MentionPairs],
    *,
    temperature: float = 1.0,
    keep: float = KEEP,
    add: float = ADD,
) -> list[PairScores]:
    """The links that the scores of each document support."""
    table = scores.probability(temperature)
    judged, at = [], 0
    for asked in documents:
        M, K = asked.antecedent.shape
        judged.append(PairScores(asked.antecedent, table[at : at + M, :K], keep, add))
        at += M
    return judged

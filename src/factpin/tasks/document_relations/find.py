"""Find document relations: scores of pairs of entities -> the relations above their thresholds, and what proves them.

    m   how far a relation is above the threshold of its pair   (P, R)    s[r] - s[TH], or s[r] with a global threshold

(h, r, t) stands where m[r] is above the cut, at most the top_k best of a pair. A sentence proves a pair where its share
in what the pair looks at is large enough; the one with the largest share always does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from factpin.arrays import Bools, Floats, Floats32, Ints
from factpin.tasks.cuts import cuts


@dataclass(frozen=True)
class RelationScores:
    """Scores of the pairs of one document."""

    s: Floats32  # (P, 1 + R), the threshold of the pair first; (P, R) with a global threshold
    head: Ints  # (P,) entity
    tail: Ints  # (P,) entity
    share: Floats32 | None  # (U, S) of each sentence in what a pair looks at; sums to 1, or to 0
    context: Ints | None  # (P,) the row of `share` that is a pair's
    adaptive: bool  # every pair has its threshold
    top_k: int  # relations of one pair
    evidence_share: float  # a sentence with a larger share proves

    def margins(self) -> Floats32:
        """m (P, R)."""
        return self.s[:, 1:] - self.s[:, :1] if self.adaptive else self.s


@dataclass(frozen=True)
class Relations:
    """Relations of one document, and the sentences that prove them."""

    head: Ints  # (T,) index in doc.entities
    relation: Ints  # (T,)
    tail: Ints  # (T,) index in doc.entities
    score: Floats  # (T,) how far above the threshold
    proof_of: Ints  # (V,) index of a relation
    proof: Ints  # (V,) its sentence

    def __len__(self) -> int:
        return len(self.head)

    @staticmethod
    def none() -> "Relations":
        """Of a document without pairs."""
        none = np.zeros(0, np.int64)
        return Relations(none, none, none, np.zeros(0), none, none)


def find_relations(scores: RelationScores, cut: ArrayLike, fits: Bools | None = None) -> Relations:
    """The relations whose margin is above the cut, one number or one for each relation (R,), by pair and relation.

    fits (P, R): which relations may join the pair; the others take no place among its top_k.
    """
    m = scores.margins()
    P, R = m.shape
    high = m > cuts(cut, R)
    if fits is not None:
        high &= fits
    hit = np.flatnonzero(high)
    crowded = np.flatnonzero(np.bincount(hit // max(1, R), minlength=P) > scores.top_k)
    if len(crowded):
        high[crowded] = _highest(np.where(high[crowded], m[crowded], -np.inf), scores.top_k)
        hit = np.flatnonzero(high)
    pair, relation = np.divmod(hit, max(1, R))
    proof = np.zeros((len(pair), 0), np.bool_)
    if scores.share is not None and scores.context is not None:
        share = scores.share[scores.context[pair]]  # (T, S)
        proof = (share > np.float32(scores.evidence_share)) & (share > 0)
        if len(pair):
            best = share.argmax(axis=1)
            proof[np.arange(len(pair)), best] = share.max(axis=1) > 0
    return Relations(
        scores.head[pair], relation, scores.tail[pair], m.ravel()[hit].astype(np.float64), *np.nonzero(proof)
    )


def _highest(m: Floats32, most: int) -> Bools:
    """Where the `most` highest of each row of m (Q, R) are, of equals the earlier."""
    found, row = np.zeros(m.shape, np.bool_), np.arange(len(m))
    for _ in range(most):
        best = m.argmax(axis=1)
        found[row, best] = True
        m[row, best] = -np.inf
    return found

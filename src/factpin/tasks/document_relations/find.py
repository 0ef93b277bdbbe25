"""Find document relations: scores of pairs of entities -> the relations above their thresholds, and what proves them.

    m   how far a relation is above the threshold of its pair   (P, R)    s[r] - s[TH], or s[r] with a global threshold

(h, r, t) is found where m[r] is above the cut, at most the top_k best of a pair. A sentence proves a pair where its
share in what the pair looks at is large enough; the one with the largest share always does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from factpin.arrays import Bools, Floats, Floats32, Ints
from factpin.tasks.cuts import cuts

EVIDENCE_SHARE = 0.2  # a sentence with a greater share proves a pair; published 0.2, of all tokens


@dataclass(frozen=True)
class SentenceShares:
    """The share of each sentence in what a pair looks at, by pair and sentence; those that are 0 are left out."""

    row: Ints  # (F,) an unordered pair, in order
    sentence: Ints  # (F,)
    share: Floats32  # (F,) of one pair they sum to 1

    def of(self, rows: Ints) -> tuple[Ints, Ints, Floats32]:
        """For pairs rows (T,), all their shares: index in rows, sentence and share, in the order of rows."""
        first, last = (np.searchsorted(self.row, rows, side=side) for side in ("left", "right"))
        count = last - first
        which = np.repeat(np.arange(len(rows)), count)
        at = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        return which, self.sentence[at], self.share[at]


@dataclass(frozen=True)
class RelationScores:
    """Scores of the pairs of one document."""

    s: Floats32  # (P, 1 + R), the threshold of the pair first; (P, R) with a global threshold
    head: Ints  # (P,) entity
    tail: Ints  # (P,) entity
    share: SentenceShares | None  # of sentences in what an unordered pair looks at
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
    score = m.ravel()[hit].astype(np.float64)
    return Relations(scores.head[pair], relation, scores.tail[pair], score, *_proofs(scores, pair))


def _proofs(scores: RelationScores, pair: Ints) -> tuple[Ints, Ints]:
    """The sentences that prove relations of these pairs: index of the relation, sentence."""
    if scores.share is None or scores.context is None or not len(pair):
        none = np.zeros(0, np.int64)
        return none, none
    which, sentence, share = scores.share.of(scores.context[pair])
    best = np.zeros(len(pair), np.float32)
    np.maximum.at(best, which, share)
    top = np.flatnonzero(share == best[which])
    _, first = np.unique(which[top], return_index=True)  # of equals the earliest sentence
    proves = share > np.float32(scores.evidence_share)
    proves[top[first]] = True
    proves &= share > 0
    return which[proves], sentence[proves]


def _highest(m: Floats32, most: int) -> Bools:
    """Where the `most` highest of each row of m (Q, R) are, of equals the earlier."""
    found, row = np.zeros(m.shape, np.bool_), np.arange(len(m))
    for _ in range(most):
        best = m.argmax(axis=1)
        found[row, best] = True
        m[row, best] = -np.inf
    return found

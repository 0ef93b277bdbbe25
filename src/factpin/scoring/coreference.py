"""Score coreference: MUC, B-cubed and CEAF-e over clusters of mentions.

    K_i, R_j   gold and predicted clusters, sets of (start, end)
    M          |K_i ∩ R_j|                                                           (gold, predicted)

    MUC      recall = sum_i (|K_i| - parts of K_i) / sum_i (|K_i| - 1)    parts: clusters of R that cut K_i, and each
                                                                          mention of K_i that R does not have
    B-cubed  recall = sum_ij M_ij^2 / |K_i|  /  number of gold mentions
    CEAF-e   recall = best one-to-one sum of 2 M_ij / (|K_i| + |R_j|)  /  number of gold clusters

Precision swaps the sides. Numerators and denominators are summed over documents, as in the reference scorer of
CoNLL-2012, whose metric is the mean of the three F1. Clusters of one mention count if they are annotated (in DocRED
they are, in OntoNotes they are not). Spans must be equal; types do not matter. A span in several entities only counts
in the largest, because the metrics are not defined (or exceed 1) for overlapping clusters.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from factpin.documents import Document
from factpin.scoring.align import Pair
from factpin.scoring.assignment import best_assignment
from factpin.scoring.counts import Floats, Rows, divide

Cluster: TypeAlias = frozenset[tuple[int, int]]
METRICS = ("muc", "b_cubed", "ceaf_e")


def score(pairs: Sequence[Pair]) -> dict[str, Rows]:
    """metric -> (documents, 4): precision's numerator and denominator, recall's numerator and denominator."""
    rows = np.zeros((len(METRICS), len(pairs), 4))
    for d, pair in enumerate(pairs):
        rows[:, d] = agreement(clusters(pair.gold), clusters(pair.predicted))
    return dict(zip(METRICS, rows, strict=True))


def figures(totals: Floats) -> tuple[Floats, Floats, Floats]:
    """Totals (…, 4) -> precision, recall, F1, each (…); 0/0 is 0."""
    precision = divide(totals[..., 0], totals[..., 1])
    recall = divide(totals[..., 2], totals[..., 3])
    return precision, recall, divide(2 * precision * recall, precision + recall)


def clusters(doc: Document) -> list[Cluster]:
    """The spans of every entity, with each span in only one cluster."""
    place = {m.id: (m.start, m.end) for m in doc.mentions}
    found = [frozenset(place[id] for id in entity.mentions) for entity in doc.entities]
    if len(frozenset[tuple[int, int]]().union(*found)) == sum(map(len, found)):
        return found
    taken: set[tuple[int, int]] = set()
    apart = []
    for cluster in sorted(found, key=lambda cluster: (-len(cluster), sorted(cluster))):
        apart.append(cluster - taken)
        taken |= cluster
    return [cluster for cluster in apart if cluster]


def agreement(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> Floats:
    """(3, 4): a row for each of METRICS, columns as in `score`."""
    K = np.array([len(cluster) for cluster in gold], dtype=np.float64)
    R = np.array([len(cluster) for cluster in predicted], dtype=np.float64)
    if set(gold) == set(predicted):  # a perfect match: nothing to search
        links, size, count = K.sum() - len(K), K.sum(), len(K)
        return np.array([[links] * 4, [size] * 4, [count] * 4], dtype=np.float64)
    M = _shared(gold, predicted)  # (gold, predicted)
    best = _best_sum(2 * M / (K[:, None] + R[None, :]))
    return np.array(
        [
            [*_links(M.T, R), *_links(M, K)],
            [(M**2 / R[None, :]).sum(), R.sum(), (M**2 / K[:, None]).sum(), K.sum()],
            [best, len(R), best, len(K)],
        ]
    )


def _shared(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> Floats:
    where: dict[tuple[int, int], list[int]] = {}
    for j, cluster in enumerate(predicted):
        for span in cluster:
            where.setdefault(span, []).append(j)
    M = np.zeros((len(gold), len(predicted)))
    for i, cluster in enumerate(gold):
        for span in cluster:
            for j in where.get(span, ()):
                M[i, j] += 1
    return M


def _links(M: Floats, sizes: Floats) -> tuple[float, float]:
    """MUC: the links that are kept, and all links, for the clusters in the rows of M."""
    parts = (M > 0).sum(axis=1) + sizes - M.sum(axis=1)
    return float((sizes - parts).sum()), float((sizes - 1).sum())


def _best_sum(similarity: Floats) -> float:
    """The best one-to-one sum. Clusters that overlap only one other cluster need no search."""
    touching = similarity > 0
    rows, columns = touching.sum(axis=1), touching.sum(axis=0)
    alone = touching & (rows[:, None] == 1) & (columns[None, :] == 1)
    rest = similarity[np.ix_((rows > 0) & ~alone.any(axis=1), (columns > 0) & ~alone.any(axis=0))]
    chosen = best_assignment(rest)
    return float(similarity[alone].sum() + sum(rest[i, j] for i, j in chosen))

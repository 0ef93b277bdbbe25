"""The head of ATLOP in arrays, for documents of any length: what heads/atlop.py computes, from the weights of a folder.

e    entities (E, D)      a    their attention      c    contexts of unordered pairs (U, D)
s    tanh(W_h [e_h; c]) and tanh(W_t [e_t; c]) in K groups of G, multiplied group by group      (P, 1 + R)
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from factpin.arrays import Floats32, Ints
from factpin.models.onnx.rows import WindowRows, pair_blocks
from factpin.models.onnx.scores import Config
from factpin.models.weights import Weights
from factpin.tasks.document_relations.find import EVIDENCE_SHARE, RelationScores, SentenceShares
from factpin.tasks.examples import DocumentExample

EPSILON = 1e-5  # of the normaliser of a context, as in training
PAIRS = 256  # whose outer products are held at once
NUMBERS = 1 << 22  # in the contexts that are held at once


@dataclass(frozen=True)
class EntityPairs:
    """The pairs of a document by their entities, and the unordered pair of each."""

    head: Ints  # (P,)
    tail: Ints  # (P,)
    low: Ints  # (U,) in order
    high: Ints  # (U,)
    which: Ints  # (P,)

    @staticmethod
    def of(head: Ints, tail: Ints, entities: int) -> "EntityPairs":
        """From the entities of each pair."""
        key, which = np.unique(np.minimum(head, tail) * entities + np.maximum(head, tail), return_inverse=True)
        return EntityPairs(head, tail, key // entities, key % entities, which)

    def blocks(self, size: int) -> Iterator[tuple[slice, Ints]]:
        """Some unordered pairs at a time, and the pairs that are theirs."""
        order = np.argsort(self.which, kind="stable")
        for at in range(0, len(self.low), size):
            first, last = np.searchsorted(self.which[order], (at, at + size))
            yield slice(at, at + size), order[first:last]


def atlop(
    H: Floats32, attention: WindowRows | None, doc: DocumentExample, config: Config, w: Weights
) -> RelationScores:
    """H (N, D) and the attention of its mentions -> the scores of the pairs of a document."""
    y, D, E = doc.targets, H.shape[1], doc.targets.entities
    pairs = EntityPairs.of(y.head, y.tail, E)
    e = log_sum_exp(H[y.place + doc.layout.prefix], y.entity, E)  # (E, D)
    views = [e @ w[f"head.{side}.weight"][:, :D].T + w[f"head.{side}.bias"] for side in ("head", "tail")]  # (E, Z)
    a = attention.mean(y.entity, E) if attention is not None and config.get("context", True) else None
    s = np.repeat(w["head.bilinear.bias"][None], len(y.head), axis=0)  # (P, 1 + R)
    size = max(1, NUMBERS // (2 * config["size"]))
    for some, mine in pairs.blocks(size):
        context = None if a is None else _contexts(H, a, E, pairs.low[some], pairs.high[some])  # (u, D)
        x = [view[end[mine]] for view, end in zip(views, (y.head, y.tail), strict=True)]  # 2 x (p, Z)
        if context is not None:
            local = pairs.which[mine] - some.start
            for one, side in zip(x, ("head", "tail"), strict=True):
                one += (context @ w[f"head.{side}.weight"][:, D:].T)[local]
        s[mine] += bilinear(np.tanh(x[0]), np.tanh(x[1]), w["head.bilinear.weight"], config["group"])
    share = None if a is None or not y.sentences else _shares(a, doc, pairs)
    return RelationScores(
        s,
        y.head,
        y.tail,
        share,
        None if share is None else pairs.which,
        adaptive=config.get("threshold", "adaptive") == "adaptive",
        top_k=config["top_k"],
        evidence_share=config.get("evidence_share", EVIDENCE_SHARE),
    )


def log_sum_exp(x: Floats32, entity: Ints, entities: int) -> Floats32:
    """x (M, D) of mentions -> (E, D); 0 for an entity without one."""
    top = np.full((entities, x.shape[1]), -np.inf, np.float32)
    np.maximum.at(top, entity, x)
    empty = np.bincount(entity, minlength=entities) == 0
    top[empty] = 0.0
    total = np.zeros_like(top)
    np.add.at(total, entity, np.exp(x - top[entity]))
    total[empty] = 1.0
    found: Floats32 = top + np.log(total)
    return found


def bilinear(x: Floats32, y: Floats32, W: Floats32, group: int) -> Floats32:
    """Sum over groups of x[k]^T W[c, k] y[k]: x and y (P, Z), W (C, Z * G) -> (P, C)."""
    P, Z = x.shape
    W = W.reshape(len(W), Z // group, group * group)
    s = np.zeros((P, len(W)), np.float32)
    for at in range(0, P, PAIRS):
        here = slice(at, at + PAIRS)
        for k in range(Z // group):
            own = slice(k * group, (k + 1) * group)
            outer = x[here, own, None] * y[here, None, own]  # (p, G, G)
            s[here] += outer.reshape(len(outer), -1) @ W[:, k].T
    return s


def _contexts(H: Floats32, a: WindowRows, entities: int, low: Ints, high: Ints) -> Floats32:
    """c (U, D): what both entities of a pair look at."""
    c = np.zeros((len(low), H.shape[1]), np.float32)
    total = np.full(len(low), a.rows.shape[1] * EPSILON, np.float32)
    for block in pair_blocks(a, entities, low, high):
        total[block.pairs] += block.Q.sum(axis=0)  # a pair is once in a block
        c[block.pairs] += block.Q.T @ H[block.start : block.end]
    c /= total[:, None]
    return c


def _shares(a: WindowRows, doc: DocumentExample, pairs: EntityPairs) -> SentenceShares:
    """The share of each sentence in what a pair looks at."""
    y = doc.targets
    sentence = np.pad(y.sentence, (doc.layout.prefix, doc.layout.suffix), constant_values=-1)  # (N,)
    places, sums = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for block in pair_blocks(a, y.entities, pairs.low, pairs.high):
        inside = sentence[block.start : block.end]
        for one in np.unique(inside[inside >= 0]):
            places.append(block.pairs * y.sentences + one)
            sums.append(block.Q[inside == one].sum(axis=0))
    place, which = np.unique(np.concatenate(places), return_inverse=True)
    share = np.bincount(which, np.concatenate(sums), minlength=len(place)).astype(np.float32)
    row = place // y.sentences
    total = np.bincount(row, share, minlength=len(pairs.low)).astype(np.float32)
    total[total == 0] = 1.0
    return SentenceShares(row, place % y.sentences, share / total[row])

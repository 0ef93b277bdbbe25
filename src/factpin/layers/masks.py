"""MaskSpec: who may see whom, built from comparisons; `dense` makes the matrix, `additive` what transformers adds.

    know     what each query knows                     (Q,)
    rank     what it takes to see each key             (K,)
    allowed  allowed[q, k] = rank[k] <= know[q]        (Q, K) bool, True: q may attend to k

Every mask of the field is such a comparison, or some of them joined by & and |:

    causal        k <= q                       prefix s     k <= max(q, s - 1)
    anticausal    -k <= -q                     window l, r  k <= q + r  and  -k <= l - q
    permutation   rank[k] <= rank[q] sees itself, rank[k] <= rank[q] - 1 does not
    same          a[k] <= a[q]  and  -a[k] <= -a[q]
    later         -rank[k] <= -know[q] - 1

A spec is a union of intersections of comparisons, so it costs Q + K numbers however long the text is.

A row that sees nothing has no softmax. Public code subtracts a large number from such a row's scores, which makes it
look at all keys evenly, its own label among them. `additive` refuses such a row.
transformers wants floats: with eager attention a boolean mask is added as 0 and 1, and hides nothing.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factpin.errors import BadInput

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FAR = 1 << 60  # a rank that no query reaches; its negative: a query that knows nothing


@dataclass(frozen=True, eq=False)
class VisibilityOrder:
    """One comparison, rank[k] <= know[q]."""

    know: Ints  # (Q,)
    rank: Ints  # (K,)


@dataclass(frozen=True, eq=False)
class MaskSpec:
    """A mask of rows x columns as a union of intersections of comparisons."""

    rows: int
    columns: int
    terms: tuple[tuple[VisibilityOrder, ...], ...]  # a cell is allowed where all comparisons of one term hold

    def __and__(self, other: "MaskSpec") -> "MaskSpec":
        self._refuse_other_shape(other)
        return MaskSpec(self.rows, self.columns, tuple(a + b for a in self.terms for b in other.terms))

    def __or__(self, other: "MaskSpec") -> "MaskSpec":
        self._refuse_other_shape(other)
        return MaskSpec(self.rows, self.columns, self.terms + other.terms)

    def within(self, rows: int, columns: int, *, top: int = 0, left: int = 0) -> "MaskSpec":
        """The same mask as a part of a larger one; outside it nothing is visible."""
        if top + self.rows > rows or left + self.columns > columns:
            raise BadInput(
                f"A mask of {self.rows} x {self.columns} at ({top}, {left}) does not fit into {rows} x {columns}. "
                "Give a frame that holds it."
            )

        def moved(order: VisibilityOrder) -> VisibilityOrder:
            know, rank = np.full(rows, -FAR), np.full(columns, FAR)
            know[top : top + self.rows], rank[left : left + self.columns] = order.know, order.rank
            return VisibilityOrder(know, rank)

        return MaskSpec(rows, columns, tuple(tuple(moved(order) for order in term) for term in self.terms))

    def dense(self) -> Bools:
        """allowed (Q, K)."""
        allowed = np.zeros((self.rows, self.columns), np.bool_)
        for term in self.terms:
            part = np.ones((self.rows, self.columns), np.bool_)
            for order in term:
                part &= order.rank <= order.know[:, None]
            allowed |= part
        return allowed

    def blind(self) -> list[int]:
        """The rows that see nothing."""
        return [int(row) for row in np.flatnonzero(~self.dense().any(axis=1))]

    def additive(self, dtype: torch.dtype) -> Tensor:
        """(1, 1, Q, K): 0 where allowed, -inf elsewhere."""
        return additive(self.dense()[None], dtype)

    def _refuse_other_shape(self, other: "MaskSpec") -> None:
        if (self.rows, self.columns) != (other.rows, other.columns):
            raise BadInput(
                f"Masks of {self.rows} x {self.columns} and {other.rows} x {other.columns} cannot be joined. "
                "Place the smaller one with `within`."
            )


def additive(allowed: Bools, dtype: torch.dtype) -> Tensor:
    """allowed (B, Q, K) -> (B, 1, Q, K): 0 where allowed, -inf elsewhere."""
    blind = np.argwhere(~allowed.any(axis=-1))
    if len(blind):
        raise BadInput(
            f"Every row of a mask sees something; text {blind[0, 0]}, row {blind[0, 1]} sees nothing "
            f"(so do {len(blind) - 1} others). Let it see one key, or leave it out."
        )
    seen = torch.from_numpy(np.ascontiguousarray(allowed))[:, None]  # (B, 1, Q, K)
    return torch.zeros(seen.shape, dtype=dtype).masked_fill(~seen, -torch.inf)


def order(know: Ints, rank: Ints) -> MaskSpec:
    """A query sees the keys whose rank is at most what it knows."""
    know, rank = np.asarray(know, np.int64), np.asarray(rank, np.int64)
    return MaskSpec(len(know), len(rank), ((VisibilityOrder(know, rank),),))


def later(know: Ints, rank: Ints) -> MaskSpec:
    """A query sees the keys whose rank is above what it knows: the rest of `order`."""
    return order(-np.asarray(know, np.int64) - 1, -np.asarray(rank, np.int64))


def full(rows: int, columns: int | None = None) -> MaskSpec:
    """Every query sees every key."""
    return order(np.zeros(rows, np.int64), np.zeros(rows if columns is None else columns, np.int64))


def causal(n: int) -> MaskSpec:
    """A query sees itself and what precedes it."""
    return order(np.arange(n), np.arange(n))


def anticausal(n: int) -> MaskSpec:
    """A query sees itself and what follows it."""
    return order(-np.arange(n), -np.arange(n))


def prefix(n: int, seen: int) -> MaskSpec:
    """The first `seen` keys for every query, the others from left to right."""
    return order(np.maximum(np.arange(n), seen - 1), np.arange(n))


def window(n: int, left: int, right: int) -> MaskSpec:
    """At most `left` keys before and `right` keys after a query."""
    at = np.arange(n)
    return order(at + right, at) & order(left - at, -at)


def same(queries: Ints, keys: Ints | None = None) -> MaskSpec:
    """Only keys with the same number as the query: documents packed into one row do not see each other."""
    keys = queries if keys is None else keys
    return order(queries, keys) & order(-np.asarray(queries), -np.asarray(keys))


def only(rows: int, keys: Bools) -> MaskSpec:
    """Only the keys that are True: the others are padding."""
    return order(np.zeros(rows, np.int64), np.where(keys, 0, FAR))


def permuted(rank: Ints, queries: Ints) -> tuple[MaskSpec, MaskSpec]:
    """Content and query masks of an order of reading: a content cell sees itself, the query of a cell does not see it.

    rank (n,) equal ranks see each other; queries (b,) the cells that are asked for -> (n, n) and (b, n).
    """
    return order(rank, rank), order(np.asarray(rank)[queries] - 1, rank)

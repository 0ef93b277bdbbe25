"""Group texts of similar length into batches.

The cost of a batch is its longest text times its number of texts, including padding; `budget` limits it. Beginning a
batch costs as much as `START` tokens, since the weights have to be fetched once more: texts are put together only where
this saves more than the padding costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factpin.errors import BadInput

START = 40  # measured with the shipped models on a CPU; from 10 to 100, extraction takes the same time within 4 %
BUCKET = 1024  # texts sorted together in training: enough for little padding, few enough for random batches


@dataclass(frozen=True)
class InTurn:
    """Batches of `size` consecutive indices from 0:count, made on access."""

    count: int
    size: int

    def __len__(self) -> int:
        return -(-self.count // self.size)

    def __getitem__(self, at: int) -> range:
        if not 0 <= at < len(self):
            raise IndexError(at)
        return range(self.count)[at * self.size : (at + 1) * self.size]


def batches(lengths: Sequence[int], budget: int, max_items: int | None = None) -> list[list[int]]:
    """Every index once, longest first, so that memory peaks early; a text over the budget is a batch of its own.

    Of all ways to cut this order, the one with the least cost.
    """
    _check(budget, max_items)
    order = [int(i) for i in np.argsort(-np.asarray(lengths, np.int64), kind="stable")]
    cheapest, begins = [0], [0]  # of the first k texts: the cost, and where the last batch begins
    for end in range(1, len(order) + 1):
        best, first = cheapest[end - 1] + lengths[order[end - 1]], end - 1
        for begin in range(end - 2, max(-1, end - 1 - (max_items or end)), -1):
            size = lengths[order[begin]] * (end - begin)
            if size > budget:
                break
            if cheapest[begin] + size < best:
                best, first = cheapest[begin] + size, begin
        cheapest.append(best + START)
        begins.append(first)
    found: list[list[int]] = []
    end = len(order)
    while end:
        found.append(order[begins[end] : end])
        end = begins[end]
    return found[::-1]


def shuffled_batches(
    lengths: Sequence[int], *, seed: int, epoch: int, budget: int | None = None, size: int | None = None
) -> list[list[int]]:
    """Every index once, in an order given by (seed, epoch): shuffled buckets, sorted inside, shuffled batches."""
    if budget is None and size is None:
        raise BadInput("A batch needs a limit: give `budget` (tokens) or `size` (texts).")
    if budget is None:
        budget = max(lengths, default=1) * len(lengths) + 1
    _check(budget, size)
    chance = np.random.default_rng([seed, epoch])
    order = chance.permutation(len(lengths))
    length = np.asarray(lengths, np.int64)
    found: list[list[int]] = []
    for at in range(0, len(order), BUCKET):
        bucket = order[at : at + BUCKET]
        bucket = bucket[np.argsort(-length[bucket], kind="stable")]
        found += _cut([int(i) for i in bucket], lengths, budget, size)
    return [found[int(i)] for i in chance.permutation(len(found))]


def _cut(order: list[int], lengths: Sequence[int], budget: int, max_items: int | None) -> list[list[int]]:
    """Cut an order of decreasing length into batches."""
    found: list[list[int]] = []
    batch: list[int] = []
    for i in order:
        full = bool(batch) and (lengths[batch[0]] * (len(batch) + 1) > budget or len(batch) == max_items)
        if full:
            found.append(batch)
            batch = []
        batch.append(i)
    return [*found, batch] if batch else found


def _check(budget: int, max_items: int | None) -> None:
    if budget < 1 or (max_items is not None and max_items < 1):
        raise BadInput(f"budget is {budget} and max_items {max_items}; expected at least 1 token and 1 text.")

"""Attention over the tokens of a document, in arrays: in torch, where it is trained, layers/window_attention.py and
layers/localized_context.py compute the same.

    rows     attention of a mention or entity over the tokens of one window   (T, heads, n)
    Q        heads * q of pairs, for the tokens of a segment                  (n, u)

A segment is a range of tokens that the same windows read. Only entities that are attended from these windows are there,
so that time and memory grow with the length of the document, not with its square.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Bools, Floats32, Ints
from factpin.models.onnx.scores import Outputs
from factpin.tokens.layout import WindowLayout

CAP = 1 << 22  # products (token, entity, entity) held at once


@dataclass(frozen=True)
class WindowRows:
    """Attention of mentions or entities, a row for each window that holds them."""

    rows: Floats32  # (T, heads, n), 0 outside the kept tokens of the window
    owner: Ints  # (T,) the mention or entity of each row
    window: Ints  # (T,) in order
    layout: WindowLayout

    def mean(self, entity: Ints, entities: int) -> "WindowRows":
        """The mean over the mentions of each entity; entity (M,) of every mention. Its rows are in order."""
        mine = entity[self.owner]  # (T,)
        share = (1.0 / np.maximum(1, np.bincount(entity, minlength=entities))).astype(np.float32)  # (E,)
        key = self.window * entities + mine
        order = np.argsort(key, kind="stable")
        kept, first = np.unique(key[order], return_index=True)
        rows = np.add.reduceat((self.rows * share[mine][:, None, None])[order], first, axis=0)
        return WindowRows(rows, kept % entities, kept // entities, self.layout)


def attention_rows(out: Outputs, item: int, tokens: Ints, mask: Bools, scaling: float) -> Floats32:
    """softmax(q kᵀ scaling + bias) of some tokens of an item of a batch (T, heads, N); mask (N,) True at tokens."""
    q, k = out["query"][item], out["key"][item]  # 2 x (heads, N, d)
    if len(k) != len(q):
        k = np.repeat(k, len(q) // len(k), axis=0)
    s = (q[:, tokens] @ k.transpose(0, 2, 1)).transpose(1, 0, 2) * np.float32(scaling)  # (T, heads, N)
    if "bias" in out:
        bias = out["bias"]
        s = s + bias[item if len(bias) > 1 else 0][:, tokens].transpose(1, 0, 2)
    s = np.where(mask, s, np.float32(-np.inf))
    e = np.exp(s - s.max(axis=2, keepdims=True))
    found: Floats32 = e / e.sum(axis=2, keepdims=True)
    return found


def merge_hidden(hidden: Sequence[Floats32], layout: WindowLayout) -> Floats32:
    """The vectors (n, D) of all windows, with or without padding after them, as those of the document (N, D)."""
    if layout.whole:
        return hidden[0][: layout.tokens]
    total = np.zeros((layout.tokens, hidden[0].shape[1]), np.float32)
    count = np.zeros(layout.tokens, np.int64)
    for window, x in zip(layout.windows, hidden, strict=True):
        low, high = layout.kept(window)
        here = slice(window.first + low, window.first + high)
        total[here] += x[low:high]
        count[here] += 1
    total /= np.maximum(1, count)[:, None].astype(np.float32)
    return total


def merge_rows(rows: Sequence[Floats32], window: Ints, owner: Ints, owners: int, layout: WindowLayout) -> WindowRows:
    """The rows of each window as one: those of a mention divided by their sum over its windows."""
    widest = max(part.shape[2] for part in rows)
    A: Floats32 = np.concatenate([np.pad(part, ((0, 0), (0, 0), (0, widest - part.shape[2]))) for part in rows])
    if layout.whole:
        return WindowRows(A[:, :, : layout.tokens], owner, window, layout)
    kept = np.array([layout.kept(w) for w in layout.windows], np.int64)[window]  # (T, 2)
    token = np.arange(widest)
    A = A * ((token >= kept[:, :1]) & (token < kept[:, 1:]))[:, None]  # without special tokens at inner borders
    total = np.zeros((owners, A.shape[1]), np.float32)
    np.add.at(total, owner, A.sum(axis=2))
    total[total == 0] = 1.0
    shares: Floats32 = A / total[owner][:, :, None]
    return WindowRows(shares, owner, window, layout)


@dataclass(frozen=True)
class PairBlock:
    """Some pairs in the tokens start:end of a document."""

    start: int
    end: int
    pairs: Ints  # (u,) which of all pairs they are
    Q: Floats32  # (end - start, u)


def pair_blocks(a: WindowRows, entities: int, low: Ints, high: Ints) -> Iterator[PairBlock]:
    """What both entities of every pair look at; low <= high (U,), pairs in order. A pair may come in many blocks."""
    key = low * entities + high
    for start, end, parts in _segments(a):
        found, local = np.unique(np.concatenate([a.owner[part] for part, _ in parts]), return_inverse=True)
        X: Floats32 | None = None
        e, n, top = len(found), end - start, 0
        while top < e and len(key):
            bottom = min(e, top + max(1, CAP // max(1, n * (e - top))))
            grid = (found[top:bottom, None] * entities + found[top:]).ravel()
            at = np.minimum(np.searchsorted(key, grid), len(key) - 1)
            cells = np.flatnonzero(key[at] == grid)
            if len(cells):
                X = _attention(a.rows, parts, local, e, n) if X is None else X
                G = X[:, top:bottom] @ X[:, top:].transpose(0, 2, 1)  # (n, rows, e - top)
                yield PairBlock(start, end, at[cells], G.reshape(n, -1)[:, cells])
            top = bottom


Part = tuple[slice, int]  # the rows of a window, and its token at which the segment begins


def _segments(a: WindowRows) -> Iterator[tuple[int, int, list[Part]]]:
    """The segments that some entity is attended from, and the rows of their windows."""
    layout = a.layout
    spans = [tuple(window.first + end for end in layout.kept(window)) for window in layout.windows]
    ends = np.cumsum(np.bincount(a.window, minlength=len(spans))).tolist()
    ranges = list(zip([0, *ends], ends, strict=False))
    borders = sorted({border for span in spans for border in span})
    first = 0
    for start, end in zip(borders, borders[1:], strict=False):
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        parts: list[Part] = []
        for w in range(first, len(spans)):
            if spans[w][0] > start:
                break
            if end <= spans[w][1] and ranges[w][0] < ranges[w][1]:
                parts.append((slice(*ranges[w]), start - layout.windows[w].first))
        if parts:
            yield start, end, parts


def _attention(rows: Floats32, parts: Sequence[Part], local: NDArray[np.intp], e: int, n: int) -> Floats32:
    """X (n, e, heads) of a segment; local: the entity of each row, one part after the other."""
    X, done = np.zeros((e, rows.shape[1], n), np.float32), 0
    for part, at in parts:
        size = part.stop - part.start
        X[local[done : done + size]] += rows[part, :, at : at + n]  # an entity has one row in a window
        done += size
    return np.ascontiguousarray(X.transpose(2, 0, 1))

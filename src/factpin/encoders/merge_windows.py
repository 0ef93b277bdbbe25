"""Merge the windows of a document: hidden states and attention rows over all its tokens.

    hidden   (B, n, D)        of the windows                ->  H (N, D)         mean where windows overlap
    rows     (T, heads, n)    of chosen pieces, a row for   ->  A (M, heads, N)  sum over windows, each row divided by
                              every window that holds one                        its sum
    N = prefix + pieces + suffix

A token of window w is at its own index + w.first in the document. Special tokens are kept before the first piece and
after the last one; those at inner borders are left out, together with the attention to them. A single window that
covers the document is returned unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from factpin.tokens.layout import WindowLayout


@dataclass(frozen=True)
class AttentionRows:
    """The rows to request from the encoder: one for each window with a chosen piece, window by window."""

    window: Tensor  # (T,) int64, index in layout.windows
    token: Tensor  # (T,) int64, in the window
    chosen: Tensor  # (T,) int64, index of the chosen piece

    def of(self, items: Sequence[int]) -> Tensor:
        """(T, 2) for the encoder, window k being item items[k] of its batch."""
        item = torch.tensor(items, dtype=torch.int64, device=self.window.device)
        return torch.stack((item[self.window], self.token), dim=1)


def rows_of(layout: WindowLayout, chosen: Tensor) -> AttentionRows:
    """The rows for the chosen pieces (M,) of the document."""
    first = torch.tensor([w.first for w in layout.windows], dtype=torch.int64, device=chosen.device)
    last = torch.tensor([w.last for w in layout.windows], dtype=torch.int64, device=chosen.device)
    window, which = ((chosen >= first[:, None]) & (chosen < last[:, None])).nonzero().unbind(1)
    return AttentionRows(window, chosen[which] - first[window] + layout.prefix, which)


def merge_hidden(hidden: Sequence[Tensor], layout: WindowLayout) -> Tensor:
    """Merge hidden[k] (n, D) of window k, with or without padding after it, to H (N, D)."""
    if layout.whole:
        return hidden[0][: layout.tokens]
    parts, places = [], []
    for window, x in zip(layout.windows, hidden, strict=True):
        low, high = layout.kept(window)
        parts.append(x[low:high])
        places.append(torch.arange(window.first + low, window.first + high, device=x.device))
    place = torch.cat(places)
    count = torch.bincount(place, minlength=layout.tokens).clamp_min(1)  # 0 where no window reads
    total = parts[0].new_zeros(layout.tokens, parts[0].shape[1]).index_add(0, place, torch.cat(parts))
    return total / count[:, None]


def merge_rows(attention: Tensor, rows: AttentionRows, layout: WindowLayout, chosen: int) -> Tensor:
    """Merge attention (T, heads, n) of `rows` for `chosen` pieces to A (M, heads, N); 0 where none was read."""
    if layout.whole:
        return attention[:, :, : layout.tokens]
    N, counts = layout.tokens, torch.bincount(rows.window, minlength=len(layout.windows)).tolist()
    parts = []
    for window, own in zip(layout.windows, torch.split(attention, counts), strict=True):
        low, high = layout.kept(window)
        parts.append(F.pad(own[:, :, low:high], (window.first + low, N - window.first - high)))
    A = attention.new_zeros(chosen, attention.shape[1], N).index_add(0, rows.chosen, torch.cat(parts))
    total = A.sum(dim=2, keepdim=True)
    return A / total.masked_fill(total == 0, 1.0)

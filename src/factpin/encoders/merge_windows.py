"""Merge the windows of a document: hidden states and attention rows over its tokens.

    hidden   (B, n, D)        of the windows                ->  H (N, D)         mean where windows overlap
    rows     (T, heads, n)    of chosen pieces, a row for   ->  WindowAttention  the rows of a piece divided by their
                              every window that holds one                        sum over all windows
    N = prefix + pieces + suffix

A token of window w is at its own index + w.first in the document. Special tokens are kept before the first piece and
after the last one; those at inner borders are left out, together with the attention to them. A single window that
covers the document is returned unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from factpin.layers.window_attention import WindowAttention
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


def merge_rows(attention: Tensor, rows: AttentionRows, layout: WindowLayout, chosen: int) -> WindowAttention:
    """The attention (T, heads, n) of `rows` over the document, for `chosen` pieces."""
    kept = tuple(layout.kept(window) for window in layout.windows)
    start = tuple(window.first for window in layout.windows)
    if layout.whole:
        return WindowAttention(
            attention[:, :, : layout.tokens], rows.chosen, rows.window, chosen, start, kept, layout.tokens
        )
    low, high = (torch.tensor(side, device=attention.device)[rows.window, None] for side in zip(*kept, strict=True))
    token = torch.arange(attention.shape[2], device=attention.device)
    inside = ((token >= low) & (token < high))[:, None].to(attention.dtype)  # (T, 1, n)
    own = attention * inside  # without special tokens at inner borders
    total = own.new_zeros(chosen, own.shape[1]).index_add(0, rows.chosen, own.sum(dim=2))  # (M, heads)
    own = own / total.masked_fill(total == 0, 1.0)[rows.chosen][:, :, None]
    return WindowAttention(own, rows.chosen, rows.window, chosen, start, kept, layout.tokens)

"""Attention of the last layer for a few chosen tokens, without computing (B, heads, N, N) for all tokens.

    rows  (M, 2) batch item and position of each chosen token  ->  (M, heads, N), softmax(q kᵀ · scaling + bias)

`sdpa_rows` is an attention function for transformers. It computes the same as `sdpa`, and inside `watching` it
remembers query, key and mask of the last call, from which the rows are computed afterwards. transformers returns no
attention with sdpa. There is no dropout on the rows, not even in training; published code takes them after dropout.
With gradient checkpointing the remembered tensors have no gradient.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask

from factpin.layers.dropout import dropout

NAME = "sdpa_rows"


@dataclass
class Watch:
    """The last layer's tensors: query, key (B, heads, N, d), mask and bias (B or 1, 1 or heads, N, N) or None."""

    last: dict[str, Any] = field(default_factory=dict)

    def rows(self, rows: Tensor) -> Tensor:
        """Attention (M, heads, N) of rows (M, 2)."""
        item, place = rows.unbind(dim=1)
        query, key = self.last["query"], self.last["key"]
        if key.shape[1] != query.shape[1]:
            key = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)
        s = query.new_empty(len(rows), query.shape[1], key.shape[2])  # (M, heads, N)
        for b in sorted(set(item.tolist())):  # the keys of an item are not copied for each of its rows
            mine = (item == b).nonzero().squeeze(1)
            s[mine] = (query[b][:, place[mine]] @ key[b].mT).transpose(0, 1)
        s = s.float() * self.last["scaling"]
        for name in ("bias", "mask"):
            full = self.last[name]
            if full is None:
                continue
            one = full[item if full.shape[0] > 1 else torch.zeros_like(item), :, place]  # (M, 1 or heads, N)
            s = s.masked_fill(~one, -torch.inf) if one.dtype == torch.bool else s + one
        return torch.softmax(s, dim=-1).to(query.dtype)


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching() -> Iterator[Watch]:
    """Remember the tensors of the last attention call in this block."""
    watch = Watch()
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


def _attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, None]:
    """An attention function with the signature that transformers requires; other options are ignored."""
    watch = _watch.get()
    if watch is not None:
        scaling = options.get("scaling")
        watch.last = {
            "query": query,
            "key": key,
            "mask": attention_mask,
            "bias": options.get("position_bias"),
            "scaling": query.shape[-1] ** -0.5 if scaling is None else scaling,
        }
    rate = options.get("dropout", 0.0)
    if rate and query.device.type == "cpu" and options.get("position_bias") is None and key.shape == query.shape:
        return _with_dropout(query, key, value, attention_mask, options.get("scaling"), rate), None
    return sdpa_attention_forward(module, query, key, value, attention_mask, **options)


def _with_dropout(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float | None, rate: float
) -> Tensor:
    """The same as sdpa, with a dropout that is faster on a CPU: (B, N, heads, d)."""
    s = (query * (query.shape[-1] ** -0.5 if scaling is None else scaling)) @ key.mT  # (B, heads, N, N)
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min) if mask.dtype == torch.bool else s + mask.to(s.dtype)
    return (dropout(torch.softmax(s, dim=-1), rate) @ value).transpose(1, 2).contiguous()


AttentionInterface.register(NAME, _attend)
ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, sdpa_mask)

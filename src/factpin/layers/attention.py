"""Attention of queries over keys, which may be other cells: a memory in front of them, another stream, an encoder.

    x        queries                            (B, Q, D)
    keys     keys                               (B, K, D)     memory and the cells themselves in one row
    allowed  who may see whom                   (B, Q, K)     True: may be seen; no row without a key
    p        softmax over the keys of s         (B, heads, Q, K)

    plain        s = q k / √d + bias                                            bias: buckets of distances, or none
    relative     s = [(q + u) k + (q + v) (W_r R_{i-j}) + (q + w) g_{differ}] / √d       Transformer-XL, XLNet
    functional   s = q (k + a_{j-i}) / √d,   out = Σ p (v + a_{j-i})                     NEZHA

R and a are sinusoids; u, v, w and g (same segment, other segment) are learned for each head. If the cells are
consecutive, R is laid out by the shift, otherwise by index; `RelativePositions` says which. A key that may not be seen
has a score of -inf, so nothing of it arrives. Public code subtracts a large number instead, which shows everything to a
row that sees nothing.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from factpin.errors import BadInput
from factpin.layers.dropout import dropout
from factpin.layers.positions import Ways, by_index, shift, sum_by_index

Kind = Literal["plain", "relative", "functional"]


@dataclass(frozen=True, eq=False)
class RelativePositions:
    """The positions of queries and keys relative to each other; the same in all layers."""

    bias: Tensor | None = None  # (B or 1, heads, Q, K)
    table: Tensor | None = None  # (R, D) relative, (R, d) functional: a vector for each distance
    index: Tensor | None = None  # (B, Q, K) into the table; None: consecutive cells, to be shifted
    ways: Ways = "both"
    differ: Tensor | None = None  # (B, Q, K) 1: the two are of different segments
    biases: tuple[Tensor, Tensor] | None = None  # u and v, (heads, 1, d) each, where all layers share them

    def lay(self, s: Tensor) -> Tensor:
        """s (B, heads, Q, R) by distance -> (B, heads, Q, K) by key."""
        if self.index is not None:
            return by_index(s, self.index)
        return shift(s, s.shape[-1] - (s.shape[-2] if self.ways == "both" else 0), self.ways)

    def gather(self, p: Tensor) -> Tensor:
        """p (B, heads, Q, K) -> the sum of p · vector of the distance, (B, heads, Q, d), without (Q, K, d)."""
        if self.index is None or self.table is None:
            raise BadInput("Functional attention needs a table and an index, got one of them or none. Give both.")
        return sum_by_index(p, self.index, len(self.table)) @ self.table


class Attention(nn.Module):
    """Multi-head attention in one of the three kinds above."""

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        kind: Kind = "plain",
        bias: bool = True,
        scaled: bool = True,
        drop: float = 0.0,
        segments: bool = True,
        biases: bool = True,
    ) -> None:
        """`scaled`: T5 leaves 1 / √d to its initial weights.

        For relative attention, `segments`: there are w and g; `biases`: u and v belong to this layer, otherwise they
        are part of `RelativePositions`.
        """
        super().__init__()
        self.heads, self.kind, self.drop = heads, kind, drop
        self.scale = (width // heads) ** -0.5 if scaled else 1.0
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=bias) for _ in range(4))
        if kind == "relative":
            d = width // heads
            self.r = nn.Linear(width, width, bias=False)
            if biases:
                self.u, self.v_r = (nn.Parameter(torch.zeros(heads, 1, d)) for _ in range(2))
            if segments:
                self.w, self.g = nn.Parameter(torch.zeros(heads, 1, d)), nn.Parameter(torch.zeros(heads, 2, d))

    def forward(
        self,
        x: Tensor,
        keys: Tensor,
        allowed: Tensor,
        relation: RelativePositions | None = None,
        *,
        weigh: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """-> out (B, Q, D), and with `weigh` p (B, heads, Q, K), without dropout."""
        q, k, v = self._split(self.q(x)), self._split(self.k(keys)), self._split(self.v(keys))  # (B, heads, ., d)
        drop = self.drop if self.training else 0.0
        added = None if relation is None else self._added(q, relation)  # (B, heads, Q, K)
        if self.kind == "relative":
            q = q + self._biases(relation)[0]
        fused = not weigh and self.kind != "functional" and not (drop and x.device.type == "cpu")
        if fused:
            mask = allowed[:, None] if added is None else added.masked_fill(~allowed[:, None], -torch.inf)
            out = scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=drop, scale=self.scale)
            return self._join(out), None

        s = q @ k.mT * self.scale
        s = s if added is None else s + added
        p = torch.softmax(s.masked_fill(~allowed[:, None], -torch.inf), dim=-1)  # (B, heads, Q, K)
        used = dropout(p, drop) if drop else p
        out = used @ v
        if self.kind == "functional" and relation is not None:
            out = out + relation.gather(used)
        return self._join(out), p if weigh else None

    def _added(self, q: Tensor, relation: RelativePositions) -> Tensor | None:
        """What relative positions add to the scores, (B, heads, Q, K)."""
        if self.kind == "plain" or relation.table is None:
            return relation.bias
        if self.kind == "functional":
            return relation.lay(q @ relation.table.mT) * self.scale
        R = self._split(self.r(relation.table)[None])  # (1, heads, R, d)
        s = relation.lay((q + self._biases(relation)[1]) @ R.mT)
        if relation.differ is not None:
            s = s + by_index((q + self.w) @ self.g.mT, relation.differ)
        return s * self.scale

    def _biases(self, relation: RelativePositions | None) -> tuple[Tensor, Tensor]:
        """u and v, (heads, 1, d) each."""
        shared = None if relation is None else relation.biases
        return (self.u, self.v_r) if shared is None else shared

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)  # (B, heads, n, d)

    def _join(self, x: Tensor) -> Tensor:
        out: Tensor = self.out(x.transpose(1, 2).flatten(2))
        return out

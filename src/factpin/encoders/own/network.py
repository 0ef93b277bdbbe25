"""Network: a small Transformer of our own that runs any batch of any row of the table.

    x          E[id] (+ position tables, sinusoids, segments), LN, projected to D          (B, n, D)
    layer      x + attention over the stream's own keys (+ attention over the encoder) + W₂ act(W₁ x), each with LN
    content    keys are memory and content            query    the same layers and keys, its own mask and input
    encoder    keys are itself                        decoder  layers of its own; its own keys, then the encoder's

The keys and values of a query stream come from the content below it, so nobody reads a query (XLNet, MPNet).

    memory     what each layer read last time, without gradient: new = (memory, content)[-kept:]

`factpin pretrain` carries memory from step to step, in lanes (`pretraining/carried.py`): it reaches one segment further
back with every layer. Where a batch has memory cells and no memory is given, it is computed from their ids, one segment
deep, without gradient.

positions     added to x                       in attention
learned       one table                        -
two_learned   two tables (GLM)                 -
sinusoid      sinusoids                        -
buckets       -                                a bias for each bucket and head, the same in all layers (T5)
learned_and_buckets   one table                the same (MPNet)
relative      -                                u, v and sinusoids of distances; segments by same or different
functional    -                                sinusoids of distances on keys and values (NEZHA)
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from factpin.encoders.own.batch import Batch, Block
from factpin.encoders.own.parts import FIRST_SPREAD, DecoderLayer, InputLayer, Layer, NetworkConfig, Sight, norm, start
from factpin.errors import BadInput
from factpin.layers.attention import RelativePositions
from factpin.layers.masks import Bools, Ints
from factpin.layers.positions import Ways, buckets, distances, functional, sinusoid


@dataclass(frozen=True, eq=False)
class Memory:
    """What every layer read before the current segment."""

    layers: tuple[Tensor, ...]  # (B, m, D) what each layer read
    real: Tensor  # (B, m)


@dataclass(frozen=True, eq=False)
class States:
    """The output of a network for every stream."""

    hidden: Mapping[str, Tensor]  # stream -> (B, n, D)
    memory: Memory | None = None  # for the next step
    read: Tensor | None = None  # (B, n, m) where the decoder's last layer looks in the encoder, mean over heads


class Backbone(Protocol):
    """What heads are put on: a Network, or a transformers encoder behind `on_encoder`."""

    @property
    def words(self) -> nn.Embedding: ...
    @property
    def width(self) -> int: ...
    def __call__(
        self,
        batch: Batch,
        memory: Memory | None = None,
        *,
        keep: int | None = None,
        weigh: bool = False,
        encoded: Tensor | None = None,
    ) -> States: ...


class Network(nn.Module):
    """A Transformer whose streams, masks and positions follow from the batch."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        E, D = config.embedding or config.width, config.width
        self.words = nn.Embedding(config.vocabulary, E)
        self.input = InputLayer(config)
        self.project = nn.Linear(E, D) if E != D else nn.Identity()
        self.layers = nn.ModuleList(Layer(config) for _ in range(1 if config.shared else config.layers))
        self.last = norm(config, D) if config.norm_at == "before" else nn.Identity()
        bucketed = config.positions in ("buckets", "learned_and_buckets")
        self.bias = nn.Embedding(config.buckets, config.heads) if bucketed else None
        if config.decoder_layers:
            self.decoder_input = InputLayer(config)
            count = 1 if config.shared else config.decoder_layers
            self.decoder_layers = nn.ModuleList(DecoderLayer(config) for _ in range(count))
            self.decoder_last = norm(config, D) if config.norm_at == "before" else nn.Identity()
            self.decoder_bias = nn.Embedding(config.buckets, config.heads) if bucketed else None
        self.apply(start)
        if config.spread != FIRST_SPREAD:
            nn.init.normal_(self.words.weight, std=config.spread)
        self.query = nn.Parameter(torch.zeros(E)) if config.query else None
        if self.query is not None:
            nn.init.normal_(self.query, std=config.spread)
        shape = (config.heads, 1, D // config.heads)
        self.u, self.v = (nn.Parameter(torch.zeros(shape)) if config.tied else None for _ in range(2))

    @property
    def width(self) -> int:
        return self.config.width

    def forward(
        self,
        batch: Batch,
        memory: Memory | None = None,
        *,
        keep: int | None = None,
        weigh: bool = False,
        encoded: Tensor | None = None,
    ) -> States:
        """`keep`: how many cells of each window's beginning are kept for the next (XLNet: its first half); None: all.

        `weigh`: also where the decoder's last layer looks. `encoded` (B, m, D): what `encode` gave for this encoder.
        """
        if "decoder" in batch.streams:
            return self._sequence(batch, encoded, weigh=weigh)
        if "encoder" in batch.streams:
            return States({"encoder": self.encode(batch)})
        kept = batch.streams.get("memory")
        if kept is not None and kept.ids.shape[1]:
            memory = self._remember(kept) if memory is None else self._checked(memory, kept)
        else:
            memory = None
        content, query = batch.streams["content"], batch.streams.get("query")
        keys = [content] if kept is None else [kept, content]
        h, sight = self._embed(content), self._sight(content, keys, self.bias)
        g, view = (None, None) if query is None else (self._asking(query), self._sight(query, keys, self.bias))
        inputs = []
        for n in range(self.config.layers):
            layer = self.layers[n % len(self.layers)]
            inputs.append(h)
            below = h if memory is None else torch.cat([memory.layers[n], h], dim=1)
            h, g = layer(h, below, sight), None if g is None or view is None else layer(g, below, view)
        hidden = {"content": self.last(h)} if g is None else {"content": self.last(h), "query": self.last(g)}
        return States(hidden, self._kept(memory, inputs, content, keep) if self.config.memory else None)

    def read(
        self, ids: Tensor, real: Tensor, segments: Tensor | None = None, *, weigh: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """A text as an encoder reads it: ids, real, segments (B, n) -> (B, n, D), and where the last layer looks."""
        n = ids.shape[1]
        at = torch.arange(n, device=ids.device)
        segments = torch.zeros_like(ids) if segments is None else segments
        if self.input.positions and n > self.config.longest:
            raise BadInput(f"This network counts {self.config.longest} positions, a text has {n} cells. Cut it.")
        x = self.project(self.input(self.words(ids), at.expand_as(ids)[..., None], segments))
        allowed = real[:, None] | (at[:, None] == at)  # (B, n, n); padding sees itself
        if self.config.reads == "left":
            allowed = allowed & (at <= at[:, None])
        sight, p = Sight(allowed, self._in_a_row(at, segments)), None
        for k in range(self.config.layers):
            layer = self.layers[k % len(self.layers)]
            if weigh and k == self.config.layers - 1 and isinstance(layer, Layer):
                x, p = layer.weighed(x, sight)
            else:
                x = layer(x, x, sight)
        return self.last(x), p

    def _in_a_row(self, at: Tensor, segments: Tensor) -> RelativePositions | None:
        """The distances of n cells in a row from each other."""
        config, dtype, ahead = self.config, self.words.weight.dtype, at - at[:, None]
        if self.bias is not None:
            number = buckets(ahead, count=config.buckets, farthest=config.farthest)
            return RelativePositions(bias=self.bias(number).permute(2, 0, 1)[None])
        if config.positions == "functional":
            table = functional(config.width // config.heads, config.limit, dtype).to(at.device)
            index = (ahead.clamp(-config.limit, config.limit) + config.limit).expand(len(segments), -1, -1)
            return RelativePositions(table=table, index=index)
        if config.positions == "relative":
            ways: Ways = "left" if config.reads == "left" else "both"
            row = distances(len(at), len(at), ways).to(at.device)
            differ = (segments[:, :, None] != segments[:, None]).long() if config.segments else None
            table = sinusoid(row, config.width, "concatenated", dtype)
            return RelativePositions(table=table, ways=ways, differ=differ, biases=self._biases)
        return None

    def encode(self, batch: Batch) -> Tensor:
        """The encoder's states (B, m, D) alone."""
        block = batch.streams["encoder"]
        x, sight = self._embed(block), self._sight(block, [block], self.bias)
        for n in range(self.config.layers):
            x = self.layers[n % len(self.layers)](x, x, sight)
        out: Tensor = self.last(x)
        return out

    def _sequence(self, batch: Batch, encoded: Tensor | None, *, weigh: bool) -> States:
        if not self.config.decoder_layers:
            raise BadInput("This batch has a decoder, the network has none. Make it with `fitted` or decoder_layers.")
        block, encoder = batch.streams["decoder"], self.encode(batch) if encoded is None else encoded
        x, sight = self._embed(block, self.decoder_input), self._sight(block, [block], self.decoder_bias, "left")
        across, read = Sight(self._tensor(block.sees["encoder"])), None
        for n in range(self.config.decoder_layers):
            weighed = weigh and n == self.config.decoder_layers - 1
            layer = self.decoder_layers[n % len(self.decoder_layers)]
            x, read = layer(x, sight, encoder, across, weigh=weighed)
        return States({"encoder": encoder, "decoder": self.decoder_last(x)}, read=read)

    def _embed(self, block: Block, entry: InputLayer | None = None) -> Tensor:
        """(B, n, D)."""
        config, entry = self.config, entry or self.input
        if entry.positions and block.positions.size and block.positions.max() >= config.longest:
            raise BadInput(
                f"This network counts {config.longest} positions, a batch needs {block.positions.max() + 1}. "
                "Cut the texts, or make the network with a larger `longest`."
            )
        if entry.segments is not None and block.segments.size and block.segments.max() >= config.segments:
            raise BadInput(f"This network knows {config.segments} segments, a batch needs {block.segments.max() + 1}.")
        ids, positions, segments = (self._tensor(x) for x in (block.ids, block.positions, block.segments))
        x: Tensor = self.project(entry(self.words(ids), positions, segments))
        return x

    def _asking(self, block: Block) -> Tensor:
        """(B, b, D) what queries begin with."""
        if self.query is None:
            return self._embed(block)
        words = self.query.expand(*block.ids.shape, -1)
        x: Tensor = self.project(self.input(words, *(self._tensor(x) for x in (block.positions, block.segments))))
        return x

    def _sight(self, block: Block, keys: list[Block], bias: nn.Embedding | None, ways: Ways = "both") -> Sight:
        """What a stream sees of these blocks in a row, and how far away."""
        names = [name for name in block.sees if name != "encoder"] or ["encoder"]
        allowed = np.concatenate([block.sees[name] for name in names], axis=2)  # (B, Q, K)
        at = np.concatenate([one.positions[..., 0] for one in keys], axis=1)
        ahead = at[:, None, :] - block.positions[:, :, None, 0]  # (B, Q, K)
        kind, dtype = self.config.positions, self.words.weight.dtype
        relation = None
        if bias is not None:
            config = self.config
            number = buckets(self._tensor(ahead), count=config.buckets, farthest=config.farthest, ways=ways)
            relation = RelativePositions(bias=bias(number).permute(0, 3, 1, 2))  # (B, heads, Q, K)
        elif kind == "functional":
            table = self._tensor(functional(self.config.width // self.config.heads, self.config.limit, dtype))
            index = np.clip(ahead, -self.config.limit, self.config.limit) + self.config.limit
            relation = RelativePositions(table=table, index=self._tensor(index))
        elif kind == "relative":
            of = np.concatenate([one.segments for one in keys], axis=1)
            differ = (block.segments[:, :, None] != of[:, None, :]).astype(np.int64)
            relation = self._relative(-ahead, allowed, self._tensor(differ) if self.config.segments else None)
        return Sight(self._tensor(allowed), relation)

    def _relative(self, distance: Ints, allowed: Bools, differ: Tensor | None) -> RelativePositions:
        """By the shift where all that is seen is in a row, else by index."""
        _, Q, K = distance.shape
        row = np.arange(Q)[:, None] + K - Q - np.arange(K)
        ways: Ways = "both" if (distance[allowed] < 0).any() else "left"
        if (distance == row)[allowed].all():
            at, index = distances(Q, K, ways), None
        else:
            least = int(distance.min())
            at, index = torch.arange(least, int(distance.max()) + 1), self._tensor(distance - least)
        table = self._tensor(sinusoid(at, self.config.width, "concatenated", self.words.weight.dtype))
        return RelativePositions(table=table, index=index, ways=ways, differ=differ, biases=self._biases)

    @property
    def _biases(self) -> tuple[Tensor, Tensor] | None:
        return None if self.u is None or self.v is None else (self.u, self.v)

    def _remember(self, kept: Block) -> Memory:
        """Memory from ids alone: read from left to right, without gradient."""
        m = kept.ids.shape[1]
        seen = np.tril(np.ones((m, m), np.bool_)) & (kept.real[:, None] | np.eye(m, dtype=np.bool_))
        block = replace(kept, sees={"content": seen})
        layers = []
        with torch.no_grad():
            x, sight = self._embed(block), self._sight(block, [block], self.bias)
            for n in range(self.config.layers):
                layers.append(x)
                x = self.layers[n % len(self.layers)](x, x, sight)
        return Memory(tuple(layers), self._tensor(kept.real))

    def _checked(self, memory: Memory, kept: Block) -> Memory:
        if not np.array_equal(memory.real.cpu().numpy(), kept.real):
            has, needs = memory.real.sum(dim=1).tolist(), kept.real.sum(axis=1).tolist()
            raise BadInput(
                f"The memory holds {has} cells, the batch has {needs} before its texts. Give the texts that follow "
                "those of the last step, in the same order, or no memory."
            )
        return memory

    def _kept(self, memory: Memory | None, inputs: list[Tensor], content: Block, keep: int | None) -> Memory:
        """The last real cells of memory and content, at most `config.memory`, padded on the right."""
        real = self._tensor(content.real)
        if keep is not None:
            real = real & (torch.arange(real.shape[1], device=real.device) < keep)
        if memory is not None:
            real = torch.cat([memory.real, real], dim=1)  # (B, m + n)
        count = real.sum(dim=1)
        m = min(self.config.memory, int(count.max()))
        order = torch.argsort(~real, dim=1, stable=True)  # real cells first, in their order
        at = (count - m).clamp(min=0)[:, None] + torch.arange(m, device=real.device)  # (B, m)
        cells = order.gather(1, at)[..., None].expand(-1, -1, self.config.width)
        layers = []
        for n, x in enumerate(inputs):
            whole = x if memory is None else torch.cat([memory.layers[n], x], dim=1)
            layers.append(whole.detach().gather(1, cells))
        return Memory(tuple(layers), at < count[:, None])

    def _tensor(self, x: Ints | Bools | Tensor) -> Tensor:
        return torch.as_tensor(x, device=self.words.weight.device)

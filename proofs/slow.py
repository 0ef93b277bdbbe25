"""Networks that transformers does not have, computed by loops over the formulas, from the files of a folder alone.

One pair of cells at a time, with norms, sines and cosines written out; nothing of the network's own code is used.

    glm              x = E + P₁ + P₂; pre-norm; logits x Eᵀ
    nezha            s_ij = q_i (k_j + a_{j-i}) / √d, out_i = Σ p_ij (v_j + a_{j-i})
    transformer_xl   s_ij = [(q_i + u) k_j + (q_i + v) W_r R_{i-j}] / √d over memory and segment
    palm             encoder, decoder, p = λ p_words + (1 - λ) Σ_{j: x_j = y} a_j
"""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

Pair = Callable[[int, int, int], Tensor]  # head, i, j -> (d,)
Sees = Callable[[int, int], bool]


def waves(at: int, width: int) -> tuple[list[float], list[float]]:
    """sin and cos of at / 10000^(2i / width), i = 0 … width / 2 - 1, one number at a time."""
    angles = [at / 10000 ** (2 * i / width) for i in range(width // 2)]
    return [math.sin(angle) for angle in angles], [math.cos(angle) for angle in angles]


class Slow:
    """A folder's weights, and what is computed with them for one text."""

    def __init__(self, folder: Path) -> None:
        self.w = {name.removeprefix("network."): value.double()
                  for name, value in load_file(folder / "model.safetensors").items()}  # fmt: skip
        self.w |= {name: value.double() for name, value in load_file(folder / "heads.safetensors").items()}
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))["network"]
        self.heads: int = self.config["heads"]
        self.d: int = self.config["width"] // self.heads

    def linear(self, x: Tensor, name: str) -> Tensor:
        y = x @ self.w[f"{name}.weight"].T
        return y + self.w[f"{name}.bias"] if f"{name}.bias" in self.w else y

    def norm(self, x: Tensor, name: str) -> Tensor:
        mean = x.mean(-1, keepdim=True)
        spread = ((x - mean) ** 2).mean(-1, keepdim=True)
        scaled = (x - mean) / (spread + self.config["eps"]) ** 0.5
        return scaled * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def attend(
        self, name: str, x: Tensor, keys: Tensor, sees: Sees, on_key: Pair | None = None, on_value: Pair | None = None
    ) -> tuple[Tensor, Tensor]:
        """Plain or functional attention: out (n, D), and the mean of p over the heads (n, m)."""
        q, k, v = (self.linear(y, f"{name}.{part}").view(-1, self.heads, self.d)
                   for part, y in (("q", x), ("k", keys), ("v", keys)))  # fmt: skip
        out, weights = torch.zeros_like(q), torch.zeros(len(x), len(keys), dtype=torch.float64)
        for h in range(self.heads):
            for i in range(len(x)):
                seen = [j for j in range(len(keys)) if sees(i, j)]
                near = [k[j, h] if on_key is None else k[j, h] + on_key(h, i, j) for j in seen]
                s = torch.stack([q[i, h] @ key / self.d**0.5 for key in near])
                for j, p in zip(seen, torch.softmax(s, 0), strict=True):
                    out[i, h] += p * (v[j, h] if on_value is None else v[j, h] + on_value(h, i, j))
                    weights[i, j] += p / self.heads
        return self.linear(out.flatten(1), f"{name}.out"), weights

    def relative(self, name: str, x: Tensor, keys: Tensor) -> Tensor:
        """Transformer-XL: every cell sees the memory and the cells up to itself."""
        q, k, v = (self.linear(y, f"{name}.{part}").view(-1, self.heads, self.d)
                   for part, y in (("q", x), ("k", keys), ("v", keys)))  # fmt: skip
        m, out = len(keys) - len(x), torch.zeros_like(q)
        for h in range(self.heads):
            for i in range(len(x)):
                seen, s = range(m + i + 1), []
                for j in seen:
                    sines, cosines = waves(m + i - j, self.config["width"])
                    R = torch.tensor(sines + cosines, dtype=torch.float64)
                    r = self.linear(R, f"{name}.r").view(self.heads, self.d)[h]
                    at = q[i, h] + self.w["u"][h, 0], q[i, h] + self.w["v"][h, 0]
                    s.append((at[0] @ k[j, h] + at[1] @ r) / self.d**0.5)
                for j, p in zip(seen, torch.softmax(torch.stack(s), 0), strict=True):
                    out[i, h] += p * v[j, h]
        return self.linear(out.flatten(1), f"{name}.out")

    def think(self, x: Tensor, name: str) -> Tensor:
        return self.linear(act(self.linear(x, f"{name}.inner"), self.config["activation"]), f"{name}.outer")

    def words(self, h: Tensor) -> Tensor:
        """BERT's head, or none."""
        if "head.words.dense.weight" in self.w:
            h = self.norm(act(self.linear(h, "head.words.dense"), "gelu"), "head.words.norm")
        return h @ self.w["words.weight"].T + self.w.get("head.words.bias", torch.zeros(1).double())

    def input(self, ids: Sequence[int], positions: Sequence[Sequence[int]], side: str = "") -> Tensor:
        """Word vectors and learned positions, one table after the other; with a norm where there is one."""
        x = self.w["words.weight"][list(ids)]
        for table in range(len(positions[0])):
            rows = self.w.get(f"{side}input.positions.{table}.weight")
            x = x if rows is None else x + rows[[position[table] for position in positions]]
        return x

    def glm(self, ids: Sequence[int], positions: Sequence[Sequence[int]], sees: Sees) -> Tensor:
        x = self.input(ids, positions)
        for n in range(self.config["layers"]):
            read = self.norm(x, f"layers.{n}.attend.norm")
            x = x + self.attend(f"layers.{n}.attend.attention", read, read, sees)[0]
            x = x + self.think(self.norm(x, f"layers.{n}.think.norm"), f"layers.{n}.think")
        return self.words(self.norm(x, "last"))

    def nezha(self, ids: Sequence[int], segments: Sequence[int]) -> Tensor:
        limit = self.config["limit"]

        def a(_: int, i: int, j: int) -> Tensor:
            sines, cosines = waves(max(-limit, min(limit, j - i)) + limit, self.d)
            return torch.tensor([w for pair in zip(sines, cosines, strict=True) for w in pair], dtype=torch.float64)

        x = self.norm(self.w["words.weight"][list(ids)] + self.w["input.segments.weight"][list(segments)], "input.norm")
        for n in range(self.config["layers"]):
            y, _ = self.attend(f"layers.{n}.attend.attention", x, x, everybody, a, a)
            x = self._after(x, y, n)
        return self.words(x)

    def transformer_xl(self, segments: Sequence[Sequence[int]]) -> Tensor:
        """The logits of the last segment, behind what each layer read of those before."""
        memory: list[Tensor] = []
        for ids in segments:
            x = self.w["words.weight"][list(ids)] * self.config["width"] ** 0.5
            read = []
            for n in range(self.config["layers"]):
                read.append(x)
                keys = torch.cat([memory[n], x]) if memory else x
                x = self._after(x, self.relative(f"layers.{n}.attend.attention", x, keys), n)
            memory = [torch.cat([old, new]) for old, new in zip(memory, read, strict=True)] if memory else read
        return self.words(x)

    def palm(self, source: Sequence[int], said: Sequence[int]) -> Tensor:
        """log p (n, V) of the next pieces, words and copies together."""
        e = self.norm(self.input(source, [[i] for i in range(len(source))]), "input.norm")
        for n in range(self.config["layers"]):
            e = self._after(e, self.attend(f"layers.{n}.attend.attention", e, e, everybody)[0], n)
        x = self.norm(self.input(said, [[i] for i in range(len(said))], "decoder_"), "decoder_input.norm")
        for n in range(self.config["decoder_layers"]):
            layer = f"decoder_layers.{n}"
            y, _ = self.attend(f"{layer}.attend.attention", x, x, lambda i, j: j <= i)
            x = self.norm(x + y, f"{layer}.attend.norm")
            y, a = self.attend(f"{layer}.across.attention", x, e, everybody)
            x = self.norm(x + y, f"{layer}.across.norm")
            x = self.norm(x + self.think(x, f"{layer}.think"), f"{layer}.think.norm")
        share = torch.sigmoid(self.linear(torch.cat([a @ e, x], 1), "head.copy.gate"))  # (n, 1)
        p = share * torch.softmax(self.words(x), 1)
        for i in range(len(said)):
            for j, piece in enumerate(source):
                p[i, piece] += (1 - share[i, 0]) * a[i, j]
        return p.log()

    def _after(self, x: Tensor, y: Tensor, n: int) -> Tensor:
        x = self.norm(x + y, f"layers.{n}.attend.norm")
        return self.norm(x + self.think(x, f"layers.{n}.think"), f"layers.{n}.think.norm")


def everybody(_: int, __: int) -> bool:
    return True


def act(x: Tensor, name: str) -> Tensor:
    match name:
        case "relu":
            return x.clamp(min=0)
        case "gelu":
            return x * (1 + torch.erf(x / 2**0.5)) / 2
        case _:
            return x * (1 + torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2

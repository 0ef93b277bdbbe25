"""NameTable: the names of a store as pieces, found in batches of token ids.

    pieces      the pieces of all names, one after the other          candidates, priors   of all names, likewise
    starts      where each name starts (names + 1)                    offers               where its candidates start

From left to right the longest name is found; names do not overlap, and none ends inside a word. The columns are saved
with a model, so that it finds the names of the store that it was trained on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from factpin.knowledge.mentions import MentionSpan, NameBatch, collate_mentions
from factpin.tokens import Tokenizer

LEAST_CHARACTERS = 2


@dataclass(frozen=True, eq=False)
class NameTable:
    """Names, each with the entities that it can refer to."""

    pieces: Tensor
    starts: Tensor
    candidates: Tensor
    priors: Tensor
    offers: Tensor

    @cached_property
    def _names(self) -> dict[int, dict[tuple[int, ...], tuple[tuple[int, ...], tuple[float, ...]]]]:
        """By first piece, then by all pieces: rows and priors."""
        found: dict[int, dict[tuple[int, ...], tuple[tuple[int, ...], tuple[float, ...]]]] = {}
        pieces, starts, offers = self.pieces.tolist(), self.starts.tolist(), self.offers.tolist()
        rows, priors = self.candidates.tolist(), self.priors.tolist()
        for i in range(len(starts) - 1):
            name = tuple(pieces[starts[i] : starts[i + 1]])
            own = slice(offers[i], offers[i + 1])
            found.setdefault(name[0], {})[name] = (tuple(rows[own]), tuple(priors[own]))
        return found

    @cached_property
    def _lengths(self) -> dict[int, list[int]]:
        return {first: sorted({len(name) for name in names}, reverse=True) for first, names in self._names.items()}

    def find(self, ids: Sequence[int], inside: frozenset[int] = frozenset()) -> list[MentionSpan]:
        """The names in a text. inside: pieces that continue a word."""
        found, at = list[MentionSpan](), 0
        while at < len(ids):
            for length in self._lengths.get(ids[at], ()):
                name, end = tuple(ids[at : at + length]), at + length
                if name in self._names[ids[at]] and not (end < len(ids) and ids[end] in inside):
                    rows, priors = self._names[ids[at]][name]
                    found.append(MentionSpan(at, end - 1, rows, priors))
                    at = end - 1
                    break
            at += 1
        return found

    def find_all(self, ids: Tensor, mask: Tensor, inside: frozenset[int] = frozenset()) -> NameBatch:
        """The names in texts side by side, ids and mask (B, N)."""
        texts = [row[:n] for row, n in zip(ids.tolist(), mask.sum(dim=1).tolist(), strict=True)]
        return collate_mentions([self.find(text, inside) for text in texts])


def name_table(names: Iterable[tuple[str, Sequence[tuple[int, float]]]], tokenizer: Tokenizer) -> NameTable:
    """names: each with the rows of its candidates and their priors."""
    found: dict[tuple[int, ...], Sequence[tuple[int, float]]] = {}
    for name, candidates in names:
        key = tuple(tokenizer.encode(name).ids.tolist())
        if key and len(name) >= LEAST_CHARACTERS and tokenizer.unknown_id not in key:
            found.setdefault(key, candidates)
    sizes = torch.tensor([0, *(len(key) for key in found)])
    many = torch.tensor([0, *(len(one) for one in found.values())])
    return NameTable(
        torch.tensor([piece for key in found for piece in key], dtype=torch.long),
        sizes.cumsum(0),
        torch.tensor([row for one in found.values() for row, _ in one], dtype=torch.long),
        torch.tensor([prior for one in found.values() for _, prior in one], dtype=torch.float),
        many.cumsum(0),
    )


def continuing(tokenizer: Tokenizer) -> frozenset[int]:
    """Pieces that continue a word: ##ing of a WordPiece vocabulary."""
    tokens = ((i, tokenizer.token(i)) for i in range(tokenizer.vocab_size))
    return frozenset(i for i, token in tokens if token.startswith("##"))

"""Places in a (B, L, N, N) tensor that is never made: four columns of one length; and the best of many.

A model that is not trained scores millions of cells above its threshold. `best_of` takes them block by block and holds
no more than `most` of each group, ROOM others, and one block.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

ROOM = 1 << 17  # places that may gather before the best are sorted out: more than a trained model finds


@dataclass(frozen=True)
class Places:
    batch: Tensor  # (P,) int64
    label: Tensor  # (P,) int64
    start: Tensor  # (P,) int64
    end: Tensor  # (P,) int64

    @staticmethod
    def join(parts: "list[Places]", device: torch.device) -> "Places":
        """All parts, one after the other; there may be none."""
        none = [torch.zeros(0, dtype=torch.int64, device=device)]
        return Places(
            torch.cat([part.batch for part in parts] + none),
            torch.cat([part.label for part in parts] + none),
            torch.cat([part.start for part in parts] + none),
            torch.cat([part.end for part in parts] + none),
        )

    def take(self, index: Tensor) -> "Places":
        """The places at `index`, a bool (P,) or an int64 (any length) tensor."""
        return Places(self.batch[index], self.label[index], self.start[index], self.end[index])

    def order(self) -> Tensor:
        """The indices (P,) by batch, label, start, end."""
        key = torch.zeros_like(self.batch)
        for column in (self.batch, self.label, self.start, self.end) if key.numel() else ():
            key = key * (column.max() + 1) + column
        if bool((key[1:] >= key[:-1]).all()):
            return torch.arange(key.numel(), device=key.device)
        return key.argsort(stable=True)


@dataclass(frozen=True)
class Best:
    place: Places  # (P,) each, by batch, label, start, end
    score: Tensor  # (P,)
    more: Tensor  # (G,) bool: the group had more than are here


def best_of(blocks: Iterable[tuple[Places, Tensor]], group: Tensor, most: int | None) -> Best:
    """The `most` best places of each of G groups, of equals the earlier; group (B, L) names that of a place.

    A place that scores less than all that a full group holds is dropped at once. One that scores as much may be earlier
    than they are, since blocks come in any order.
    """
    held = _Held(group, most)
    for place, score in blocks:
        held.add(place, score)
    return held.best()


class _Held:
    """The best of the blocks so far, and what came since."""

    def __init__(self, group: Tensor, most: int | None) -> None:
        self.group = group
        self.most = most
        self.more = torch.zeros(int(group.max()) + 1 if group.numel() else 0, dtype=torch.bool, device=group.device)
        self.parts: list[Places] = []
        self.scores: list[Tensor] = []
        self.fresh = 0  # places since the best were sorted out
        self.floor: Tensor | None = None  # (G,) the least score that a full group holds

    def add(self, place: Places, score: Tensor) -> None:
        if self.floor is not None:
            good = score >= self.floor[self.group[place.batch, place.label]]
            place, score = place.take(good), score[good]
        self.parts.append(place)
        self.scores.append(score)
        self.fresh += score.numel()
        if self.most is None or self.fresh <= ROOM:
            return
        best = self.best()
        self.parts, self.scores, self.fresh = [best.place], [best.score], 0
        least = torch.full(self.more.shape, torch.inf, dtype=score.dtype, device=score.device)
        least.scatter_reduce_(0, self.group[best.place.batch, best.place.label], best.score, "amin")
        self.floor = least.masked_fill_(~self.more, -torch.inf)

    def best(self) -> Best:
        place = Places.join(self.parts, self.group.device)
        score = torch.cat(self.scores) if self.scores else torch.zeros(0, device=self.group.device)
        order = place.order()
        group = self.group[place.batch, place.label][order]  # (P,)
        count = torch.bincount(group, minlength=self.more.numel())  # (G,)
        if self.most is not None and bool((count > self.most).any()):
            self.more = self.more | (count > self.most)
            ranked = score[order].argsort(descending=True, stable=True)
            ranked = ranked[group[ranked].argsort(stable=True)]  # by group, best first
            rank = torch.arange(ranked.numel(), device=ranked.device) - (count.cumsum(0) - count)[group[ranked]]
            order = order[ranked[rank < self.most].sort().values]
        return Best(place.take(order), score[order], self.more)


def pieces(x: Tensor, size: int) -> Iterator[Tensor]:
    """x (P, ...) in pieces of at most `size`; none if x is empty."""
    for at in range(0, x.shape[0], max(1, size)):
        yield x[at : at + max(1, size)]

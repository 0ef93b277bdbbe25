"""Beam search: the likeliest sequences of a model that says how likely each next piece is.

    next(prefixes) -> log probabilities (P, V) of what follows each of P prefixes

A sequence ends with the piece `end` or at `longest`; its score is the sum of its log probabilities, with no bonus or
penalty for length, so that scores of different sequences are probabilities and may be added up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from factpin.errors import BadInput

Prefix = tuple[int, ...]
Next = Callable[[Sequence[Prefix]], Tensor]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Pieces with `end` at their end, unless they were cut at the longest, and their log probability."""

    pieces: Prefix
    score: float


def beam_search(next: Next, beams: int, end: int, longest: int) -> list[Hypothesis]:
    """The best sequences found, best first, at most `beams` of them. Of equal scores, smaller ids come first."""
    if beams < 1 or longest < 1:
        raise BadInput(f"beams is {beams} and longest is {longest}; expected 1 or more of both.")
    open_: list[Hypothesis] = [Hypothesis((), 0.0)]
    closed: list[Hypothesis] = []
    for _ in range(longest):
        grown = _grow(open_, next([one.pieces for one in open_]), 2 * beams)
        closed = _best([*closed, *(one for one in grown if one.pieces[-1] == end)], beams)
        open_ = [one for one in grown if one.pieces[-1] != end][:beams]
        if not open_ or (len(closed) == beams and closed[-1].score >= open_[0].score):
            return closed  # a sequence that goes on only becomes less likely
    return _best([*closed, *open_], beams)


def _grow(open_: Sequence[Hypothesis], table: Tensor, count: int) -> list[Hypothesis]:
    """Every sequence with every next piece: the best of these."""
    top = table.topk(min(count, table.shape[1]), dim=1)
    rows = zip(open_, top.values.tolist(), top.indices.tolist(), strict=True)
    found = [
        Hypothesis((*one.pieces, piece), one.score + score)
        for one, scores, pieces in rows
        for score, piece in zip(scores, pieces, strict=True)
    ]
    return _best(found, count)


def _best(found: Sequence[Hypothesis], count: int) -> list[Hypothesis]:
    return sorted(found, key=lambda one: (-one.score, one.pieces))[:count]

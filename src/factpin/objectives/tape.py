"""Tape: cells in a row, what the network reads in each and what that gives away; Frame: a text between specials.

    ids    what the network reads                                        (n,)
    shows  the place of the text whose piece the id gives away           (n,) MARK: none, a special token;
                                                                              NOISE: none, an id drawn by chance
    free   the cell may show its place though it is asked for            (n,) the 10 % that BERT keeps, BART's source

A place is the index of a piece in the view's text. Operators move ids and shows together, so a tape cannot lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from factpin.errors import BadInput
from factpin.layers.masks import Bools, Ints
from factpin.objectives.text import Text, join

MARK = -1
NOISE = -2


@dataclass(frozen=True, eq=False)
class Tape:
    """Cells in a row: their pieces, and what these give away."""

    ids: Ints
    shows: Ints
    free: Bools

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.shows) == len(self.free):
            raise BadInput(
                f"A tape has one id, one place and one flag a cell, not {len(self.ids)}, {len(self.shows)} "
                f"and {len(self.free)}."
            )

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: "Tape") -> "Tape":
        return concatenate([self, other])

    def take(self, cells: Ints) -> "Tape":
        """The cells with these numbers, in this order."""
        return Tape(self.ids[cells], self.shows[cells], self.free[cells])

    def freed(self) -> "Tape":
        """The same tape, all of it shown on purpose."""
        return replace(self, free=np.ones(len(self), np.bool_))


def concatenate(parts: Sequence[Tape]) -> Tape:
    """The tapes in a row; at least one."""
    return Tape(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.shows for part in parts]),
        np.concatenate([part.free for part in parts]),
    )


def tape(ids: Ints, first: int = 0) -> Tape:
    """Pieces as they are, the places counted from `first`."""
    ids = np.asarray(ids, np.int64)
    return Tape(ids, np.arange(first, first + len(ids)), np.zeros(len(ids), np.bool_))


def mark(*ids: int) -> Tape:
    """Special tokens, which show nothing."""
    return Tape(np.array(ids, np.int64), np.full(len(ids), MARK), np.zeros(len(ids), np.bool_))


@dataclass(frozen=True, eq=False)
class Frame:
    """A text between special pieces."""

    text: Text  # the parts in a row: their pieces are the places
    tape: Tape
    cells: Ints  # (n,) the cell of every place
    parts: Ints  # (cells,) the part each cell belongs to; special tokens count to the part before them

    @property
    def specials(self) -> int:
        return len(self.tape) - len(self.text)

    def stopped(self) -> "Frame":
        """The same with the last special token as one piece more of the text, so that it can be chosen."""
        *_, last = self.tape.ids
        stop = Text(np.array([last]), np.zeros(1, np.int64), np.ones(1, np.int64))
        row = self.tape.take(np.arange(len(self.tape) - 1)) + tape(stop.ids, len(self.text))
        return Frame(join([self.text, stop]), row, np.flatnonzero(row.shows >= 0), self.parts)

    def at(self, groups: Sequence[Ints]) -> list[Ints]:
        """Groups of places as groups of cells."""
        return [self.cells[group] for group in groups]

    def answers(self, groups: Sequence[Ints]) -> Ints:
        """(cells,) each chosen place at its own cell, MARK elsewhere."""
        asked = np.full(len(self.tape), MARK)
        for group in groups:
            asked[self.cells[group]] = group
        return asked


def frame(
    parts: Sequence[Text],
    *,
    first: Sequence[int] = (),
    after: Sequence[int] = (),
    last: Sequence[int] = (),
    bare: int = 0,
) -> Frame:
    """The parts in a row, `first` in front of all, `after` behind each but the first `bare` ones, `last` at the end."""
    rows, of, place = [mark(*first)], [0] * len(first), 0
    for k, part in enumerate(parts):
        rows += [tape(part.ids, place), mark(*after) if k >= bare else mark()]
        of += [k] * (len(rows[-2]) + len(rows[-1]))
        place += len(part)
    row = concatenate([*rows, mark(*last)])
    of += [len(parts) - 1] * len(last)
    return Frame(join(parts), row, np.flatnonzero(row.shows >= 0), np.array(of, np.int64))

"""Audit: proves of a view that nothing asked for can be read off, through any number of layers; or lists the leaks.

    edge q -> k    some mask lets q see k, or q = k (a cell carries itself)
    question       (cell, place): the cell answers for the place, or stands beside a span that holds it (SBO)
    leak           the cell reaches, by edges, a cell that shows the place

Cells that show a place on purpose (`free`: BERT's kept pieces, BART's source) are counted, not reported.

A view may also claim wrongly what its cells show, and then no mask tells the truth. So claims are checked:

    a cell that shows a place holds the id of that place
    a cell that claims to show nothing does not hold the id of a piece that is asked for
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from factpin.layers.masks import Bools, Ints
from factpin.objectives.tape import MARK
from factpin.objectives.view import View

Cell = tuple[str, int]  # stream, number


@dataclass(frozen=True)
class Leak:
    """`asked` can read place `place` at `shown`, in a network of at least `layers` layers."""

    asked: Cell
    place: int
    shown: Cell
    layers: int

    def __str__(self) -> str:
        way = "its own input shows it" if self.layers == 0 else f"{self.layers} layers up it sees {_name(self.shown)}"
        return f"{_name(self.asked)} is asked for place {self.place}, and {way}"


@dataclass(frozen=True)
class Audit:
    questions: int
    kept: int  # questions whose place is shown on purpose within reach
    leaks: tuple[Leak, ...]
    lies: tuple[str, ...]  # claims that do not hold

    @property
    def clean(self) -> bool:
        return not self.leaks and not self.lies

    def __str__(self) -> str:
        if self.clean:
            return f"No leak: {self.questions} questions, {self.kept} of them shown on purpose."
        return "\n".join([*self.lies, *(str(leak) for leak in self.leaks)])


def audit(view: View) -> Audit:
    """The proof, or what is wrong; a leak is named once a question, by the shortest way."""
    names, sees = graph(view)
    shows = np.concatenate([one.tape.shows for one in view.streams.values()])
    free = np.concatenate([one.tape.free for one in view.streams.values()])
    questions = list(_questions(view, names))
    askers = sorted({cell for cell, _ in questions})
    depth = dict(zip(askers, layers_between(sees, np.array(askers, np.int64)), strict=True))
    leaks, kept = [], 0
    for cell, place in questions:
        at = np.flatnonzero((shows == place) & (depth[cell] >= 0))
        kept += bool(free[at].any())
        at = at[~free[at]]
        if len(at):
            nearest = at[np.argmin(depth[cell][at])]
            leaks.append(Leak(names[cell], place, names[nearest], int(depth[cell][nearest])))
    return Audit(len(questions), kept, tuple(leaks), tuple(_lies(view)))


def graph(view: View) -> tuple[list[Cell], Bools]:
    """All cells of all streams in a row, and who sees whom in one layer, itself included: (cells, cells)."""
    names = [(name, i) for name, one in view.streams.items() for i in range(len(one))]
    starts = dict(zip(view.streams, np.cumsum([0, *map(len, view.streams.values())]), strict=False))
    sees = np.eye(len(names), dtype=np.bool_)
    for name, one in view.streams.items():
        for seen, spec in one.sees.items():
            top, left = starts[name], starts[seen]
            sees[top : top + spec.rows, left : left + spec.columns] |= spec.dense()
    return names, sees


def layers_between(sees: Bools, cells: Ints) -> Ints:
    """(cells, all cells) how many layers it takes each of `cells` to read another; -1: no number is enough."""
    edges = sees.astype(np.float32)  # sums of at most as many ones as there are cells: exact
    depth = np.full((len(cells), len(sees)), -1)
    reached = np.zeros(depth.shape, np.bool_)
    reached[np.arange(len(cells)), cells] = True
    layer = 0
    while (reached & (depth < 0)).any():
        depth[reached & (depth < 0)] = layer
        reached = reached.astype(np.float32) @ edges > 0
        layer += 1
    return depth


def _questions(view: View, names: list[Cell]) -> Iterator[tuple[int, int]]:
    number = {name: i for i, name in enumerate(names)}
    for name, one in view.streams.items():
        for i in np.flatnonzero(one.answers >= 0):
            yield number[name, int(i)], int(one.answers[i])
    for start, end in view.spans.tolist():
        for place in view.streams["content"].answers[start:end].tolist():
            yield number["content", start - 1], place
            yield number["content", end], place


def _lies(view: View) -> Iterator[str]:
    asked = np.concatenate([one.answers[one.answers >= 0] for one in view.streams.values()])
    pieces = np.setdiff1d(view.text[asked], list(view.marks))
    for name, one in view.streams.items():
        ids, shows = one.tape.ids, one.tape.shows
        for i in np.flatnonzero((shows >= 0) & (ids != view.text[np.maximum(shows, 0)])):
            right = view.text[shows[i]]
            yield f"{_name((name, int(i)))} claims to show place {shows[i]}, which is {right}, but holds {ids[i]}"
        for i in np.flatnonzero((shows == MARK) & np.isin(ids, pieces)):
            yield f"{_name((name, int(i)))} claims to show nothing, but holds {ids[i]}, which is asked for"


def _name(cell: Cell) -> str:
    return f"{cell[0]} cell {cell[1]}"

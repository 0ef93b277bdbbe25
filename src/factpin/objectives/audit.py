"""Audit: proves of a view that nothing asked for can be read off, through any number of layers; or lists the leaks.

    edge q -> k    some mask lets q see k, or q = k (a cell carries itself)
    question       (cell, place): the cell answers for the place, or is next to a span that holds it (SBO)
    leak           the cell reaches, by edges, a cell that shows the place

Cells that show a place on purpose (`free`: BERT's kept pieces, BART's source) are counted, not reported.

A view may also claim wrongly what its cells show, and then no mask tells the truth. So claims are checked:

    a cell that shows a place holds the id of that place
    a special token does not hold the id of a piece that is asked for
    a cell drawn by chance may hold one, but not more of them do than chance explains

The last is a test: among k different pieces drawn evenly from a vocabulary of V, how often are j or more of the a
different pieces that are asked for? Less than once in a million times is reported; the cells are counted in any case.

One thing is taken on trust: that places are different pieces of text. A text that is given twice, as itself and as what
came before it, can be read off the copy; ids alone cannot tell that from words that repeat.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from factpin.layers.masks import Bools, Ints
from factpin.objectives.tape import MARK, NOISE
from factpin.objectives.text import Vocabulary
from factpin.objectives.view import View
from factpin.words import count

LEVEL = 1e-6  # of the test of noise
NAMED = 8  # cells in a message

Cell = tuple[str, int]  # stream, number


@dataclass(frozen=True)
class Leak:
    """`asked` can read place `place` at `shown`, in a network of at least `layers` layers."""

    asked: Cell
    place: int
    shown: Cell
    layers: int

    def __str__(self) -> str:
        way = (
            "its own input shows it"
            if self.layers == 0
            else f"{self.layers} layer{'s' * (self.layers > 1)} up it sees {_name(self.shown)}"
        )
        return f"{_name(self.asked)} is asked for place {self.place}, and {way}"


@dataclass(frozen=True)
class Audit:
    """The leaks of a view; clean if there are none."""

    questions: int
    kept: int  # questions whose place is shown on purpose within reach
    noise: int  # cells drawn by chance
    alike: int  # of these, cells that hold a piece that is asked for
    leaks: tuple[Leak, ...]
    lies: tuple[str, ...]  # claims that do not hold

    @property
    def clean(self) -> bool:
        return not self.leaks and not self.lies

    def __str__(self) -> str:
        if self.clean:
            verdict = f"No leak: {count(self.questions, 'question')}, {self.kept} of them shown on purpose."
            return f"{verdict} Of {self.noise} cells drawn by chance {self.alike} hold what is asked for."
        return "\n".join([*self.lies, *(str(leak) for leak in self.leaks)])


def audit(view: View, vocabulary: Vocabulary | None = None) -> Audit:
    """The proof, or what is wrong; a leak is named once a question, by the shortest way.

    The vocabulary says what chance draws from. Without it, that is taken to be all ids up to the largest in the view.
    """
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
    noise, alike = _noise(view)
    lies = (*_lies(view), *_more_than_chance(view, alike, vocabulary))
    return Audit(len(questions), kept, len(noise), len(alike), tuple(leaks), lies)


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


def _asked(view: View) -> Ints:
    """The different pieces that are asked for; ends and sentinels are none."""
    asked = np.concatenate([one.answers[one.answers >= 0] for one in view.streams.values()])
    return np.setdiff1d(view.text[asked], list(view.marks))


def _lies(view: View) -> Iterator[str]:
    pieces = _asked(view)
    for name, one in view.streams.items():
        ids, shows = one.tape.ids, one.tape.shows
        for i in np.flatnonzero((shows >= 0) & (ids != view.text[np.maximum(shows, 0)])):
            right = view.text[shows[i]]
            yield f"{_name((name, int(i)))} claims to show place {shows[i]}, which is {right}, but holds {ids[i]}"
        for i in np.flatnonzero((shows == MARK) & np.isin(ids, pieces)):
            yield f"{_name((name, int(i)))} claims to show nothing, but holds {ids[i]}, which is asked for"


def _noise(view: View) -> tuple[list[Cell], list[Cell]]:
    """The cells drawn by chance, and those of them that hold a piece that is asked for."""
    pieces = _asked(view)
    drawn = [(name, one.tape.ids, np.flatnonzero(one.tape.shows == NOISE)) for name, one in view.streams.items()]
    cells = [(name, int(i)) for name, _, at in drawn for i in at]
    return cells, [(name, int(i)) for name, ids, at in drawn for i in at[np.isin(ids[at], pieces)]]


def _more_than_chance(view: View, alike: list[Cell], vocabulary: Vocabulary | None) -> Iterator[str]:
    """Different pieces count, not cells: MPNet's two copies of a mask are one draw."""
    if not alike:
        return
    asked = _asked(view)
    drawn = np.unique(np.concatenate([one.tape.ids[one.tape.shows == NOISE] for one in view.streams.values()]))
    hits = np.intersect1d(drawn, asked)
    largest = max(int(ids.max(initial=0)) for ids in (view.text, *(one.tape.ids for one in view.streams.values())))
    size = largest + 1 if vocabulary is None else len(vocabulary.ordinary)
    if how_often(len(hits), len(drawn), len(asked), max(size, len(np.union1d(drawn, asked)))) < LEVEL:
        cells = ", ".join(map(_name, alike[:NAMED])) + (", …" if len(alike) > NAMED else "")
        yield (
            f"{cells} claim to be drawn by chance, but of {len(drawn)} different pieces drawn {len(hits)} are asked "
            "for: chance does not explain that"
        )


def how_often(hits: int, drawn: int, asked: int, size: int) -> float:
    """How often at least `hits` of `drawn` different pieces, drawn evenly from `size`, are among `asked` ones."""
    ways = sum(comb(asked, k) * comb(size - asked, drawn - k) for k in range(hits, min(drawn, asked) + 1))
    return ways / comb(size, drawn)


def _name(cell: Cell) -> str:
    return f"{cell[0]} cell {cell[1]}"

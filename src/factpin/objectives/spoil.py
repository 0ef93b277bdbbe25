"""What is done to the chosen cells: a tape comes in, a spoilt tape goes out, and what it showed moves with it.

replace    masked, or drawn by chance, or kept and shown on purpose; decided for each piece or each group
collapse   each group becomes one marker         undone by `expand`
insert     markers where nothing is missing      undone by `expand` with empty runs
delete     the groups go                         not to be undone: nothing says where they were
reorder    parts in another order                undone by `reorder` with `back`
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from factpin.errors import BadInput
from factpin.layers.masks import Ints
from factpin.objectives.tape import MARK, NOISE, Tape, concatenate, mark
from factpin.objectives.text import Chance, Vocabulary
from factpin.words import count


@dataclass(frozen=True)
class Rates:
    """What happens to a chosen piece; what is left of 1 is kept as it is."""

    mask: float = 0.8
    chance: float = 0.1
    by: Literal["piece", "group"] = "piece"


def replace(tape: Tape, groups: Sequence[Ints], rates: Rates, vocabulary: Vocabulary, chance: Chance) -> Tape:
    """A random id is an ordinary one. Public code draws special tokens too."""
    ids, shows, free = tape.ids.copy(), tape.shows.copy(), tape.free.copy()
    cells = np.concatenate([np.zeros(0, np.int64), *groups])
    if rates.by == "piece":
        u = chance.random(len(cells))
    else:
        u = np.repeat(chance.random(len(groups)), [len(group) for group in groups])
    masked, kept = cells[u < rates.mask], cells[u >= rates.mask + rates.chance]
    drawn = cells[(u >= rates.mask) & (u < rates.mask + rates.chance)]
    ids[masked], shows[masked] = vocabulary.mask, MARK
    ids[drawn], shows[drawn] = chance.choice(vocabulary.ordinary, len(drawn)), NOISE
    free[kept] = True
    return Tape(ids, shows, free)


def collapse(tape: Tape, groups: Sequence[Ints], markers: Sequence[int]) -> Tape:
    """Groups in the order of the tape, each a run of neighbours; group k becomes markers[k]."""
    if len(groups) > len(markers):
        raise BadInput(
            f"{count(len(groups), 'blank needs a marker', 'blanks need as many markers')}, "
            f"the vocabulary has {len(markers)}. Give it more sentinels, or shorter texts."
        )
    parts, at = [], 0
    for group, marker in zip(groups, markers, strict=False):
        if group[-1] - group[0] + 1 != len(group) or group[0] < at:
            raise BadInput(f"A blank is a run of neighbours behind the last blank, got the cells {group.tolist()}.")
        parts += [tape.take(np.arange(at, group[0])), mark(marker)]
        at = int(group[-1]) + 1
    return concatenate([*parts, tape.take(np.arange(at, len(tape)))])


def insert(tape: Tape, gaps: Sequence[int], marker: int) -> Tape:
    """The marker in front of each of these cells."""
    cuts = [0, *sorted(gaps), len(tape)]
    parts = [tape.take(np.arange(a, b)) for a, b in zip(cuts, cuts[1:], strict=False)]
    return concatenate([parts[0], *(mark(marker) + part for part in parts[1:])])


def delete(tape: Tape, groups: Sequence[Ints]) -> Tape:
    gone = np.concatenate([np.zeros(0, np.int64), *groups])
    return tape.take(np.setdiff1d(np.arange(len(tape)), gone))


def reorder(tape: Tape, ranges: Sequence[tuple[int, int]]) -> Tape:
    """The parts start:end in the order in which they are given; together they are the whole tape."""
    order = np.concatenate([np.arange(start, end) for start, end in ranges])
    if not np.array_equal(np.sort(order), np.arange(len(tape))):
        raise BadInput(f"The parts {list(ranges)} are not each cell of 0:{len(tape)} once.")
    return tape.take(order)


def back(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges that undo a `reorder`."""
    starts = np.cumsum([0, *(end - start for start, end in ranges)])
    order = sorted(range(len(ranges)), key=lambda k: ranges[k])
    return [(int(starts[k]), int(starts[k + 1])) for k in order]


def expand(ids: Ints, markers: Sequence[int], runs: Sequence[Ints]) -> Ints:
    """Undo `collapse` and `insert`: the k-th cell that holds a marker becomes runs[k]."""
    places = np.flatnonzero(np.isin(ids, markers))
    if len(places) != len(runs):
        raise BadInput(f"{len(places)} markers need as many runs, got {len(runs)}.")
    parts, at = [ids[:0]], 0
    for place, run in zip(places, runs, strict=True):
        parts += [ids[at:place], np.asarray(run, np.int64)]
        at = int(place) + 1
    return np.concatenate([*parts, ids[at:]])


def split(ids: Ints, markers: Sequence[int]) -> list[Ints]:
    """The runs behind each marker, up to the next one; what comes before the first is left out."""
    return [run[1:] for run in np.split(ids, np.flatnonzero(np.isin(ids, markers)))[1:]]

"""View: what an objective makes of one text, ready for a network; every cell says what it shows and what it is asked.

    streams    content    what is read; a cell answers for its own place or for the next one
               query      reads content, is read by nobody (XLNet, MPNet)
               encoder, decoder
               memory     the pieces before the text, read without gradient; nothing is asked there, so it sees nothing
    places     0..m: the pieces of the text, then what else is asked for, such as an end

A stream attends to each stream in `sees`: memory and content are one row of keys, an encoder has an attention of its
own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from factpin.errors import BadInput
from factpin.layers.masks import Ints, MaskSpec, causal, full
from factpin.objectives.tape import MARK, Tape, mark, tape
from factpin.objectives.text import Text

NO_LOSS = -100
NONE = MARK  # no place is asked for


@dataclass(frozen=True, eq=False)
class Stream:
    """The cells that are read together, and what each of them sees."""

    tape: Tape  # n cells
    sees: Mapping[str, MaskSpec]  # stream -> (n, its cells)
    answers: Ints  # (n,) the place that is asked for, or NONE
    positions: Ints  # (n, tables) one position, two for GLM
    segments: Ints  # (n,)

    def __len__(self) -> int:
        return len(self.tape)


def stream(
    tape: Tape,
    sees: Mapping[str, MaskSpec],
    *,
    answers: Ints | None = None,
    positions: Ints | None = None,
    segments: Ints | None = None,
) -> Stream:
    """A stream that asks nothing, counts its cells and has one segment by default."""
    n = len(tape)
    answers = np.full(n, NONE) if answers is None else answers
    positions = np.arange(n) if positions is None else positions
    segments = np.zeros(n, np.int64) if segments is None else segments
    return Stream(tape, sees, answers, positions[:, None] if positions.ndim == 1 else positions, segments)


@dataclass(frozen=True, eq=False)
class View:
    """A text as an objective shows it to a network."""

    text: Ints  # (m,) the id at every place
    streams: Mapping[str, Stream]
    pair: int = NO_LOSS  # the class of the whole, such as 0: the second part follows the first, 1: it does not
    spans: Ints = field(default_factory=lambda: np.zeros((0, 2), np.int64))  # (k, 2) SBO: content cells start:end
    marks: frozenset[int] = frozenset()  # ids of the places that are no pieces: ends, sentinels

    def __post_init__(self) -> None:
        for name, one in self.streams.items():
            if not len(one) == len(one.answers) == len(one.positions) == len(one.segments):
                raise BadInput(f"Stream {name}: {len(one)} cells need as many answers, positions and segments.")
            if len(one) and one.answers.max() >= len(self.text):
                raise BadInput(f"Stream {name} asks for place {one.answers.max()} of {len(self.text)}.")
            self._check_masks(name, one)

    def labels(self, name: str) -> Ints:
        """(n,) the id asked for at each cell of a stream, NO_LOSS elsewhere."""
        answers = self.streams[name].answers
        return np.where(answers >= 0, self.text[answers], NO_LOSS)

    def _check_masks(self, name: str, one: Stream) -> None:
        if not one.sees:
            return
        for seen, spec in one.sees.items():
            if seen not in self.streams or (spec.rows, spec.columns) != (len(one), len(self.streams[seen])):
                raise BadInput(f"Stream {name} sees {seen}: there is no such stream, or the mask has another shape.")
        sighted = [spec.dense().any(axis=1) for spec in one.sees.values()]
        blind = ~(np.any(sighted, axis=0) if "memory" in one.sees else np.all(sighted, axis=0))
        if blind.any():
            raise BadInput(
                f"Stream {name}: the cells {np.flatnonzero(blind).tolist()} see nothing, so attention is undefined "
                "there, and some networks make it uniform. Leave one cell to see."
            )


def taught(start: int, target: Tape, places: int) -> tuple[Tape, Ints, Ints]:
    """A decoder that is given what it should have said: its tape, its answers, and the ids of the new places.

    It reads `start` and the target without its last cell. Markers of the target get places of their own from `places`
    on, so that an audit sees them too.
    """
    new = target.shows < 0
    answers = target.shows.copy()
    answers[new] = places + np.arange(new.sum())
    given = Tape(target.ids, answers, target.free)
    return mark(start) + given.take(np.arange(len(given) - 1)), answers, target.ids[new]


def sequence_view(text: Ints, encoder: Stream, start: int, target: Tape) -> View:
    """Encoder and decoder: the decoder reads from left to right and sees the whole encoder."""
    given, answers, new = taught(start, target, len(text))
    sees = {"decoder": causal(len(given)), "encoder": full(len(given), len(encoder))}
    decoder = stream(given, sees, answers=answers)
    return View(np.concatenate([text, new]), {"encoder": encoder, "decoder": decoder}, marks=frozenset(new.tolist()))


def encoder(tape: Tape, *, answers: Ints | None = None) -> Stream:
    return stream(tape, {"encoder": full(len(tape))}, answers=answers)


def memory(text: Text, places: int) -> Stream:
    """The pieces before the text; their places follow `places`, their positions are negative."""
    m = len(text.before)
    return stream(tape(text.before, places), {}, positions=np.arange(-m, 0))

"""What an objective asks of a corpus and of a vocabulary, found out by asking it: a row comes in, its needs go out.

A small text is declared again and again by chance. The objective needs words if other words give another view;
phrases, entities or a foreign text if it fails without them; a mark if a view contains it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from factpin.errors import BadInput
from factpin.objectives import Objective, Text, View, Vocabulary
from factpin.objectives.text import chance_of

TRIALS = 24
SENTENCES, LENGTH = 6, 8  # of the text that is asked about
MARKS = ("pad", "cls", "sep", "mask", "gap", "tail", "start", "end")
BLANKS = "sentinels"
_PIECES = SENTENCES * LENGTH
_AT = 2 * _PIECES  # the first mark; lower numbers are the pieces of the text and of the foreign one
_LAST = _AT + len(MARKS)
PROBE = Vocabulary(
    size=_LAST + _PIECES,
    pad=_AT,
    cls=_AT + 1,
    sep=_AT + 2,
    mask=_AT + 3,
    gap=_AT + 4,
    tail=_AT + 5,
    start=_AT + 6,
    end=_AT + 7,
    sentinels=tuple(range(_LAST, _LAST + _PIECES)),
)


@dataclass(frozen=True)
class Needs:
    """What an objective needs of a corpus and a vocabulary."""

    words: bool
    phrases: bool
    entities: bool
    foreign: bool
    memory: bool
    target: bool  # it learns from pairs
    pair: bool  # it asks about two parts of a text
    marks: frozenset[str]  # of MARKS and BLANKS

    def __or__(self, other: "Needs") -> "Needs":
        mine, theirs = vars(self), vars(other)
        return Needs(**{name: mine[name] | theirs[name] for name in mine})


def needs(objective: Objective) -> Needs:
    text = _text(0, pair=2)
    full = replace(text, phrases=text.words, entities=text.words, foreign=_text(_PIECES, pair=2), target=text.ids)
    views = [_view(objective, full, trial) for trial in range(TRIALS)]
    others = [_view(objective, replace(full, words=np.full(_PIECES, -1)), trial) for trial in range(TRIALS)]
    seen = {int(i) for view in views for one in view.streams.values() for i in (*one.tape.ids, *view.text)}
    marks = {name for name in MARKS if getattr(PROBE, name) in seen}
    marks |= {BLANKS} if seen & set(PROBE.sentinels) else set()
    phrases = _fails(objective, replace(full, phrases=None))
    entities = _fails(objective, replace(full, entities=None))
    differs = any(_cells(a) != _cells(b) for a, b in zip(views, others, strict=True))
    return Needs(
        words=differs or phrases or entities,  # what is outside every phrase counts by its word
        phrases=phrases,
        entities=entities,
        foreign=_fails(objective, replace(full, foreign=None)),
        memory="memory" in views[0].streams,
        target=_fails(objective, replace(full, target=None)),
        pair=any(loss.head == "pair" for loss in objective.losses),
        marks=frozenset(marks),
    )


def needs_of(objectives: Iterable[Objective]) -> Needs:
    """What all of them need together."""
    first, *rest = [needs(objective) for objective in objectives]
    for other in rest:
        first |= other
    return first


def _text(start: int, *, pair: int) -> Text:
    places = np.arange(_PIECES)
    return Text(start + places, places // pair, places[LENGTH - 1 :: LENGTH] + 1)


def _view(objective: Objective, text: Text, trial: int) -> View:
    return objective.declare(text, PROBE, chance_of(0, 0, trial))


def _cells(view: View) -> list[list[int]]:
    return [column.tolist() for one in view.streams.values() for column in (one.tape.ids, one.answers)]


def _fails(objective: Objective, text: Text) -> bool:
    try:
        for trial in range(TRIALS):
            _view(objective, text, trial)
    except BadInput:
        return True
    return False

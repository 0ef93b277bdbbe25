"""Prompts: what is given to a model, as the views in which it says the next piece; one function for each method.

A prompt's view is the view of training, cut off where the next piece is asked for: UniLM reads a mask at the end, GLM
the blank's position and the count within it, MASS the positions of its run, BART its two first tokens, XLNet a query at
the next place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from factpin.errors import BadInput
from factpin.layers.masks import Ints, causal, full, prefix
from factpin.objectives.tape import Tape, mark
from factpin.objectives.text import Vocabulary, nothing
from factpin.objectives.view import Stream, View, encoder, stream

FRAME = 2  # special tokens around a prompt


@dataclass(frozen=True)
class Prompt:
    """The input of a model, as the views in which it predicts the next piece."""

    view: Callable[[Ints], View]
    stream: str  # its last cell says the next piece
    never: frozenset[int]  # ids that are not said
    end: int | None = None  # None: nothing closes what is said
    length: int | None = None  # how many pieces are said, where that is known
    rows: tuple[str, ...] = ()  # beginnings of the names of the rows that learn to answer it


def gpt(ids: Ints, v: Vocabulary, *, window: int | None = None) -> Prompt:
    """Goes on from left to right; nothing ends it but the length. Of a long text the last `window` pieces are read."""
    _refuse_empty(ids)

    def view(said: Ints) -> View:
        row = _row(np.concatenate([ids, said])[-(window or 0) :])
        return _view({"content": stream(row, {"content": causal(len(row))})})

    return Prompt(view, "content", v.specials, rows=("gpt", "transformer_xl"))


def transformer_xl(ids: Ints, before: Ints, v: Vocabulary, *, segment: int | None = None) -> Prompt:
    """The same behind a memory of the pieces `before`.

    With `segment` all of it is read in segments of so many pieces: what is said goes on behind what it said before.
    """
    _refuse_empty(ids)

    def view(said: Ints) -> View:
        whole = np.concatenate([before, ids, said])
        m = (len(whole) - 1) // segment * segment if segment else len(before)
        row = _row(whole[m:])
        kept = stream(_row(whole[:m]), {}, positions=np.arange(-m, 0))
        sees = {"memory": full(len(row), m), "content": causal(len(row))}
        return _view({"memory": kept, "content": stream(row, sees)})

    return Prompt(view, "content", v.specials, rows=("transformer_xl", "gpt"))


def xlnet(ids: Ints, v: Vocabulary) -> Prompt:
    """The next place is asked for by a query, which sees all that is there; nothing ends it but the length."""
    _refuse_empty(ids)

    def view(said: Ints) -> View:
        row = _row(ids, said)
        n = len(row)
        query = stream(_row([v.mask]), {"content": full(1, n)}, positions=np.array([n]))
        return _view({"content": stream(row, {"content": full(n)}), "query": query})

    return Prompt(view, "query", v.specials, rows=("xlnet",))


def unilm(ids: Ints, v: Vocabulary, *, segments: tuple[int, int] = (4, 5)) -> Prompt:
    """A second part for a first one: a mask is read behind what has been said, and replaced by what it says."""

    def view(said: Ints) -> View:
        first = len(ids) + 2
        row = _row([v.cls], ids, [v.sep], said, [v.mask])
        of = np.where(np.arange(len(row)) < first, *segments)
        return _view({"content": stream(row, {"content": prefix(len(row), first)}, segments=of)})

    return Prompt(view, "content", v.specials - {v.sep}, v.sep, rows=("unilm_sequence",))


def glm(ids: Ints, blank: int, v: Vocabulary, *, earlier: Sequence[tuple[int, Ints]] = ()) -> Prompt:
    """Fills the blank whose marker is ids[blank]; `earlier` are the blanks filled before it, with their pieces."""
    if blank not in blanks(ids, v):
        raise BadInput(
            f"A blank is where ids hold the vocabulary's mask, gap or tail: {blanks(ids, v) or 'nowhere'}; "
            f"got {blank}. Put one of the three there, or name a blank."
        )
    if v.start == v.pad:
        raise BadInput(
            "GLM begins what it fills in with the vocabulary's `start`; this one has none, so that its model never "
            "learned to. Load a folder that was pretrained with glm."
        )

    def view(said: Ints) -> View:
        a = _row([v.cls], ids)
        runs = [*((at, _row([v.start], run)) for at, run in earlier), (blank, _row([v.start], said))]
        row = a
        positions = [np.stack([np.arange(len(a)), np.zeros(len(a), np.int64)], 1)]
        for at, run in runs:
            row = row + run
            positions.append(np.stack([np.full(len(run), at + 1), 1 + np.arange(len(run))], 1))
        sees = {"content": prefix(len(row), len(a))}
        return _view({"content": stream(row, sees, positions=np.concatenate(positions))})

    return Prompt(view, "content", v.specials - {v.end}, v.end, rows=("glm",))


def blanks(ids: Ints, v: Vocabulary) -> list[int]:
    found: list[int] = np.flatnonzero(np.isin(ids, [v.mask, v.gap, v.tail])).tolist()
    return found


def mass(ids: Ints, start: int, end: int, v: Vocabulary) -> Prompt:
    """The pieces of ids[start:end], which are masks for the encoder."""
    if not 0 <= start < end <= len(ids):
        raise BadInput(
            f"MASS says the pieces start:end of {len(ids)}, 0 <= start < end <= {len(ids)}; got {start}:{end}. Name at "
            "least one piece of the text."
        )

    def view(said: Ints) -> View:
        hidden = ids.copy()
        hidden[start:end] = v.mask
        source = encoder(_row([v.cls], hidden, [v.sep]))
        given = _row([v.cls] if start == 0 else ids[start - 1 : start], said)
        positions = start + np.arange(len(given))  # the piece before the run is at cell `start`
        return _sequence(source, given, positions)

    return Prompt(view, "decoder", v.specials, length=end - start, rows=("mass",))


def t5(ids: Ints, v: Vocabulary) -> Prompt:
    """Says sentinel, blank, sentinel, blank, … for ids with sentinels."""
    if not np.isin(ids, v.sentinels).any():
        has = f"it has {len(v.sentinels)}, from {v.sentinels[0]} on" if v.sentinels else "it has none"
        raise BadInput(
            f"T5 fills blanks, each a sentinel of the vocabulary ({has}); these {len(ids)} ids hold none. Put "
            "vocabulary.sentinels[0] where the first blank is; a model pretrained with t5 has a hundred."
        )
    return target(ids, v, rows=("t5",), marks=v.sentinels)


def bart(ids: Ints, v: Vocabulary) -> Prompt:
    """Restores a spoilt text."""
    view = lambda said: _sequence(encoder(_row([v.cls], ids, [v.sep])), _row([v.sep, v.cls], said))  # noqa: E731
    return Prompt(view, "decoder", v.specials - {v.sep}, v.sep, rows=("bart",))


def pegasus(ids: Ints, v: Vocabulary) -> Prompt:
    """Says the sentences that are gaps in ids."""
    return target(ids, v, rows=("pegasus",))


def target(ids: Ints, v: Vocabulary, *, rows: tuple[str, ...], marks: tuple[int, ...] = ()) -> Prompt:
    """What T5 and PEGASUS say of a source; `marks` may be said though they are special."""
    view = lambda said: _sequence(encoder(_row(ids, [v.end])), _row([v.pad], said))  # noqa: E731
    return Prompt(view, "decoder", v.specials - {v.end, *marks}, v.end, rows=rows)


def palm(ids: Ints, v: Vocabulary) -> Prompt:
    """Goes on from ids, which the encoder reads; the plain Transformer does the same."""
    view = lambda said: _sequence(encoder(_row([v.cls], ids, [v.sep])), _row([v.pad], said))  # noqa: E731
    return Prompt(view, "decoder", v.specials - {v.end}, v.end, rows=("palm", "transformer"))


def mass_target(ids: Ints, v: Vocabulary) -> Prompt:
    """What MASS says of a source after it learned from pairs."""
    view = lambda said: _sequence(encoder(_row([v.cls], ids, [v.sep])), _row([v.cls], said))  # noqa: E731
    return Prompt(view, "decoder", v.specials - {v.sep}, v.sep, rows=("mass_pairs",))


def _refuse_empty(ids: Ints) -> None:
    if not len(ids):
        raise BadInput("A text is continued behind its last piece; got no piece. Give at least one.")


def _sequence(source: Stream, given: Tape, positions: Ints | None = None) -> View:
    sees = {"decoder": causal(len(given)), "encoder": full(len(given), len(source))}
    return _view({"encoder": source, "decoder": stream(given, sees, positions=positions)})


def _row(*parts: Ints | list[int]) -> Tape:
    return mark(*np.concatenate([nothing(), *(np.asarray(part, np.int64) for part in parts)]).tolist())


def _view(streams: dict[str, Stream]) -> View:
    """Nothing is asked in it: the last cell is read. A view has at least one place."""
    return View(np.zeros(1, np.int64), streams)

"""Decode names: cells -> mentions without a type."""

from collections.abc import Sequence

from factpin.documents import Mention
from factpin.tasks.scale import Scale
from factpin.tokens import Pieces, char_span

Cell = tuple[int, int, float]  # first piece, last piece, score


def decode(cells: Sequence[Cell], text: str, pieces: Pieces, scale: Scale) -> tuple[Mention, ...]:
    """The mentions in the order of the text."""
    places = sorted((*char_span(pieces, first, last), score) for first, last, score in cells)
    return tuple(
        Mention(f"m{i}", start, end, text[start:end], "name", scale.probability(score))
        for i, (start, end, score) in enumerate(places)
    )

"""Decode spans: cells that a head found -> mentions with exact characters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factpin.arrays import Floats, Ints
from factpin.documents import Mention
from factpin.tasks.scale import Scale
from factpin.tokens import Pieces, char_span


@dataclass(frozen=True)
class Found:
    """Cells that a head found in one document, in piece indices of the whole document."""

    label: Ints  # (P,)
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    score: Floats  # (P,) logits: more than the threshold


def decode(found: Found, text: str, pieces: Pieces, labels: Sequence[str], scale: Scale) -> list[Mention]:
    """Mentions in the order of the text, each once, with their probability."""
    best: dict[tuple[int, int, int], float] = {}
    for label, first, last, score in zip(found.label, found.first, found.last, found.score, strict=True):
        start, end = char_span(pieces, int(first), int(last))
        if start < end:
            key = (start, end, int(label))
            best[key] = max(best.get(key, -np.inf), float(score))
    mentions = []
    for i, ((start, end, label), score) in enumerate(sorted(best.items(), key=lambda item: item[0])):
        mentions.append(Mention(f"m{i}", start, end, text[start:end], labels[label], scale.probability(score)))
    return mentions

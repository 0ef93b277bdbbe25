"""Decode spans: cells that a head found -> mentions with exact characters."""

from collections.abc import Sequence

import numpy as np

from factpin.documents import Mention
from factpin.tasks.scale import Scale
from factpin.tasks.spans.find import Spans
from factpin.tokens import Pieces, char_span


def decode(found: Spans, text: str, pieces: Pieces, labels: Sequence[str], scale: Scale) -> list[Mention]:
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

"""Frequencies: the loss on held-out text of who knows only how often each piece occurs. A run has to beat it.

    p(v) = (occurrences of v in texts of the corpus + ½) / (pieces + ½ V)
    loss = -Σ n_v log p(v) / Σ n_v                                    n_v: how often v is asked for in held-out text

A GPT, with its norms behind each layer, may stay at this loss for long.
"""

from collections.abc import Iterable

import numpy as np

from factpin.layers.masks import Ints
from factpin.objectives import Objective, Text

COUNTED = 1000  # texts in which pieces are counted
MARGIN = 0.05  # a loss that is not lower by this has not beaten the frequencies
HALF = 0.5


def comparable(rows: Iterable[Objective]) -> bool:
    """Whether the loss of rows is that of predicting pieces of the text, and nothing else."""
    return all(
        len(row.losses) == 1 and row.losses[0].head == "words" and row.losses[0].stream in ("content", "query")
        for row in rows
    )


def frequency_loss(texts: Iterable[Text], asked: Ints) -> float:
    """Texts of the corpus, and how often each piece is asked for (V,) -> the loss."""
    counts = np.full(len(asked), HALF)
    for text in texts:
        counts += np.bincount(text.ids, minlength=len(asked))
    return float(-(asked * np.log(counts / counts.sum())).sum() / max(1, asked.sum()))


def note_on(loss: float, frequencies: float) -> list[str]:
    """What to say of a run that has learned nothing from the context."""
    if loss < frequencies - MARGIN:
        return []
    return [
        f"the loss on held-out text is {loss:.2f}; knowing only how frequent each piece is gives {frequencies:.2f}. "
        f"The model makes no use of the context yet. Train longer (--max-steps), or with a lower --learning-rate if "
        f"the loss has stopped falling."
    ]

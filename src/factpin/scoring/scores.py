"""The result of scoring a task: rows of counts for each convention, and what explains them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factpin.scoring.confusions import Confusion
from factpin.scoring.counts import Counts, Rows


@dataclass(frozen=True)
class Scores:
    """Counts, confusions and outcomes of one task."""

    rows: Mapping[str, Rows]  # convention -> (documents, 4); always has "strict"
    labels: Mapping[str, Counts]  # label or relation -> its strict counts
    confusions: Sequence[Confusion]  # most frequent first
    outcomes: Sequence[tuple[float, bool]]  # (score, right?) of every prediction with a score

"""How good predictions are. Comes in: gold and predicted documents. Goes out: counts of every named convention.

`align` pairs the documents; `spans.score`, `triples.score`, `events.score` and `document_relations.score` give one row
of counts a document for each convention; `intervals` resamples those rows; `coreference` and `calibration` stand
beside them.
"""

from factpin.scoring.align import Alignment, Pair, align
from factpin.scoring.calibration import Calibration, calibration
from factpin.scoring.confusions import Confusion
from factpin.scoring.counts import Counts, macro
from factpin.scoring.intervals import Paired, interval, paired_bootstrap, paired_randomization
from factpin.scoring.scores import Scores

__all__ = [
    "Alignment",
    "Calibration",
    "Confusion",
    "Counts",
    "Pair",
    "Paired",
    "Scores",
    "align",
    "calibration",
    "interval",
    "macro",
    "paired_bootstrap",
    "paired_randomization",
]

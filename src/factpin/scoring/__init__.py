"""Score predicted documents against gold under named conventions.

`align` pairs the documents. `spans.score`, `triples.score`, `events.score` and `document_relations.score` return one
row of counts per document for each convention, and `intervals` resamples these rows. `coreference`, `calibration`,
`answers` and `retrieval` have metrics of their own.
"""

from factpin.scoring.align import Alignment, Pair, align
from factpin.scoring.calibration import Calibration, calibration
from factpin.scoring.confusions import Confusion
from factpin.scoring.counts import Counts, macro
from factpin.scoring.intervals import PairedDifference, interval, paired_bootstrap, paired_randomization
from factpin.scoring.scores import Scores

__all__ = [
    "Alignment",
    "Calibration",
    "Confusion",
    "Counts",
    "Pair",
    "PairedDifference",
    "Scores",
    "align",
    "calibration",
    "interval",
    "macro",
    "paired_bootstrap",
    "paired_randomization",
]

"""Coreference: entities <-> for every mention, the earlier mentions that it goes with.

    targets(doc, pieces, most)     the pairs that a scorer is asked about, and the right answers
    find_links(scores, …)          what a scorer says of the pairs, from its scores
    decode(doc, judged, targets)   what a scorer said of the pairs, as entities of the document

The document brings its mentions; entities that it brings are gold. Rules propose, the scorer accepts, refuses and adds,
and the vetoes of the rules hold whatever it says (language/coreference.py). A mention that no piece holds is left to
the rules, and named in the coverage.
"""

from factpin.tasks.coreference.decode import decode
from factpin.tasks.coreference.find import CandidateScores, find_links
from factpin.tasks.coreference.targets import Targets, targets

__all__ = ["CandidateScores", "Targets", "decode", "find_links", "targets"]

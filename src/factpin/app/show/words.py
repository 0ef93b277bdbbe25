"""Counts of several things, in one line."""

from collections.abc import Mapping

from factpin.extraction.inputs import IRREGULAR
from factpin.words import count

MOST = 8  # names that a list of counts shows


def skipped_files(skipped: Mapping[str, int]) -> str:
    """`1 .css, 2 .xyz (unknown ending; --from reads them), 1 pipe or broken link`."""
    endings = ", ".join(f"{number:,} {ending}" for ending, number in sorted(skipped.items()) if ending != IRREGULAR)
    odd = count(skipped[IRREGULAR], IRREGULAR, "pipes or broken links") if IRREGULAR in skipped else ""
    return ", ".join(part for part in (endings and f"{endings} (unknown ending; --from reads them)", odd) if part)


def list_counts(counts: Mapping[str, int]) -> str:
    """`12 person, 3 place`, the most frequent first."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {name}" for name, number in ranked[:MOST]) + (", ..." if len(ranked) > MOST else "")

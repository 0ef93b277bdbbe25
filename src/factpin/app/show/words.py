"""Numbers in sentences."""

from collections.abc import Mapping

from factpin.extraction.inputs import IRREGULAR

MOST = 8  # names that a list of counts shows


def count(number: int, noun: str) -> str:
    """`1 document`, `2 entities`, `2,000 documents`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("ty") else f"{number:,} {noun}s"


def skipped_files(skipped: Mapping[str, int]) -> str:
    """`1 .css, 2 .xyz (unknown ending; --from reads them), 1 pipe or broken link`."""
    endings = ", ".join(f"{number:,} {ending}" for ending, number in sorted(skipped.items()) if ending != IRREGULAR)
    odd = count(skipped[IRREGULAR], IRREGULAR) if IRREGULAR in skipped else ""
    return ", ".join(part for part in (endings and f"{endings} (unknown ending; --from reads them)", odd) if part)


def list_counts(counts: Mapping[str, int]) -> str:
    """`12 person, 3 place`, the most frequent first."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {name}" for name, number in ranked[:MOST]) + (", ..." if len(ranked) > MOST else "")

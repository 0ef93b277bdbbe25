"""Numbers in sentences."""

from collections.abc import Mapping

MOST = 8  # names that a list of counts shows


def count(number: int, noun: str) -> str:
    """`1 document`, `2,000 documents`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def list_counts(counts: Mapping[str, int]) -> str:
    """`12 person, 3 place`, the most frequent first."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {name}" for name, number in ranked[:MOST]) + (", ..." if len(ranked) > MOST else "")

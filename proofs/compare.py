"""Proof: what must be equal, and is it? Each proof gives pairs of what came and what was wanted.

within   0: equal; else the largest difference that still counts as equal
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Compared:
    what: str
    got: Any
    wanted: Any
    within: float = 0.0

    @property
    def holds(self) -> bool:
        return self.difference <= self.within if self.within else bool(self.got == self.wanted)

    @property
    def difference(self) -> float:
        return abs(float(self.got) - float(self.wanted))

    def __str__(self) -> str:
        return f"{self.what}: got {self.got}, wanted {self.wanted}" + (f" ± {self.within:g}" if self.within else "")


@dataclass(frozen=True)
class Proof:
    system: str  # a name of SYSTEMS
    checked: str
    against: str
    compare: Callable[[], Iterable[Compared]]


def summary(found: Sequence[Compared]) -> str:
    """What went wrong first; else the largest difference, and counts; examples are only counted."""
    wrong = [one for one in found if not one.holds]
    if wrong:
        return str(wrong[0])
    near = [one for one in found if isinstance(one.got, float) and one.within]
    counts = [one for one in found if isinstance(one.got, int) and not isinstance(one.got, bool)]
    parts = [f"{one.what}: {one.got}" for one in counts]
    if near:
        worst = max(near, key=lambda one: one.difference / one.within)
        parts.append(f"{worst.what}: {worst.difference:.2g} off, at most {worst.within:.2g}")
    equal = len(found) - len(near) - len(counts)
    return "; ".join(parts + ([f"{equal} equal"] if equal else []))

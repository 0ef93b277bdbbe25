"""Experiment: does the mechanism that a method is named after do what it is said to do?

    language   sentences made by chance, in which the mechanism is needed, and in which the best that can be done
               without it is known
    arms       the same training with the mechanism and without it; only that differs
    figures    seed -> one number for each arm, and others beside them
    bars       what the figures must reach. Designs were tuned with seed 1, so the others are the fresh ones; those that
               replaced another were tuned with seeds from 101 on, and all their seeds are fresh

A bar that is not reached is a finding: `factpin verify` says so and ends with 1.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

Figures = Mapping[str, float]  # by arm
Of = Literal["every seed", "mean", "median"]


@dataclass(frozen=True)
class Bar:
    figure: str
    least: float = -math.inf
    most: float = math.inf
    minus: str | None = None  # the difference to this figure counts
    of: Of = "every seed"

    def holds(self, seeds: Sequence[Figures]) -> bool:
        values = [one[self.figure] - (one[self.minus] if self.minus else 0.0) for one in seeds]
        summary: dict[Of, Callable[[list[float]], list[float]]] = {
            "every seed": list,
            "mean": lambda v: [fmean(v)],
            "median": lambda v: [median(v)],
        }
        return all(self.least <= value <= self.most for value in summary[self.of](values))

    def __str__(self) -> str:
        what = self.figure if self.minus is None else f"{self.figure} minus {self.minus}"
        ends = [f"at least {self.least:g}"] if self.least > -math.inf else []
        ends += [f"at most {self.most:g}"] if self.most < math.inf else []
        return f"{what} {' and '.join(ends)}" + ("" if self.of == "every seed" else f" ({self.of})")


@dataclass(frozen=True)
class Experiment:
    system: str  # a name of SYSTEMS
    checked: str  # the mechanism
    language: str  # in one sentence
    measure: str
    run: Callable[[int], Figures]
    bars: tuple[Bar, ...]
    remark: str = ""  # what the figures do not say
    design: int = 1  # how many designs were tried, this one included; figures of another design do not count
    fresh: int = 0  # added to every seed, so that a new design is not measured with the seeds of an old one

    def holds(self, seeds: Sequence[Figures]) -> bool:
        return all(bar.holds(seeds) for bar in self.bars)

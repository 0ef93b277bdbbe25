"""Verify: proofs and experiments become rows of one table, one after the other.

Structure first, then learning: all experiments with the first seed, then with the second, …, so that a cut run has
figures for each. Figures are written to a file as they come; what is there is not learned again.

`brief` takes the rows of a method and a kind of proof together: how many hold, and what went wrong, or the figure that
used the largest share of what it is allowed. A kind is what comes before the colon in `checked`; an experiment is a
kind of its own.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from factpin.errors import pick
from proofs import ANSWERS, EXPERIMENTS, SYSTEMS
from proofs.compare import Compared, Proof, summary
from proofs.experiment import Experiment
from proofs.results import Learned, Results, read_results, write_results
from proofs.structure import structure

SEEDS = (1, 2, 3)
TOLD = ("system", "checked", "against", "found", "holds", "seconds")  # in JSON


@dataclass(frozen=True)
class Row:
    system: str
    checked: str
    against: str
    found: str  # the difference, or the figures of the arms
    holds: bool
    seconds: float
    figure: str  # `found` in short
    used: float = 0.0  # the share of what is allowed


@dataclass(frozen=True)
class Brief:
    system: str
    kind: str
    held: int
    count: int
    figure: str


@dataclass(frozen=True)
class Plan:
    """What is to be checked, in this order."""

    systems: tuple[str, ...]
    proofs: tuple[Proof, ...]
    experiments: dict[str, Experiment]
    seeds: tuple[int, ...]

    @property
    def steps(self) -> int:
        return len(self.proofs) + len(self.experiments) * len(self.seeds)


def planned(names: Sequence[str] = (), *, fast: bool = False, seeds: Sequence[int] = SEEDS) -> Plan:
    """`names` of SYSTEMS and ANSWERS, all where none is given; `fast` leaves learning out."""
    known = {**SYSTEMS, **ANSWERS}
    for name in names:
        pick(known, name, kind="method")
    wanted = {name.replace("-", "_") for name in names} or known.keys()
    systems = {name: rows for name, rows in SYSTEMS.items() if name in wanted}
    answers = [name for name in ANSWERS if name in wanted]
    proofs = (*structure(systems), *(proof for name in answers for proof in ANSWERS[name]))
    chosen = (*systems, *answers)
    experiments = {} if fast else {k: one for k, one in EXPERIMENTS.items() if one.system in chosen}
    return Plan(chosen, proofs, experiments, tuple(dict.fromkeys(seeds)))


def verify(plan: Plan, *, output: Path | None = None, step: Callable[[], None] = lambda: None) -> list[Row]:
    """`output`: where figures are kept. `step` is called after each of plan.steps."""
    rows = []
    for proof in plan.proofs:
        start = perf_counter()
        found = list(proof.compare())
        holds = bool(found) and all(one.holds for one in found)
        told, seconds = summary(found), perf_counter() - start
        rows.append(Row(proof.system, proof.checked, proof.against, told, holds, seconds, *worst(found)))
        step()
    results = _learned(plan, output, step)
    rows += [learned_row(experiment, results[name], plan.seeds) for name, experiment in plan.experiments.items()]
    return sorted(rows, key=lambda row: plan.systems.index(row.system))


def worst(found: Sequence[Compared]) -> tuple[str, float]:
    """What went wrong first; else the figure that is nearest to its bound. And the share of the bound that is used."""
    wrong = [one for one in found if not one.holds]
    if wrong:
        return str(wrong[0]), math.inf
    near = [one for one in found if isinstance(one.got, float) and one.within]
    if not near:
        return "exact", 0.0
    one = max(near, key=lambda one: one.difference / one.within)
    return f"{one.what}: {one.difference:.2g} of {one.within:.2g}", one.difference / one.within


def brief(rows: Sequence[Row]) -> list[Brief]:
    """The rows in short, in the order in which methods and their kinds come first."""
    each: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        each.setdefault((row.system, row.checked.split(":")[0]), []).append(row)
    return [
        Brief(system, kind, sum(row.holds for row in of), len(of), max(of, key=lambda row: row.used).figure)
        for (system, kind), of in each.items()
    ]


def _learned(plan: Plan, output: Path | None, step: Callable[[], None]) -> Results:
    results = read_results(output, EXPERIMENTS) if output else {}
    for seed in plan.seeds:
        for name, experiment in plan.experiments.items():
            if seed not in results.get(name, {}):
                start = perf_counter()
                figures = experiment.run(experiment.fresh + seed)
                results.setdefault(name, {})[seed] = Learned(figures, perf_counter() - start)
                if output:
                    write_results(output, results, EXPERIMENTS)
            step()
    return results


def learned_row(experiment: Experiment, learned: dict[int, Learned], seeds: Sequence[int]) -> Row:
    """Each arm with its figure for every seed, and the bars that were not reached."""
    figures = [learned[seed].figures for seed in seeds]
    arms = [f"{arm} {' '.join(f'{one[arm]:.2f}' for one in figures)}" for arm in figures[0]]
    missed = [f"not reached: {bar}" for bar in experiment.bars if not bar.holds(figures)]
    seconds = sum(learned[seed].seconds for seed in seeds)
    found = "; ".join(arms + missed)
    return Row(experiment.system, experiment.checked, experiment.measure, found, not missed, seconds, found)


def report(rows: Sequence[Row]) -> dict[str, Any]:
    """For JSON."""
    told = [{name: value for name, value in asdict(row).items() if name in TOLD} for row in rows]
    return {"ok": all(row.holds for row in rows), "rows": told}

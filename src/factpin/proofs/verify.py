"""Verify: proofs and experiments become rows of one table, one after the other.

Structure first, then learning: all experiments with the first seed, then with the second, …, so that a cut run has
figures for each. Figures are written to a file as they come; what stands there is not learned again.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from factpin.errors import pick
from factpin.proofs import EXPERIMENTS, SYSTEMS
from factpin.proofs.compare import Proof, summary
from factpin.proofs.experiment import Experiment
from factpin.proofs.results import Learned, Results, read_results, write_results
from factpin.proofs.structure import structure

SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Row:
    system: str
    checked: str
    against: str
    found: str  # the difference, or the figures of the arms
    holds: bool
    seconds: float


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
    """`names` of SYSTEMS, all where none is given; `fast` leaves learning out."""
    for name in names:
        pick(SYSTEMS, name, kind="method")
    wanted = {name.replace("-", "_") for name in names} or SYSTEMS.keys()
    systems = {name: rows for name, rows in SYSTEMS.items() if name in wanted}
    experiments = {} if fast else {k: one for k, one in EXPERIMENTS.items() if one.system in systems}
    return Plan(tuple(systems), tuple(structure(systems)), experiments, tuple(dict.fromkeys(seeds)))


def verify(plan: Plan, *, output: Path | None = None, step: Callable[[], None] = lambda: None) -> list[Row]:
    """`output`: where figures are kept. `step` is called after each of plan.steps."""
    rows = []
    for proof in plan.proofs:
        start = perf_counter()
        found = list(proof.compare())
        holds = bool(found) and all(one.holds for one in found)
        rows.append(Row(proof.system, proof.checked, proof.against, summary(found), holds, perf_counter() - start))
        step()
    results = _learned(plan, output, step)
    rows += [learned_row(experiment, results[name], plan.seeds) for name, experiment in plan.experiments.items()]
    return sorted(rows, key=lambda row: plan.systems.index(row.system))


def _learned(plan: Plan, output: Path | None, step: Callable[[], None]) -> Results:
    results = read_results(output, EXPERIMENTS) if output else {}
    for seed in plan.seeds:
        for name, experiment in plan.experiments.items():
            if seed not in results.get(name, {}):
                start = perf_counter()
                figures = experiment.run(seed)
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
    against = experiment.measure
    return Row(experiment.system, experiment.checked, against, "; ".join(arms + missed), not missed, seconds)


def report(rows: Sequence[Row]) -> dict[str, Any]:
    """For JSON."""
    return {"ok": all(row.holds for row in rows), "rows": [asdict(row) for row in rows]}

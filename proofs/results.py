"""Results: figures of learning experiments in a JSON file, written after every seed, so that a cut run goes on.

{"gpt_context": {"design": 1, "seeds": {"1": {"figures": {"on": 0.37, "off": 2.48}, "seconds": 21.0}}}}

Figures of another design of an experiment are left out when the file is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from factpin.errors import BadFile
from factpin.files import write_bytes
from proofs.experiment import Experiment, Figures


@dataclass(frozen=True)
class Learned:
    figures: Figures
    seconds: float


Results = dict[str, dict[int, Learned]]  # experiment -> seed


def read_results(path: Path, experiments: Mapping[str, Experiment]) -> Results:
    """What the file holds of these experiments; nothing where there is no file."""
    if not path.exists():
        return {}
    try:
        told: dict[str, Any] = dict(orjson.loads(path.read_bytes()).items())
        return {
            name: {int(seed): Learned(one["figures"], one["seconds"]) for seed, one in told[name]["seeds"].items()}
            for name, experiment in experiments.items()
            if name in told and told[name]["design"] == experiment.design
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"{path}: no results of `factpin verify` ({error}). Name another file, or remove it.") from error


def write_results(path: Path, results: Results, experiments: Mapping[str, Experiment]) -> None:
    """What the file held of other experiments is lost: give all that was read."""
    told = {
        name: {
            "design": experiments[name].design,
            "seeds": {
                str(seed): {"figures": dict(one.figures), "seconds": round(one.seconds, 1)}
                for seed, one in sorted(seeds.items())
            },
        }
        for name, seeds in sorted(results.items())
    }
    with write_bytes(path) as file:
        file.write(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")

"""One small trained model for all tests that need any: trained once a session, real in every part."""

import shutil
from functools import cache
from pathlib import Path

import orjson

from factpin.models.checks import SUMS
from factpin.tasks.spans.task import SPANS, SpanOptions
from factpin.training.config import TrainConfig
from factpin.training.run import run_training
from tests.conftest import corpus


@cache
def small_model(encoder_folder: Path) -> Path:
    """The folder of a model that finds the people and places of the small world in both languages."""
    target = encoder_folder.parent / "people-and-places"
    how = TrainConfig(epochs=12, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)
    run_training(
        SPANS,
        corpus(160, 1),
        corpus(40, 2),
        SpanOptions(str(encoder_folder), head="efficient_global_pointer"),
        how,
        target,
        quiet=True,
    )
    return target


def variant(folder: Path, target: Path, *, language: str = "", labels: tuple[str, ...] = ("person", "place")) -> Path:
    """A copy of a model that says it reads one language, or that names its labels otherwise."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("checkpoints", SUMS))
    record = orjson.loads((target / "factpin.json").read_bytes())
    old = record["labels"]
    record["thresholds"] = {new: record["thresholds"][was] for was, new in zip(old, labels, strict=True)
                            if was in record["thresholds"]}  # fmt: skip
    record |= {"language": language, "labels": labels, "head_config": {**record["head_config"], "labels": labels}}
    (target / "factpin.json").write_bytes(orjson.dumps(record))
    return target

"""A run of a model that is no extractor: the same folder, recipe, checkpoints and card as any other run."""

import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import torch
from numpy.typing import NDArray

from factpin.encoders.catalogue import CATALOGUE
from factpin.errors import BadInput
from factpin.files import write_bytes
from factpin.models.card import Origin, write_card
from factpin.models.settings import Settings
from factpin.training.config import TrainConfig, to_dict, write_recipe
from factpin.training.defaults import settle
from factpin.training.job import digest
from factpin.training.loop import BatchOrder, Job, check_folder, train
from factpin.training.parallel import World, join_world


@dataclass(frozen=True)
class PartRun:
    """What is trained, and how its folder is written."""

    task: str
    options: Any
    metrics: tuple[str, ...]  # what --metric may be, the default first
    save: Callable[[], Settings]  # writes the model; gives its settings
    columns: Callable[[], Iterable[NDArray[Any]]]  # what it learns from, for the fingerprint
    extra: Callable[[], dict[str, float]] = dict  # measured once, at the end
    order: Callable[[int], BatchOrder] | None = None
    resumable: bool = True


def run_part(
    job: Job,
    run: PartRun,
    how: TrainConfig,
    folder: Path,
    counts: dict[str, Any],
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train, and write the model folder; gives what was measured."""
    how = _checked(run, how, folder, counts, resume)
    world = world or join_world()
    model: Any = job.model
    how = settle(how, model.encoder.width, len(job.lengths), world.size)
    weights = (p.detach().cpu().numpy() for p in model.encoder.parameters())
    fingerprint = digest((run.task, run.options, how, world.size, counts), (*run.columns(), *weights))
    check_folder(folder, fingerprint, resume=resume)
    if world.leads:
        folder.mkdir(parents=True, exist_ok=True)
        tables = {"task": {"name": run.task, **(data or {})}, run.task: to_dict(run.options), "train": to_dict(how)}
        write_recipe(folder / "recipe.toml", tables)
    outcome = train(job, how, folder, world, fingerprint=fingerprint, resume=resume, quiet=quiet, order=run.order)
    report: dict[str, Any] = {"steps": outcome.steps, "best_step": outcome.best_step, **counts}
    if world.leads:
        model.eval()
        scores = {**outcome.scores, **run.extra()}
        report["scores"] = scores
        write_card(folder, run.save(), _origin(run.options, data or {}, how.seed, scores), {}, None)
        with write_bytes(folder / "metrics.json") as stream:
            stream.write(orjson.dumps(scores, option=orjson.OPT_INDENT_2))
    world.close()
    return report


def _checked(run: PartRun, how: TrainConfig, folder: Path, counts: dict[str, Any], resume: bool) -> TrainConfig:
    """The config with a metric of this task; refuses what cannot be trained."""
    if (folder / "factpin.json").exists() and not resume:
        raise BadInput(f"{folder} holds a model already. Name another folder, or go on with it (--resume).")
    if resume and not run.resumable:
        raise BadInput(f"A run of {run.task} cannot be resumed: its labels change while it learns. Start it anew.")
    if how.early_stopping is not None and not counts.get("dev"):
        raise BadInput("early_stopping needs a dev set to watch. Give one, or leave it out.")
    if how.metric == TrainConfig.metric:  # nobody chose it
        return replace(how, metric=run.metrics[0])
    if how.metric not in run.metrics:
        raise BadInput(f"There is no metric {how.metric!r}. Known: {', '.join(run.metrics)}.")
    return how


def _origin(options: Any, data: dict[str, Any], seed: int, scores: dict[str, float]) -> Origin:
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in scores.items())
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{torch.get_num_threads()} threads"
    return Origin(
        data=f"train {data.get('train', 'in memory')}, dev {data.get('dev') or 'none'}",
        encoder_licence=CATALOGUE[options.encoder].licence if options.encoder in CATALOGUE else "not stated",
        seed=seed,
        command="factpin " + shlex.join(sys.argv[1:]) if sys.argv[1:2] == ["train"] else "",
        hardware=f"{platform.machine()}, {device}",
        remarks=f"## Scores on dev\n\n| metric | value |\n|---|---|\n{rows}" if rows else "",
    )


def mean(values: Sequence[float]) -> float:
    """0 where there are none."""
    return sum(values) / len(values) if values else 0.0

"""A run of a model that is no extractor: the same folder, recipe, checkpoints and card as any other run.

prepare(training, dev, options, how)  ->  PartRun      what is trained, and how its folder is written
run_part(PartRun, folder)                              trains it, and writes the folder
"""

import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import torch
from numpy.typing import NDArray

from factpin.encoders import Encoder, resolve
from factpin.encoders.catalogue import CATALOGUE
from factpin.errors import BadInput
from factpin.files import write_bytes
from factpin.models.card import Origin, write_card
from factpin.models.settings import Settings
from factpin.scoring import Calibration
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints
from factpin.training.config import TrainConfig, to_dict, write_recipe
from factpin.training.defaults import settle
from factpin.training.job import digest
from factpin.training.loop import BatchOrder, Job, check_folder, train
from factpin.training.parallel import World, join_world
from factpin.words import count


@dataclass(frozen=True)
class SavedPart:
    """The settings of a folder as it was written, and what was fitted on dev before."""

    settings: Settings
    scores: dict[str, float] | None = None  # in place of those that picked the weights
    reliability: Calibration | None = None
    remark: str = ""  # in the card, above the scores
    calibrated: str = ""  # in the card: how scores became probabilities; "": by a temperature and a shift
    longer: str = ""  # in the card: what happens to text that cannot be read at once; "": windows, if there are any


@dataclass(frozen=True)
class PartRun:
    """What is trained, and how its folder is written."""

    task: str
    job: Job
    options: Any
    how: TrainConfig
    metrics: tuple[str, ...]  # what --metric may be, the default first
    counts: dict[str, Any]  # for the report; `dev` is how many examples judge
    save: Callable[[Path], SavedPart]
    columns: Callable[[], Iterable[NDArray[Any]]]  # what it learns from, for the fingerprint
    order: Callable[[int], BatchOrder] | None = None
    steps: Callable[[int], int] | None = None  # of so many epochs, if they are not as long as the first
    resumable: bool = True
    found: Callable[[], dict[str, Any]] = dict  # for the report, at the end


def run_part(
    run: PartRun,
    folder: Path,
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train, and write the model folder; gives what was measured."""
    how = _checked(run, resume=resume)
    world = world or join_world()
    model: Any = run.job.model
    how = settle(how, model.encoder.width, len(run.job.lengths), world.size)
    weights = (p.detach().cpu().numpy() for p in model.encoder.parameters())
    fingerprint = digest((run.task, run.options, how, world.size, run.counts), (*run.columns(), *weights))
    check_folder(folder, fingerprint, resume=resume)
    if world.leads:
        folder.mkdir(parents=True, exist_ok=True)
        tables = {"task": {"name": run.task, **(data or {})}, run.task: to_dict(run.options), "train": to_dict(how)}
        write_recipe(folder / "recipe.toml", tables)
    outcome = train(run.job, how, folder, world, fingerprint=fingerprint, resume=resume, quiet=quiet, order=run.order,
                    steps=run.steps)  # fmt: skip
    report: dict[str, Any] = {"steps": outcome.steps, "best_step": outcome.best_step, **run.counts, **run.found()}
    if world.leads:
        model.eval()
        saved = run.save(folder)
        report["scores"] = outcome.scores if saved.scores is None else saved.scores
        write_scores(folder, saved, report["scores"], origin_of(saved.settings, data or {}, how.seed))
    world.close()
    return report


def check_output(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that holds a model, before anything is read."""
    if (folder / "factpin.json").exists() and not resume:
        raise BadInput(f"{folder} holds a model already. Name another folder, or go on with it (--resume).")


def _checked(run: PartRun, *, resume: bool) -> TrainConfig:
    """The config with a metric of this task; refuses what cannot be trained."""
    if resume and not run.resumable:
        raise BadInput(f"A run of {run.task} cannot be resumed: its labels change while it learns. Start it anew.")
    if run.how.early_stopping is not None and not run.counts.get("dev"):
        raise BadInput("early_stopping needs a dev set to watch. Give one, or leave it out.")
    if run.how.metric == TrainConfig.metric:  # nobody chose it
        return replace(run.how, metric=run.metrics[0])
    if run.how.metric not in run.metrics:
        raise BadInput(f"There is no metric {run.how.metric!r}. Known: {', '.join(run.metrics)}.")
    return run.how


def write_scores(folder: Path, saved: SavedPart, scores: dict[str, float], origin: Origin) -> None:
    """Write the card and metrics.json."""
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in scores.items())
    remark = f"{saved.remark}\n\n" if saved.remark else ""
    table = f"## Scores on dev\n\n{remark}| metric | value |\n|---|---|\n{rows}" if rows else saved.remark
    origin = replace(origin, remarks=table, calibrated=saved.calibrated, longer=saved.longer)
    write_card(folder, saved.settings, origin, {}, saved.reliability)
    shown: dict[str, Any] = dict(scores)
    if saved.reliability is not None:
        shown["reliability"] = [asdict(part) for part in saved.reliability.table]
    with write_bytes(folder / "metrics.json") as stream:
        stream.write(orjson.dumps(shown, option=orjson.OPT_INDENT_2))


def origin_of(settings: Settings, data: dict[str, Any], seed: int) -> Origin:
    """What a model was made from, for its card."""
    encoder = settings.encoder  # of a reader that started from a model, that of the model
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else count(torch.get_num_threads(), "thread")
    return Origin(
        data=f"train {data.get('train', 'in memory')}, dev {data.get('dev') or 'none'}",
        encoder_licence=CATALOGUE[encoder].licence if encoder in CATALOGUE else "not stated",
        seed=seed,
        command="factpin " + shlex.join(sys.argv[1:]) if sys.argv[1:2] == ["train"] else "",
        hardware=f"{platform.machine()}, {device}",
    )


def open_encoder(name: str, seed: int) -> tuple[Encoder, Tokenizer]:
    """A pretrained encoder with its tokenizer. What is put on it next is drawn from the seed."""
    torch.manual_seed(seed)
    source = resolve(name)
    return Encoder.load(source), Tokenizer.load(source)


def column_of(text: str) -> Ints:
    """A text as a column of the fingerprint."""
    raw = text.encode()
    return np.frombuffer(raw + bytes(-len(raw) % 4), np.int32)


def mean(values: Sequence[float]) -> float:
    """0 where there are none."""
    return sum(values) / len(values) if values else 0.0

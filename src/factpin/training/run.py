"""A run: documents in, a model folder out, whatever the task."""

import platform
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson
import torch
from numpy.typing import NDArray

from factpin.documents import Document, to_json
from factpin.encoders import Encoder, resolve
from factpin.encoders.catalogue import CATALOGUE
from factpin.errors import BadInput
from factpin.files import one_writer, write_bytes
from factpin.heads import CONFIGS, HEADS
from factpin.heads.inherit import inherit
from factpin.models.card import Origin, write_card
from factpin.models.extractor import Extractor
from factpin.models.model import Model, torch_model
from factpin.models.settings import Settings, read_settings
from factpin.models.shipped import find_model
from factpin.scoring import align, calibration
from factpin.tasks import Design, Task
from factpin.tokens import Tokenizer
from factpin.training.advice import inherited, unseen_labels
from factpin.training.config import TrainConfig, to_dict, write_recipe
from factpin.training.defaults import settle
from factpin.training.initial import open_initial
from factpin.training.job import TaskJob, digest
from factpin.training.knowledge_layer import knowledge_layer
from factpin.training.loop import check_folder, train
from factpin.training.parallel import World, join_world
from factpin.words import count

SHORT = 64  # pieces: no window is bound to be shorter than this


def run_training(
    task: Task,
    training: Sequence[Document],
    dev: Sequence[Document],
    options: Any,
    how: TrainConfig,
    folder: Path,
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train, tune on dev, and write the model folder; gives what was measured."""
    if (folder / "factpin.json").exists() and not resume:
        raise BadInput(f"{folder} holds a model already. Name another folder, or go on with it (--resume).")
    world = world or join_world()
    with one_writer(folder, "factpin train") if world.leads else nullcontext():
        return _run(task, training, dev, options, how, folder, data or {}, world, resume=resume, quiet=quiet)


def _run(
    task: Task,
    training: Sequence[Document],
    dev: Sequence[Document],
    options: Any,
    how: TrainConfig,
    folder: Path,
    data: dict[str, Any],
    world: World,
    *,
    resume: bool,
    quiet: bool,
) -> dict[str, Any]:
    extractor = start(task, options, training, how.seed)
    options = replace(options, head=extractor.settings.head)  # for the recipe, by which the run may be resumed
    job = TaskJob(extractor, training, dev, options)
    width, tokens = torch_model(extractor.model).encoder.width, sum(job.lengths) / max(1, len(job.lengths))
    how = settle(how, width, len(job.lengths), world.size, tokens)
    if how.metric not in task.metrics:
        raise BadInput(f"There is no metric {how.metric!r}. Known: {', '.join(task.metrics)}.")
    if how.early_stopping is not None and not dev:
        raise BadInput("early_stopping needs a dev set to watch. Give one (--dev, --hold-out), or leave it out.")
    align(dev, dev)  # ids that occur twice are refused now, not after an epoch
    fingerprint = digest((job.fingerprint(how), world.size, [to_json(doc) for doc in dev]), weights(extractor))
    check_folder(folder, fingerprint, resume=resume)
    if options.max_length is None and job.lengths:
        extractor.settings = replace(extractor.settings, max_length=familiar(extractor, max(job.lengths)))
    if world.leads:
        folder.mkdir(parents=True, exist_ok=True)
        write_recipe(
            folder / "recipe.toml",
            {"task": {"name": task.name, **data}, task.name: to_dict(options), "train": to_dict(how)},
        )
    outcome = train(job, how, folder, world, fingerprint=fingerprint, resume=resume, quiet=quiet)
    report: dict[str, Any] = {
        "steps": outcome.steps,
        "best_step": outcome.best_step,
        "labels": list(extractor.settings.labels),
        "train": len(training),
        "dev": len(dev),
        "noted": dict(job.notes),
        **unseen_labels(training, dev, task.finds),
    }
    if options.initial:
        old = read_settings(find_model(options.initial))
        report["initial"] = {"model": options.initial, **inherited(old, extractor.settings)}
    if world.leads:
        report["scores"] = finish(task, extractor, dev, folder, options, data, how.seed)
    world.close()
    return report


def finish(
    task: Task,
    extractor: Extractor,
    dev: Sequence[Document],
    folder: Path,
    options: Any,
    data: dict[str, Any],
    seed: int | None = None,
) -> dict[str, float]:
    """Tune on dev, score, and write the folder."""
    scores: dict[str, float] = {}
    reliability = None
    if dev:
        tune(extractor, dev, options)
        score = task.score_training or task.score
        judged = score(align(extractor.annotate(dev), dev).pairs)
        reliability = calibration(judged.outcomes)
        scores = {**task.figures(judged), **({"ece": reliability.ece} if reliability.count else {})}
    extractor.save(folder)
    encoder = extractor.settings.encoder  # with --initial, that of the model
    origin = Origin(
        data=f"train {data.get('train', 'in memory')}, dev {data.get('dev') or 'none'}",
        encoder_licence=CATALOGUE[encoder].licence if encoder in CATALOGUE else "not stated",
        seed=seed,
        command="factpin " + shlex.join(sys.argv[1:]) if sys.argv[1:2] == ["train"] else "",
        hardware=f"{platform.machine()}, {count(torch.get_num_threads(), 'thread')}"
        if not torch.cuda.is_available()
        else torch.cuda.get_device_name(),
        remarks=started_from(options.initial) if options.initial else "",
    )
    write_card(folder, extractor.settings, origin, scores, reliability)
    with write_bytes(folder / "metrics.json") as stream:
        table = [asdict(b) for b in reliability.table] if reliability else []
        stream.write(orjson.dumps({**scores, "reliability": table}, option=orjson.OPT_INDENT_2))
    return scores


def started_from(model: str) -> str:
    """What a card says of the model that a run started from."""
    return (
        f"## Started from\n\nThe weights of `{Path(model).name}`. What it learned from, and under which licences, is "
        f"in its own card."
    )


def tune(extractor: Extractor, dev: Sequence[Document], options: Any) -> None:
    """Fit on dev what the task fits there."""
    settings = extractor.task.tune(extractor, dev, options)
    if settings.head_config != extractor.settings.head_config:
        head = torch_model(extractor.model).head
        head.config = type(head.config)(**settings.head_config)
    extractor.settings = settings


def start(task: Task, options: Any, training: Sequence[Document], seed: int) -> Extractor:
    """An extractor for what these documents hold, with a fresh head on a pretrained encoder."""
    torch.manual_seed(seed)
    named = {name for name in (options.initial, getattr(options, "teacher", "")) if name}
    known = {name: read_settings(find_model(name)) for name in sorted(named)}
    return build(task, options, task.design(options, training, known))


def build(task: Task, options: Any, design: Design) -> Extractor:
    """An extractor with a new head on the encoder that is named, or on what an initial model has learned."""
    old = open_initial(options.initial) if options.initial else None
    if old is None:
        source = resolve(options.encoder)
        encoder, tokenizer = Encoder.load(source), Tokenizer.load(source)
        layer = knowledge_layer(options, encoder, tokenizer, source)
    else:
        encoder, tokenizer = old.encoder, old.tokenizer
        layer = knowledge_layer(options, encoder, tokenizer)
    settings = Settings(
        task=task.name,
        labels=design.labels,
        head=design.head,
        head_config=design.head_config,
        encoder=options.encoder if old is None else old.settings.encoder,
        language=options.language or (old.settings.language if old else ""),
        max_length=min(options.max_length or 512, encoder.max_length or options.max_length or 512),
        overlap=options.overlap,
        context=options.context,
        task_config=design.task_config,
        name=options.name,
        finds=options.finds,
        knowledge=layer.config.to_json() if layer is not None else old.settings.knowledge if old else {},
    )
    head = HEADS[design.head](CONFIGS[design.head](**design.head_config), encoder.width)
    if old is not None:
        inherit(head, old.head)
    return Extractor(settings, Model(encoder, head, options.dropout), tokenizer)


def familiar(extractor: Extractor, longest: int) -> int:
    """Tokens of a window that is little longer than any in training.

    A model that learned from single sentences never saw that a span of 200 tokens is wrong, and invents such spans in
    longer windows. So it reads in windows of a size that it knows.
    """
    return min(extractor.settings.max_length, max(SHORT, round(longest * 1.25)) + extractor.tokenizer.frame_size)


def weights(extractor: Extractor) -> Iterable[NDArray[Any]]:
    """The weights that a run starts from."""
    return (p.detach().cpu().numpy() for p in torch_model(extractor.model).encoder.parameters())

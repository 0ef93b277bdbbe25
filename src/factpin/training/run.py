"""A run: documents in, a model folder out, whatever the task.

start(config, training, seed)     an extractor with a fresh head on a pretrained encoder
job(extractor, training, dev)     the examples of the corpus, for the loop
tune(extractor, dev, config)      thresholds and the scale of the scores, fitted on dev
score(pairs), figures(scores)     how the task is judged
"""

import platform
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import orjson
import torch
from numpy.typing import NDArray

from factpin.documents import Document, to_json
from factpin.encoders import Encoder, resolve
from factpin.encoders.catalogue import CATALOGUE
from factpin.errors import BadInput
from factpin.files import write_bytes
from factpin.heads import CONFIGS, HEADS
from factpin.heads.inherit import inherit
from factpin.models.card import Origin, write_card
from factpin.models.extractor import Extractor
from factpin.models.folder import model_of
from factpin.models.settings import Settings
from factpin.models.shipped import find_model
from factpin.scoring import Pair, Scores, align, calibration
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig, to_dict, write_recipe
from factpin.training.defaults import settle
from factpin.training.loop import Job, check_folder, train
from factpin.training.parallel import World, join_world

SHORT = 64  # pieces: no window is bound to be shorter than this


class TaskConfig(Protocol):
    """What the config of every task says."""

    @property
    def encoder(self) -> str: ...
    @property
    def initial(self) -> str: ...
    @property
    def max_length(self) -> int | None: ...
    @property
    def overlap(self) -> int: ...
    @property
    def context(self) -> Any: ...
    @property
    def dropout(self) -> float: ...
    @property
    def language(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def finds(self) -> str: ...


class TaskJob(Job, Protocol):
    """A job that can tell what makes its run this run, and what of the corpus could not be taught."""

    @property
    def noted(self) -> Counter[str]: ...
    def fingerprint(self, config: Any, how: TrainConfig) -> str: ...


C = TypeVar("C", bound=TaskConfig)


@dataclass(frozen=True)
class Task(Generic[C]):
    """What a task brings to a run."""

    name: str
    config: type[C]
    metrics: tuple[str, ...]
    start: Callable[[C, Sequence[Document], int], Extractor]
    job: Callable[[Extractor, Sequence[Document], Sequence[Document], C], TaskJob]
    tune: Callable[[Extractor, Sequence[Document], C], None]
    score: Callable[[Sequence[Pair]], Scores]
    figures: Callable[[Scores], dict[str, float]]


def run_training(
    task: Task[C],
    training: Sequence[Document],
    dev: Sequence[Document],
    config: C,
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
    extractor = task.start(config, training, how.seed)
    job = task.job(extractor, training, dev, config)
    how = settle(how, extractor.model.encoder.width, len(job.lengths), world.size)
    if how.metric not in task.metrics:
        raise BadInput(f"There is no metric {how.metric!r}. Known: {', '.join(task.metrics)}.")
    if how.early_stopping is not None and not dev:
        raise BadInput("early_stopping needs a dev set to watch. Give one (--dev, --hold-out), or leave it out.")
    align(dev, dev)  # ids that stand twice are refused now, not after an epoch
    fingerprint = digest((job.fingerprint(config, how), world.size, [to_json(doc) for doc in dev]), weights(extractor))
    check_folder(folder, fingerprint, resume=resume)
    if config.max_length is None and job.lengths:
        extractor.settings = replace(extractor.settings, max_length=familiar(extractor, max(job.lengths)))
    if world.leads:
        folder.mkdir(parents=True, exist_ok=True)
        write_recipe(folder / "recipe.toml", {"task": {"name": task.name, **(data or {})}, task.name: to_dict(config),
                                              "train": to_dict(how)})  # fmt: skip
    outcome = train(job, how, folder, world, fingerprint=fingerprint, resume=resume, quiet=quiet)
    report: dict[str, Any] = {"steps": outcome.steps, "best_step": outcome.best_step,
                              "labels": list(extractor.settings.labels), "train": len(training), "dev": len(dev),
                              "noted": dict(job.noted)}  # fmt: skip
    if world.leads:
        report["scores"] = finish(task, extractor, dev, folder, config, data or {}, how.seed)
    world.close()
    return report


def finish(
    task: Task[C],
    extractor: Extractor,
    dev: Sequence[Document],
    folder: Path,
    config: C,
    data: dict[str, Any],
    seed: int | None = None,
) -> dict[str, float]:
    """Tune on dev, score, and write the folder."""
    scores: dict[str, float] = {}
    reliability = None
    if dev:
        task.tune(extractor, dev, config)
        judged = task.score(align(extractor.annotate(dev), dev).pairs)
        reliability = calibration(judged.outcomes)
        scores = {**task.figures(judged), **({"ece": reliability.ece} if reliability.count else {})}
    extractor.save(folder)
    origin = Origin(
        data=f"train {data.get('train', 'in memory')}, dev {data.get('dev') or 'none'}",
        encoder_licence=CATALOGUE[config.encoder].licence if config.encoder in CATALOGUE else "not stated",
        seed=seed,
        command="factpin " + shlex.join(sys.argv[1:]) if sys.argv[1:2] == ["train"] else "",
        hardware=f"{platform.machine()}, {torch.get_num_threads()} threads"
        if not torch.cuda.is_available() else torch.cuda.get_device_name(),
    )  # fmt: skip
    write_card(folder, extractor.settings, origin, scores, reliability)
    with write_bytes(folder / "metrics.json") as stream:
        table = [asdict(b) for b in reliability.table] if reliability else []
        stream.write(orjson.dumps({**scores, "reliability": table}, option=orjson.OPT_INDENT_2))
    return scores


def on_encoder(
    task: str,
    config: TaskConfig,
    head: str,
    head_config: dict[str, Any],
    labels: tuple[str, ...],
    task_config: dict[str, Any] | None = None,
) -> Extractor:
    """An extractor with a head of that kind on the config's encoder, or on what its initial model has learned."""
    old = Extractor.load(find_model(config.initial)) if config.initial else None
    if old is None:
        source = resolve(config.encoder)
        encoder, tokenizer = Encoder.load(source), Tokenizer.load(source)
    else:
        encoder, tokenizer = old.model.encoder, old.tokenizer
    settings = Settings(
        task=task,
        labels=labels,
        head=head,
        head_config=head_config,
        encoder=config.encoder if old is None else old.settings.encoder,
        language=config.language or (old.settings.language if old else ""),
        max_length=min(config.max_length or 512, encoder.max_length or config.max_length or 512),
        overlap=config.overlap,
        context=config.context,
        task_config=task_config or {},
        name=config.name,
        finds=config.finds,
    )
    new = HEADS[head](CONFIGS[head](**head_config), encoder.width)
    if old is not None:
        inherit(new, old.model.head)
    return Extractor(settings, model_of(task)(encoder, new, config.dropout), tokenizer)


def familiar(extractor: Extractor, longest: int) -> int:
    """Tokens of a window that is little longer than any in training.

    A model that learned from single sentences has never been told that a span of 200 tokens is none: on longer
    windows it invents such spans. So it reads them in windows of a size that it knows.
    """
    return min(extractor.settings.max_length, max(SHORT, round(longest * 1.25)) + extractor.tokenizer.frame_size)


def weights(extractor: Extractor) -> Iterable[NDArray[Any]]:
    """The weights that a run starts from."""
    return (p.detach().cpu().numpy() for p in extractor.model.encoder.parameters())


def digest(settings: object, columns: Iterable[NDArray[Any]]) -> str:
    """A mark of settings and arrays."""
    mark = blake2b(repr(settings).encode(), digest_size=16)
    for column in columns:
        mark.update(column.tobytes())
    return mark.hexdigest()

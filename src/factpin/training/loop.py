"""The loop: every task is trained by it.

    for each epoch, for each global batch:                    shuffled, or in an order that is given
        g = gradient of the mean loss over the batch          (in pieces, over processes)
        weights -= AdamW(clip(g)) * schedule
    every so often: score on dev, keep the best weights, of equals the latest; keep a checkpoint

A run is a function of its data, its config and its seed: the order of the batches follows from (seed, epoch), the
dropout of a step from (seed, step), so a run that was killed and resumed ends with the weights of one that was not.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from factpin.errors import BadInput
from factpin.layers.half import half_precision
from factpin.tokens.batches import shuffled_batches
from factpin.training.adversarial import moved_embeddings
from factpin.training.board import Board
from factpin.training.checkpoint import (
    TrainingProgress,
    check_last,
    last_path,
    load_best,
    load_last,
    save_best,
    save_last,
)
from factpin.training.config import TrainConfig
from factpin.training.defaults import EPOCHS
from factpin.training.ema import Ema
from factpin.training.optimiser import build_optimiser, rate_factor
from factpin.training.parallel import World


class Job(Protocol):
    """What is trained: a model, its examples, and how it is scored.

    The model has an `encoder` and a `head`, `loss(batch)`, a mean over the terms of the batch's examples (the example
    itself, or its pairs of entities), and for R-Drop `agreement(batch)`, that loss with how far two passes under
    dropout are apart.
    """

    @property
    def model(self) -> nn.Module: ...
    @property
    def lengths(self) -> Sequence[int]: ...  # tokens of every training example; an order that is given counts them only
    @property
    def terms(self) -> Sequence[int] | None: ...  # of each example's in the mean that the loss is; None: one each

    def batch(self, examples: Sequence[int]) -> Any: ...
    def evaluate(self) -> dict[str, float]: ...  # empty where there is no dev set


class BatchOrder(Protocol):
    """The global batches of an epoch, as examples of the job."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> Sequence[int]: ...


@dataclass(frozen=True)
class Outcome:
    """How a run ended. The model holds its best weights."""

    steps: int
    best_step: int
    scores: dict[str, float]


def check_folder(folder: Path, fingerprint: str, *, resume: bool) -> bool:
    """Whether there is a checkpoint of this very run to go on from; one of another run is refused."""
    if not last_path(folder).exists():
        return False
    if not resume:
        raise BadInput(
            f"{folder} holds the checkpoint of an unfinished run. Go on with it (--resume), or name another folder."
        )
    check_last(folder, fingerprint)
    return True


def train(
    job: Job,
    config: TrainConfig,
    folder: Path,
    world: World,
    *,
    fingerprint: str = "",
    resume: bool = False,
    quiet: bool = False,
    order: Callable[[int], BatchOrder] | None = None,
    steps: Callable[[int], int] | None = None,
) -> Outcome:
    """Train the job's model; the folder gets checkpoints and metrics.jsonl.

    The fingerprint names the run, its data and its settings: a checkpoint of another run is never gone on from.
    `order` gives the batches of an epoch, where they are not to be shuffled; `steps` the steps of so many epochs, where
    these are not as long as the first.
    """
    if not job.lengths:
        raise BadInput("There is no example to train on. Check the training file with `factpin doctor`.")
    resumed = check_folder(folder, fingerprint, resume=resume)
    run = _TrainingRun(job, config, folder, world, fingerprint, order, steps)
    if resumed:
        run.progress = load_last(folder, job.model, run.optimiser, run.ema)
    at = run.progress.step if resumed else None
    shown = Board(folder, quiet=quiet, tensorboard=config.tensorboard, resumed_at=at) if world.leads else _NoBoard()
    with shown as board:
        if resume and not resumed:
            board.say(f"there is no checkpoint in {folder} to go on from: the run starts at its first step")
        board.plan(run.progress.step, run.steps)
        run.go(board)
    if run.progress.best_step:
        load_best(folder, job.model)
    return Outcome(run.progress.step, run.progress.best_step, run.progress.scores)


class _TrainingRun:
    """One run: the state that the loop moves along."""

    def __init__(
        self,
        job: Job,
        config: TrainConfig,
        folder: Path,
        world: World,
        fingerprint: str,
        order: Callable[[int], BatchOrder] | None,
        steps: Callable[[int], int] | None = None,
    ) -> None:
        self.job, self.config, self.folder, self.world, self.fingerprint = job, config, folder, world, fingerprint
        model: Any = job.model.to(world.device)
        self.model = model
        self.optimiser = build_optimiser(model.encoder, model.head, config)
        self.rates = [group["lr"] for group in self.optimiser.param_groups]
        self.ema = Ema(self.model, config.ema)
        self.progress = TrainingProgress()
        self.global_size = config.texts * config.accumulation * world.size
        self.order = order or self._shuffled
        epochs = config.epochs or EPOCHS
        self.steps = steps(epochs) if steps else epochs * len(self._batches(0))
        if config.max_steps is not None:
            self.steps = min(self.steps, config.max_steps)

    def _shuffled(self, epoch: int) -> BatchOrder:
        return shuffled_batches(self.job.lengths, size=self.global_size, seed=self.config.seed, epoch=epoch)

    def _batches(self, epoch: int) -> BatchOrder:
        """The batches of an epoch; an order may read with the model first, in the precision of the run."""
        with half_precision(self.world.device.type, enabled=self.config.bf16):
            return self.order(epoch)

    def go(self, board: "Board | _NoBoard") -> None:
        progress, config = self.progress, self.config
        while progress.step < self.steps and not self._stale():
            batches = self._batches(progress.epoch)
            for at in range(progress.position, len(batches)):
                loss = self._step(batches[at])
                if not math.isfinite(loss):
                    raise BadInput(
                        f"The loss of step {progress.step + 1} is {loss}: training has broken down. Lower "
                        f"--learning-rate, or look at the data with doctor."
                    )
                progress.step += 1
                progress.position += 1
                board.step(progress.step, self.steps, loss)
                if progress.step % 10 == 0:
                    board.record(progress.step, {"epoch": progress.epoch, "loss": round(loss, 6)})
                end = progress.position == len(batches)
                if end:
                    progress.epoch += 1
                    progress.position = 0
                stop = progress.step >= self.steps
                if stop or (progress.step % config.evaluate_every == 0 if config.evaluate_every else end):
                    self._evaluate(board)
                if stop or (progress.step % config.save_every == 0 if config.save_every else end):
                    self._save()
                if stop or end or self._stale():
                    break

    def _stale(self) -> bool:
        patience = self.config.early_stopping
        return patience is not None and self.progress.stale >= patience

    def _step(self, batch: Sequence[int]) -> float:
        """One optimiser step on a global batch; gives its mean loss."""
        config, world = self.config, self.world
        torch.manual_seed((config.seed * 1_000_003 + self.progress.step) * 1_009 + world.rank)
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        total = self._gradient(batch, with_rdrop=True)
        if config.fgm:
            clean = [None if p.grad is None else p.grad.clone() for p in self.model.parameters()]
            with moved_embeddings(self.model.encoder, config.fgm):
                self.optimiser.zero_grad(set_to_none=True)
                self._gradient(batch, with_rdrop=False)
            for p, own in zip(self.model.parameters(), clean, strict=True):
                if p.grad is not None and own is not None:
                    p.grad += own
        if config.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        factor = rate_factor(self.progress.step, self.steps, config)
        for group, rate in zip(self.optimiser.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor
        self.optimiser.step()
        self.ema.update()
        return world.sum(total)

    def _gradient(self, batch: Sequence[int], *, with_rdrop: bool) -> float:
        """The gradient of the mean loss over a global batch, in pieces and over processes; gives this one's part."""
        config, device = self.config, self.world.device
        mine = self.world.share(batch)
        total = 0.0
        for i in range(0, len(mine), config.texts):
            examples = mine[i : i + config.texts]
            weight = self._terms(examples) / self._terms(batch)
            with half_precision(device.type, enabled=config.bf16):
                if config.rdrop and with_rdrop:
                    loss, apart = self.model.agreement(self.job.batch(examples))
                    loss = loss + config.rdrop * apart
                else:
                    loss = self.model.loss(self.job.batch(examples))
            (loss * weight).backward()
            total += float(loss.detach()) * weight
        self.world.sum_gradients(self.model)
        return total

    def _terms(self, examples: Sequence[int]) -> int:
        terms = self.job.terms
        return len(examples) if terms is None else sum(terms[i] for i in examples)

    def _evaluate(self, board: "Board | _NoBoard") -> None:
        """Score on dev in the leading process; every process learns the outcome."""
        progress, metric = self.progress, self.config.metric
        scores: dict[str, float] = {}
        if self.world.leads:
            self.model.eval()
            with self.ema.applied(), torch.no_grad():
                scores = self.job.evaluate()
                if scores and metric not in scores:
                    raise BadInput(f"There is no metric {metric!r}. Known: {', '.join(scores)}.")
                if not scores or scores[metric] >= progress.best:
                    save_best(self.folder, self.model)
            if scores:
                board.record(progress.step, {"epoch": progress.epoch, **scores})
        scores = self.world.from_leader(scores)
        score = scores.get(metric, math.inf)  # without a dev set, the last weights are the best
        progress.stale = 0 if score > progress.best or not scores else progress.stale + 1
        if score >= progress.best:
            progress.best = scores.get(metric, progress.best)
            progress.best_step, progress.scores = progress.step, scores

    def _save(self) -> None:
        if self.world.leads:
            save_last(self.folder, self.model, self.optimiser, self.ema, self.progress, self.fingerprint)


class _NoBoard:
    """The board of a process that does not lead."""

    def __enter__(self) -> "_NoBoard":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def say(self, note: str) -> None:
        pass

    def plan(self, step: int, steps: int) -> None:
        pass

    def step(self, step: int, steps: int, loss: float) -> None:
        pass

    def record(self, step: int, values: dict[str, Any]) -> None:
        pass

"""The loop: which weights a run keeps, and when it stops."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from factpin.training.config import TrainConfig
from factpin.training.loop import train
from factpin.training.parallel import join_world


class Slope(nn.Module):
    """One weight that every step makes larger."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.head = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)

    def loss(self, batch: Any) -> torch.Tensor:
        return -self.head.weight.sum() - self.encoder.weight.sum()


class ScriptedJob:
    """A job whose evaluations give these figures, one after the other."""

    lengths = [1] * 8
    terms = None

    def __init__(self, figures: Sequence[float]) -> None:
        torch.manual_seed(0)
        self.model = Slope()
        self.figures, self.seen = list(figures), list[float]()

    def batch(self, examples: Sequence[int]) -> Any:
        return examples

    def evaluate(self) -> dict[str, float]:
        self.seen.append(float(self.model.head.weight.detach()))
        return {"f1": self.figures[len(self.seen) - 1]} if self.figures else {}


@pytest.mark.parametrize(
    ("figures", "best"),
    [
        ([0.0, 0.0, 0.0, 0.0], 4),  # nothing was found yet: what learned longest is kept
        ([0.2, 0.5, 0.5, 0.3], 3),
        ([0.9, 0.5, 0.5, 0.5], 1),
        ([], 4),
    ],
)
def test_of_equal_evaluations_the_latest_weights_are_kept(figures: list[float], best: int, tmp_path: Path) -> None:
    job = ScriptedJob(figures)
    how = TrainConfig(max_steps=4, evaluate_every=1, batch_size=2, learning_rate=1e-2, epochs=4)
    outcome = train(job, how, tmp_path, join_world(), quiet=True)
    assert (outcome.steps, outcome.best_step) == (4, best)
    assert float(job.model.head.weight.detach()) == job.seen[best - 1]
    assert outcome.scores == ({"f1": figures[best - 1]} if figures else {})
    assert len(set(job.seen)) == 4


def test_an_equal_evaluation_is_no_better_one_for_early_stopping(tmp_path: Path) -> None:
    job = ScriptedJob([0.5] * 8)
    how = TrainConfig(max_steps=8, evaluate_every=1, batch_size=2, learning_rate=1e-2, epochs=4, early_stopping=2)
    outcome = train(job, how, tmp_path, join_world(), quiet=True)
    assert (outcome.steps, outcome.best_step) == (3, 3)

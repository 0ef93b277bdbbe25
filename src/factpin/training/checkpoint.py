"""The state of a run between two steps, in one file that is replaced whole: what `--resume` starts from.

checkpoints/last.pt            weights, optimiser, average, counters
checkpoints/best.safetensors   the weights (or their average) that scored best on dev
"""

import io
import pickle
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import nn

from factpin.errors import BadFile
from factpin.files import open_bytes, write_bytes
from factpin.training.ema import Ema


@dataclass
class TrainingProgress:
    """The counters of a run."""

    step: int = 0  # optimiser steps done
    epoch: int = 0
    position: int = 0  # steps done in this epoch
    best: float = float("-inf")
    best_step: int = 0
    stale: int = 0  # evaluations since the best one
    scores: dict[str, float] = field(default_factory=dict)  # of the best evaluation


def last_path(folder: Path) -> Path:
    """Where the last checkpoint of a run lies."""
    return folder / "checkpoints" / "last.pt"


def save_last(
    folder: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    ema: Ema,
    progress: TrainingProgress,
    fingerprint: str,
) -> None:
    """Replace the last checkpoint. The fingerprint says which run it belongs to."""
    state = {
        "fingerprint": fingerprint,
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "ema": ema.shadow,
        "ema_steps": ema.steps,
        "progress": asdict(progress),
    }
    buffer = io.BytesIO()
    torch.save(state, buffer)
    with write_bytes(last_path(folder)) as stream:
        stream.write(buffer.getbuffer())


def check_last(folder: Path, fingerprint: str) -> None:
    """Refuse a checkpoint that belongs to another run: other data, other settings, another seed."""
    if _state(folder).get("fingerprint") != fingerprint:
        raise BadFile(
            f"{last_path(folder)}: belongs to another run. Its data, its settings or the version of factpin that "
            f"started it were different. Resume with those it was started with (recipe.toml beside it), or start "
            f"again in another folder."
        )


def load_last(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer, ema: Ema) -> TrainingProgress:
    """Put the last checkpoint back; gives the counters."""
    state = _state(folder)
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    for name, shadow in ema.shadow.items():
        shadow.copy_(state["ema"][name])
    ema.steps = state["ema_steps"]
    return TrainingProgress(**state["progress"])


def _state(folder: Path) -> dict[str, Any]:
    path = last_path(folder)
    try:
        with open_bytes(path) as stream:
            state = torch.load(io.BytesIO(stream.read()), map_location="cpu", weights_only=True)
    except (RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
        raise BadFile(f"{path}: not a checkpoint ({str(error)[:80]}). Remove it and start again.") from None
    return state if isinstance(state, dict) else {}


def save_best(folder: Path, model: nn.Module) -> None:
    """Replace the best weights."""
    weights = {n: w.detach().cpu().contiguous().clone() for n, w in model.state_dict().items()}  # clone: some are tied
    with write_bytes(folder / "checkpoints" / "best.safetensors") as stream:
        stream.write(safetensors.torch.save(weights))


def load_best(folder: Path, model: nn.Module) -> None:
    """Put the best weights into the model."""
    with open_bytes(folder / "checkpoints" / "best.safetensors") as stream:
        model.load_state_dict(safetensors.torch.load(stream.read()))

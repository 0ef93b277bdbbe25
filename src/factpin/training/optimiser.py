"""AdamW with a rate for every layer, and the schedule of the rates.

rate(layer l of n) = learning_rate * layer_decay^(n - l)      embeddings are layer 0, the top layer is n
rate(head)         = head_learning_rate
weight decay on matrices only: never on biases and norms
layers up to freeze_layers, the embeddings with them, do not learn, and no gradient is computed for them
"""

import math
import re

import torch
from torch import nn

from factpin.errors import BadInput
from factpin.training.config import TrainConfig
from factpin.training.defaults import SMALL_RATE
from factpin.words import count

LAYER = re.compile(r"\.(?:layers?|block|h)\.(\d+)\.")


def build_optimiser(encoder: nn.Module, head: nn.Module, config: TrainConfig) -> torch.optim.AdamW:
    """AdamW over the encoder's and the head's parameters; fused, which on a CPU is several times faster."""
    depth = 1 + max((_layer(name) for name, _ in encoder.named_parameters()), default=0)
    if config.freeze_layers >= depth:
        raise BadInput(
            f"freeze_layers is {config.freeze_layers}, the encoder has {count(depth - 1, 'layer')}. Give less."
        )
    base = config.learning_rate or SMALL_RATE
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in encoder.named_parameters():
        layer = depth - 1 if "final" in name else _layer(name)  # a norm above the last layer
        if config.freeze_layers and layer <= config.freeze_layers:
            parameter.requires_grad_(False)
            continue
        rate = base * config.layer_decay ** (depth - 1 - layer)
        groups.setdefault((rate, _decay(parameter, config)), []).append(parameter)
    head_rate = config.head_learning_rate or 10 * base
    for parameter in head.parameters():
        groups.setdefault((head_rate, _decay(parameter, config)), []).append(parameter)
    return torch.optim.AdamW(
        [{"params": list(group), "lr": rate, "weight_decay": decay} for (rate, decay), group in groups.items()],
        lr=base,
        fused=True,
    )


def _layer(name: str) -> int:
    """0 for embeddings and everything below the first layer, l + 1 for layer l."""
    match = LAYER.search(f".{name}")
    return int(match.group(1)) + 1 if match else 0


def _decay(parameter: nn.Parameter, config: TrainConfig) -> float:
    return config.weight_decay if parameter.dim() > 1 else 0.0


def rate_factor(step: int, steps: int, config: TrainConfig) -> float:
    """What the base rates are multiplied with at a step (from 0) of `steps`: warm-up, then the schedule."""
    warmup = max(1, round(config.warmup * steps)) if config.warmup else 0
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    match config.schedule:
        case "linear":
            return max(0.0, 1.0 - done)
        case "cosine":
            return 0.5 * (1.0 + math.cos(math.pi * min(1.0, done)))
        case _:
            return 1.0

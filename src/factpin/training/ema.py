"""The moving average of the weights: shadow = decay * shadow + (1 - decay) * weight, after every step."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Ema:
    """A shadow of a module's parameters. With decay 0 it is off and costs nothing."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.module = module
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in module.named_parameters()} if decay else {}
        self.steps = 0

    @torch.no_grad()
    def update(self) -> None:
        """Move the shadow towards the weights; early on it follows faster."""
        if not self.decay:
            return
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        for name, parameter in self.module.named_parameters():
            self.shadow[name].lerp_(parameter, 1 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The module with the shadow's weights inside, its own weights again outside."""
        if not self.decay:
            yield
            return
        own = {name: p.detach().clone() for name, p in self.module.named_parameters()}
        self._put(self.shadow)
        try:
            yield
        finally:
            self._put(own)

    @torch.no_grad()
    def _put(self, weights: dict[str, Tensor]) -> None:
        for name, parameter in self.module.named_parameters():
            parameter.copy_(weights[name])

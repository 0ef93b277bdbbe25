"""First weights of the pointer heads: LeCun-normal weights and zero biases, as published, not torch's default.

    weight ~ N(0, 1 / fan_in)        a unit vector in gives a score of order 1, whatever the width
    bias   = 0, or a constant        a negative one where nearly all cells are negatives

torch's default draws weights a third as large in variance: the products of two such views start near zero, and a small
encoder spends its first epochs on making them larger. recipes/first_weights.py measures the difference.
"""

import torch
from torch import nn


@torch.no_grad()
def start_linear(layer: nn.Linear, bias: float = 0.0) -> nn.Linear:
    """The layer with first weights for a pointer head."""
    nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
    nn.init.constant_(layer.bias, bias)
    return layer

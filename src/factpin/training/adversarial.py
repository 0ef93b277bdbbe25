"""FGM: a second gradient at word embeddings moved by epsilon along the first one.

r = epsilon * g / |g|,   loss(embeddings + r) is backpropagated too, then the embeddings are put back
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def moved_embeddings(encoder: nn.Module, epsilon: float) -> Iterator[None]:
    """The encoder with its word embeddings moved along their gradient."""
    weight = next(p for name, p in encoder.named_parameters() if "word_embeddings" in name or "tok_embeddings" in name
                  or name.endswith("shared.weight") or "embed_tokens" in name)  # fmt: skip
    own = weight.detach().clone()
    with torch.no_grad():
        size = None if weight.grad is None else weight.grad.norm()
        if size is not None and torch.isfinite(size) and size > 0:
            weight.add_(weight.grad / size, alpha=epsilon)
    try:
        yield
    finally:
        with torch.no_grad():
            weight.copy_(own)

"""FGM: a second gradient at word embeddings moved by epsilon along the first one.

r = epsilon * g / |g|; the gradient at embeddings + r is added to g, then the embeddings are put back. g is the gradient
of the whole global batch, so that a batch in pieces, or over processes, gives the same step.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from factpin.encoders import Encoder


@contextmanager
def moved_embeddings(encoder: Encoder, epsilon: float) -> Iterator[None]:
    """The encoder with its word embeddings moved along their gradient."""
    weight = encoder.word_vectors
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

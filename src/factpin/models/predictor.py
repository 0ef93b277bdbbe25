"""Predictor: a model as extraction sees it. No tensor of any library crosses this line."""

from typing import Any, Protocol

from factpin.tasks.examples import DocumentBatch
from factpin.tokens.reading import Batch

Inputs = Batch | DocumentBatch


class Predictor(Protocol):
    """Encoder and head of a loaded model, whatever computes them."""

    @property
    def default_threshold(self) -> float:
        """The score that a cell must exceed, unless another one was tuned."""
        ...

    def predict(self, inputs: Inputs, *, bf16: bool = False) -> Any:
        """The head's scores as arrays, as the task reads them; bf16: in half precision."""
        ...

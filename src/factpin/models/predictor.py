"""Predictor: a model as extraction sees it. No tensor of any library crosses this line."""

from collections.abc import Callable
from threading import Lock
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


class LatePredictor:
    """A predictor that is loaded when it is first used."""

    def __init__(self, load: Callable[[], Predictor]) -> None:
        self._load = load
        self._predictor: Predictor | None = None
        self._lock = Lock()

    def loaded(self) -> Predictor:
        """The predictor itself."""
        with self._lock:
            if self._predictor is None:
                self._predictor = self._load()
            return self._predictor

    @property
    def default_threshold(self) -> float:
        """Of the predictor."""
        return self.loaded().default_threshold

    def predict(self, inputs: Inputs, *, bf16: bool = False) -> Any:
        """The scores of the predictor."""
        return self.loaded().predict(inputs, bf16=bf16)

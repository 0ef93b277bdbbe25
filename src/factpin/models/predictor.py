"""Predictor: a model as extraction sees it. No tensor of any library crosses this line."""

from collections.abc import Callable
from dataclasses import dataclass, field
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


@dataclass
class DeferredPredictor:
    """A model that is loaded when it is first asked. Threads may share it."""

    load: Callable[[], Predictor]
    default_threshold: float
    _loaded: Predictor | None = field(default=None, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def loaded(self) -> Predictor:
        """The model itself."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self.load()
            return self._loaded

    def predict(self, inputs: Inputs, *, bf16: bool = False) -> Any:
        """The head's scores."""
        return self.loaded().predict(inputs, bf16=bf16)

"""A model behind onnxruntime: batches of windows in, the head's scores as arrays out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from factpin.errors import BadInput
from factpin.models.onnx.scores import SCORES, THRESHOLDS, Config, ToScores
from factpin.models.onnx.session import Session
from factpin.models.predictor import Inputs
from factpin.models.settings import Settings
from factpin.models.weights import Weights
from factpin.tasks.examples import DocumentBatch


@dataclass(frozen=True)
class WindowNetwork:
    """A model whose head reads windows: all of it is in the graph."""

    session: Session
    to_scores: ToScores
    config: Config
    weights: Weights  # of the head, where the task reads some
    default_threshold: float

    @staticmethod
    def of(settings: Settings, session: Session, weights: Mapping[str, NDArray[Any]]) -> "WindowNetwork":
        """The model of these settings."""
        head = {name: weights[name] for name in weights if name.startswith("head.")}
        threshold = THRESHOLDS.get(settings.head, 0.0)
        return WindowNetwork(session, SCORES[settings.head], settings.head_config, head, threshold)

    def predict(self, inputs: Inputs, *, bf16: bool = False) -> Any:  # noqa: ARG002  (runtimes refuses it)
        """The head's scores."""
        if isinstance(inputs, DocumentBatch):
            raise BadInput("This head reads windows, and was given documents.")
        out = self.session.run({"ids": inputs.ids, "mask": inputs.mask, "real": inputs.real})
        return self.to_scores(out, inputs.real, self.config, self.weights)

"""Scale: how a score becomes a probability."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scale:
    """How a score becomes a probability: sigmoid((score - shift) / temperature), fitted on dev."""

    temperature: float = 1.0
    shift: float = 0.0

    def probability(self, score: float) -> float:
        """To four digits: the fifth depends on how texts were batched."""
        x = max(-60.0, min(60.0, (score - self.shift) / self.temperature))
        return round(float(1.0 / (1.0 + np.exp(-x))), 4)

"""Settings: everything that a model is, apart from its weights."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from factpin.arrays import Floats

VERSION = 1  # of a model folder's layout


@dataclass(frozen=True)
class Settings:
    """What a model is and how it reads; stored as factpin.json in its folder."""

    task: str
    labels: tuple[str, ...]
    head: str
    head_config: dict[str, Any]
    encoder: str  # where the encoder was loaded from
    language: str = ""  # "zh", "en", or "" for any
    max_length: int = 512  # tokens of a window, special ones included
    overlap: int = 64
    context: Literal["sentence", "window"] = "sentence"
    temperature: float = 1.0  # a score's probability is sigmoid((score - shift) / temperature)
    shift: float = 0.0
    thresholds: dict[str, float] = field(default_factory=dict)  # by label; absent: the head's own
    task_config: dict[str, Any] = field(default_factory=dict)  # how the task decodes, such as a schema
    shown: float = 0.0  # `extract` hides mentions that score less, unless a fact is about them
    definitions: bool = False  # `extract` adds the facts that English definitions state in fixed words
    precision: Literal["float32", "float16", "int8"] = "float32"
    upon: str = ""  # the folder beside this one that stores the encoder weights both models share
    upon_digest: str = ""  # of these weights
    knowledge: dict[str, Any] = field(default_factory=dict)  # the layer over a store between two layers, if any
    name: str = ""
    finds: str = ""  # one line for `factpin models`
    version: int = VERSION

    def cut(self, default: float) -> Floats:
        """The score that a cell of each label must exceed (L,): the tuned one, or the default."""
        return np.array([self.thresholds.get(label, default) for label in self.labels], np.float64)

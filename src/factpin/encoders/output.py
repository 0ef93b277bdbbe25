"""The output of an encoder for a batch.

hidden     token vectors                                      (B, N, D)
attention  last layer's attention of the requested rows        (M, heads, N), or None
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False, slots=True)
class EncoderOutput:
    """Hidden states, and the requested rows of attention."""

    hidden: Tensor
    attention: Tensor | None = None

"""EncoderOutput: what an encoder says about a batch.

hidden     token vectors                                      (B, N, D)
attention  last layer's attention of the rows asked for       (M, heads, N), or None where none were asked for
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False, slots=True)
class EncoderOutput:
    hidden: Tensor
    attention: Tensor | None = None

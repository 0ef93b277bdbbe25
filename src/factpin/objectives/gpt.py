"""GPT: from left to right; cell i answers for piece i + 1. Transformer-XL: the same behind a memory.

loss = -Σ_{i >= 1} log p(x_i | x_<i)        the first piece is never asked for; no special tokens

The memory is what the network made of the pieces before the text, carried from step to step; every cell sees it.
"""

import numpy as np

from factpin.layers.masks import causal, full
from factpin.objectives.tape import tape
from factpin.objectives.text import Chance, Text, Vocabulary
from factpin.objectives.view import NONE, View, memory, stream


def left_to_right(text: Text, _: Vocabulary, __: Chance) -> View:
    n = len(text)
    answers = np.append(np.arange(1, n), NONE)
    content = stream(tape(text.ids), {"content": causal(n)}, answers=answers)
    return View(text.ids, {"content": content})


def behind_memory(text: Text, _: Vocabulary, __: Chance) -> View:
    n, kept = len(text), memory(text, len(text))
    answers = np.append(np.arange(1, n), NONE)
    sees = {"memory": full(n, len(kept)), "content": causal(n)}
    content = stream(tape(text.ids), sees, answers=answers)
    return View(np.concatenate([text.ids, text.before]), {"memory": kept, "content": content})

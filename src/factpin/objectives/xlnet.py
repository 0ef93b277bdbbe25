"""XLNet: pieces are predicted in a random order; a second stream knows the place of a piece but not the piece.

    layout    first half: running text    second half: A [SEP] B [SEP] [CLS]
    rank      context 0, targets and special tokens 1, 2, … in random order; the second half begins above the first
    content   rank[k] <= rank[q]          query   rank[k] < rank[q]

Context does not see targets, nor special tokens, which may see targets: either would be a way back to the target.
The first half is what the next text remembers, so it must not see the second, which is the first half of the next text.
Parts are never foreign: nothing is asked about them. The query's id is a mask's; the network has one vector that all
queries begin with.
"""

from dataclasses import dataclass

import numpy as np

from factpin.layers.masks import full, permuted
from factpin.objectives.choose import Budget, Choose, xlnet_windows
from factpin.objectives.pairs import halves
from factpin.objectives.tape import frame, mark
from factpin.objectives.text import Chance, Text, Vocabulary
from factpin.objectives.view import View, memory, stream


@dataclass(frozen=True)
class XLNet:
    """How XLNet orders a text and chooses what to predict."""

    choose: Choose = xlnet_windows
    budget: Budget = Budget(share=1 / 6, framed=False)

    def __call__(self, text: Text, v: Vocabulary, chance: Chance) -> View:
        half = len(text) // 2
        parts, _ = halves(text.part(half, len(text)), chance)
        f = frame([text.part(0, half), *parts], after=[v.sep], last=[v.cls], bare=1)
        n = len(f.tape)
        segments = np.append(np.maximum(f.parts[:-1] - 1, 0), 2)

        goal, words = self.budget.of(len(text), 0, chance), f.text.units("words")
        first, second = [u for u in words if u[0] < half], [u for u in words if u[0] >= half]
        groups = self.choose(first, goal // 2, chance) + self.choose(second, goal - goal // 2, chance)
        targets = f.cells[np.sort(np.concatenate(groups))]
        b = len(targets)

        context = f.tape.shows >= 0
        context[targets] = False
        rank = np.where(context, 0, 1 + chance.permutation(n)) + (np.arange(n) >= half) * (n + 1)
        content_mask, query_mask = permuted(rank, targets)

        kept = memory(text, len(text))
        content = stream(f.tape, {"memory": full(n, len(kept)), "content": content_mask}, segments=segments)
        query = stream(
            mark(*[v.mask] * b),
            {"memory": full(b, len(kept)), "content": query_mask},
            answers=f.tape.shows[targets],
            positions=targets,
            segments=segments[targets],
        )
        pieces = np.concatenate([text.ids, text.before])
        return View(pieces, {"memory": kept, "content": content, "query": query})

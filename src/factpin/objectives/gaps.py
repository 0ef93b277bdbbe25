"""Gap sentences: which sentences of a document say most about the others; a sampler like those of `choose`.

    F(S)         = 2 · overlap(S, R) / (|S| + |R|)        R = D \\ S, the rest of the document; no `stop` pieces
    ind          the m sentences x with the highest F(x)
    seq          one by one, the sentence x that makes F(S + x) highest
    orig, uniq   every piece counts as often as it occurs; once
    lead         the first m
    random       any m

Of equal scores the first sentence wins; public code takes the last. Its noise on the scores is the same for every
document, since its engine is seeded anew at each call; ours comes from the text's own chance.
"""

from collections import Counter
from typing import Literal

import numpy as np

from factpin.layers.masks import Ints
from factpin.objectives.choose import Units
from factpin.objectives.text import Chance

How = Literal["random", "lead", "ind_orig", "ind_uniq", "seq_orig", "seq_uniq"]


def gap_sentences(
    units: Units,
    budget: int,
    chance: Chance,
    *,
    ids: Ints,
    how: How = "ind_orig",
    noise: float = 0.0,
    stop: frozenset[int] = frozenset(),
) -> list[Ints]:
    """`budget` sentences in the order of the text; each score is multiplied by 1 + N(0, noise)."""
    if how == "lead":
        return list(units[:budget])
    if how == "random":
        return [units[i] for i in np.sort(chance.permutation(len(units))[:budget])]
    bags = [Counter(piece for piece in ids[unit].tolist() if piece not in stop) for unit in units]
    document: Counter[int] = Counter()
    for bag in bags:
        document.update(bag)
    factor = 1 + noise * chance.standard_normal(len(units))
    unique = how.endswith("uniq")
    if how.startswith("ind"):
        scores = [overlap_f1(bag, document, unique=unique) * factor[i] for i, bag in enumerate(bags)]
        return [units[i] for i in sorted(sorted(range(len(units)), key=lambda i: -scores[i])[:budget])]
    chosen: list[int] = []
    said: Counter[int] = Counter()
    for _ in range(budget):
        left = [i for i in range(len(units)) if i not in chosen]
        scores = [overlap_f1(said + bags[i], document, unique=unique) * factor[i] for i in left]
        chosen.append(left[int(np.argmax(scores))])
        said.update(bags[chosen[-1]])
    return [units[i] for i in sorted(chosen)]


def overlap_f1(part: Counter[int], document: Counter[int], *, unique: bool) -> float:
    """ROUGE-1 F1 of a part of a document against the rest of it, as bags of pieces."""
    if unique:
        overlap = sum(document[piece] > count for piece, count in part.items())
        total = len(document) + overlap  # what is on both sides counts on both
    else:
        overlap = sum(min(count, document[piece] - count) for piece, count in part.items())
        total = document.total()
    return 2 * overlap / total if total else 0.0

"""Parts of a text: how an input is divided, and what is asked about the whole, such as whether B follows A.

`(text, chance) -> (parts, label)`: 0 in the order of the text, 1 or more otherwise, NO_LOSS where nothing is asked.

A text of one sentence has no second part: it is read alone and asks nothing. Public code of BERT and ALBERT gives it a
random second part, so that more than half of its pairs are random, and some of ALBERT's are not swapped but foreign.

The layout says nothing about the label: where second parts of several origins compete, all are drawn, all begin with a
sentence, and all are cut at one length, inside a sentence of each, whichever is taken. A foreign part cut to the length
of ours would end inside a sentence where ours ends with one. Public code of BERT cuts long pairs in the same way.
"""

from collections.abc import Callable
from itertools import permutations
from math import factorial

import numpy as np

from factpin.errors import BadInput
from factpin.objectives.text import Chance, Text, join
from factpin.objectives.view import NO_LOSS

Pair = Callable[[Text, Chance], tuple[list[Text], int]]


def alone(text: Text, _: Chance) -> tuple[list[Text], int]:
    return [text], NO_LOSS


def documents(text: Text, _: Chance) -> tuple[list[Text], int]:
    """The documents that were packed into the text; the whole text where none are marked."""
    return text.by_document(), NO_LOSS


def halves(text: Text, chance: Chance) -> tuple[list[Text], int]:
    """Cut between two sentences, nothing asked."""
    if len(text.ends) < 2:
        return [text], NO_LOSS
    cut = int(chance.choice(text.ends[:-1]))
    return [text.part(0, cut), text.part(cut, len(text))], NO_LOSS


def next_sentence(text: Text, chance: Chance) -> tuple[list[Text], int]:
    """BERT: half of the second parts come from another document, from one of its sentences on."""
    parts, _ = halves(text, chance)
    if len(parts) < 2:
        return parts, NO_LOSS
    seconds = _cut_alike([parts[1], _elsewhere(text, len(parts[1]), chance)], chance)
    label = int(chance.random() < 0.5)
    return [parts[0], seconds[label]], label


def sentence_order(text: Text, chance: Chance) -> tuple[list[Text], int]:
    """ALBERT: half of the pairs change places."""
    parts, _ = halves(text, chance)
    if len(parts) < 2:
        return parts, NO_LOSS
    swapped = int(chance.random() < 0.5)
    return parts[::-1] if swapped else parts, swapped


def distance(text: Text, chance: Chance) -> tuple[list[Text], int]:
    """ERNIE 2.0: the second part follows the first (0), comes later (1), or in another document (2)."""
    first, second = sorted(int(i) for i in chance.choice(len(text.ends) - 1, 2, replace=False))
    cut, further = int(text.ends[first]), int(text.ends[second])
    own = [text.part(cut, len(text)), text.part(further, len(text))]
    seconds = _cut_alike([*own, _elsewhere(text, len(own[1]), chance)], chance)
    label = int(chance.integers(3))
    return [text.part(0, cut), seconds[label]], label


def reordered(text: Text, chance: Chance, *, most: int = 3) -> tuple[list[Text], int]:
    """ERNIE 2.0: one to `most` parts in any order, put together again; the label is the number of the order."""
    n = int(chance.integers(1, min(most, len(text.ends)) + 1))
    cuts = [0, *sorted(int(cut) for cut in chance.choice(text.ends[:-1], n - 1, replace=False)), len(text)]
    parts = [text.part(a, b) for a, b in zip(cuts, cuts[1:], strict=False)]
    orders = list(permutations(range(n)))
    k = int(chance.integers(len(orders)))
    return [join([parts[i] for i in orders[k]])], sum(factorial(i) for i in range(1, n)) + k


def _elsewhere(text: Text, wanted: int, chance: Chance) -> Text:
    """The foreign document from one of its sentences on, but the first: if it can be, one with `wanted` pieces behind.

    The second part of a text is never its beginning, which often tells by its words that it is one.
    """
    if text.foreign is None:
        raise BadInput("This objective needs another document to draw from. Give the text a `foreign` one.")
    n, starts = len(text.foreign), text.foreign.ends[:-1]
    enough = starts[n - starts >= wanted]
    start = int(chance.choice(enough if len(enough) else starts)) if len(starts) else 0
    return text.foreign.part(start, n)


def _cut_alike(parts: list[Text], chance: Chance) -> list[Text]:
    """All cut at one length, inside a sentence of each where that can be.

    The shortest loses less than its last sentence, and not more than half of itself.
    """
    shortest = min(parts, key=len)
    n, last = len(shortest), len(shortest.units("sentences")[-1])
    lengths = np.arange(n - min(last - 1, n // 2), n + 1)
    inside = np.setdiff1d(lengths, np.concatenate([part.ends for part in parts]))
    length = int(chance.choice(inside if len(inside) else lengths))
    return [part.part(0, length) for part in parts]

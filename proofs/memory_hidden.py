"""What KnowBERT and Entities as Experts hide in their texts: no cell shows it, and no candidate names it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from factpin.knowledge.hidden import candidate_leaks, hide
from factpin.knowledge.linked import LinkedText
from factpin.knowledge.mentions import FIRST, MentionSpan
from factpin.objectives import audit
from factpin.objectives.text import chance_of
from proofs.compare import Compared
from proofs.world import FIRST as ORDINARY
from proofs.world import LAST, VOCABULARY

TEXTS = 60


def drawn_text(number: int) -> LinkedText:
    """Pieces drawn by chance, a fifth of them in names of one to three pieces with one to four candidates."""
    chance = np.random.default_rng([7, number])
    pieces = chance.integers(ORDINARY, LAST, int(chance.integers(6, 60)))
    spans, at = [], 1
    while at < len(pieces) - 3:
        if chance.random() < 0.2:
            rows = tuple(int(row) for row in FIRST + chance.permutation(20)[: chance.integers(1, 5)])
            last = at + int(chance.integers(3))
            spans.append(MentionSpan(at, last, rows, (1 / len(rows),) * len(rows), 0, rows[0]))
            at = last + 1
        at += 1
    ids = np.array([VOCABULARY.cls, *pieces, VOCABULARY.sep], np.int32)
    return LinkedText(f"text {number}", ids, 1, 1, tuple(spans))


def nothing_shows() -> Iterator[Compared]:
    """Leaks of texts with hidden names, and of the same texts with a fault in each."""
    leaks = names = named = found = 0
    for number in range(TEXTS):
        text = drawn_text(number)
        shown = hide(text, VOCABULARY, chance_of(0, 0, number), names=0.5)
        leaks += not audit(shown.view, VOCABULARY).clean
        leaks += len(candidate_leaks(shown))
        names += sum(shown.hidden)
        named += any(shown.hidden)
        found += bool(candidate_leaks(replace(shown, mentions=text.mentions)))  # candidates as if nothing were hidden
    yield Compared("leaks", leaks, 0)
    yield Compared("names were hidden", names > TEXTS, True)
    yield Compared("texts whose candidates were left, found", found, named)

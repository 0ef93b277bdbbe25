"""Hidden: a linked text as KnowBERT and Entities as Experts learn from it.

    names    each with probability `names`, as a whole; such a mention has no candidate but MASK
    pieces   a share of the pieces outside of names, as in BERT

What is asked for is a View, so the audit of all objectives proves that no cell shows it. Candidates are another way to
see a name: `candidate_leaks` looks for mentions with a hidden piece that still offer an entity.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from factpin.knowledge.linked import LinkedText
from factpin.knowledge.mentions import MASK, UNKNOWN, MentionSpan
from factpin.layers.masks import full
from factpin.objectives.spoil import Rates
from factpin.objectives.spoil import replace as spoil
from factpin.objectives.tape import MARK, concatenate, mark, tape
from factpin.objectives.text import Chance, Vocabulary
from factpin.objectives.view import View, stream

NAMES, PIECES = 0.2, 0.15
WHOLE = Rates(mask=1.0, chance=0.0)  # of names: a piece that is kept would give the others away


@dataclass(frozen=True, eq=False)
class HiddenText:
    """A text as the network reads it, what is asked for, and its mentions as a layer reads them."""

    view: View
    mentions: tuple[MentionSpan, ...]
    hidden: tuple[bool, ...]  # which of the mentions cannot be seen


def hide(
    text: LinkedText, vocabulary: Vocabulary, chance: Chance, *, names: float = NAMES, pieces: float = PIECES
) -> HiddenText:
    """Hide some names and some pieces."""
    return hide_these(text, [chance.random() < names for _ in text.mentions], vocabulary, chance, pieces)


def hide_these(
    text: LinkedText, hidden: Sequence[bool], vocabulary: Vocabulary, chance: Chance, pieces: float = 0.0
) -> HiddenText:
    """Hide these mentions, and a share of the pieces outside of all mentions."""
    end = len(text.ids) - text.last
    ids = np.asarray(text.ids, np.int64)
    cells = [np.arange(one.first, one.last + 1) for one in text.mentions]
    free = np.setdiff1d(np.arange(text.first, end), np.concatenate([np.zeros(0, np.int64), *cells]))
    many = round(pieces * len(free)) if any(hidden) else max(1, round(pieces * len(free)))
    drawn = np.sort(chance.permutation(free)[:many])
    whole = [cell for cell, gone in zip(cells, hidden, strict=True) if gone]
    row = concatenate([mark(*ids[: text.first]), tape(ids[text.first : end]), mark(*ids[end:])])
    row = spoil(spoil(row, whole, WHOLE, vocabulary, chance), [drawn], Rates(), vocabulary, chance)
    asked = np.concatenate([drawn, *whole]).astype(np.int64)
    answers = np.full(len(text.ids), MARK)
    answers[asked] = asked - text.first
    content = stream(row, {"content": full(len(row))}, answers=answers)
    mentions = tuple(unseen(one) if gone else one for one, gone in zip(text.mentions, hidden, strict=True))
    view = View(ids[text.first : end], {"content": content})
    return HiddenText(view, mentions, tuple(hidden))


def unseen(mention: MentionSpan) -> MentionSpan:
    """A mention that is hidden: only its context shows which entity it refers to."""
    return replace(mention, candidates=(MASK,), priors=(1.0,), gold=UNKNOWN)


def candidate_leaks(text: HiddenText) -> list[str]:
    """The mentions of which a piece is hidden and that offer an entity all the same."""
    answers = text.view.streams["content"].answers
    return [
        f"the mention at {one.first}:{one.last + 1} is hidden, and its candidates name it"
        for one in text.mentions
        if (answers[one.first : one.last + 1] >= 0).any() and set(one.candidates) - {MASK}
    ]

"""Learning: blanks that a decoder fills.

t5_hole        an arithmetic sequence with a hole of one to four      a decoder, one mask of an encoder
t5_sentinels   two holes, said in any order                           sentinels: different, the same
"""

from dataclasses import replace
from functools import partial

import numpy as np

from factpin.layers.masks import Ints, full
from factpin.objectives import OBJECTIVES, Objective, Text, View, Vocabulary, collate
from factpin.objectives.choose import Units
from factpin.objectives.objective import Loss
from factpin.objectives.spoil import collapse
from factpin.objectives.t5 import T5
from factpin.objectives.tape import concatenate, mark, tape
from factpin.objectives.text import Chance
from factpin.objectives.view import NONE, encoder, sequence_view, stream
from proofs.experiment import Bar, Experiment, Figures
from proofs.school import (
    FIRST,
    HELD_OUT,
    answers,
    held_out,
    nll,
    right,
    some,
    student,
    taught,
    text,
    views,
    words,
)


def arithmetic(chance: Chance) -> Text:
    return text((chance.integers(16) + chance.integers(1, 4) * np.arange(10)) % 16)


def one_hole(_: Units, __: int, chance: Chance) -> list[Ints]:
    start = int(chance.integers(2, 6))
    return [np.arange(start, start + int(chance.integers(1, 5)))]


def one_mask(x: Text, v: Vocabulary, chance: Chance) -> View:
    """An encoder alone: the hole is one mask, which answers for its first symbol."""
    (hole,) = one_hole(x.units("pieces"), 0, chance)
    row = collapse(tape(x.ids), [hole], [v.mask]) + mark(v.end)
    asked = np.full(len(row), NONE)
    asked[hole[0]] = hole[0]
    return View(x.ids, {"content": stream(row, {"content": full(len(row))}, answers=asked)})


def t5_hole(seed: int) -> Figures:
    v = words(16)
    rows = {
        "on": replace(OBJECTIVES["t5"], declare=T5(one_hole)),
        "off": Objective(one_mask, (Loss("words", "content"),), positions="buckets"),
    }
    found = {}
    for arm, row in rows.items():
        model = student(v, seed, row)
        taught(model, row, arithmetic, v, seed, steps=500)
        drawn = views(row, arithmetic, v, seed, HELD_OUT, some(256))
        stream_ = row.losses[0].stream
        whole = right(*answers(model, collate(drawn, v.pad), stream_))
        asked = [int((view.streams[stream_].answers >= 0).sum()) for view in drawn]
        exact = [bool(part.all()) for part in np.split(whole, np.cumsum(asked)[:-1])]
        if arm == "off":  # a hole of several symbols is not filled by one
            exact = [ok and len(view.streams["content"]) == 11 for ok, view in zip(exact, drawn, strict=True)]
        found[arm] = float(np.mean(exact))
    return found


def two_holes(x: Text, v: Vocabulary, chance: Chance, *, different: bool) -> View:
    """T5's view with two holes of one symbol, which the decoder says in any order."""
    holes = [np.array([int(chance.integers(1, 5))]), np.array([int(chance.integers(6, 9))])]
    marks = v.sentinels[:2] if different else (v.sentinels[0],) * 2
    source = collapse(tape(x.ids), holes, marks) + mark(v.end)
    target = [mark(marks[k]) + tape(x.ids).take(holes[k]) for k in chance.permutation(2)]
    return sequence_view(x.ids, encoder(source), v.pad, concatenate([*target, mark(v.end)]))


def t5_sentinels(seed: int) -> Figures:
    v, found = words(16), {}
    for arm in ("on", "off"):
        row = replace(OBJECTIVES["t5"], declare=partial(two_holes, different=arm == "on"))
        model = student(v, seed, row)
        taught(model, row, arithmetic, v, seed, steps=800)
        log_p, y = answers(model, held_out(row, arithmetic, v, seed), "decoder")
        found[arm] = float(nll(log_p, y)[(y >= FIRST) & (y < FIRST + 16)].mean())
    return found


EXPERIMENTS = {
    "t5_hole": Experiment(
        "t5",
        "blanks can have any length",
        "An arithmetic sequence modulo 16 with a gap of one to four symbols. Off: an encoder with one mask.",
        "share of gaps whose symbols, sentinels and end are all right (teacher forcing)",
        t5_hole,
        (Bar("on", least=0.8), Bar("off", most=0.4)),
        "Off can only fill gaps of one symbol, a quarter of all.",
    ),
    "t5_sentinels": Experiment(
        "t5",
        "each blank has a sentinel of its own",
        "The same sequence with two gaps of one symbol, filled in any order. Off: the same sentinel twice.",
        "loss of the symbols in the gaps",
        t5_sentinels,
        (Bar("on", most=0.2), Bar("off", least=0.34)),
        f"Off cannot be better than ½ log 2 = {np.log(2) / 2:.3f}, because it cannot know which gap comes first. "
        "With 500 steps, on reached 0.33.",
        design=2,
    ),
}

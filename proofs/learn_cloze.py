"""Learning: what is hidden, by whom it is seen, and what else is asked about it.

bert       mirrored texts, a symbol of the first half is hidden          seen: both sides, the left side
roberta    96 texts, again and again                                     masks: drawn anew, always the same
unilm      x_i = x_{i-1} + 1 or 2; the next symbol from the left         four masks, both sides alone
spanbert   each hidden run follows from a cue three symbols before it    asked at its two neighbours too, not
ernie      an entity of three symbols follows from two distant cues      hidden as a whole, symbol by symbol
albert     the same, but nobody knows where entities are                 runs of up to three hidden, single symbols
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np
import torch

from factpin.layers.masks import Ints, causal, full
from factpin.objectives import (
    MIXTURES,
    MOSTLY_ONE,
    OBJECTIVES,
    TO_THREE,
    Batch,
    Objective,
    Text,
    View,
    Vocabulary,
    collate,
    pairs,
)
from factpin.objectives.choose import Budget, Units, ngram
from factpin.objectives.cloze import Cloze
from factpin.objectives.losses import Learner
from factpin.objectives.objective import Loss
from factpin.objectives.spoil import Rates
from factpin.objectives.tape import mark, tape
from factpin.objectives.text import Chance
from factpin.objectives.unilm import leftwards
from factpin.objectives.view import NONE, stream
from proofs.experiment import Bar, Experiment, Figures
from proofs.school import (
    HELD_OUT,
    Floats,
    answers,
    drawn,
    held_out,
    learn,
    nll,
    probe,
    right,
    some,
    student,
    taught,
    text,
    words,
)

ALL_MASKED = Rates(1.0, 0.0)
WORDS = (Loss("words", "content"),)


def mirror(chance: Chance) -> Text:
    half = chance.integers(16, size=5)
    return text([*half, *half[::-1]])


def one_of_the_first_half(units: Units, _: int, chance: Chance) -> list[Ints]:
    return [units[int(chance.integers(len(units) // 2))]]


def bert(seed: int) -> Figures:
    v, found = words(16), {}
    both = Cloze(one_of_the_first_half, rates=ALL_MASKED)
    for arm, declare in (("on", both), ("off", replace(both, mask=leftwards))):
        row = Objective(declare, WORDS)
        model = student(v, seed, row)
        taught(model, row, mirror, v, seed, steps=400)
        found[arm] = float(right(*answers(model, held_out(row, mirror, v, seed), "content")).mean())
    return found


def steps_of_a_chain(chance: Chance, *, symbols: int = 16, length: int = 16) -> Text:
    """The next symbol is named by the last one in 80 %, else any."""
    follow = np.random.default_rng(1).permutation(symbols)
    row = [int(chance.integers(symbols))]
    while len(row) < length:
        row.append(int(follow[row[-1]]) if chance.random() < 0.8 else int(chance.integers(symbols)))
    return text(row)


def roberta(seed: int) -> Figures:
    """Three batches of 32 texts; `epoch` decides the masks."""
    v, row, found = words(16), OBJECTIVES["roberta"], {}
    texts = [steps_of_a_chain(np.random.default_rng([seed, i])) for i in range(96)]

    def batch(t: int, epoch: int) -> Batch:
        part = range(32 * (t % 3), 32 * (t % 3) + 32)
        return collate([row.view(texts[i], v, seed=seed, epoch=epoch, index=i) for i in part], v.pad)

    for arm in ("on", "off"):
        model = student(v, seed, row)
        learn(model, ((row, batch(t, t // 3 if arm == "on" else 0)) for t in count()), steps=400)
        found[arm] = float(nll(*answers(model, held_out(row, steps_of_a_chain, v, seed), "content")).mean())
    return found


RING = 12


def climbing(chance: Chance) -> Text:
    """Two sentences."""
    row = (chance.integers(RING) + np.cumsum(1 + chance.integers(2, size=12))) % RING
    return text(row, 6)


def next_from_the_left(model: Learner, v: Vocabulary, seed: int, segment: int, *, open_mask: bool) -> float:
    """The loss of a mask behind the first eight symbols."""
    asked = []
    for i in range(some(256)):
        ids = climbing(np.random.default_rng([seed, HELD_OUT, i])).ids
        row = mark(v.cls) + tape(ids[:8]) + mark(v.mask)
        n = len(row)
        content = stream(
            row,
            {"content": full(n) if open_mask else causal(n)},
            answers=np.append(np.full(n - 1, NONE), 8),
            segments=np.full(n, segment),
        )
        asked.append(View(ids, {"content": content}))
    return float(nll(*answers(model, collate(asked, v.pad), "content")).mean())


def unilm(seed: int) -> Figures:
    v, steps = words(RING), 500
    rows = {name: replace(OBJECTIVES[name], losses=WORDS) for name in MIXTURES["unilm"]}
    rows["unilm_both"] = Objective(Cloze(MOSTLY_ONE, pair=pairs.halves), WORDS)  # nothing is asked about the pair
    weights = np.array(list(MIXTURES["unilm"].values()))

    def mixed() -> Iterator[tuple[Objective, Batch]]:
        chance = np.random.default_rng([seed, 1])
        batches = {name: drawn(row, climbing, v, seed, steps=steps // 12) for name, row in rows.items()}
        for t in count():
            name = str(chance.choice(list(rows), p=weights / weights.sum()))
            yield rows[name], batches[name][t % len(batches[name])]

    on = student(v, seed, *rows.values())
    learn(on, mixed(), steps=steps)
    off = student(v, seed, *rows.values())
    taught(off, rows["unilm_both"], climbing, v, seed, steps=steps)
    ways = [next_from_the_left(off, v, seed, 0, open_mask=way) for way in (True, False)]
    return {"on": next_from_the_left(on, v, seed, 2, open_mask=False), "off": min(ways)}


CUES = 8
RUNS = (np.arange(3, 6), np.arange(10, 13))


def cued(chance: Chance) -> Text:
    """cue, two others, a run of three that follows from the cue, one other; twice."""
    runs = np.random.default_rng(2).integers(CUES, CUES + 16, (CUES, 3))
    row = chance.integers(CUES + 16, CUES + 28, 14)
    for run in RUNS:
        cue = int(chance.integers(CUES))
        row[run[0] - 3], row[run] = cue, runs[cue]
    return text(row)


def the_runs(_: Units, __: int, ___: Chance) -> list[Ints]:
    return list(RUNS)


def spanbert(seed: int) -> Figures:
    v, found = words(CUES + 28), {}
    declare = Cloze(the_runs, rates=ALL_MASKED, spans="between")
    row = replace(OBJECTIVES["spanbert"], declare=declare)
    for arm, learned in (("on", row), ("off", replace(row, losses=WORDS))):
        model = student(v, seed, row)
        taught(model, learned, cued, v, seed, steps=300)
        batches = [held_out(row, cued, v, seed, count=400, part=k) for k in range(2)]
        sides = [_neighbours(model, batch) for batch in batches]
        found[arm] = probe(*sides[0], *sides[1])
        found[f"{arm}, cloze"] = float(right(*answers(model, batches[1], "content")).mean())
    return found


@torch.no_grad()
def _neighbours(model: Learner, batch: Batch) -> tuple[Floats, Ints]:
    """The states on both sides of every run (runs, 2 D), and the symbol in its middle."""
    h = model.encoder(batch).hidden["content"].double().numpy()
    b, start, end = batch.spans.T
    return np.concatenate([h[b, start - 1], h[b, end]], axis=1), batch.streams["content"].labels[b, start + 1]


KINDS = 4
ENTITY = np.arange(5, 8)


def named(chance: Chance) -> Text:
    """One of 16 entities, each of three symbols of its own, between two cues of four that name it."""
    a, b = (int(k) for k in chance.integers(KINDS, size=2))
    row = chance.integers(2 * KINDS, 2 * KINDS + 8, 13)
    row[0], row[12] = a, KINDS + b
    row[ENTITY] = 2 * KINDS + 8 + 3 * (KINDS * a + b) + np.arange(3)
    return replace(text(row), entities=np.where(np.isin(np.arange(13), ENTITY), 0, -1))


def the_entity(units: Units, _: int, __: Chance) -> list[Ints]:
    return [max(units, key=len)]


def one_symbol_of_it(units: Units, _: int, chance: Chance) -> list[Ints]:
    return [units[int(chance.choice(ENTITY))]]


def ernie(seed: int) -> Figures:
    v, found = words(2 * KINDS + 8 + 3 * KINDS**2), {}
    rows = {
        "on": Objective(Cloze(the_entity, "entities", rates=ALL_MASKED), WORDS),
        "off": Objective(Cloze(one_symbol_of_it, rates=ALL_MASKED), WORDS),
    }
    for arm, row in rows.items():
        model = student(v, seed, row)
        taught(model, row, named, v, seed, steps=300)
        for test, asked in (("", rows["on"]), (", one symbol", rows["off"])):
            found[arm + test] = float(right(*answers(model, held_out(asked, named, v, seed), "content")).mean())
    return found


def albert(seed: int) -> Figures:
    """Three of the 13 symbols are hidden, anywhere; the whole entity is asked for."""
    v, found = words(2 * KINDS + 8 + 3 * KINDS**2), {}
    asked = Objective(Cloze(the_entity, "entities", rates=ALL_MASKED), WORDS)
    for arm, choose in (("on", TO_THREE), ("off", ngram)):
        row = Objective(Cloze(choose, budget=Budget(0.25), rates=ALL_MASKED), WORDS)
        model = student(v, seed, row)
        taught(model, row, named, v, seed, steps=300)
        found[arm] = float(right(*answers(model, held_out(asked, named, v, seed), "content")).mean())
    return found


EXPERIMENTS = {
    "albert_runs": Experiment(
        "albert",
        "runs of one to three words are hidden",
        "Two distant cues determine an entity of three symbols; each symbol gives the others away. Three symbols "
        "are hidden together, anywhere. Off: one by one.",
        "share of symbols found when the whole entity is hidden",
        albert,
        (Bar("on", least=0.1, minus="off", of="mean"),),
        "Off sometimes hides a whole entity by chance: with twice the steps, both find nearly all.",
    ),
    "bert_both_sides": Experiment(
        "bert",
        "both sides are seen",
        "A symbol in the first half of a mirrored text is hidden. Off: cells only see what is to their left.",
        "share of hidden symbols found",
        bert,
        (Bar("on", least=0.95), Bar("off", most=0.15)),
        "Chance: 1/16.",
    ),
    "ernie_entities": Experiment(
        "ernie",
        "an entity is hidden as a whole (so are words in wwm and nezha)",
        "Two distant cues determine an entity of three symbols; each symbol gives the others away. "
        "Off: only one symbol is hidden.",
        "share of symbols found when the whole entity is hidden",
        ernie,
        (Bar("on", least=0.95), Bar("off", most=0.1)),
        "Off never hides a whole entity, which random masks rarely do. It finds a third of the symbols, more than its "
        "bar allows: the gain of 0.64 and more is shown, not that nothing is found without it.",
    ),
    "roberta_masks": Experiment(
        "roberta",
        "masks are drawn anew in every epoch",
        "The same 96 texts, chains over 16 symbols, in every epoch. Off: the same masks each time.",
        "loss on held-out texts",
        roberta,
        (Bar("off", least=1.5, minus="on"),),
        "There is no early stopping, so off overfits completely.",
    ),
    "spanbert_boundary": Experiment(
        "spanbert",
        "a span is predicted from its two neighbours",
        "Two hidden runs of three, each determined by a cue three positions to its left. Off: only the cloze.",
        "share of middle symbols that a linear probe finds from the two neighbours",
        spanbert,
        (Bar("on", least=0.95), Bar("off", most=0.8)),
        "With seed 2, off is above its bar: the cloze alone may leave most of a span in its neighbours. The gain is "
        "0.17 to 0.40.",
    ),
    "unilm_masks": Experiment(
        "unilm",
        "four masks in turn",
        "x_i = x_(i-1) + 1 or 2 modulo 12; the next symbol is predicted from the left only. "
        "Off: trained on both sides only, evaluated with the better of two masks.",
        "loss of the next symbol",
        unilm,
        (Bar("off", least=0.0, minus="on"), Bar("off", least=0.15, minus="on", of="mean")),
        f"No model can be better than log 2 = {np.log(2):.3f}.",
    ),
}

"""Learning: an encoder that reads and a decoder that says.

transformer   the second half of a text is its first half, reversed           positions: sinusoids, none
mass          a text is said twice, the second time is hidden                 the decoder reads the run, the whole
bart          sentences that count; trained on one noise, restored from all   own noise, the four others
pegasus       one of five sentences is a digest of the others                 the gap: what says most, random, the first
palm          the two symbols behind a marker, never seen in training         copied, said
palm          the second half of a text is its first half, reversed           after a cloze on the whole, at once
"""

from dataclasses import replace
from functools import partial

import numpy as np
import torch

from factpin.layers.masks import Ints, causal, full
from factpin.objectives import OBJECTIVES, READ, Batch, Objective, Text, View, Vocabulary, collate
from factpin.objectives.choose import Units
from factpin.objectives.gaps import How
from factpin.objectives.losses import Learner
from factpin.objectives.mass import MASS
from factpin.objectives.objective import Loss
from factpin.objectives.palm import Continue
from factpin.objectives.pegasus import Pegasus
from factpin.objectives.spoil import Rates
from factpin.objectives.tape import frame
from factpin.objectives.text import Chance
from factpin.objectives.view import NONE, stream
from proofs.experiment import Bar, Experiment, Figures
from proofs.school import (
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

ALL_MASKED = Rates(1.0, 0.0)
SAID = (Loss("words", "decoder"),)


def reversed_half(chance: Chance) -> Text:
    row = chance.integers(10, size=6)
    return text([*row, *row[::-1]])


def transformer(seed: int) -> Figures:
    v, row, found = words(10), OBJECTIVES["transformer"], {}
    for arm, positions in (("on", None), ("off", "none")):
        model = student(v, seed, row, positions=positions)
        taught(model, row, reversed_half, v, seed, steps=500)
        log_p, y = answers(model, held_out(row, reversed_half, v, seed), "decoder")
        found[arm] = float(right(log_p, y)[y != v.end].mean())
    return found


TWICE = 5


def twice(chance: Chance) -> Text:
    row = chance.integers(16, size=TWICE)
    return text([*row, *row])


def the_second_time(_: Units, __: int, ___: Chance) -> list[Ints]:
    return [np.arange(TWICE, 2 * TWICE)]


def from_the_beginning(x: Text, v: Vocabulary, chance: Chance) -> View:
    """MASS's view with a decoder that reads all that comes before."""
    view = MASS(the_second_time, rates=ALL_MASKED)(x, v, chance)
    f, n = frame([x], first=[v.cls], after=[v.sep]), len(x)
    asked = np.where(np.arange(n) >= TWICE, np.arange(n), NONE)
    sees = {"decoder": causal(n), "encoder": full(n, n + 2)}
    decoder = stream(f.tape.take(np.arange(n)), sees, answers=asked)
    return replace(view, streams={**view.streams, "decoder": decoder})


def mass(seed: int) -> Figures:
    v, found = words(16), {}
    for arm, declare in (("on", MASS(the_second_time, rates=ALL_MASKED)), ("off", from_the_beginning)):
        row = Objective(declare, SAID)
        model = student(v, seed, row)
        taught(model, row, twice, v, seed, steps=400)
        batch = held_out(row, twice, v, seed)
        with torch.no_grad():
            read = model.encoder(batch).hidden["encoder"]
        known, exchanged = (nll(*answers(model, batch, "decoder", e)).mean() for e in (read, read.roll(1, 0)))
        found[arm], found[f"{arm}, own encoder"] = float(exchanged - known), float(known)
    return found


NOISES = ("mask", "delete", "infill", "shuffle", "rotate")


def counting(chance: Chance) -> Text:
    """Three sentences, numbered, each counting on from a symbol of its own."""
    starts = chance.integers(12, size=3)
    rows = [[12 + k, *((start + np.arange(3)) % 12)] for k, start in enumerate(starts)]
    return text([symbol for row in rows for symbol in row], 4, 8)


def bart(seed: int) -> Figures:
    v = words(15)
    rows = {noise: OBJECTIVES[f"bart_{noise}"] for noise in NOISES}
    tests = {noise: held_out(row, counting, v, seed, count=128) for noise, row in rows.items()}
    loss = {}
    for learned, row in rows.items():
        model = student(v, seed, row)
        taught(model, row, counting, v, seed, steps=300)
        for noise, batch in tests.items():
            loss[learned, noise] = float(nll(*answers(model, batch, "decoder")).mean())
    found = {}
    for noise in NOISES:
        found[f"{noise}, own"] = loss[noise, noise]
        found[f"{noise}, others"] = float(np.mean([loss[other, noise] for other in NOISES if other != noise]))
    return found


def digested(chance: Chance) -> Text:
    """Four sentences of three symbols; a fifth has the first of each, anywhere in the text."""
    sentences = list(chance.permutation(48)[:12].reshape(4, 3))
    at = int(chance.integers(5))
    sentences.insert(at, np.array([one[0] for one in sentences]))
    return text(np.concatenate(sentences), *np.cumsum([len(one) for one in sentences])[:-1].tolist())


def gap_of(how: How) -> Objective:
    declare = Pegasus(how, 0.2, 0.2, Rates(1.0, 0.0, "group"), cloze=0.0)
    return replace(OBJECTIVES["pegasus"], declare=declare, losses=SAID)


def pegasus(seed: int) -> Figures:
    v, found = words(48), {}
    arms: dict[str, How] = {"on": "ind_orig", "random": "random", "lead": "lead"}
    drawn = views(gap_of("ind_orig"), digested, v, seed, HELD_OUT, some(256))
    digests = [view for view in drawn if len(view.streams["decoder"]) == 5]  # a digest is longer than the others
    for arm, how in arms.items():
        row = gap_of(how)
        model = student(v, seed, row)
        taught(model, row, digested, v, seed, steps=500)
        found[arm] = float(nll(*answers(model, collate(digests, v.pad), "decoder")).mean())
        chosen = views(row, digested, v, seed, HELD_OUT, some(256))
        found[f"{arm}, digests chosen"] = float(np.mean([len(view.streams["decoder"]) == 5 for view in chosen]))
    return found


MARKER, KNOWN, NEW = 0, 40, 20


def marked(chance: Chance, *, new: bool) -> Text:
    low, high = (1 + KNOWN, 1 + KNOWN + NEW) if new else (1, 1 + KNOWN)
    row = chance.permutation(np.arange(low, high))[:8]
    at = int(chance.integers(6))
    row[at] = MARKER
    return text([*row, *row[at + 1 : at + 3]])


def palm(seed: int) -> Figures:
    v, found = words(1 + KNOWN + NEW), {}
    for arm, head in (("on", Loss("copy", "decoder")), ("off", Loss("words", "decoder"))):
        row = Objective(Continue(0.8, None), (head,), positions="sinusoid")
        model = student(v, seed, row)
        taught(model, row, partial(marked, new=False), v, seed, steps=500)
        for test, new in (("", True), (", known symbols", False)):
            found[arm + test] = _copied(model, held_out(row, partial(marked, new=new), v, seed))
    return found


@torch.no_grad()
def _copied(model: Learner, batch: Batch) -> float:
    """The share of the two symbols that are said right, each behind the right ones."""
    labels = batch.streams["decoder"].labels
    said = [model.log_p(batch, "decoder", np.full(len(labels), cell)).argmax(dim=1).numpy() for cell in (0, 1)]
    return float((np.stack(said, 1) == labels[:, :2]).mean())


def palm_stages(seed: int) -> Figures:
    """Both arms have as many steps with the decoder."""
    v, found = words(10), {}
    cloze, row = OBJECTIVES["palm_cloze"], Objective(Continue(0.5), (*SAID, READ))
    asked = Objective(Continue(0.5, None), SAID)
    for arm, stages in (("on", ((cloze, 300), (row, 200))), ("off", ((row, 200),))):
        model = student(v, seed, cloze, row)
        for learned, steps in stages:
            taught(model.train(), learned, reversed_half, v, seed, steps=steps)
        found[arm] = float(nll(*answers(model, held_out(asked, reversed_half, v, seed), "decoder")).mean())
    return found


EXPERIMENTS = {
    "bart_noises": Experiment(
        "bart",
        "a network restores best what it was trained to restore",
        "Three numbered sentences that continue counting. Off, for each noise: the mean of the four other networks.",
        "loss of the restored text",
        bart,
        tuple(
            bar
            for noise in NOISES
            for bar in (Bar(f"{noise}, own", most=1.5), Bar(f"{noise}, others", least=0.0, minus=f"{noise}, own"))
        ),
    ),
    "mass_fragment": Experiment(
        "mass",
        "the decoder only reads the hidden run",
        "A text is repeated, and the repetition is hidden. Off: the decoder reads everything before it.",
        "increase of the loss when the encoder states of two texts are swapped",
        mass,
        (Bar("on", least=3.0),),
        "Off can rely on either side, so it has no bar.",
    ),
    "palm_copy": Experiment(
        "palm",
        "symbols of the source can be copied",
        "The two symbols after a marker are repeated; in the test they never occurred in training. Off: no copying.",
        "share of right symbols",
        palm,
        (Bar("on", least=0.8), Bar("off", most=0.05)),
    ),
    "palm_stages": Experiment(
        "palm",
        "the first stage is a cloze only",
        "The second half of a text is its first half, reversed; 200 steps with the decoder. Off: no first stage.",
        "loss of the second half",
        palm_stages,
        (Bar("off", least=0.3, minus="on", of="mean"),),
        "With twice the steps of the decoder, both are equal: the first stage saves steps but finds nothing new.",
    ),
    "pegasus_gaps": Experiment(
        "pegasus",
        "the sentence that says most about the others is removed",
        "One of five sentences is a digest of the others. Off: a random sentence; the first sentence.",
        "loss of the digest",
        pegasus,
        (
            Bar("random", least=0.2, minus="on"),
            Bar("lead", least=0.2, minus="on"),
            Bar("on, digests chosen", least=0.8),
        ),
        "The test is the task that on was trained on, so part of the gain is by construction.",
    ),
    "transformer_positions": Experiment(
        "transformer",
        "sinusoids encode positions",
        "The second half of a text is the first, reversed. Off: no positions.",
        "share of right symbols (teacher forcing)",
        transformer,
        (Bar("on", least=0.3, minus="off"),),
    ),
}

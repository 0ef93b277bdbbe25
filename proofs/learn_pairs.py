"""Learning: what is asked about two parts of a text, and what becomes of an old task when a new one comes.

    language   two sentences on one of four topics; the first opens with one of six symbols, the second with one of six
               others. A foreign sentence is a second one, on another topic.
    topic      does the second part follow (BERT)?      told by the words, not by the openings
    order      do the parts stand as they stood (ALBERT)?      told by the openings, not by the words

A probe reads the first cell of a frozen network, on pairs of its own.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import torch

from factpin.layers.masks import Ints
from factpin.objectives import OBJECTIVES, Batch, Objective, Text, pairs
from factpin.objectives.cloze import Cloze
from factpin.objectives.ernie import continual
from factpin.objectives.losses import Learner
from factpin.objectives.objective import Loss
from factpin.objectives.text import Chance
from proofs.experiment import Bar, Experiment, Figures
from proofs.school import (
    Floats,
    drawn,
    held_out,
    learn,
    probe,
    student,
    taught,
    text,
    words,
)

TOPICS, EACH, OPENINGS = 4, 6, 6
LENGTH = 6  # of a sentence
SYMBOLS = 2 * OPENINGS + TOPICS * EACH
PAIR = Loss("pair", "content", over="texts")
FOLLOWS, ORDER = OBJECTIVES["bert"], replace(OBJECTIVES["albert"], declare=Cloze(pair=pairs.sentence_order))


def on_a_topic(chance: Chance) -> Text:
    topic, other = (int(t) for t in chance.permutation(TOPICS)[:2])
    foreign = text(sentence(1, other, chance))
    return text([*sentence(0, topic, chance), *sentence(1, topic, chance)], LENGTH, foreign=foreign)


def sentence(opening: int, topic: int, chance: Chance) -> list[int]:
    """An opening of the first kind (0) or of the second (1), then symbols of a topic."""
    about = 2 * OPENINGS + EACH * topic + chance.integers(EACH, size=LENGTH - 1)
    return [OPENINGS * opening + int(chance.integers(OPENINGS)), *about.tolist()]


@torch.no_grad()
def first_cells(model: Learner, row: Objective, seed: int, part: int) -> tuple[Floats, Ints]:
    batch = held_out(row, on_a_topic, words(SYMBOLS), seed, count=400, part=part)
    return model.encoder(batch).hidden["content"][:, 0].double().numpy(), batch.pair


@cache  # two experiments read the same networks
def probes(arm: str, seed: int) -> Figures:
    """What a probe reads off the first cell after training: topic and order."""
    v = words(SYMBOLS)
    row = {"follows": FOLLOWS, "order": ORDER, "cloze": replace(FOLLOWS, losses=FOLLOWS.losses[:1])}[arm]
    model = student(v, seed, row)
    taught(model, row, on_a_topic, v, seed, steps=400)
    return {
        task: probe(*first_cells(model, asked, seed, 0), *first_cells(model, asked, seed, 1))
        for task, asked in (("topic", FOLLOWS), ("order", ORDER))
    }


def bert(seed: int) -> Figures:
    return {"on": probes("follows", seed)["topic"], "off": probes("cloze", seed)["topic"]}


def albert(seed: int) -> Figures:
    on, off = probes("order", seed), probes("follows", seed)
    return {"on": on["order"], "off": off["order"], "on, topic": on["topic"]}


OLD = Objective(Cloze(pair=pairs.sentence_order), (PAIR,))
NEW = Objective(Cloze(pair=pairs.next_sentence), (PAIR,), classes=3)  # a head of its own: heads are shared by classes


def ernie(seed: int) -> Figures:
    """Both tasks have 400 steps; in the off arm one after the other, in the on arm as `continual` shares them out."""
    v, total = words(SYMBOLS), 400
    apart: list[tuple[int, ...]] = [(total, 0), (0, total)]
    found = {}
    for arm, stages in (("on", continual([total, total])), ("off", apart)):
        model = student(v, seed, OLD, NEW)
        for number, share in enumerate(stages):  # each stage warms up and cools down by itself
            learn(model, _stage(share, seed, number), steps=sum(share))
        for task, row in (("", OLD), (", new task", NEW)):
            found[arm + task] = _accuracy(model, row, held_out(row, on_a_topic, v, seed))
    return found


def _stage(share: tuple[int, ...], seed: int, number: int) -> Iterator[tuple[Objective, Batch]]:
    """The task of a batch is drawn in proportion to its steps in this stage."""
    chance = np.random.default_rng([seed, 3, number])
    rows = {k: row for k, row in enumerate((OLD, NEW)) if share[k]}
    batches = {k: drawn(row, on_a_topic, words(SYMBOLS), seed, steps=share[k]) for k, row in rows.items()}
    for k in chance.permutation(np.repeat([0, 1], share)).tolist():
        yield rows[k], batches[k][int(chance.integers(len(batches[k])))]


@torch.no_grad()
def _accuracy(model: Learner, row: Objective, batch: Batch) -> float:
    h = model.encoder(batch).hidden["content"][:, 0]
    said = model.head.pairs[str(row.classes)](h).argmax(dim=-1).numpy()
    return float((said == batch.pair).mean())


EXPERIMENTS = {
    "albert_order": Experiment(
        "albert",
        "the order of two parts is predicted",
        "Two sentences on a topic, each with a typical opening. Off: predicts whether the second part follows.",
        "share of swapped pairs that a linear probe recognises at the first cell",
        albert,
        (Bar("on", least=0.95), Bar("off", most=0.75)),
    ),
    "bert_next_sentence": Experiment(
        "bert",
        "whether the second part follows is predicted",
        "Two sentences on a topic, or the second on another one. Off: only the cloze.",
        "share of foreign parts that a linear probe recognises at the first cell",
        bert,
        (Bar("on", least=0.95), Bar("off", most=0.9)),
    ),
    "ernie_continual": Experiment(
        "ernie",
        "an old task continues next to a new one",
        "First the order of parts, then whether the second follows; 400 steps each. Off: one after the other.",
        "share of orders predicted right at the end",
        ernie,
        (Bar("on", least=0.9), Bar("off", most=0.7)),
        "The first design had one learning rate schedule over both stages: off kept the old task, and did not learn "
        "the new one.",
        design=2,
    ),
}

"""Learning: what is asked about two parts of a text, and what becomes of an old task when a new one comes.

    language   two sentences on one of four topics; the first opens with one of six symbols, the second with one of six
               others. A foreign sentence is a second one, on another topic.
    topic      does the second part follow (BERT)?      told by the words, not by the openings
    order      are the parts in their order (ALBERT)?      told by the openings, not by the words

A probe reads the first cell of a frozen network, on pairs of its own.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import torch

from factpin.layers.masks import Ints
from factpin.objectives import OBJECTIVES, Batch, Objective, Text, pairs
from factpin.objectives.choose import Units
from factpin.objectives.cloze import Cloze
from factpin.objectives.ernie import continual
from factpin.objectives.losses import Learner
from factpin.objectives.objective import Loss
from factpin.objectives.spoil import Rates
from factpin.objectives.text import Chance
from proofs.experiment import Bar, Experiment, Figures
from proofs.school import (
    Floats,
    answers,
    drawn,
    held_out,
    learn,
    probe,
    right,
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


KINDS, FILLERS = 4, 8
ENTITY = np.arange(3, 6)
_OPEN, _FILL, _NAMES = 2 * KINDS, 2 * KINDS + 2 * OPENINGS, 2 * KINDS + 2 * OPENINGS + FILLERS
NAMES = _NAMES + len(ENTITY) * KINDS**2  # symbols of the language of two tasks


def named_in_two_sentences(chance: Chance) -> Text:
    """A cue in each of two sentences; together they name one of 16 entities of three symbols, in the first one."""
    a, b = (int(k) for k in chance.integers(KINDS, size=2))
    row = _FILL + chance.integers(FILLERS, size=2 * LENGTH)
    row[[0, LENGTH]] = _OPEN + np.array([0, OPENINGS]) + chance.integers(OPENINGS, size=2)
    row[1], row[-1] = a, KINDS + b
    row[ENTITY] = _NAMES + len(ENTITY) * (KINDS * a + b) + np.arange(len(ENTITY))
    return replace(text(row, LENGTH), entities=np.where(np.isin(np.arange(2 * LENGTH), ENTITY), 0, -1))


def the_entity(units: Units, _: int, __: Chance) -> list[Ints]:
    return [max(units, key=len)]


HIDDEN = Cloze(the_entity, "entities", rates=Rates(1.0, 0.0))
OLD = Objective(HIDDEN, (Loss("words", "content"),))
NEW = Objective(replace(HIDDEN, pair=pairs.sentence_order), (PAIR,))
SCHEDULES: dict[str, list[tuple[int, ...]]] = {  # steps of the old and of the new task in every stage
    "on": continual([400, 400]),
    "off": [(400, 0), (0, 400)],
    "at once": [(400, 400)],
}


def ernie(seed: int) -> Figures:
    """Both tasks have the same number of steps in every arm; each stage warms up and cools down by itself."""
    v, found = words(NAMES), {}
    for arm, stages in SCHEDULES.items():
        model = student(v, seed, OLD, NEW)
        for number, share in enumerate(stages):
            learn(model, _stage(share, seed, number), steps=sum(share))
        known = right(*answers(model, held_out(OLD, named_in_two_sentences, v, seed), "content"))
        found[arm] = float(known.mean())
        found[f"{arm}, new task"] = _accuracy(model, NEW, held_out(NEW, named_in_two_sentences, v, seed))
    return found


def _stage(share: tuple[int, ...], seed: int, number: int) -> Iterator[tuple[Objective, Batch]]:
    """The task of a batch is drawn in proportion to its steps in this stage."""
    chance, v = np.random.default_rng([seed, 3, number]), words(NAMES)
    rows = {k: row for k, row in enumerate((OLD, NEW)) if share[k]}
    batches = {k: drawn(row, named_in_two_sentences, v, seed, steps=share[k]) for k, row in rows.items()}
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
        "The old task finds an entity of three hidden symbols from two cues; the new one says whether the two "
        "sentences changed places. 400 steps each in every arm. Off: one after the other. At once: both from the "
        "start.",
        "share of the entity's symbols found at the end, and of orders",
        ernie,
        (
            Bar("on", least=0.9),
            Bar("on, new task", least=0.9),
            Bar("off", most=0.5),
            Bar("off, new task", least=0.9),
        ),
        "What the schedule promises is that nothing is forgotten when a task is added later; training both from the "
        "start does not forget either, and is not beaten here. In designs 1 and 2 the new task was not learned "
        "with all seeds, so they could not show anything.",
        design=3,
        fresh=10,
    ),
}

"""School: small networks learn a made-up language; what all learning experiments share.

    network    2 layers, width 32 or 64, no dropout; weights begin with a spread of 1 / √32, since a small network is
               short of steps, not of data
    optimiser  AdamW, 20 steps of warming up, then down to nothing in a line; gradients are cut to a norm of 1
    texts      text j of batch t has the chance of (seed, t, j), and so has its view; after BATCHES batches the first
               one is read again

Held-out texts are those of a batch that is never trained.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import cycle, islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.layers.masks import Ints
from factpin.objectives import Batch, Objective, Text, View, Vocabulary, collate
from factpin.objectives.electra import Electra
from factpin.objectives.fitting import fitted
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.text import Chance, chance_of
from factpin.objectives.view import NO_LOSS

Language = Callable[[Chance], Text]
Floats = NDArray[np.float64]

FIRST = 8  # the first ordinary id
BATCHES = 160  # drawn; then they are read again
HELD_OUT = 1 << 20  # the number of the batch of held-out texts
SENTINELS = 4
SMALL = NetworkConfig(1, width=32, layers=2, heads=4, inner=64, longest=64, dropout=0.0)
HEADS = HeadsConfig(offset_width=16)
WARM = 20
SHARE = 1.0  # of all steps and texts: a test that only wants to see an experiment run takes a small one


def words(count: int) -> Vocabulary:
    """`count` ordinary ids from FIRST on."""
    size = FIRST + count + SENTINELS
    sentinels = tuple(range(size - 1, size - 1 - SENTINELS, -1))
    return Vocabulary(size, pad=0, cls=1, sep=2, mask=3, gap=4, tail=5, start=6, end=7, sentinels=sentinels)


def text(ids: Sequence[int] | Ints, *ends: int, before: Sequence[int] | Ints = (), foreign: Text | None = None) -> Text:
    """A text of symbols 0, 1, …, each a word; `ends` of its sentences but the last."""
    row = FIRST + np.asarray(ids, np.int64)
    kept = FIRST + np.asarray(before, np.int64)
    return Text(row, np.arange(len(row)), np.array([*ends, len(row)]), before=kept, foreign=foreign)


def student(
    v: Vocabulary, seed: int, *rows: Objective, config: NetworkConfig = SMALL, positions: str | None = None
) -> Learner:
    """A network with the heads of these rows, and with their positions unless others are given."""
    torch.manual_seed(seed)
    config = replace(fitted(config, *rows), vocabulary=v.size)
    network = Network(config if positions is None else replace(config, positions=positions))
    model = Learner(network, Heads(HEADS, network.width, network.words, rows))
    spread(model)
    return model


def spread(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=SMALL.width**-0.5)


def views(row: Objective, language: Language, v: Vocabulary, seed: int, step: int, count: int) -> list[View]:
    drawn = []
    for j in range(count):
        x = language(chance_of(seed, step, j))
        drawn.append(row.view(x, v, seed=seed + 1, epoch=step, index=j))
    return drawn


def held_out(row: Objective, language: Language, v: Vocabulary, seed: int, *, count: int = 256, part: int = 0) -> Batch:
    """`part`: held-out texts of their own, for a probe that learns and is tested."""
    return collate(views(row, language, v, seed, HELD_OUT + part, some(count)), v.pad)


def some(count: int) -> int:
    """Of `count` texts, as many as SHARE leaves."""
    return max(24, int(SHARE * count))


def drawn(row: Objective, language: Language, v: Vocabulary, seed: int, *, steps: int, size: int = 32) -> list[Batch]:
    """The batches of a training of so many steps."""
    count = min(few(steps), BATCHES)
    return [collate(views(row, language, v, seed, t, size), v.pad) for t in range(count)]


def few(steps: int) -> int:
    return max(2, int(SHARE * steps))


def learn(
    model: Learner | Electra, batches: Iterable[tuple[Objective, Batch]], *, steps: int, rate: float = 3e-3
) -> None:
    """`batches` gives as many as there are steps, or more, each with its row."""
    steps = few(steps)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    for t, (row, batch) in enumerate(islice(batches, steps)):
        for group in optimiser.param_groups:
            group["lr"] = rate * min((t + 1) / WARM, (steps - t) / max(1, steps - WARM))
        optimiser.zero_grad()
        model(batch, row).total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    model.eval()


def taught(
    model: Learner | Electra, row: Objective, language: Language, v: Vocabulary, seed: int, *, steps: int
) -> None:
    """One row alone."""
    batches = drawn(row, language, v, seed, steps=steps)
    learn(model, cycle([(row, batch) for batch in batches]), steps=steps)


@torch.no_grad()
def answers(model: Learner, batch: Batch, stream: str, encoded: Tensor | None = None) -> tuple[Floats, Ints]:
    """log p (T, V) at every cell that is asked, text by text, and the labels (T,)."""
    states = model.encoder(batch, encoded=encoded)
    labels = batch.streams[stream].labels
    asked = labels != NO_LOSS
    logits = model.head.words(states.hidden[stream][torch.as_tensor(asked)], model.encoder.words.weight)
    found: Floats = log_softmax(logits, dim=-1).double().numpy()
    return found, labels[asked]


def nll(log_p: Floats, labels: Ints) -> Floats:
    """(T,)."""
    return -log_p[np.arange(len(labels)), labels]


def right(log_p: Floats, labels: Ints) -> NDArray[np.bool_]:
    """(T,)."""
    best: NDArray[np.bool_] = log_p.argmax(axis=1) == labels
    return best


def probe(train: Floats, labels: Ints, test: Floats, truth: Ints, *, ridge: float = 1e-2) -> float:
    """The accuracy of a linear reading of states (n, D): one ridge regression a class, the highest wins."""
    mean, scale = train.mean(axis=0), train.std(axis=0) + 1e-9
    x, z = ((np.column_stack([(one - mean) / scale, np.ones(len(one))])) for one in (train, test))
    classes = np.unique(labels)
    y = np.where(labels[:, None] == classes, 1.0, -1.0)
    w = np.linalg.solve(x.T @ x + ridge * len(x) * np.eye(x.shape[1]), x.T @ y)
    return float((classes[(z @ w).argmax(axis=1)] == truth).mean())

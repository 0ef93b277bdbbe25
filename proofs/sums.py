"""Sums: an autoregressive method is a distribution: the probabilities of all fillings of what is asked sum to one.

    Σ over fillings Π p(piece | what its cell may see) = 1

A network that sees what it is asked sums to something else: that is the control. A cloze asks independent questions, so
its product always sums to one, and proves nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import torch

from factpin.layers.masks import full
from factpin.objectives import OBJECTIVES, Objective, Text, View, Vocabulary, collate
from factpin.objectives.fitting import fitted
from factpin.objectives.glm import GLM
from factpin.objectives.gpt import behind_memory, left_to_right
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.mass import MASS
from factpin.objectives.mpnet import MPNet
from factpin.objectives.objective import Declare
from factpin.objectives.palm import Continue
from factpin.objectives.spoil import Rates
from factpin.objectives.t5 import T5
from factpin.objectives.text import Chance
from factpin.objectives.xlnet import XLNet
from proofs.compare import Compared
from proofs.leaks import TINY, network
from proofs.world import VOCABULARY, text

EXACT = 1e-12
IDS = [8, 9]  # every place is filled with either
ALL_MASKED = Rates(1.0, 0.0)
FACTORED: dict[str, tuple[Declare, str, int]] = {  # declaration, the stream that is asked, pieces
    "glm_token": (GLM(), "content", 12),
    "gpt": (left_to_right, "content", 6),
    "mass": (MASS(rates=ALL_MASKED), "decoder", 6),
    "mpnet": (MPNet(rates=ALL_MASKED), "query", 18),
    "palm_continue": (Continue(0.5, None), "decoder", 6),
    "t5": (T5(), "decoder", 18),
    "transformer": (Continue(0.5, None), "decoder", 6),
    "transformer_xl": (behind_memory, "content", 6),
    "xlnet": (XLNet(), "query", 18),
}


def sums_to_one(name: str) -> Iterator[Compared]:
    declare, asked_in, n = FACTORED[name]
    yield Compared("sum over all fillings", sum_over_fillings(OBJECTIVES[name], declare, asked_in, n), 1.0, EXACT)


def open_gpt(x: Text, vocabulary: Vocabulary, chance: Chance) -> View:
    """GPT whose cells see what they are asked."""
    view = left_to_right(x, vocabulary, chance)
    return replace(view, streams={"content": replace(view.streams["content"], sees={"content": full(len(x))})})


def open_gpt_does_not() -> Iterator[Compared]:
    off = abs(sum_over_fillings(OBJECTIVES["gpt"], open_gpt, "content", 6) - 1)
    yield Compared("a network that sees what it is asked is off by more than 0.001", off > 1e-3, True)


@torch.no_grad()
def sum_over_fillings(row: Objective, declare: Declare, asked_in: str, n: int) -> float:
    """Where the decoder copies, the pieces it copies from are among the two ids."""
    base = text(n, 3, ids=np.full(n, IDS[0]), before=3)
    answers = _view(declare, base).streams[asked_in].answers
    places = answers[(answers >= 0) & (answers < n)]
    views = []
    for filling in product(IDS, repeat=len(places)):
        filled = base.ids.copy()
        filled[places] = filling
        views.append(_view(declare, text(n, 3, ids=filled, before=3)))
    batch = collate(views, VOCABULARY.pad)
    run = network(fitted(TINY, row))
    learner = Learner(run, Heads(HeadsConfig(), run.width, run.words, [row])).double().eval()
    total = torch.zeros(len(views), dtype=torch.float64)
    labels = batch.streams[asked_in].labels
    for cell in np.flatnonzero(np.isin(labels, IDS).all(axis=0)):  # every filling asks in the same cells
        logs = learner.log_p(batch, asked_in, np.full(len(views), cell))
        logs = torch.log_softmax(logs[:, IDS], dim=-1)
        total += logs.gather(1, torch.as_tensor(labels[:, cell : cell + 1]) - IDS[0])[:, 0]
    return float(total.exp().sum())


def _view(declare: Declare, x: Text) -> View:
    return declare(x, VOCABULARY, np.random.default_rng(4))

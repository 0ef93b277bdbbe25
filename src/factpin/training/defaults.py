"""Defaults that depend on what is trained: the rate on the encoder's width, epochs and batches on the corpus.

recipes/defaults.py measures them on eight corpora beside tuned settings and a plain tagger.
"""

import math
from dataclasses import replace

from factpin.training.config import BATCH, TrainConfig

SMALL = 640  # encoders narrower than this learn at SMALL_RATE: all of the catalogue but those of BERT-base's width
SMALL_RATE, BASE_RATE = 2e-4, 5e-5
EPOCHS = 5
STEPS = 1200  # at least, so that a few hundred texts are read often enough
TOKENS = 1024  # of a batch, about: a step of long documents takes as long as one of sentences
EVALUATIONS = 20  # at most, where epochs are short


def default_rate(width: int) -> float:
    """The learning rate of an encoder of that width."""
    return SMALL_RATE if width < SMALL else BASE_RATE


def default_batch(tokens: float) -> int:
    """The batch size for texts of so many tokens on average."""
    return min(BATCH, max(2, round(TOKENS / max(tokens, 1))))


def settle(how: TrainConfig, width: int, examples: int, processes: int = 1, tokens: float = 0) -> TrainConfig:
    """The config with every default that depends on the encoder or on the examples filled in; tokens: of one."""
    rate = how.learning_rate or default_rate(width)
    batch = how.batch_size or default_batch(tokens)
    settled = replace(how, batch_size=batch, learning_rate=rate, head_learning_rate=how.head_learning_rate or 10 * rate)
    if how.epochs is not None:
        return settled
    steps = max(1, math.ceil(examples / (batch * how.accumulation * processes)))  # of an epoch
    epochs = max(EPOCHS, math.ceil(STEPS / steps))
    often = math.ceil(epochs * steps / EVALUATIONS) if epochs > EVALUATIONS else None
    return replace(
        settled,
        epochs=epochs,
        evaluate_every=how.evaluate_every or often,
        save_every=how.save_every or often,
    )

"""Defaults that follow from the encoder and the corpus, and what a run says when it ends badly."""

import pytest

from factpin.training.advice import advise
from factpin.training.config import TrainConfig
from factpin.training.defaults import BASE_RATE, EPOCHS, SMALL_RATE, STEPS, settle


def test_the_rate_follows_the_width_and_a_given_rate_stays() -> None:
    assert settle(TrainConfig(), 384, 1000).learning_rate == SMALL_RATE
    assert settle(TrainConfig(), 768, 1000).learning_rate == BASE_RATE
    given = settle(TrainConfig(learning_rate=1e-3), 768, 1000)
    assert (given.learning_rate, given.head_learning_rate) == (1e-3, 1e-2)
    assert settle(TrainConfig(head_learning_rate=1e-3), 384, 1000).head_learning_rate == 1e-3


@pytest.mark.parametrize(("examples", "epochs"), [(22, 300), (600, 16), (100_000, EPOCHS)])
def test_small_corpora_are_read_more_often(examples: int, epochs: int) -> None:
    settled = settle(TrainConfig(), 384, examples)
    assert settled.epochs == epochs and epochs * -(-examples // 16) >= STEPS
    often = settled.evaluate_every
    assert often is None if epochs == EPOCHS or epochs <= 20 else often == 30


def test_epochs_that_are_asked_for_are_kept() -> None:
    assert settle(TrainConfig(epochs=1), 384, 22) == TrainConfig(
        epochs=1, batch_size=16, learning_rate=SMALL_RATE, head_learning_rate=10 * SMALL_RATE
    )


def test_long_texts_get_small_batches() -> None:
    assert [settle(TrainConfig(), 384, 100, tokens=tokens).batch_size for tokens in (20, 64, 300, 5000)] == [
        16,
        16,
        3,
        2,
    ]
    assert settle(TrainConfig(batch_size=8), 384, 100, tokens=5000).batch_size == 8
    assert settle(TrainConfig(), 384, 800, tokens=300).epochs == EPOCHS  # 267 steps of 3 texts in an epoch


def test_a_run_that_learned_nothing_says_why() -> None:
    noted = {"mentions": 100, "unalignable": 2}
    assert advise({"scores": {"f1": 0.5}, "steps": 9, "noted": noted}) == []
    assert "no dev set" in advise({"scores": {}, "steps": 9, "noted": noted})[0]
    assert "9 steps only" in advise({"scores": {"f1": 0.01}, "steps": 9, "noted": noted})[0]
    assert "--learning-rate" in advise({"scores": {"f1": 0.01}, "steps": 900, "noted": noted})[0]
    lost = {"scores": {"f1": 0.01}, "steps": 900, "noted": {"facts": 10, "not_taught": 8}}
    assert "8 of 10 annotations" in advise(lost)[0]

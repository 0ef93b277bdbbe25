"""Defaults that follow from the encoder and the corpus, and what a run says when it ends badly."""

import pytest

from factpin.documents import Document, Entity, Event, Fact, Mention
from factpin.training.advice import advise, unseen_labels
from factpin.training.config import TrainConfig
from factpin.training.defaults import BASE_RATE, EPOCHS, SMALL_RATE, STEPS, settle


def test_the_rate_follows_the_width_and_a_given_rate_stays() -> None:
    assert settle(TrainConfig(), 384, 1000).learning_rate == SMALL_RATE
    assert settle(TrainConfig(), 768, 1000).learning_rate == BASE_RATE
    given = settle(TrainConfig(learning_rate=1e-3), 768, 1000)
    assert (given.learning_rate, given.head_learning_rate) == (1e-3, 1e-2)
    assert settle(TrainConfig(head_learning_rate=1e-3), 384, 1000).head_learning_rate == 1e-3


@pytest.mark.parametrize(("examples", "epochs"), [(22, 600), (600, 32), (100_000, EPOCHS)])
def test_small_corpora_are_read_more_often(examples: int, epochs: int) -> None:
    settled = settle(TrainConfig(), 384, examples)
    assert settled.epochs == epochs and epochs * -(-examples // 16) >= STEPS
    assert settled.evaluate_every == {22: 60, 600: 61, 100_000: None}[examples]  # about twenty times


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
    few = settle(
        TrainConfig(), 384, 50, tokens=200
    )  # a few abstracts: as many steps as few sentences, not as many texts
    assert (few.batch_size, few.epochs) == (5, 120)


def test_a_run_that_learned_nothing_says_why() -> None:
    noted = {"mentions": 100, "unalignable": 2}
    assert advise({"scores": {"f1": 0.5}, "steps": 9, "noted": noted}) == []
    assert "no dev set" in advise({"scores": {}, "steps": 9, "noted": noted})[0]
    assert "9 steps only" in advise({"scores": {"f1": 0.01}, "steps": 9, "noted": noted})[0]
    assert "--learning-rate" in advise({"scores": {"f1": 0.01}, "steps": 900, "noted": noted})[0]
    other = {"scores": {"f1": 0.0}, "steps": 9, "noted": noted, "dev_annotations": 10, "dev_unseen": 8}
    assert "8 of 10 annotations of dev have labels that the training corpus does not have" in advise(other)[0]
    lost = {"scores": {"f1": 0.01}, "steps": 900, "noted": {"facts": 10, "not_taught": 8}}
    assert "8 of 10 annotations" in advise(lost)[0]


def test_labels_of_dev_that_training_lacks_are_counted() -> None:
    def doc(label: str) -> Document:
        mentions = (Mention("m0", 0, 1, "A", label), Mention("m1", 2, 3, "B", "place"))
        entities = (Entity("e0", ("m0",)), Entity("e1", ("m1",)))
        fact, event = Fact("e0", label, "e1"), Event("v0", label)
        return Document("d", "A B", mentions=mentions, entities=entities, facts=(fact,), events=(event,))

    for finds, whole in (("mentions", 2), ("facts", 1), ("events", 1)):
        assert unseen_labels([doc("a")], [doc("b")], finds) == {"dev_annotations": whole, "dev_unseen": 1}
        assert unseen_labels([doc("a")], [doc("a")], finds)["dev_unseen"] == 0
    assert unseen_labels([doc("a")], [doc("b")], "entities") == {"dev_annotations": 0, "dev_unseen": 0}


def test_advice_does_not_say_that_a_dev_set_is_missing_where_there_is_one() -> None:
    """A judge is not scored on questions whose texts fit at once."""
    (said,) = advise({"scores": {}, "steps": 9, "noted": {}, "dev": 12})
    assert "there is no dev set" not in said and "nothing in the dev set can judge it" in said


def test_other_figures_than_f1_may_be_near_zero_too() -> None:
    run = {"steps": 900, "noted": {}, "dev": 4, "train": 9}
    assert "mean F1 of the labels 1.0 on dev" in advise({**run, "scores": {"accuracy": 0.5, "macro_f1": 0.01}})[0]
    assert "recall 2.0 on dev" in advise({**run, "scores": {"recall": 0.02}})[0]
    assert advise({**run, "scores": {"recall": 0.9}}) == []


def test_what_could_not_be_taught_is_counted_for_questions_and_documents_too() -> None:
    run = {"scores": {"f1": 0.0}, "steps": 900, "dev": 4}
    reader = advise({**run, "train": 20, "noted": {"questions": 20, "not_taught": 15}})
    assert "15 of 20 training questions could not be learned" in reader[0]
    facts = advise({**run, "train": 3, "noted": {"facts": 30, "not_asked": 28, "unknown": 0}})
    assert "28 of 30 annotations could not be learned" in facts[0]

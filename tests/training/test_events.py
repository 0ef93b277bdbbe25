"""Events end to end on a small world: learned, kept, found again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

import factpin
from factpin import formats
from factpin.corpora.evaluate import evaluate
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.scoring import align, events
from factpin.scoring.counts import total
from factpin.tasks.events.task import EVENTS, EventOptions
from factpin.tasks.events.tune import event_candidates, tune
from factpin.tasks.fit import fit_scale
from factpin.tasks.spans import Scale
from factpin.training.config import TrainConfig
from factpin.training.run import run_training
from tests.app.test_cli import factpin as command
from tests.events_corpus import corpus

QUICK = TrainConfig(epochs=30, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    from factpin.encoders import small_encoder
    from factpin.tokens.small import build_tokenizer

    torch.manual_seed(0)
    root = tmp_path_factory.mktemp("events")
    tokenizer = build_tokenizer([doc.text for doc in corpus(99, 1)], vocab_size=400)
    small_encoder(tokenizer.vocab_size, width=48, layers=2, max_length=64, tokenizer=tokenizer).save(root / "encoder")
    config = EventOptions(str(root / "encoder"), dropout=0.0)
    report = run_training(EVENTS, corpus(99, 1), corpus(44, 2), config, QUICK, root / "m", quiet=True)
    assert report["scores"]["f1"] > 0.8
    assert report["noted"]["events"] == sum(len(doc.events) for doc in corpus(99, 1))
    return root / "m"


def test_evaluation_is_equal_in_training_and_by_the_command_line_in_duee_s_shape(folder: Path, tmp_path: Path) -> None:
    dev = corpus(44, 2)
    formats.write([replace(doc, sentences=()) for doc in dev], tmp_path / "dev.json", format="duee")
    done = command("predict", folder, tmp_path / "dev.json", tmp_path / "out.jsonl", "--from", "duee")
    assert done.returncode == 0
    report = evaluate(formats.read(tmp_path / "out.jsonl"), dev)
    assert report["task"] == "events"
    assert report["strict"]["f1"] == orjson.loads((folder / "metrics.json").read_bytes())["f1"]


def test_an_event_is_pinned_and_scored(folder: Path) -> None:
    doc = corpus(1, 3)[0]
    (found,) = factpin.load(folder).extract([doc.text])
    (event,) = found.events
    assert event.type == "裁员" and event.score is not None and 0 <= event.score <= 1
    assert event.trigger is not None and found.mention(event.trigger).text == "裁员"
    for m in found.mentions:
        assert found.text[m.start : m.end] == m.text
    assert found.coverage is not None and found.coverage.notes


def test_the_scale_is_fitted_on_the_score_of_every_event_that_is_told(folder: Path) -> None:
    extractor, dev = factpin.load(folder), corpus(44, 2)
    extractor.settings = replace(extractor.settings, temperature=1.0, shift=0.0)
    found, told = event_candidates(extractor, dev), [e for doc in extractor.annotate(dev) for e in doc.events]
    assert sorted(Scale().probability(x) for x in found.score) == sorted(e.score for e in told if e.score is not None)
    whole = total(events.score(align(extractor.annotate(dev), dev).pairs).rows["event"])
    assert (len(found.score), found.right.sum(), found.gold.sum()) == (whole.predicted, whole.tp, whole.gold)
    tuned = tune(extractor, dev)
    assert Scale(tuned.temperature, tuned.shift) == fit_scale(found, np.array([-np.inf])) != Scale()


def test_the_surest_events_are_not_left_out_of_the_scale(folder: Path) -> None:
    sure, dev = factpin.load(folder), corpus(44, 2)
    for name, weight in sure.model.head.named_parameters():  # every score is a product of two of these
        weight.data *= 3.0 if "spans" in name else 2.0
    found = event_candidates(sure, dev)
    assert len(found.score) == sum(len(doc.events) for doc in sure.annotate(dev))
    assert sum(Scale().probability(score) == 1.0 for score in found.score) > 10  # to four digits


def test_documents_without_events_are_refused(encoder_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no event"):
        run_training(
            EVENTS, [Document("d", "x")], [], EventOptions(str(encoder_folder)), QUICK, tmp_path / "m", quiet=True
        )

"""Coreference end to end on a small world: a scorer learns what no rule can know, is kept, and is found again."""

import random
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

import factpin
from factpin import formats
from factpin.corpora.evaluate import evaluate
from factpin.documents import Document, Entity, Mention
from factpin.errors import BadInput
from factpin.language.coreference import resolve, with_singletons
from factpin.tasks.coreference.task import COREFERENCE, CoreferenceOptions
from factpin.training.run import run_training, tune
from tests.app.test_cli import factpin as command
from tests.models.small_coreference import QUICK, corpus, partition, small_encoder_folder


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_encoder_folder(tmp_path_factory.mktemp("coreference"))


@pytest.fixture(scope="module")
def folder(encoder_folder: Path) -> Path:
    target = encoder_folder.parent / "model"
    options = CoreferenceOptions(str(encoder_folder), size=32)
    report = run_training(COREFERENCE, corpus(60, 1), corpus(30, 2), options, QUICK, target, quiet=True)
    assert report["scores"]["f1"] > 0.95 and list(report["scores"]) == ["f1", "muc", "b_cubed", "ceaf_e", "rules_f1"]
    assert report["noted"]["mentions"] == sum(len(doc.mentions) for doc in corpus(60, 1))
    assert report["noted"]["unread_mentions"] == report["noted"]["beyond_candidates"] == 0
    return target


def test_the_scorer_beats_the_rules_on_names_that_no_rule_knows(folder: Path) -> None:
    held = corpus(30, 3)
    rules = evaluate(map(resolve, held), held, task="coreference")
    found = evaluate(factpin.load(folder).annotate(held), held, task="coreference")
    assert rules["coreference"]["mean_f1"] < 0.9 < found["coreference"]["mean_f1"]


def test_evaluation_is_equal_in_training_after_reload_and_by_the_command_line(folder: Path, tmp_path: Path) -> None:
    dev = corpus(30, 2)
    formats.write(dev, tmp_path / "dev.jsonl")
    assert command("predict", folder, tmp_path / "dev.jsonl", tmp_path / "out.jsonl").returncode == 0
    report = evaluate(formats.read(tmp_path / "out.jsonl"), dev, task="coreference")
    written = orjson.loads((folder / "metrics.json").read_bytes())
    assert report["coreference"]["mean_f1"] == pytest.approx(written["f1"], abs=1e-12)
    assert report["coreference"]["ceaf_e"]["f1"] == pytest.approx(written["ceaf_e"], abs=1e-12)


def test_what_the_rules_alone_reach_stands_beside_the_scorer(folder: Path) -> None:
    dev = corpus(30, 2)
    rules = evaluate(map(resolve, dev), dev, task="coreference")["coreference"]["mean_f1"]
    written = orjson.loads((folder / "metrics.json").read_bytes())
    assert written["rules_f1"] == pytest.approx(rules, abs=1e-12) and rules < written["f1"]
    assert f"| rules_f1 | {rules:.4f} |" in (folder / "card.md").read_text(encoding="utf-8")


def test_a_scorer_that_does_not_help_on_dev_is_silent(folder: Path) -> None:
    model, config = factpin.load(folder), CoreferenceOptions("")
    alone = [
        with_singletons(replace(resolve(doc), facts=())) for doc in corpus(10, 4)
    ]  # nothing but what the rules say
    tune(model, alone, config)
    assert (model.settings.thresholds, model.settings.task_config) == ({"same entity": 2.0}, {"keep": 0.0})
    other = corpus(5, 5)
    assert [partition(doc) for doc in model.annotate(other)] == [partition(resolve(doc)) for doc in other]


def test_entities_that_the_document_brought_tell_nothing(folder: Path) -> None:
    model, (doc,) = factpin.load(folder), corpus(1, 9)
    bare = replace(doc, entities=())
    (one,), (other,) = model.annotate([doc]), model.annotate([bare])
    assert partition(one) == partition(other) == partition(doc) and one.mentions == doc.mentions


def test_a_long_document_is_read_to_its_end(folder: Path) -> None:
    (came,) = corpus(1, 9, filling="Nobody spoke. " * 300)
    (doc,) = factpin.load(folder).annotate([came])
    assert doc.coverage is not None and len(doc.coverage.read) > 10 and not doc.coverage.unread
    assert partition(doc) == partition(came)


def test_rdrop_trains_and_every_score_is_finite(encoder_folder: Path, tmp_path: Path) -> None:
    how = replace(QUICK, epochs=1, rdrop=1.0)
    report = run_training(COREFERENCE, corpus(8, 1), corpus(4, 2), CoreferenceOptions(str(encoder_folder)), how,
                               tmp_path / "m", quiet=True)  # fmt: skip
    assert all(0 <= value <= 1 for value in report["scores"].values())


def test_documents_without_pairs_are_counted_and_those_without_clusters_refused(
    encoder_folder: Path, tmp_path: Path
) -> None:
    alone = Document("a", "Rome.", mentions=(Mention("m", 0, 4, "Rome"),), entities=(Entity("e", ("m",)),))
    config = CoreferenceOptions(str(encoder_folder))
    with pytest.raises(BadInput, match="nothing to gather"):
        run_training(COREFERENCE, [alone], [], config, QUICK, tmp_path / "m", quiet=True)
    report = run_training(
        COREFERENCE, [alone, *corpus(4, 1)], [], config, replace(QUICK, epochs=1), tmp_path / "n", quiet=True
    )
    assert report["noted"]["documents_without_pairs"] == 1


def test_order_of_mentions_and_their_ids_change_nothing(folder: Path) -> None:
    model, (doc,) = factpin.load(folder), corpus(1, 9)
    shuffled = list(doc.mentions)
    random.Random(1).shuffle(shuffled)
    (one,), (other,) = model.annotate([doc]), model.annotate([replace(doc, mentions=tuple(shuffled), entities=())])
    assert partition(one) == partition(other)

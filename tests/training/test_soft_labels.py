"""A teacher's soft labels: what it says, whoever learns it; a second stage that starts where the first ended."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from factpin.documents import Document
from factpin.errors import BadInput
from factpin.models.extractor import Extractor
from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
from factpin.training.config import TrainConfig
from factpin.training.job import TaskJob
from factpin.training.run import run_training, start
from factpin.training.soft_labels import NEVER, SoftLabels, soft_labels
from tests.training.test_document_relations import corpus, save_encoder

SHORT = TrainConfig(epochs=1, batch_size=4, learning_rate=1e-3, head_learning_rate=1e-3, seed=3)


def config(encoder: Path, **change: object) -> RelationOptions:
    made = RelationOptions(str(encoder), size=16, group=8, dropout=0.0)
    return replace(made, **change)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("taught") / "small")


@pytest.fixture(scope="module")
def teacher(encoder: Path) -> Path:
    """A model with opinions, which nobody taught it."""
    extractor = start(DOCUMENT_RELATIONS, config(encoder), corpus(8, 1), 5)
    with torch.no_grad():
        extractor.model.head.bilinear.weight.mul_(20)
    extractor.settings = replace(extractor.settings, thresholds={"born in": 0.25})
    folder = encoder.parent / "teacher"
    extractor.save(folder)
    return folder


def bare(documents: list[Document]) -> list[Document]:
    return [replace(doc, facts=()) for doc in documents]


def test_soft_labels_are_the_teachers_margins_above_its_own_threshold(teacher: Path) -> None:
    documents = corpus(5, 2)
    extractor = Extractor.load(teacher)
    finder: Any = extractor.finder
    found = finder.score([extractor.read(doc) for doc in documents], extractor.predict)
    for labels, (y, scores) in zip(soft_labels(str(teacher), documents), found, strict=True):
        assert scores is not None and y.fits().all()
        for p, (h, t) in enumerate(zip(scores.head.tolist(), scores.tail.tolist(), strict=True)):
            expected = torch.from_numpy(scores.s[p, 1:] - scores.s[p, 0]) - 0.25
            torch.testing.assert_close(labels.margins[labels.row[h, t]].float(), expected, atol=5e-3, rtol=2e-3)
        assert int((labels.row >= 0).sum()) == len(scores.s)


def test_pairs_that_the_teacher_does_not_ask_have_no_relation(teacher: Path, encoder: Path) -> None:
    documents = corpus(3, 2)
    everything = config(encoder, teacher=str(teacher), types=False)  # the teacher asks persons about places alone
    job = TaskJob(start(DOCUMENT_RELATIONS, everything, documents, 1), documents, [], everything)
    inputs, gold = job.batch([0])
    m = gold[0].teaching.margins
    asked, told = inputs.documents[0].targets, job.soft[0].row >= 0
    assert m.shape == (12, 1) and bool((m[~told[asked.head, asked.tail]] == NEVER).all())
    assert int(told.sum()) == 4 and bool((m[told[asked.head, asked.tail]] > NEVER).all())


def test_a_copy_of_the_teacher_has_nothing_to_learn_and_another_model_comes_to_agree(
    teacher: Path, encoder: Path
) -> None:
    learned = config(encoder, teacher=str(teacher), teacher_weight=1.0, initial=str(teacher))
    documents = bare(corpus(4, 2))
    plain = Extractor.load(teacher)
    plain.settings = replace(plain.settings, thresholds={})
    plain.save(teacher.parent / "plain")
    same = replace(learned, teacher=str(teacher.parent / "plain"))
    job = TaskJob(start(DOCUMENT_RELATIONS, same, documents, 1), documents, [], same)
    job.model.eval()
    with torch.no_grad():
        assert job.model.loss(job.batch([0, 1, 2, 3])).item() == pytest.approx(0.0, abs=1e-5)
    fresh = replace(learned, initial="", teacher_temperature=2.0)
    job = TaskJob(start(DOCUMENT_RELATIONS, fresh, documents, 1), documents, [], fresh)
    steps = torch.optim.Adam(job.model.parameters(), 3e-3)
    losses = []
    for _ in range(25):
        steps.zero_grad()
        loss = job.model.loss(job.batch([0, 1, 2, 3]))
        loss.backward()
        steps.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 5 and losses[0] > 0.05


def test_the_loss_is_the_weighted_mean_of_labels_and_teacher(teacher: Path, encoder: Path) -> None:
    documents = corpus(4, 2)

    def loss(weight: float, negatives: float = 1.0) -> float:
        own = config(encoder, teacher=str(teacher), teacher_weight=weight, negatives=negatives)
        job = TaskJob(start(DOCUMENT_RELATIONS, own, documents, 1), documents, [], own)
        job.model.eval()
        torch.manual_seed(0)
        with torch.no_grad():
            return float(job.model.loss(job.batch([0, 1, 2, 3])))

    assert loss(0.3) == pytest.approx(0.7 * loss(0.0) + 0.3 * loss(1.0), rel=1e-5)
    assert loss(0.3, 0.5) == pytest.approx(0.7 * loss(0.0, 0.5) + 0.3 * loss(1.0, 0.5), rel=1e-5) != loss(0.3)


def test_documents_without_facts_are_a_first_stage_and_annotated_ones_the_second(
    teacher: Path, encoder: Path, tmp_path: Path
) -> None:
    first = config(encoder, teacher=str(teacher), teacher_weight=1.0)
    report = run_training(DOCUMENT_RELATIONS, bare(corpus(8, 2)), [], first, SHORT, tmp_path / "first", quiet=True)
    assert report["labels"] == ["born in"] and report["steps"] == 2
    second = config(encoder, initial=str(tmp_path / "first"))
    begun, ended = start(DOCUMENT_RELATIONS, second, corpus(8, 1), 9).model, Extractor.load(tmp_path / "first").model
    for name, weight in begun.state_dict().items():
        torch.testing.assert_close(weight, ended.state_dict()[name], atol=0, rtol=0)
    run_training(DOCUMENT_RELATIONS, corpus(8, 1), corpus(4, 3), second, SHORT, tmp_path / "second", quiet=True)
    one, two = (Extractor.load(tmp_path / name) for name in ("first", "second"))
    assert one.settings.task_config["schema"] == two.settings.task_config["schema"] != {}
    assert not torch.equal(one.model.head.bilinear.weight, two.model.head.bilinear.weight)


def test_teachers_and_beginnings_that_do_not_fit_are_refused(teacher: Path, encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"do not fit this run .*size, group"):
        start(DOCUMENT_RELATIONS, config(encoder, initial=str(teacher), size=32), corpus(4, 1), 1)
    other = Extractor.load(teacher)
    other.settings = replace(other.settings, labels=("went to",))
    other.save(tmp_path / "other")
    with pytest.raises(BadInput, match="different relations"):
        start(
            DOCUMENT_RELATIONS, config(encoder, initial=str(teacher), teacher=str(tmp_path / "other")), corpus(4, 1), 1
        )
    other.settings = replace(other.settings, task="spans")
    other.save(tmp_path / "spans")
    with pytest.raises(BadInput, match="this is a model of spans"):
        start(DOCUMENT_RELATIONS, config(encoder, teacher=str(tmp_path / "spans")), corpus(4, 1), 1)
    for change in ({"negatives": 1.5}, {"teacher_weight": -0.1}, {"teacher_temperature": 0.0}):
        with pytest.raises(BadInput, match=next(iter(change))):
            config(encoder, **change)


def test_of_a_document_without_pairs_the_teacher_says_no_to_every_relation() -> None:
    none = SoftLabels(torch.full((3, 3), -1), torch.zeros(0, 5, dtype=torch.float16))
    asked: Any = SimpleNamespace(head=np.array([0, 1]), tail=np.array([1, 2]))
    assert none.of(asked, 6).tolist() == [[NEVER] * 6] * 2

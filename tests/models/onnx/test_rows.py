"""Tables of vectors that are stored as bytes are looked up as bytes, with the same numbers as whole tables have."""

from pathlib import Path

import numpy as np
import orjson
import pytest

import factpin
from factpin.errors import BadModel
from factpin.models.graphs.write import write_onnx
from factpin.models.onnx.folder import graph_weights
from factpin.models.onnx.graph import ROW_SCALES, ROWS, TABLE, read_graph
from factpin.models.onnx.session import feeds
from factpin.models.settings import read_settings
from factpin.models.weights import packed_weights, stored_weights
from tests.conftest import corpus
from tests.models.small_model import small_model


@pytest.fixture
def folder(encoder_folder: Path, tmp_path: Path) -> Path:
    """A model in int8 with a graph."""
    target = tmp_path / "model"
    factpin.load(small_model(encoder_folder)).save(target, "int8")
    write_onnx(target)
    return target


def test_a_table_in_int8_is_fed_as_it_is_stored(folder: Path) -> None:
    graph, _ = read_graph(folder)
    stored = packed_weights(folder)
    parts = {feed.part: (name, feed) for name, feed in graph.weights.items() if feed.part}
    assert parts.keys() == {ROWS, ROW_SCALES}
    fed = feeds(graph, graph_weights(folder, read_settings(folder), graph), folder)
    (rows, feed), (scales, _) = parts[ROWS], parts[ROW_SCALES]
    assert fed[rows].dtype == np.int8 and fed[scales].shape == (len(fed[rows]), 1)
    np.testing.assert_array_equal(fed[rows] * fed[scales], stored[feed.tensor])
    texts = [doc.text for doc in corpus(20, 5)]
    found = {name: factpin.load(folder, runtime=name).extract(texts, 0.0) for name in ("onnx", "torch")}
    assert sum(len(doc.mentions) for doc in found["onnx"]) > 10
    assert [[(m.start, m.end, m.type) for m in doc.mentions] for doc in found["onnx"]] == [
        [(m.start, m.end, m.type) for m in doc.mentions] for doc in found["torch"]
    ]


def test_weights_that_are_fed_whole_are_those_that_are_stored(folder: Path) -> None:
    graph, _ = read_graph(folder)
    fed = feeds(graph, packed_weights(folder), folder)
    stored = stored_weights(folder)
    for name, feed in graph.weights.items():
        if not feed.part:
            expected = stored[feed.tensor].T if feed.transposed else stored[feed.tensor]
            np.testing.assert_array_equal(fed[name], expected.reshape(feed.shape), err_msg=name)


def test_a_model_in_float32_has_whole_tables(encoder_folder: Path, tmp_path: Path) -> None:
    write_onnx(small_model(encoder_folder), tmp_path / "plain")
    assert not any(feed.part for feed in read_graph(tmp_path / "plain")[0].weights.values())


def test_a_full_graph_holds_the_bytes(folder: Path) -> None:
    import onnx

    report = write_onnx(folder, full=True)
    whole = onnx.load(report.full)
    assert all(tensor.data_location != onnx.TensorProto.EXTERNAL for tensor in whole.graph.initializer)


@pytest.mark.parametrize("change", [{"shape": [3, 1]}, {"tensor": "encoder.none"}])
def test_rows_of_another_model_are_refused(folder: Path, change: dict[str, object]) -> None:
    record = orjson.loads((folder / TABLE).read_bytes())
    row = next(feed for feed in record["weights"].values() if feed["part"] == ROWS)
    row.update(change)
    (folder / TABLE).write_bytes(orjson.dumps(record))
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(BadModel, match="The graph is of another model"):
        factpin.load(folder, runtime="onnx")

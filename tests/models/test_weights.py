"""Weights are read from the bytes of a file without a copy, and made into floats where they are asked for alone."""

from pathlib import Path

import numpy as np
import orjson
import pytest
import safetensors.numpy

from factpin.errors import BadModel
from factpin.models.weights import PackedWeights, digest, packed_weights, stored_digest, unpack

WEIGHTS = {
    "table": np.arange(-6, 6, dtype=np.int8).reshape(4, 3),
    "table.scale": np.array([[0.5], [1], [2], [4]], np.float16),
    "half": np.array([1.5, -2], np.float16),
    "whole": np.array(7, np.int64),
    "plain": np.arange(6, dtype=np.float32).reshape(2, 3),
    "none": np.zeros((0, 3), np.float32),
}


def test_bytes_are_read_as_the_library_reads_them() -> None:
    raw = safetensors.numpy.save(WEIGHTS, metadata={"format": "pt"})
    found, expected = unpack(raw), safetensors.numpy.load(raw)
    assert found.keys() == expected.keys()
    for name, w in expected.items():
        assert found[name].dtype == w.dtype
        np.testing.assert_array_equal(found[name], w)


@pytest.mark.parametrize(
    "row",
    [
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 20]},
        {"dtype": "F32", "shape": [-2, -3], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [40, 64]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [-24, 0]},
        {"dtype": "F32", "shape": [2.0, 3], "data_offsets": [0, 24]},
        {"dtype": "F31", "shape": [2, 3], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": None, "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [2, 3]},
        [],
    ],
)
def test_a_damaged_header_is_a_bad_model(row: object, tmp_path: Path) -> None:
    header = orjson.dumps({"w": row})
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(24))
    with pytest.raises(BadModel, match="cannot be loaded"):
        packed_weights(tmp_path)


@pytest.mark.parametrize("raw", [b"", b"\x00" * 8, b"\xff" * 40, (4).to_bytes(8, "little") + b"[1]  "])
def test_a_file_without_a_header_is_a_bad_model(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(raw)
    with pytest.raises(BadModel, match="cannot be loaded"):
        packed_weights(tmp_path)


def test_to_look_for_a_weight_does_not_make_it() -> None:
    class Unmade(PackedWeights):
        def __getitem__(self, name: str) -> np.ndarray:
            raise AssertionError(name)

    weights = Unmade(WEIGHTS)
    assert "table" in weights and "table.scale" not in weights and len(weights) == 5
    assert {"table", "other"} - weights.keys() == {"other"}


def test_floats_are_written_in_both_directions() -> None:
    weights = PackedWeights(WEIGHTS)
    for name in ("table", "plain"):
        for transposed in (False, True):
            expected = weights[name].T if transposed else weights[name]
            out = np.empty(expected.shape, np.float32)
            weights.write(name, out, transposed=transposed)
            np.testing.assert_array_equal(out, expected)


def test_weights_that_are_asked_for_are_copies() -> None:
    weights = PackedWeights(unpack(safetensors.numpy.save(WEIGHTS)))
    assert all(weights[name].flags.writeable for name in weights)


def test_a_digest_of_what_is_stored_is_told_from_one_of_floats() -> None:
    weights = PackedWeights(WEIGHTS)
    assert stored_digest(weights).startswith("stored:")
    assert stored_digest(weights) != f"stored:{digest(weights)}"
    assert stored_digest(weights.only({"plain"})) == f"stored:{digest(weights.only({'plain'}))}"

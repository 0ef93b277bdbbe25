"""The weights of a model folder, as arrays. No torch.

They may be stored in half precision, or as int8 with a scale for each row; here they are float32 again. Weights that a
model shares with the model of a folder beside it (`upon`) are read from there.
"""

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from factpin.errors import BadModel
from factpin.files import open_bytes
from factpin.tasks.settings import Settings

Weights = dict[str, NDArray[Any]]
AS_STORED = "stored:"  # before a digest of weights as they are stored; older ones are of the same in float32
TYPES = {
    "BOOL": np.bool_,
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "U8": np.uint8,
}  # of safetensors
SCALE = ".scale"  # the ending of the name of the scales of an int8 matrix


def stored_weights(folder: Path) -> Weights:
    """The weights that are stored in a folder."""
    try:
        return dict(packed_weights(folder))
    except KeyError as error:  # no scale
        raise damaged(folder, error) from None


class PackedWeights(Mapping[str, NDArray[Any]]):
    """The weights of a file as they are stored; one is float32 again when it is asked for, and is not kept."""

    def __init__(self, packed: Mapping[str, NDArray[Any]]) -> None:
        self.packed = dict(packed)
        self.names = [name for name in packed if not _is_scale(name, packed)]
        self._known = frozenset(self.names)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return _floats(name, self.packed)

    def __contains__(self, name: object) -> bool:
        return name in self._known  # a Mapping would make the weight to find out

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a weight."""
        return self.packed[name].shape

    def write(self, name: str, out: NDArray[np.float32], *, transposed: bool = False) -> None:
        """Write a weight, or its transpose, into an array of its shape."""
        w = self.packed[name]
        if w.dtype != np.int8:
            out[...] = w.T if transposed else w
            return
        scale = self.packed[f"{name}{SCALE}"].astype(np.float32)
        if transposed:
            w, scale = np.ascontiguousarray(w.T), scale.T  # bytes are turned faster than floats
        np.multiply(w, scale, out=out, dtype=np.float32)

    def only(self, names: Collection[str]) -> "PackedWeights":
        """Those of these names."""
        kept = {name for name in self.names if name in names}
        kept |= {f"{name}{SCALE}" for name in kept if _is_scale(f"{name}{SCALE}", self.packed)}
        return PackedWeights({name: w for name, w in self.packed.items() if name in kept})

    def together(self, others: "PackedWeights") -> "PackedWeights":
        """These and others, which give way where a name is in both."""
        return PackedWeights({**others.packed, **self.packed})


def packed_weights(folder: Path) -> PackedWeights:
    """The weights that are stored in a folder, which take a quarter of the memory until they are asked for."""
    try:
        with open_bytes(folder / "model.safetensors") as stream:
            return PackedWeights(unpack(stream.read()))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise damaged(folder, error) from None


def unpack(raw: bytes) -> Weights:
    """The arrays in the bytes of a safetensors file: read-only parts of these bytes, which are not copied."""
    start = 8 + int.from_bytes(raw[:8], "little")
    found: Weights = {}
    for name, row in orjson.loads(raw[8:start]).items():
        if name == "__metadata__":
            continue
        shape, (first, last) = row["shape"], row["data_offsets"]
        if any(type(n) is not int or n < 0 for n in (*shape, first, last)):
            raise ValueError(f"{name} has the shape {shape}")
        w = np.frombuffer(raw, TYPES[row["dtype"]], math.prod(shape), start + first).reshape(shape)
        if w.nbytes != last - first:
            raise ValueError(f"{name} is not as long as its shape says")
        found[name] = w
    return found


def shared_packed(folder: Path, settings: Settings, names: Collection[str]) -> PackedWeights:
    """The weights of these names in the folder that this model is based on."""
    if not settings.upon:
        return PackedWeights({})
    shared = packed_weights(folder.parent / settings.upon).only(names)
    _check_digest(folder, settings, shared)
    return shared


def shared_weights(folder: Path, settings: Settings, names: Collection[str]) -> Weights:
    """The same as float32."""
    return dict(shared_packed(folder, settings, names))


def _check_digest(folder: Path, settings: Settings, shared: PackedWeights) -> None:
    as_stored = settings.upon_digest.startswith(AS_STORED)
    if (stored_digest(shared) if as_stored else digest(shared)) != settings.upon_digest:
        raise BadModel(
            f"{folder}: it shares weights with {settings.upon!r} beside it, and these are not those that it "
            f"was made with. Copy both folders again, or train this model again."
        )


def stored_digest(weights: PackedWeights) -> str:
    """A digest of names and values as they are stored."""
    return AS_STORED + digest(weights.packed)


def digest(weights: Mapping[str, NDArray[Any]]) -> str:
    """A digest of names and values."""
    found = hashlib.sha256()
    for name in sorted(weights):
        found.update(name.encode())
        found.update(np.ascontiguousarray(weights[name]).data)
    return found.hexdigest()[:32]


def _is_scale(name: str, packed: Mapping[str, NDArray[Any]]) -> bool:
    return name.endswith(SCALE) and name.removesuffix(SCALE) in packed


def _floats(name: str, packed: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """A weight as float32, from int8 or half precision; whole numbers as they are."""
    w = packed[name]
    if w.dtype == np.int8:
        return w.astype(np.float32) * packed[f"{name}{SCALE}"].astype(np.float32)
    return w.astype(np.float32) if np.issubdtype(w.dtype, np.floating) else w.copy()


class ShapedTensor(Protocol):
    """Anything with a shape: a tensor, also one without values."""

    @property
    def shape(self) -> Sequence[int]: ...


def check_shapes(folder: Path, expected: Mapping[str, ShapedTensor], own: Weights, *, part: bool) -> None:
    """Refuse weights of other shapes than the settings of their folder ask for. part: some may be in another folder."""
    for name, weight in expected.items():
        if name in own and tuple(own[name].shape) != tuple(weight.shape):
            given = f"{name} has the shape {tuple(own[name].shape)}, its settings say {tuple(weight.shape)}"
            raise damaged(folder, ValueError(given))
        if name not in own and not part:
            raise damaged(folder, ValueError(f"{name} is missing"))


def damaged(folder: Path, error: Exception) -> BadModel:
    """The error of a folder whose weights cannot be read."""
    return BadModel(
        f"{folder / 'model.safetensors'}: the weights cannot be loaded ({str(error)[:200]}). The file is "
        f"cut short or of another model; copy or train it again."
    )

"""The weights of a model folder, as arrays. No torch.

They may be stored in half precision, or as int8 with a scale for each row; here they are float32 again. Weights that a
model shares with the model of a folder beside it (`upon`) are read from there.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from factpin.errors import BadModel
from factpin.files import open_bytes
from factpin.tasks.settings import Settings

Weights = dict[str, NDArray[Any]]
SCALE = ".scale"  # the ending of the name of the scales of an int8 matrix


def stored_weights(folder: Path) -> Weights:
    """The weights that are stored in a folder."""
    try:
        with open_bytes(folder / "model.safetensors") as stream:
            return unpack(safetensors.numpy.load(stream.read()))
    except (safetensors.SafetensorError, ValueError, KeyError, AttributeError) as error:
        raise damaged(folder, error) from None


def shared_weights(folder: Path, settings: Settings, names: Collection[str]) -> Weights:
    """The weights of these names in the folder that this model is based on."""
    if not settings.upon:
        return {}
    held = stored_weights(folder.parent / settings.upon)
    shared = {name: held[name] for name in names if name in held}
    if digest(shared) != settings.upon_digest:
        raise BadModel(
            f"{folder}: it shares weights with {settings.upon!r} beside it, and these are not those that it "
            f"was made with. Copy both folders again, or train this model again."
        )
    return shared


def digest(weights: Mapping[str, NDArray[Any]]) -> str:
    """A digest of names and values."""
    found = hashlib.sha256()
    for name in sorted(weights):
        found.update(name.encode())
        found.update(weights[name].tobytes())
    return found.hexdigest()[:32]


def unpack(packed: Mapping[str, NDArray[Any]]) -> Weights:
    """float32 weights again, from int8 or half precision."""
    weights = {}
    for name, w in packed.items():
        if name.endswith(SCALE) and name.removesuffix(SCALE) in packed:
            continue
        if w.dtype == np.int8:
            w = w.astype(np.float32) * packed[f"{name}{SCALE}"].astype(np.float32)
        weights[name] = w.astype(np.float32, copy=False) if np.issubdtype(w.dtype, np.floating) else w
    return weights


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

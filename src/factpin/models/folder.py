"""A model as a folder: factpin.json, model.safetensors, tokenizer.json, encoder/config.json, card.md.

Weights may be stored in half precision or as int8 with a scale a row; they are float32 again when loaded. Weights that
a model has in common with the model of a folder beside it (`upon`) may be left out: they are read from there.
Loading reads tensors and JSON and never runs code from the folder.
"""

import hashlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from factpin.encoders import Encoder
from factpin.errors import BadInput, BadModel
from factpin.files import open_bytes, write_bytes
from factpin.heads import CONFIGS, HEADS
from factpin.models.model import Model
from factpin.models.settings import Settings, read_settings, write_settings
from factpin.tasks import TASKS
from factpin.tokens import Tokenizer

Precision = Literal["float32", "float16", "int8"]


def save_model(
    folder: Path,
    settings: Settings,
    model: Model,
    tokenizer: Tokenizer,
    precision: Precision = "float32",
    upon: str = "",
) -> None:
    """Write a model folder, factpin.json last; what the folder `upon` beside it holds already is left out."""
    if type(model) is not Model:
        raise BadInput("Several models together are not stored. Save each of them, and put them together again.")
    if upon and (Path(upon).name != upon or upon == folder.name):
        raise BadInput(f"upon is {upon!r}: expected the name of another folder beside {folder}.")
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    held = stored_weights(folder.parent / upon) if upon else {}
    shared = {name: w for name, w in weights.items() if name in held and torch.equal(w, held[name])}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "factpin.json").unlink(missing_ok=True)  # until all is written, this is not a model
    tokenizer.save(folder)
    model.encoder.config.save_pretrained(folder / "encoder")
    own = {name: w for name, w in weights.items() if name not in shared}
    with write_bytes(folder / "model.safetensors") as stream:
        stream.write(safetensors.torch.save(pack(own, precision)))
    digest = digest_of(shared) if upon else ""
    write_settings(replace(settings, precision=precision, upon=upon, upon_digest=digest), folder)


def load_model(folder: Path) -> tuple[Settings, Model, Tokenizer]:
    """The parts of a model folder, ready to predict."""
    folder = Path(folder)
    settings = read_settings(folder)
    head_config = {key: _tuples(value) for key, value in settings.head_config.items()}
    if settings.task not in TASKS:
        raise BadModel(f"{folder}: its task {settings.task!r} is unknown here. Known: {', '.join(TASKS)}.")
    known = TASKS[settings.task].heads
    if settings.head not in known:
        raise BadModel(f"{folder}: {settings.head!r} is not a head for {settings.task}. Known: {', '.join(known)}.")
    tokenizer = Tokenizer.load(folder)
    encoder = Encoder.from_config(folder / "encoder", tokenizer)
    try:
        model = Model(encoder, HEADS[settings.head](CONFIGS[settings.head](**head_config), encoder.width))
    except TypeError as error:
        raise BadModel(f"{folder}/factpin.json: {error}. The file is damaged, or of another version.") from None
    own = stored_weights(folder)
    try:
        model.load_state_dict({**shared_weights(folder, settings, model.state_dict().keys() - own.keys()), **own})
    except RuntimeError as error:
        raise _damaged(folder, error) from None
    model.eval()
    return settings, model, tokenizer


def _tuples(value: Any) -> Any:
    """JSON's lists as the tuples that they were."""
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def stored_weights(folder: Path) -> dict[str, Tensor]:
    """The weights that lie in a folder."""
    try:
        with open_bytes(folder / "model.safetensors") as stream:
            return unpack(safetensors.torch.load(stream.read()))
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise _damaged(folder, error) from None


def shared_weights(folder: Path, settings: Settings, names: Collection[str]) -> dict[str, Tensor]:
    """The weights of these names in the folder that this model is based on."""
    if not settings.upon:
        return {}
    held = stored_weights(folder.parent / settings.upon)
    shared = {name: held[name] for name in names if name in held}
    if digest_of(shared) != settings.upon_digest:
        raise BadModel(
            f"{folder}: it shares weights with {settings.upon!r} beside it, and these are not those that it "
            f"was made with. Copy both folders again, or train this model again."
        )
    return shared


def digest_of(weights: dict[str, Tensor]) -> str:
    """What tells these weights from others."""
    found = hashlib.sha256()
    for name in sorted(weights):
        found.update(name.encode())
        found.update(weights[name].contiguous().numpy().tobytes())
    return found.hexdigest()[:32]


def _damaged(folder: Path, error: Exception) -> BadModel:
    return BadModel(
        f"{folder / 'model.safetensors'}: the weights cannot be loaded ({str(error)[:200]}). The file is "
        f"cut short or of another model; copy or train it again."
    )


def pack(weights: dict[str, Tensor], precision: Precision) -> dict[str, Tensor]:
    """Weights as they are stored. int8: w = scale[row] * q for matrices; vectors stay in half precision."""
    if precision == "float32":
        return weights
    packed = {}
    for name, w in weights.items():
        if not w.is_floating_point():
            packed[name] = w
        elif precision == "float16" or w.dim() < 2:
            packed[name] = w.half()
        else:
            scale = (w.abs().amax(dim=1, keepdim=True) / 126.9).half().float().clamp_min(1e-6)  # (rows, 1), as stored
            packed[name] = (w / scale).round().clamp(-127, 127).to(torch.int8)
            packed[f"{name}.scale"] = scale.half()
    return packed


def unpack(packed: dict[str, Tensor]) -> dict[str, Tensor]:
    """float32 weights again."""
    weights = {}
    for name, w in packed.items():
        if name.endswith(".scale") and name.removesuffix(".scale") in packed:
            continue
        if w.dtype == torch.int8:
            w = w.float() * packed[f"{name}.scale"].float()
        weights[name] = w.float() if w.is_floating_point() else w
    return weights

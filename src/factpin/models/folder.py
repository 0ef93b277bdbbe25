"""A model as a folder: factpin.json, model.safetensors, tokenizer.json, encoder/config.json, card.md.

Weights may be stored in half precision or as int8 with a scale a row; they are float32 again when loaded. Weights that
a model has in common with the model of a folder beside it (`upon`) may be left out: they are read from there.
Loading reads tensors and JSON and never runs code from the folder.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from factpin.encoders.plain import PlainConfig, PlainEncoder
from factpin.errors import BadInput, BadModel
from factpin.files import write_bytes
from factpin.heads import CONFIGS, HEADS
from factpin.models import checks
from factpin.models.configs import config_from
from factpin.models.model import Model
from factpin.models.onnx.graph import remove_graph
from factpin.models.settings import Settings, read_task_settings, settings_bytes, write_settings
from factpin.models.shapes import shapes_only
from factpin.models.weights import (
    PackedWeights,
    check_shapes,
    damaged,
    packed_weights,
    shared_weights,
    stored_digest,
    stored_weights,
)
from factpin.tokens import Tokenizer

if TYPE_CHECKING:
    from factpin.encoders import Encoder

WEIGHTS = "model.safetensors"
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
    held = packed_weights(folder.parent / upon) if upon else PackedWeights({})
    shared = {name for name, w in weights.items() if name in held and np.array_equal(w.numpy(), held[name])}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "factpin.json").unlink(missing_ok=True)  # until all is written, this is not a model
    remove_graph(folder)
    tokenizer.save(folder)
    model.encoder.config.save_pretrained(folder / "encoder")
    own = {name: w for name, w in weights.items() if name not in shared}
    with write_bytes(folder / WEIGHTS) as stream:
        stream.write(safetensors.torch.save(pack(own, precision)))
    made_with = stored_digest(held.only(shared)) if upon else ""
    final = replace(settings, precision=precision, upon=upon, upon_digest=made_with)
    checks.write_sums(folder, settings_bytes(final))
    write_settings(final, folder)


def load_model(folder: Path, *, plain: bool = False) -> tuple[Settings, Model, Tokenizer]:
    """The parts of a model folder, ready to predict. Whatever is wrong with it is a BadModel.

    plain: without transformers, where that can be. `torch_model` puts its encoder back.
    """
    with checks.refusing(folder):
        return _load(Path(folder), plain)


def _load(folder: Path, plain: bool) -> tuple[Settings, Model, Tokenizer]:
    settings = read_task_settings(folder)
    checks.check_folder(folder, checks.weight_files(folder, settings.upon))
    tokenizer = Tokenizer.load(folder)
    own = stored_weights(folder)
    config = PlainConfig.read(folder / "encoder" / "config.json") if plain and _is_plain(settings) else None

    def build() -> Model:
        encoder = _encoder(folder, settings, tokenizer) if config is None else _plain_encoder(config, tokenizer)
        return Model(encoder, _head(folder, settings, encoder.width))

    with shapes_only():
        check_shapes(folder, build().state_dict(), own, part=bool(settings.upon))
    model = build()
    shared = shared_weights(folder, settings, model.state_dict().keys() - own.keys())
    weights = {name: torch.tensor(w) for name, w in (shared | own).items()}
    try:
        model.load_state_dict(weights, assign=config is not None)
    except RuntimeError as error:
        raise damaged(folder, error) from None
    model.eval()
    return settings, model, tokenizer


def _is_plain(settings: Settings) -> bool:
    """Whether nothing but token vectors is asked of the encoder."""
    return not settings.knowledge and not getattr(HEADS[settings.head], "attends", False)


def _plain_encoder(config: PlainConfig, tokenizer: Tokenizer) -> PlainEncoder:
    with shapes_only():  # its weights are assigned
        return PlainEncoder(config, tokenizer)


def _head(folder: Path, settings: Settings, width: int) -> Any:
    try:
        return HEADS[settings.head](config_from(CONFIGS[settings.head], settings.head_config), width)
    except TypeError as error:
        raise BadModel(f"{folder}/factpin.json: {error}. The file is damaged, or of another version.") from None


def _encoder(folder: Path, settings: Settings, tokenizer: Tokenizer) -> "Encoder":
    """The encoder, with the layer over a store that it was trained with."""
    from factpin.encoders import Encoder  # noqa: PLC0415  (transformers)
    from factpin.knowledge.store_layer import StoreLayer, StoreLayerConfig  # noqa: PLC0415

    encoder = Encoder.from_config(folder / "encoder", tokenizer)
    if settings.knowledge:
        try:
            config = StoreLayerConfig.from_json(settings.knowledge)
            encoder.put_between(StoreLayer(encoder.width, config, tokenizer), config.after)
        except (TypeError, KeyError) as error:
            raise BadModel(f"{folder}/factpin.json: knowledge: {error}. The file is damaged.") from None
    return encoder


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

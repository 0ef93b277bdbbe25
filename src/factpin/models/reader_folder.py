"""A reader as a model folder: the same files as those of any model (see model_folder), with task "reader".

What a reader needs beyond the settings of all models is in `task_config`: its choices, the least probability of an
answer, the precision on dev that this was chosen for, and whether contexts of strangers were among those it was fitted
on.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch

from factpin.answers.reader import Reader
from factpin.answers.reader_model import ReaderModel
from factpin.encoders import Encoder
from factpin.errors import pick
from factpin.files import write_bytes
from factpin.heads.answer_pointer import AnswerPointer, AnswerPointerConfig
from factpin.heads.efficient_global_pointer import EfficientGlobalPointer, EfficientGlobalPointerConfig
from factpin.models import checks
from factpin.models.configs import config_from
from factpin.models.folder import Precision, pack
from factpin.models.reader_settings import read_reader_settings
from factpin.models.settings import Settings, settings_bytes, write_settings
from factpin.models.shapes import shapes_only
from factpin.models.shipped import READER as TASK
from factpin.models.weights import (
    PackedWeights,
    check_shapes,
    packed_weights,
    shared_weights,
    stored_digest,
    stored_weights,
)
from factpin.tokens import Tokenizer

LABELS = ("answer",)
READER_HEADS: dict[str, tuple[type[Any], type[Any]]] = {  # name -> (head, its config)
    "answer_pointer": (AnswerPointer, AnswerPointerConfig),
    "efficient_global_pointer": (EfficientGlobalPointer, EfficientGlobalPointerConfig),
}


def save_reader(
    folder: Path, settings: Settings, reader: Reader[ReaderModel], precision: Precision = "float32", upon: str = ""
) -> Settings:
    """Write a model folder, factpin.json last; gives the settings as they were written.

    Weights that the folder `upon` beside it holds already are left out.
    """
    weights = {name: w.detach().cpu().contiguous() for name, w in reader.model.state_dict().items()}
    held = packed_weights(folder.parent / upon) if upon else PackedWeights({})
    shared = {name for name, w in weights.items() if name in held and np.array_equal(w.numpy(), held[name])}
    written = replace(
        settings,
        task=TASK,
        max_length=reader.settings.max_length,
        overlap=reader.settings.overlap,
        context="window",
        temperature=reader.settings.scale.temperature,
        shift=reader.settings.scale.shift,
        precision=precision,
        upon=upon,
        upon_digest=stored_digest(held.only(shared)) if upon else "",
        task_config={
            **settings.task_config,
            "choices": list(reader.settings.choices),
            "min_score": reader.settings.min_score,
        },
    )
    own = {name: w for name, w in weights.items() if name not in shared}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "factpin.json").unlink(missing_ok=True)  # until all is written, this is not a model
    reader.tokenizer.save(folder)
    reader.model.encoder.config.save_pretrained(folder / "encoder")
    with write_bytes(folder / "model.safetensors") as stream:
        stream.write(safetensors.torch.save(pack(own, precision)))
    checks.write_sums(folder, settings_bytes(written))
    write_settings(written, folder)
    return written


def load_reader(folder: Path | str, device: str = "cpu") -> Reader[ReaderModel]:
    """A reader from its folder, ready to read; no network, no code from the folder."""
    with checks.refusing(folder := Path(folder)):
        return _load(folder, device)


def _load(folder: Path, device: str) -> Reader[ReaderModel]:
    settings, chosen = read_reader_settings(folder)
    checks.check_folder(folder, checks.weight_files(folder, settings.upon))
    tokenizer = Tokenizer.load(folder)

    def build() -> ReaderModel:
        encoder = Encoder.from_config(folder / "encoder", tokenizer)
        return ReaderModel(encoder, build_head(settings.head, settings.head_config, encoder.width))

    held = stored_weights(folder)
    with shapes_only():
        check_shapes(folder, build().state_dict(), held, part=bool(settings.upon))
    model = build()
    shared = shared_weights(folder, settings, model.state_dict().keys() - held.keys())
    model.load_state_dict({name: torch.tensor(w) for name, w in (shared | held).items()})
    return Reader(model.to(device).eval(), tokenizer, chosen)


def build_head(name: str, config: dict[str, Any], width: int) -> Any:
    """A head of a reader with fresh weights."""
    head, config_type = pick(READER_HEADS, name, kind="head of a reader")
    return head(config_from(config_type, config), width)

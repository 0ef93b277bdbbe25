"""Folders of the models that are no extractors: judges, classifiers, hops. The same files as those of any model.

factpin.json        settings; what only this kind of model needs is in `task_config`
model.safetensors   all weights
encoder/            config of the encoder
tokenizer.json
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import safetensors.torch
import torch
from torch import nn

from factpin.encoders import Encoder
from factpin.errors import BadModel
from factpin.files import write_bytes
from factpin.models import checks
from factpin.models.settings import Settings, read_settings, settings_bytes, write_settings
from factpin.models.shapes import shapes_only
from factpin.models.weights import check_shapes, stored_weights
from factpin.tasks.scale import Scale
from factpin.tokens import Tokenizer

M = TypeVar("M", bound=nn.Module)


class PartNames(Protocol):
    """What a folder says of its model: the options of a training have it."""

    @property
    def encoder(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def finds(self) -> str: ...


class TrainedPart(Protocol):
    """A trained model with its tokenizer. The model has an `encoder`."""

    @property
    def model(self) -> nn.Module: ...
    @property
    def tokenizer(self) -> Tokenizer: ...


def part_settings(
    task: str,
    labels: tuple[str, ...],
    head: str,
    names: PartNames,
    own: dict[str, Any],
    *,
    max_length: int = 512,
    overlap: int = 0,
    scale: Scale | None = None,
) -> Settings:
    """The settings of a folder. own: what only this kind of model needs."""
    scale = scale or Scale()
    return Settings(
        task=task,
        labels=labels,
        head=head,
        head_config={},
        encoder=names.encoder,
        language=names.language,
        max_length=max_length,
        overlap=overlap,
        context="window",
        temperature=scale.temperature,
        shift=scale.shift,
        task_config=own,
        name=names.name,
        finds=names.finds,
    )


def save_part(folder: Path, settings: Settings, part: TrainedPart) -> None:
    """Write a folder, factpin.json last."""
    model: Any = part.model
    weights = {name: w.detach().cpu().contiguous() for name, w in model.state_dict().items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "factpin.json").unlink(missing_ok=True)  # until all is written, this is not a model
    part.tokenizer.save(folder)
    model.encoder.config.save_pretrained(folder / "encoder")
    with write_bytes(folder / "model.safetensors") as stream:
        stream.write(safetensors.torch.save(weights))
    checks.write_sums(folder, settings_bytes(settings))
    write_settings(settings, folder)


WRITTEN_BY = {"linker": "pretrain --objective linker", "memory": "pretrain --objective fae"}  # others: train TASK


def load_part(folder: Path | str, task: str, build: Callable[[Settings, Encoder], M]) -> tuple[Settings, M, Tokenizer]:
    """The settings, the model in evaluation mode and the tokenizer of a folder with a model of this task."""
    with checks.refusing(folder := Path(folder)):
        settings = read_settings(folder)
        if settings.task != task:
            raise BadModel(
                f"{folder}: its task is {settings.task!r}, expected {task!r}. Name a folder that `factpin "
                f"{WRITTEN_BY.get(task, f'train {task}')}` wrote."
            )
        checks.check_folder(folder, checks.weight_files(folder, settings.upon))
        tokenizer = Tokenizer.load(folder)
        weights = stored_weights(folder)
        with shapes_only():
            empty = build(settings, Encoder.from_config(folder / "encoder", tokenizer))
        check_shapes(folder, empty.state_dict(), weights, part=False)
        model = build(settings, Encoder.from_config(folder / "encoder", tokenizer))
        model.load_state_dict({name: torch.tensor(w) for name, w in weights.items()})
    model.eval()
    return settings, model, tokenizer

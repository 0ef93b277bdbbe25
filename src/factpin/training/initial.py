"""The model that a run starts from (--initial): its encoder and tokenizer, its head, and its settings."""

from dataclasses import dataclass

from torch import nn

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.models.extractor import Extractor
from factpin.models.model import torch_model
from factpin.models.reader_folder import load_reader
from factpin.models.settings import Settings, read_settings
from factpin.models.shipped import READER, find_model
from factpin.tasks import TASKS
from factpin.tokens import Tokenizer


@dataclass(frozen=True, eq=False)
class InitialModel:
    """A model of a task, or a reader."""

    encoder: Encoder
    tokenizer: Tokenizer
    head: nn.Module
    settings: Settings


def open_initial(name: str) -> InitialModel:
    """The model of that name or folder."""
    folder = find_model(name)
    settings = read_settings(folder)
    if settings.task == READER:
        reader = load_reader(folder)
        return InitialModel(reader.model.encoder, reader.tokenizer, reader.model.head, settings)
    if settings.task not in TASKS:
        raise BadInput(
            f"{name} is a model of {settings.task}. A run can start from a model of {', '.join(sorted(TASKS))}, or "
            f"from a reader. Name one of these, or an encoder."
        )
    extractor = Extractor.load(folder, runtime="torch")
    model = torch_model(extractor.model)
    return InitialModel(model.encoder, extractor.tokenizer, model.head, settings)

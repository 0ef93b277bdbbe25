"""A model of classes or labels of long texts as a model folder."""

from dataclasses import asdict
from pathlib import Path

from factpin.answers.cogltx_long import LongLabeller, LongModel, LongSettings
from factpin.encoders import Encoder
from factpin.models.part_folder import PartNames, load_part, part_settings
from factpin.models.settings import Settings

CLASSIFY = "classify"


def labeller_settings(chosen: LongSettings, names: PartNames) -> Settings:
    """The settings of the folder of a labeller."""
    own = {key: value for key, value in asdict(chosen).items() if key != "labels"}
    own["keep"] = list(chosen.keep)
    return part_settings(CLASSIFY, chosen.labels, "linear", names, own, max_length=chosen.capacity)


def load_labeller(folder: Path | str, device: str = "cpu") -> LongLabeller:
    """A labeller from its folder, ready to read."""

    def build(settings: Settings, encoder: Encoder) -> LongModel:
        return LongModel(encoder, len(settings.labels), settings.task_config["unit"])

    settings, model, tokenizer = load_part(folder, CLASSIFY, build)
    own = settings.task_config
    chosen = LongSettings(settings.labels, own["unit"], own["long"], own["capacity"], own["size"], tuple(own["keep"]))
    return LongLabeller(model.to(device), tokenizer, chosen)

"""A model of classes or labels of long texts as a model folder."""

from dataclasses import asdict
from pathlib import Path

from factpin.answers.cogltx_long import LongLabeller, LongModel, LongSettings
from factpin.encoders import Encoder
from factpin.models.part_folder import load_part, save_part
from factpin.models.settings import Settings

CLASSIFY = "classify"


def save_labeller(folder: Path, settings: Settings, labeller: LongLabeller) -> None:
    """Write the folder of a labeller."""
    save_part(folder, settings, labeller.model, labeller.model.encoder, labeller.tokenizer)


def labeller_settings(
    chosen: LongSettings, encoder: str, language: str = "", name: str = "", finds: str = ""
) -> Settings:
    """The settings of the folder of a labeller."""
    own = {key: value for key, value in asdict(chosen).items() if key != "labels"}
    return Settings(
        task=CLASSIFY,
        labels=chosen.labels,
        head="linear",
        head_config={},
        encoder=encoder,
        language=language,
        max_length=chosen.capacity,
        context="window",
        task_config={**own, "keep": list(chosen.keep)},
        name=name,
        finds=finds,
    )


def load_labeller(folder: Path | str, device: str = "cpu") -> LongLabeller:
    """A labeller from its folder, ready to read."""

    def build(settings: Settings, encoder: Encoder) -> LongModel:
        return LongModel(encoder, len(settings.labels), settings.task_config["unit"])

    settings, model, tokenizer = load_part(folder, CLASSIFY, build)
    own = settings.task_config
    chosen = LongSettings(settings.labels, own["unit"], own["long"], own["capacity"], own["size"], tuple(own["keep"]))
    return LongLabeller(model.to(device), tokenizer, chosen)

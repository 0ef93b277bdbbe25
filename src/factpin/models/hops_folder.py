"""A model of hops (CogQA) as a model folder."""

from pathlib import Path

from factpin.answers.cogqa_hops import HopReader, HopSettings
from factpin.answers.cogqa_systems import HopModel
from factpin.encoders import Encoder
from factpin.models.part_folder import load_part, save_part
from factpin.models.settings import Settings
from factpin.tasks.scale import Scale

HOPS = "hops"
LABELS = ("hop", "answer")


def save_hops(folder: Path, settings: Settings, reader: HopReader) -> None:
    """Write the folder of a model of hops."""
    save_part(folder, settings, reader.model, reader.model.encoder, reader.tokenizer)


def hops_settings(chosen: HopSettings, encoder: str, language: str = "", name: str = "", finds: str = "") -> Settings:
    """The settings of the folder of a model of hops."""
    return Settings(
        task=HOPS,
        labels=LABELS,
        head="answer_pointer",
        head_config={},
        encoder=encoder,
        language=language,
        max_length=chosen.max_length,
        overlap=chosen.overlap,
        context="window",
        temperature=chosen.scale.temperature,
        shift=chosen.scale.shift,
        task_config={"new_nodes": chosen.new_nodes, "min_score": chosen.min_score},
        name=name,
        finds=finds,
    )


def load_hops(folder: Path | str, device: str = "cpu") -> HopReader:
    """A model of hops from its folder, ready to answer."""

    def build(_: Settings, encoder: Encoder) -> HopModel:
        return HopModel(encoder)

    settings, model, tokenizer = load_part(folder, HOPS, build)
    own = settings.task_config
    scale = Scale(settings.temperature, settings.shift)
    chosen = HopSettings(settings.max_length, settings.overlap, own["new_nodes"], scale, own["min_score"])
    return HopReader(model.to(device), tokenizer, chosen)

"""A model of hops (CogQA) as a model folder."""

from pathlib import Path

from factpin.answers.cogqa_hops import HopReader, HopSettings
from factpin.answers.cogqa_systems import HopModel
from factpin.encoders import Encoder
from factpin.errors import BadModel
from factpin.models.part_folder import PartNames, load_part, part_settings
from factpin.models.settings import Settings
from factpin.tasks.scale import Scale

HOPS = "hops"
LABELS = ("hop", "answer")
SCORES = "log odds among all nodes"  # what the scale was fitted to; older folders do not say it


def hops_settings(chosen: HopSettings, names: PartNames) -> Settings:
    """The settings of the folder of a model of hops."""
    own = {"new_nodes": chosen.new_nodes, "min_score": chosen.min_score, "scores": SCORES}
    sizes = {"max_length": chosen.max_length, "overlap": chosen.overlap}
    return part_settings(HOPS, LABELS, "answer_pointer", names, own, scale=chosen.scale, **sizes)


def load_hops(folder: Path | str, device: str = "cpu") -> HopReader:
    """A model of hops from its folder, ready to answer."""

    def build(_: Settings, encoder: Encoder) -> HopModel:
        return HopModel(encoder)

    settings, model, tokenizer = load_part(folder, HOPS, build)
    own = settings.task_config
    scale = Scale(settings.temperature, settings.shift)
    if own.get("scores") != SCORES and scale != Scale():
        raise BadModel(
            f"{folder}: its scale was fitted to the scores of an earlier version, which are others now, so its "
            f"probabilities would be wrong. Train it again with `factpin train hops`."
        )
    chosen = HopSettings(settings.max_length, settings.overlap, own["new_nodes"], scale, own["min_score"])
    return HopReader(model.to(device), tokenizer, chosen)

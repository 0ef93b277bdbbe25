"""A judge as a model folder."""

from dataclasses import asdict
from pathlib import Path

from factpin.answers.cogltx_judge import Judge, JudgeModel, JudgeSettings
from factpin.encoders import Encoder
from factpin.models import checks
from factpin.models.part_folder import PartNames, load_part, part_settings
from factpin.models.settings import Settings

JUDGE = "judge"
LABELS = ("relevant",)


def judge_settings(chosen: JudgeSettings, names: PartNames) -> Settings:
    """The settings of the folder of a judge."""
    own = {**asdict(chosen), "keep": list(chosen.keep)}
    return part_settings(JUDGE, LABELS, "linear", names, own, max_length=chosen.capacity)


def load_judge(folder: Path | str, device: str = "cpu") -> Judge:
    """A judge from its folder, ready to recall."""

    def build(_: Settings, encoder: Encoder) -> JudgeModel:
        return JudgeModel(encoder)

    settings, model, tokenizer = load_part(folder, JUDGE, build)
    own = settings.task_config
    with checks.refusing(Path(folder)):
        numbers = [own["capacity"], own["size"], *own["keep"]]
        if any(type(number) is not int or not 0 < number <= checks.BOUND for number in numbers):
            raise ValueError(f"capacity, size and keep are {numbers}")
        chosen = JudgeSettings(own["capacity"], own["size"], tuple(own["keep"]))
    return Judge(model.to(device), tokenizer, chosen)

"""A judge as a model folder."""

from dataclasses import asdict
from pathlib import Path

from factpin.answers.cogltx_judge import Judge, JudgeModel, JudgeSettings
from factpin.encoders import Encoder
from factpin.models import checks
from factpin.models.part_folder import load_part, save_part
from factpin.models.settings import Settings

JUDGE = "judge"
LABELS = ("relevant",)


def save_judge(folder: Path, settings: Settings, judge: Judge) -> None:
    """Write the folder of a judge."""
    save_part(folder, settings, judge.model, judge.model.encoder, judge.tokenizer)


def judge_settings(
    chosen: JudgeSettings, encoder: str, language: str = "", name: str = "", finds: str = ""
) -> Settings:
    """The settings of the folder of a judge."""
    return Settings(
        task=JUDGE,
        labels=LABELS,
        head="linear",
        head_config={},
        encoder=encoder,
        language=language,
        max_length=chosen.capacity,
        context="window",
        task_config={**asdict(chosen), "keep": list(chosen.keep)},
        name=name,
        finds=finds,
    )


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

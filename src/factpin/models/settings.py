"""factpin.json: everything of a model that is not a weight. Reading it runs nothing."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from factpin.errors import BadModel
from factpin.files import open_bytes, write_bytes

KINDS: dict[str, Any] = {"task": str, "labels": list, "head": str, "head_config": dict, "encoder": str, "language": str,
         "max_length": int, "overlap": int, "context": str, "temperature": int | float, "shift": int | float,
         "thresholds": dict, "precision": str, "name": str, "finds": str, "task_config": dict,
         "upon": str, "upon_digest": str}  # fmt: skip
VERSION = 1  # of the folder's shape; a newer one is refused


@dataclass(frozen=True)
class Settings:
    """What a model is and how it reads."""

    task: str
    labels: tuple[str, ...]
    head: str
    head_config: dict[str, Any]
    encoder: str  # where the encoder came from
    language: str = ""  # "zh", "en", or "" for any
    max_length: int = 512  # tokens of a window, special ones included
    overlap: int = 64
    context: Literal["sentence", "window"] = "sentence"
    temperature: float = 1.0  # a score's probability is sigmoid((score - shift) / temperature)
    shift: float = 0.0
    thresholds: dict[str, float] = field(default_factory=dict)  # by label; absent: the head's own
    task_config: dict[str, Any] = field(default_factory=dict)  # what the task decodes by, such as a schema
    precision: Literal["float32", "float16", "int8"] = "float32"
    upon: str = ""  # the folder beside this one whose encoder weights this model has too: they are stored there alone
    upon_digest: str = ""  # of these weights
    name: str = ""
    finds: str = ""  # one line for `factpin models`
    version: int = VERSION


def write_settings(settings: Settings, folder: Path) -> None:
    """Written last into a model folder: its presence says that the folder is whole."""
    with write_bytes(folder / "factpin.json") as stream:
        stream.write(orjson.dumps(asdict(settings), option=orjson.OPT_INDENT_2))


def read_settings(folder: Path) -> Settings:
    """The settings of a model folder."""
    path = folder / "factpin.json"
    if not path.is_file() and (folder / "recipe.toml").is_file():
        raise BadModel(
            f"{folder}: a run of `factpin train` that has not ended, so there is no model in it yet. Go on with it: "
            f"factpin train --recipe {folder / 'recipe.toml'} --output {folder} --resume"
        )
    if not path.is_file():
        raise BadModel(f"{folder}: no model of factpin (there is no factpin.json in it). Name a folder that "
                       f"`factpin train` wrote, or a shipped model (`factpin models`).")  # fmt: skip
    try:
        with open_bytes(path) as stream:
            record = orjson.loads(stream.read())
    except orjson.JSONDecodeError as error:
        raise BadModel(f"{path}: not JSON ({error}). The file is damaged; train or copy the model again.") from None
    if not isinstance(record, dict) or not isinstance(record.get("version"), int):
        raise BadModel(f"{path}: has no version. The file is damaged; train or copy the model again.")
    if record["version"] > VERSION:
        raise BadModel(f"{folder}: written by a newer factpin (folder version {record['version']}, this one reads up "
                       f"to {VERSION}). Upgrade: pip install --upgrade factpin.")  # fmt: skip
    wrong = [key for key, kind in KINDS.items() if key in record and not isinstance(record[key], kind)]
    if not wrong:
        wrong = _contradictions(record)
    if wrong or not record.get("labels") or not record.get("temperature", 1.0) > 0:
        raise BadModel(f"{path}: {', '.join(wrong) or 'labels or temperature'} cannot be right. The file is damaged.")
    try:
        return Settings(**{**record, "labels": tuple(record["labels"])})
    except TypeError as error:
        raise BadModel(f"{path}: {error}. The file is damaged, or of another version.") from None


def _contradictions(record: dict[str, Any]) -> list[str]:
    """Fields of the right kinds that cannot stand together."""
    found = []
    if any(not isinstance(value, int | float) for value in record.get("thresholds", {}).values()):
        found.append("thresholds")
    if Path(record.get("upon", "")).name != record.get("upon", ""):
        found.append("upon, which is no plain name of a folder,")
    if record.get("head_config", {}).get("labels", record.get("labels")) != record.get("labels"):
        found.append("the labels of the head, which are not those of the model,")
    return found

"""factpin.json: everything of a model that is not a weight. Reading it runs nothing."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from factpin.errors import BadModel
from factpin.files import write_bytes
from factpin.models.checks import bytes_of
from factpin.tasks import TASKS
from factpin.tasks.settings import VERSION, Settings

__all__ = ["Settings", "read_settings", "read_task_settings", "settings_bytes", "write_settings"]

KINDS: dict[str, Any] = {
    "task": str,
    "labels": list,
    "head": str,
    "head_config": dict,
    "encoder": str,
    "language": str,
    "max_length": int,
    "overlap": int,
    "context": str,
    "temperature": int | float,
    "shift": int | float,
    "thresholds": dict,
    "shown": int | float,
    "precision": str,
    "name": str,
    "finds": str,
    "task_config": dict,
    "upon": str,
    "upon_digest": str,
    "knowledge": dict,
}


def write_settings(settings: Settings, folder: Path) -> None:
    """Written last into a model folder: its presence says that the folder is whole."""
    with write_bytes(folder / "factpin.json") as stream:
        stream.write(settings_bytes(settings))


def settings_bytes(settings: Settings) -> bytes:
    """The settings as factpin.json has them."""
    return orjson.dumps(asdict(settings), option=orjson.OPT_INDENT_2)


def read_settings(folder: Path) -> Settings:
    """The settings of a model folder."""
    path = folder / "factpin.json"
    if not path.is_file() and (folder / "recipe.toml").is_file():
        raise BadModel(
            f"{folder}: a run of `factpin train` that has not finished, so there is no model in it yet. Resume it: "
            f"factpin train --recipe {folder / 'recipe.toml'} --output {folder} --resume"
        )
    if not path.is_file():
        raise BadModel(
            f"{folder}: not a model of factpin (factpin.json is missing). Name a folder that "
            f"`factpin train` wrote, or a shipped model (`factpin models`)."
        )
    try:
        record = orjson.loads(bytes_of(path))
    except orjson.JSONDecodeError as error:
        raise BadModel(f"{path}: not JSON ({error}). The file is damaged; train or copy the model again.") from None
    if not isinstance(record, dict) or not isinstance(record.get("version"), int):
        raise BadModel(f"{path}: has no version. The file is damaged; train or copy the model again.")
    if record["version"] > VERSION:
        raise BadModel(
            f"{folder}: written by a newer factpin (folder version {record['version']}, this one reads up "
            f"to {VERSION}). Upgrade: pip install --upgrade factpin."
        )
    wrong = [key for key, kind in KINDS.items() if key in record and not isinstance(record[key], kind)]
    if not wrong:
        wrong = _contradictions(record)
    if wrong or not record.get("labels") or not record.get("temperature", 1.0) > 0:
        raise BadModel(f"{path}: {', '.join(wrong) or 'labels or temperature'} cannot be right. The file is damaged.")
    try:
        return Settings(**{**record, "labels": tuple(record["labels"])})
    except TypeError as error:
        raise BadModel(f"{path}: {error}. The file is damaged, or of another version.") from None


def read_task_settings(folder: Path) -> Settings:
    """The settings of a model folder that extracts: its task and head are known here."""
    settings = read_settings(folder)
    if settings.task not in TASKS:
        raise BadModel(f"{folder}: its task {settings.task!r} is unknown here. Known: {', '.join(TASKS)}.")
    known = TASKS[settings.task].heads
    if settings.head not in known:
        raise BadModel(f"{folder}: {settings.head!r} is not a head for {settings.task}. Known: {', '.join(known)}.")
    return settings


def _contradictions(record: dict[str, Any]) -> list[str]:
    """Fields of the right kinds that contradict each other."""
    found = []
    if any(not isinstance(value, int | float) for value in record.get("thresholds", {}).values()):
        found.append("thresholds")
    if Path(record.get("upon", "")).name != record.get("upon", "") or record.get("upon") == "..":
        found.append("upon, which is not a plain name of a folder,")
    if record.get("head_config", {}).get("labels", record.get("labels")) != record.get("labels"):
        found.append("the labels of the head, which are not those of the model,")
    return found

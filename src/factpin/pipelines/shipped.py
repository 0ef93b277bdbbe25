"""The models that ship with factpin: folders beside this package, found by name."""

from pathlib import Path

from factpin.errors import BadModel, did_you_mean
from factpin.pipelines.settings import Settings, read_settings

FOLDER = Path(__file__).parents[1] / "models"


def shipped() -> dict[str, Settings]:
    """Name -> settings of every shipped model."""
    folders = sorted(FOLDER.iterdir()) if FOLDER.is_dir() else []
    return {folder.name: read_settings(folder) for folder in folders if (folder / "factpin.json").is_file()}


def find_model(name: str) -> Path:
    """The folder of a model: a shipped one by its name, or any folder by its path."""
    if (FOLDER / name / "factpin.json").is_file():
        return FOLDER / name
    if Path(name).is_dir():
        return Path(name)
    known = [folder.name for folder in FOLDER.iterdir()] if FOLDER.is_dir() else []
    raise BadModel(f"There is no model {name!r}: neither a folder nor a shipped model.{did_you_mean(name, known)} "
                   f"Shipped: {', '.join(sorted(known)) or 'none'}.")  # fmt: skip

"""The models that ship with factpin: folders beside this package, found by name."""

from pathlib import Path

from factpin.errors import BadModel, did_you_mean
from factpin.models.settings import Settings, read_settings

FOLDER = Path(__file__).parents[1] / "shipped"
READER = "reader"  # the task of models that answer questions; all others extract


def shipped_folders() -> list[Path]:
    """The folder of every shipped model."""
    return sorted(path.parent for path in FOLDER.glob("*/factpin.json"))


def shipped_readers() -> list[Path]:
    """The folder of every shipped model that reads answers from passages."""
    return [folder for folder in shipped_folders() if read_settings(folder).task == READER]


def shipped() -> dict[str, Settings]:
    """Name -> settings of every shipped model."""
    return {folder.name: read_settings(folder) for folder in shipped_folders()}


def is_shipped(folder: Path) -> bool:
    """Whether a folder is that of a shipped model."""
    return folder.resolve().parent == FOLDER.resolve()


def find_model(name: str) -> Path:
    """The folder of a model: a shipped one by its name, or any folder by its path."""
    known = {folder.name: folder for folder in shipped_folders()}
    for spelling in (name, name.replace("_", "-")):
        if spelling in known:
            return known[spelling]
    if name and Path(name).is_dir():
        return Path(name)
    raise BadModel(
        f"There is no model {name!r}: neither a folder nor a shipped model.{did_you_mean(name, known)} "
        f"Shipped: {', '.join(known) or 'none'}."
    )


def choose_models(names: tuple[str, ...]) -> list[Path]:
    """The folders of the named models, or of all that ship and extract."""
    readers = shipped_readers()
    folders = [find_model(name) for name in names] or [path for path in shipped_folders() if path not in readers]
    if not folders:
        raise BadModel("No model ships with this copy. Train one (`factpin train`), and name it with --model.")
    return folders

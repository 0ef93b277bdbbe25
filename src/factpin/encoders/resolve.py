"""Find the folder of an encoder, given a folder, a name of the catalogue or a hub id.

Encoders of the catalogue are kept in $FACTPIN_HOME/encoders (default: ~/.cache/factpin/encoders) and fetched if needed.
A hub id is fetched by huggingface_hub into its own cache; with HF_HUB_OFFLINE=1, only that cache is used.
"""

import os
import re
from pathlib import Path

from factpin.encoders.catalogue import CATALOGUE
from factpin.encoders.fetch import Progress, fetch, silent
from factpin.errors import BadModel, UnknownName, did_you_mean

PLAIN_FILES = ["*.json", "*.txt", "*.model"]
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")


def home() -> Path:
    """The folder for fetched encoders."""
    root = os.environ.get("FACTPIN_HOME")
    return (Path(root) if root else Path.home() / ".cache" / "factpin") / "encoders"


def resolve(source: str | Path, *, progress: Progress = silent) -> Path:
    path = Path(source).expanduser()
    if path.is_dir():
        return path
    name = str(source)
    catalogued = name.replace("_", "-")
    if catalogued in CATALOGUE:
        return fetch(catalogued, home() / catalogued, progress=progress)
    meant = did_you_mean(name, CATALOGUE)
    if _HUB_ID.fullmatch(name) and not meant:  # do not look up a typo on the network
        return from_hub(name)
    raise UnknownName(
        f"There is no encoder {name!r}: neither a folder nor a name of the catalogue.{meant} "
        f"Known: {', '.join(CATALOGUE)}; a hub id looks like owner/name."
    )


def from_hub(name: str) -> Path:
    """The folder of a hub model; pickled weights are only used if there are no others."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415  (slow to import)
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError  # noqa: PLC0415

    try:
        folder = Path(snapshot_download(name, allow_patterns=[*PLAIN_FILES, "*.safetensors"]))
        if not list(folder.glob("*.safetensors")):
            folder = Path(snapshot_download(name, allow_patterns=[*PLAIN_FILES, "pytorch_model*.bin"]))
    except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError):
        raise BadModel(
            f"{name}: no such folder, and the hub did not give a model of this name (no network, HF_HUB_OFFLINE is "
            f"set, or there is none). Give a folder, or a name of the catalogue: {', '.join(CATALOGUE)}."
        ) from None
    return folder

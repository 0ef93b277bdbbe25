"""A start for what reads questions beside passages: the encoder of a reader that ships."""

from pathlib import Path

from factpin.models.reader_folder import load_reader
from factpin.models.shipped import find_model


def start_from_reader(folder: Path, name: str = "en-reader") -> str:
    """The encoder of a reader as a folder to start from. en-reader has read the training questions of both sets."""
    if not (folder / "config.json").exists():
        load_reader(find_model(name)).model.encoder.save(folder)
    return str(folder)

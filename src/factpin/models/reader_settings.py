"""The settings of a reader, as its folder has them."""

from pathlib import Path

from factpin.answers.reader import ReaderSettings
from factpin.errors import BadModel
from factpin.models.settings import Settings, read_settings
from factpin.models.shipped import READER
from factpin.tasks.scale import Scale


def read_reader_settings(folder: Path) -> tuple[Settings, ReaderSettings]:
    """The settings that all models have, and those of the reader; refuses the folder of another model."""
    settings = read_settings(folder)
    return settings, reader_settings(settings, folder)


def reader_settings(settings: Settings, folder: Path) -> ReaderSettings:
    """The settings of the reader among those that all models have."""
    if settings.task != READER:
        raise BadModel(
            f"{folder}: its task is {settings.task!r}, a reader was expected. Name a folder that "
            f"`factpin train reader` wrote."
        )
    own = settings.task_config
    try:
        return ReaderSettings(
            max_length=settings.max_length,
            overlap=settings.overlap,
            choices=tuple(own.get("choices", ())),
            scale=Scale(settings.temperature, settings.shift),
            min_score=float(own.get("min_score", ReaderSettings.min_score)),
        )
    except (TypeError, ValueError) as error:
        raise BadModel(f"{folder}: its settings of a reader cannot be read ({str(error)[:200]}).") from None

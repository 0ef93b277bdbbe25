"""A writer of answers (RAG) as a model folder.

factpin.json     settings
query/           the encoder of questions
document/        the encoder of passages; older folders have none, and name it in their settings
generator/       the encoder-decoder, as transformers writes it
"""

from pathlib import Path
from typing import Any

from factpin.answers.embedding import TextEmbedder
from factpin.answers.rag import RagSettings
from factpin.answers.rag_writer import AnswerWriter, RagModel
from factpin.encoders import Encoder, resolve
from factpin.encoders.generator import EncoderDecoder
from factpin.errors import BadModel, UnknownName
from factpin.models.part_folder import PartNames, part_settings
from factpin.models.settings import Settings, read_settings, write_settings
from factpin.tasks.scale import Scale
from factpin.tokens import Tokenizer

GENERATOR = "generator"


def save_writer(folder: Path, settings: Settings, writer: AnswerWriter) -> None:
    """Write the folder of a writer, factpin.json last."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "factpin.json").unlink(missing_ok=True)
    writer.model.encoder.save(folder / "query")
    writer.document.encoder.save(folder / "document")
    writer.model.head.save(folder / "generator")
    write_settings(settings, folder)


def writer_settings(chosen: RagSettings, marginal: str, names: PartNames) -> Settings:
    """The settings of the folder of a writer."""
    own: dict[str, Any] = {"k": chosen.k, "longest": chosen.longest, "beams": chosen.beams, "decode": chosen.decode}
    own |= {"marginal": marginal, "min_score": chosen.min_score}
    return part_settings(GENERATOR, ("answer",), "generator", names, own, max_length=chosen.max_length,
                         scale=chosen.scale)  # fmt: skip


def load_writer(folder: Path | str) -> AnswerWriter:
    """A writer from its folder, ready to write."""
    folder = Path(folder)
    settings = read_settings(folder)
    if settings.task != GENERATOR:
        raise BadModel(
            f"{folder}: its task is {settings.task!r}, expected {GENERATOR!r}. Name a folder that "
            f"`factpin train generator` wrote."
        )
    own = settings.task_config
    query, document = _embedder(folder / "query"), _embedder(_document_folder(folder, settings))
    model = RagModel(query, EncoderDecoder.load(folder / "generator"), own["marginal"]).eval()
    scale = Scale(settings.temperature, settings.shift)
    chosen = RagSettings(
        own["k"],
        settings.max_length,
        own["longest"],
        own["beams"],
        own["decode"],
        scale,
        own["min_score"] or RagSettings.min_score,
    )  # fmt: skip  (older folders: 0 if none was fitted)
    return AnswerWriter(model, document, chosen)


def _embedder(folder: Path) -> TextEmbedder:
    return TextEmbedder(Encoder.load(folder), Tokenizer.load(folder))


def _document_folder(folder: Path, settings: Settings) -> Path:
    """The encoder of passages; what older folders name may be gone, or relative to where they were trained."""
    if (own := folder / "document").is_dir():
        return own
    try:
        return resolve(settings.encoder)
    except (BadModel, UnknownName):
        raise BadModel(
            f"{folder} was written before writers kept their encoder of passages, and {settings.encoder!r}, from which "
            f"it was trained, is not here. Copy that encoder to {own}, or train the writer again."
        ) from None

"""A writer of answers (RAG) as a model folder.

factpin.json     settings
query/           the encoder of questions
generator/       the encoder-decoder, as transformers writes it
"""

from pathlib import Path
from typing import Any

from factpin.answers.embedding import TextEmbedder
from factpin.answers.rag import RagSettings
from factpin.answers.rag_writer import AnswerWriter, RagModel
from factpin.encoders import Encoder, resolve
from factpin.encoders.generator import EncoderDecoder
from factpin.errors import BadModel
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
    writer.model.head.save(folder / "generator")
    write_settings(settings, folder)


def writer_settings(chosen: RagSettings, marginal: str, names: PartNames) -> Settings:
    """The settings of the folder of a writer."""
    own: dict[str, Any] = {"k": chosen.k, "longest": chosen.longest, "beams": chosen.beams, "decode": chosen.decode}
    own |= {"marginal": marginal, "min_score": chosen.min_score}
    return part_settings(GENERATOR, ("answer",), "generator", names, own, max_length=chosen.max_length,
                         scale=chosen.scale)  # fmt: skip


def load_writer(folder: Path | str) -> AnswerWriter:
    """A writer from its folder, ready to write. The encoder of passages is the one that it was trained beside."""
    folder = Path(folder)
    settings = read_settings(folder)
    if settings.task != GENERATOR:
        raise BadModel(
            f"{folder}: its task is {settings.task!r}, expected {GENERATOR!r}. Name a folder that "
            f"`factpin train generator` wrote."
        )
    own = settings.task_config
    query = TextEmbedder(Encoder.load(folder / "query"), Tokenizer.load(folder / "query"))
    source = resolve(settings.encoder)
    document = TextEmbedder(Encoder.load(source), Tokenizer.load(source))
    model = RagModel(query, EncoderDecoder.load(folder / "generator"), own["marginal"]).eval()
    scale = Scale(settings.temperature, settings.shift)
    chosen = RagSettings(own["k"], settings.max_length, own["longest"], own["beams"], own["decode"], scale,
                         own["min_score"])  # fmt: skip
    return AnswerWriter(model, document, chosen)

"""factpin turns Chinese and English text into facts that can be checked.

    import factpin

    for document in factpin.extract(["谷爱凌出生于旧金山。", "Marie Curie was born in Warsaw."]):
        for fact in document.facts:
            print(fact.head.name, fact.relation, fact.tail.name, fact.score)

`__all__` is the public interface. Importing factpin is light, and extracting needs no torch.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from factpin.documents import Answer, Citation, Document, Entity, Event, Fact, Mention, Schema
    from factpin.extraction.knowledge_base import KnowledgeBase
    from factpin.extraction.pipeline import Pipeline
    from factpin.models.extractor import Extractor

    __version__: str

__all__ = [
    "Answer",
    "Citation",
    "Document",
    "Entity",
    "Event",
    "Fact",
    "Mention",
    "Schema",
    "__version__",
    "evaluate",
    "extract",
    "load",
    "open_store",
    "read",
    "train",
    "write",
]

NOUNS = ("Answer", "Citation", "Document", "Entity", "Event", "Fact", "Mention", "Schema")


@overload
def load(model: str | Path, device: str = "cpu", runtime: str = "auto", precision: str = "auto") -> "Extractor": ...
@overload
def load(
    model: list[str] | list[Path] | list[str | Path] | tuple[str | Path, ...] | None = None,
    device: str = "cpu",
    runtime: str = "auto",
    precision: str = "auto",
) -> "Pipeline": ...
def load(
    model: Any = None, device: str = "cpu", runtime: str = "auto", precision: str = "auto"
) -> "Extractor | Pipeline":
    """Load models to extract with.

    runtime: "onnx" (onnxruntime), "torch", or "auto", which is onnx where a model has a graph, as the shipped ones do.
    device: a torch device; any other than cpu needs torch.
    precision: "float32", which "auto" is; "bf16" (torch) and "int8" (onnx) are faster and change some results.

    load()                             all shipped models; each text is read by those for its language
    load(["en-entities", "runs/my"])   several models, by name or folder
    load("en-entities")                one model, which reads every text
    """
    from factpin.errors import BadInput  # noqa: PLC0415  (importing factpin stays light)
    from factpin.extraction.pipeline import Pipeline  # noqa: PLC0415
    from factpin.models.extractor import Extractor  # noqa: PLC0415
    from factpin.models.shipped import find_model  # noqa: PLC0415

    if isinstance(model, str | Path):
        return Extractor.load(find_model(str(model)), device, runtime, precision)
    names = () if model is None else tuple(model)
    if model is not None and not names:
        raise BadInput("The list of models is empty. Give at least one, or leave it out to load all shipped models.")
    return Pipeline.load(names, device, runtime, precision)


def extract(
    texts: str | Iterable[str], model: str | Path | Iterable[str | Path] | None = None, min_score: float = 0.5
) -> list["Document"]:
    """Extract mentions, entities, facts and events from texts; one document for each text.

    model: the name or folder of one or several models. Default: all shipped models, each for its language.
    min_score: leave out facts and events below this score; 0 keeps all.
    The models stay in memory for the next call.
    """
    from factpin.extraction.pipeline import loaded  # noqa: PLC0415

    names = () if model is None else (model,) if isinstance(model, str | Path) else tuple(model)
    return loaded(names).extract(texts, min_score)


def read(path: str | Path, format: str | None = None) -> Iterator["Document"]:
    """Read the documents of a file or folder, one at a time. The format is guessed unless given."""
    from factpin import formats  # noqa: PLC0415

    return formats.read(path, format=format)


def write(documents: Iterable["Document"], path: str | Path, format: str | None = None) -> None:
    """Write documents to a file. The format follows from the suffix unless given.

    Raises FormatLoss and writes nothing if the format cannot hold everything in the documents.
    """
    from factpin import formats  # noqa: PLC0415

    formats.write(documents, path, format=format)


def evaluate(
    predicted: str | Path | Iterable["Document"], gold: str | Path | Iterable["Document"], task: str | None = None
) -> dict[str, Any]:
    """Score predictions against gold, as `factpin evaluate --json` does. Documents are matched by id.

    task: spans, triples, events, document_relations or coreference. Default: guessed from gold.
    """
    from factpin.corpora.evaluate import evaluate as score  # noqa: PLC0415

    sides = [read(side) if isinstance(side, str | Path) else side for side in (predicted, gold)]
    return score(*sides, task=task)


def train(  # noqa: PLR0913  (each is asked for by name)
    task: str,
    *,
    train: str | Path | Iterable["Document"],
    output: str | Path,
    dev: str | Path | Iterable["Document"] | None = None,
    encoder: str | Path | None = None,
    initial: str | Path | None = None,
    format: str | None = None,
    resume: bool = False,
    quiet: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """Train a model, write it to a folder for `factpin.load`, and return the scores on dev.

    task: spans, triples, events, document_relations or coreference.
    train, dev: a file or documents. dev selects the best weights and thresholds and calibrates the scores.
    encoder, initial: start from a pretrained encoder or from a trained model; give one of them.
    settings: options of `factpin train`, such as epochs=5 or learning_rate=1e-4.
    """
    from factpin.training import plan  # noqa: PLC0415

    start = {"encoder": encoder and str(encoder), "initial": initial and str(initial)}
    return plan.train(task, {**start, **settings}, Path(output), train, dev, format=format, resume=resume, quiet=quiet)


def open_store(url: str | Path, *, create: bool = False, reader: str | None = None) -> "KnowledgeBase":
    """Open a store of texts and facts: a file such as kb.db, or postgresql://… It can be filled and asked.

    create: make it if it is not there yet.
    reader: what reads answers from passages, a name or folder, or "none"; without it, the shipped readers.
    """
    from factpin.answers.marks import open_marked  # noqa: PLC0415
    from factpin.extraction.knowledge_base import KnowledgeBase  # noqa: PLC0415

    return KnowledgeBase(open_marked(str(url), create=create), reader)


def __getattr__(name: str) -> Any:
    if name in NOUNS:
        from factpin import documents  # noqa: PLC0415

        return getattr(documents, name)
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        return version("factpin")
    raise AttributeError(f"module 'factpin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

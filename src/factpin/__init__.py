"""factpin turns Chinese and English text into facts that can be checked.

    import factpin

    for document in factpin.extract(["谷爱凌出生于旧金山。", "Marie Curie was born in Warsaw."]):
        for fact in document.facts:
            print(fact.head.name, fact.relation, fact.tail.name, fact.score)

`__all__` is what users can rely on. Importing factpin loads no torch; that waits until a model is needed.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from factpin.documents import Document, Entity, Event, Fact, Mention, Schema
    from factpin.extraction.pipeline import Pipeline
    from factpin.models.extractor import Extractor

    __version__: str

__all__ = [
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
    "read",
    "train",
    "write",
]

NOUNS = ("Document", "Entity", "Event", "Fact", "Mention", "Schema")


@overload
def load(model: str | Path, device: str = "cpu") -> "Extractor": ...
@overload
def load(
    model: list[str] | list[Path] | list[str | Path] | tuple[str | Path, ...] | None = None, device: str = "cpu"
) -> "Pipeline": ...
def load(model: Any = None, device: str = "cpu") -> "Extractor | Pipeline":
    """Models to extract with; `device` as torch names it.

    load()                             all shipped models together; each text is read by those of its language
    load(["en-entities", "runs/my"])   these together
    load("en-entities")                this one, which reads every text; a name, or a model folder
    """
    from factpin.errors import BadInput  # noqa: PLC0415  (importing factpin stays light)
    from factpin.extraction.pipeline import Pipeline  # noqa: PLC0415
    from factpin.models.extractor import Extractor  # noqa: PLC0415
    from factpin.models.shipped import find_model  # noqa: PLC0415

    if isinstance(model, str | Path):
        return Extractor.load(find_model(str(model)), device)
    names = () if model is None else tuple(model)
    if model is not None and not names:
        raise BadInput("The list of models is empty. Name at least one, or leave it out to load all shipped models.")
    return Pipeline.load(names, device)


def extract(
    texts: str | Iterable[str], model: str | Path | Iterable[str | Path] | None = None, min_score: float = 0.5
) -> list["Document"]:
    """A document for each text (one for a single text), with the mentions, entities, facts and events in it.

    model: the name or folder of a model, or several; without it, all shipped models, each for its language.
    min_score: facts and events that are less likely are left out; 0 keeps all.
    The models stay loaded for the next call.
    """
    from factpin.extraction.pipeline import loaded  # noqa: PLC0415

    names = () if model is None else (model,) if isinstance(model, str | Path) else tuple(model)
    return loaded(names).extract(texts, min_score)


def read(path: str | Path, format: str | None = None) -> Iterator["Document"]:
    """The documents of a file or folder, one at a time; the format is guessed where it is not named."""
    from factpin import formats  # noqa: PLC0415

    return formats.read(path, format=format)


def write(documents: Iterable["Document"], path: str | Path, format: str | None = None) -> None:
    """Write documents to a file; the format follows from the ending of its name where it is not named.

    FormatLoss is raised, and nothing is written, where the format cannot hold what the documents hold.
    """
    from factpin import formats  # noqa: PLC0415

    formats.write(documents, path, format=format)


def evaluate(
    predicted: str | Path | Iterable["Document"], gold: str | Path | Iterable["Document"], task: str | None = None
) -> dict[str, Any]:
    """Scores of predictions against gold, as `factpin evaluate --json` prints them; documents are matched by id.

    task: spans, triples, events, document_relations or coreference; guessed from gold where it is not named.
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
    """Train a model and write its folder, which `factpin.load` loads; gives what was measured.

    task: spans, triples, events, document_relations or coreference.
    train, dev: a file or documents. dev picks the best weights and the thresholds, and calibrates the scores.
    encoder, initial: what to start from, a pretrained encoder or a trained model; one of them.
    settings: the options of `factpin train` by name, such as epochs=5 or learning_rate=1e-4.
    """
    from factpin.training import plan  # noqa: PLC0415

    start = {"encoder": encoder and str(encoder), "initial": initial and str(initial)}
    return plan.train(task, {**start, **settings}, Path(output), train, dev, format=format, resume=resume, quiet=quiet)


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

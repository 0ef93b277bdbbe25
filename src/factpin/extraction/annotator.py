"""Models as one function. They are loaded when it is first called."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from factpin.documents import Document
from factpin.extraction.fingerprint import fingerprint
from factpin.models.settings import read_settings

Annotate = Callable[[Iterable[Document]], Iterator[Document]]


@dataclass(frozen=True)
class Annotator:
    """A function that annotates documents, and its name: the same name means the same result for the same text."""

    name: str
    annotate: Annotate


def annotator(
    folders: Sequence[Path],
    *,
    coreference: bool = False,
    device: str = "cpu",
    runtime: str = "auto",
    precision: str = "auto",
) -> Annotator:
    """The models in these folders. All facts are kept, whatever they score; `meta["unsure"]` says what `extract` hides.

    Nothing heavy is loaded before the first document, so a run over unchanged files is quick.
    """

    @cache
    def load() -> Annotate:
        from factpin.extraction.extract import extract, load_models  # noqa: PLC0415  (torch)

        models = load_models(folders, device=device, runtime=runtime, precision=precision)
        return partial(extract, models=models, min_score=0.0, coreference=coreference, mark_unsure=True)

    definitions = any(read_settings(folder).definitions for folder in folders)
    names = [fingerprint(folder) for folder in folders]
    how = [
        *(["definitions"] if definitions else []),
        *(["coreference"] if coreference else []),
        *([precision] if precision in ("bf16", "int8") else []),
    ]
    return Annotator("+".join([*names, *how]), lambda documents: load()(documents))

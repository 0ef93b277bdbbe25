"""Models as one function that is loaded when it is first needed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from factpin.documents import Document
from factpin.extraction.fingerprint import fingerprint

Annotate = Callable[[Sequence[Document]], Iterable[Document]]


@dataclass(frozen=True)
class Annotator:
    """What finds facts in documents, and a name for it: the same name means the same facts from the same text."""

    name: str
    annotate: Annotate


def annotator(folders: Sequence[Path], *, gather: bool = False, device: str = "cpu") -> Annotator:
    """The models of these folders. Nothing heavy is loaded before the first document comes, so a run over files that
    are all unchanged costs next to nothing. Every fact is kept with its score, likely or not."""

    @cache
    def load() -> Annotate:
        from factpin.extraction.extract import extract, load_models  # noqa: PLC0415  (torch)

        models = load_models(folders, device=device)
        return lambda documents: extract(documents, models, least=0.0, gather=gather)

    names = [fingerprint(folder) for folder in folders]
    return Annotator("+".join([*names, *(["coreference"] if gather else [])]), lambda documents: load()(documents))

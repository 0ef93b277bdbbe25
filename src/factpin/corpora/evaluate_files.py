"""Evaluate files: gold, predictions, and the other files that metrics need."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factpin import formats
from factpin.corpora.convert import RESULT
from factpin.corpora.evaluate import evaluate
from factpin.corpora.rename import read_names
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.formats import Options
from factpin.formats.docred_result import is_empty_list, is_result, read_result


@dataclass(frozen=True)
class EvaluationFiles:
    """The files of an evaluation, and how to read them."""

    predicted: Path
    gold: Path
    train: Path | None = None  # for Ign F1
    against: Path | None = None  # another prediction to compare with
    rename: Path | None = None  # JSON object of names
    gold_format: str | None = None  # of gold and train; None: guessed
    predicted_format: str | None = None  # of both predictions; None: guessed
    options: Options = Options()


def evaluate_files(files: EvaluationFiles, *, task: str | None, samples: int, seed: int) -> dict[str, Any]:
    """Read the files and return the report of `evaluate`."""
    gold = _read(files.gold, files)
    return evaluate(
        _read_predictions(files.predicted, files, gold),
        gold,
        task=task,
        train=_read(files.train, files) if files.train else None,
        against=_read_predictions(files.against, files, gold) if files.against else None,
        rename=read_names(files.rename) if files.rename else None,
        samples=samples,
        seed=seed,
    )


def _read(path: Path, files: EvaluationFiles) -> list[Document]:
    return list(formats.read(path, format=files.gold_format, options=files.options))


def _read_predictions(path: Path, files: EvaluationFiles, gold: list[Document]) -> list[Document]:
    format = files.predicted_format or _guess(path, files.options.encoding)
    if format == RESULT:  # it has no texts: they are taken from gold
        return list(read_result(path, gold, options=files.options))
    return list(formats.read(path, format=format, options=files.options)) if format else []


def _guess(path: Path, encoding: str) -> str:
    """The format of predictions; empty for an empty list, which is valid in many formats."""
    if path.is_file() and is_result(path, encoding):
        return RESULT
    if path.is_file() and is_empty_list(path, encoding):
        return ""
    try:
        return formats.guess(path, encoding)
    except BadInput as error:  # --from is the format of gold
        raise BadInput(str(error).replace("--from", "--pred-from")) from None

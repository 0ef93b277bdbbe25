"""Run the doctor on files: with a schema or a tokenizer to check against, or a schema to learn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factpin.corpora.doctor import doctor
from factpin.corpora.vocabulary import VocabularyCheck
from factpin.documents import read_schema, write_schema
from factpin.documents.schema import SchemaLearner
from factpin.formats import Options
from factpin.tokens import Tokenizer


@dataclass(frozen=True)
class Examination:
    """What to check in addition to the corpus."""

    schema: Path | None = None  # TOML; the corpus must match it
    tokenizer: Path | None = None  # folder, or the name of an encoder; spans must fit its pieces
    learn_schema: Path | None = None  # where to write the schema learned from the corpus


def examine(
    paths: Sequence[Path],
    examination: Examination,
    *,
    source_format: str | None = None,
    options: Options | None = None,
    on_document: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Examine a corpus and return the report of the doctor."""
    learner = SchemaLearner() if examination.learn_schema else None
    report = doctor(
        paths,
        source_format=source_format,
        options=options or Options(),
        schema=read_schema(examination.schema) if examination.schema else None,
        vocabulary=_vocabulary(examination.tokenizer) if examination.tokenizer else None,
        learner=learner,
        on_document=on_document,
    )
    if learner and examination.learn_schema:
        write_schema(learner.schema(), examination.learn_schema)
    return report


def _vocabulary(tokenizer: Path) -> VocabularyCheck:
    if not tokenizer.is_dir():
        from factpin.encoders.resolve import resolve  # noqa: PLC0415  (torch)

        tokenizer = resolve(tokenizer)
    return VocabularyCheck(Tokenizer.load(tokenizer))

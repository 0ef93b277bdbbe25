"""Writing small files and reading them with the formats of questions."""

import json
from pathlib import Path
from typing import Any

from factpin.documents import Question
from factpin.formats import Options, Report
from factpin.formats import questions as formats


def load(path: Path, **options: Any) -> tuple[list[Question], Report]:
    """The questions of a file, whose format is guessed, and what was noticed."""
    report = Report()
    return list(formats.read(path, options=Options(**options), report=report)), report


def load_json(folder: Path, value: Any, **options: Any) -> tuple[list[Question], Report]:
    """The questions of a value written as one JSON file."""
    path = folder / "file.json"
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return load(path, **options)


def load_lines(folder: Path, records: list[Any], **options: Any) -> tuple[list[Question], Report]:
    """The questions of records written one a line."""
    path = folder / "file.jsonl"
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    return load(path, **options)

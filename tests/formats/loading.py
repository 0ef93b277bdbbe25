"""Reading and writing with one format's module, for the tests of single formats."""

import json
from pathlib import Path
from typing import Any

from factpin.documents import Document
from factpin.formats import Format, Options, ReadContext, Report

DATA = Path(__file__).parents[3] / "shared" / "data"
SAMPLES = Path(__file__).parent / "samples"
ABSENT = "the corpora of ../shared/data are not beside this checkout"


def load(module: Format, path: Path, options: Options | None = None) -> tuple[list[Document], Report]:
    """The documents of a file and what was noticed."""
    report = Report()
    return list(module.read(ReadContext(path, options or Options(), report))), report


def load_lines(module: Format, folder: Path, records: list[Any], options: Options | None = None) -> Any:
    """The documents and report of records written one a line."""
    path = folder / "file.jsonl"
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    return load(module, path, options)


def spans(doc: Document) -> list[tuple[int, int, str]]:
    return [(m.start, m.end, m.type) for m in doc.mentions]


def told(doc: Document) -> list[tuple[str, str, str]]:
    """Every fact as (head text, relation, tail text), by its pins."""
    return [(doc.mention(f.head_mention).text, f.relation, doc.mention(f.tail_mention).text) for f in doc.facts]


def pins(doc: Document) -> list[tuple[int, int]]:
    """Where head and tail of every fact begin."""
    return [(doc.mention(f.head_mention).start, doc.mention(f.tail_mention).start) for f in doc.facts]

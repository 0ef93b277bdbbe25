"""The command line in this process, for the tests of commands on a store."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from factpin.app.cli import main
from factpin.documents import Document, to_json


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Door = Callable[..., Done]


def make_door(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], db: Path) -> Door:
    """Calls commands with FACTPIN_DB set."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FACTPIN_DB", str(db))

    def call(*words: object, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin.encode()))))
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        return Done(int(stop.value.code or 0), *capfd.readouterr())

    return call


def write_documents(path: Path, **documents: Document) -> Path:
    """A JSONL file with these documents, by id."""
    records = [{**to_json(doc), "id": id} for id, doc in documents.items()]
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    return path

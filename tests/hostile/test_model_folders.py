"""Malformed model folders: each ends in BadModel, soon and without much memory, or loads a model that works."""

import json
import random
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest

from factpin.errors import FactpinError
from factpin.models.checks import SUMS, is_slow
from factpin.models.extractor import Extractor
from tests.formats.test_mutations import at_most

SHIPPED = Path(__file__).parents[2] / "tests" / "data" / "model-0.1"
ODD: list[Any] = [0, -1, 1, 10**6, 10**7, 4 * 10**9, 10**30, 0.5, None, "", "x", [], {}, [[]], True, "(a+)+$", 1e308]
JSONS = ["factpin.json", "encoder/config.json", "tokenizer.json", "tokenizer_config.json"]


@pytest.fixture
def limited() -> Any:
    """A limit on memory: 4 GB more than now."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 4_000_000_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to some values of a JSON record."""
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    found = [path] if path else []
    for key, item in items[:40]:
        found += places(item, (*path, key))
    return found


def change(folder: Path, chance: random.Random) -> str:
    """Change one thing in a folder; returns what."""
    kind = chance.randrange(6)
    file = folder / (chance.choice(JSONS) if kind < 4 else "model.safetensors")
    if kind == 0:
        file.unlink()
        return f"{file.name} removed"
    if kind == 1:
        raw = file.read_bytes()
        file.write_bytes(raw[: chance.randrange(len(raw))])
        return f"{file.name} cut"
    if kind < 4:
        record = json.loads(file.read_text("utf-8"))
        *way, last = chance.choice(places(record))
        inner = record
        for key in way:
            inner = inner[key]
        inner[last] = chance.choice(ODD)
        file.write_text(json.dumps(record), "utf-8")
        return f"{file.name}: {[*way, last]} = {inner[last]!r}"
    raw = bytearray(file.read_bytes())
    start = 0 if kind == 4 else chance.randrange(len(raw))
    for _ in range(50):
        raw[min(len(raw) - 1, start + chance.randrange(400))] = chance.randrange(256)
    file.write_bytes(raw)
    return f"{file.name}: 50 bytes from {start} on"


def outcomes(count: int, source: Path, folder: Path, *, sums: bool) -> dict[str, int]:
    """Load so many malformed folders."""
    seen = {"refused": 0, "loaded": 0}
    for number in range(count):
        chance = random.Random(number)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        if not sums:
            (folder / SUMS).unlink(missing_ok=True)
        what = change(folder, chance)
        with at_most(60):
            try:
                (doc,) = Extractor.load(folder).extract(["Anna lives in Rome."])
                assert all(doc.text[m.start : m.end] == m.text for m in doc.mentions)
                seen["loaded"] += 1
            except FactpinError as error:
                assert len(str(error)) > 10
                seen["refused"] += 1
            except Exception as error:
                raise AssertionError(f"{number}: {what}") from error
    return seen


def sealed(tmp_path: Path) -> Path:
    """A small model as this version saves it."""
    Extractor.load(SHIPPED).save(tmp_path / "whole")
    return tmp_path / "whole"


def test_malformed_folders_are_refused(limited: None, tmp_path: Path) -> None:
    seen = outcomes(50, sealed(tmp_path), tmp_path / "bad", sums=False)
    assert seen["refused"] > 25, seen


@pytest.mark.verify
@pytest.mark.timeout(3600)
def test_five_hundred_malformed_folders(limited: None, tmp_path: Path) -> None:
    print(outcomes(500, sealed(tmp_path), tmp_path / "bad", sums=False))


def test_with_digests_no_changed_byte_loads(limited: None, tmp_path: Path) -> None:
    source = sealed(tmp_path)
    assert len((source / SUMS).read_text().splitlines()) == 5
    assert outcomes(30, source, tmp_path / "bad", sums=True)["loaded"] <= 2  # a change may write the same value again


def test_slow_patterns_are_known() -> None:
    for pattern in ("(a+)+$", "(a|aa)*b", "((a*)b?)+", "(?:x{2,})*", "(([a-z])+.)+"):
        assert is_slow(pattern), pattern
    gpt2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    llama3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)"
    for pattern in (gpt2, llama3, r"\d+", "(ab)?c*", r"[(+)]+", r"\(a+\)+"):
        assert not is_slow(pattern), pattern

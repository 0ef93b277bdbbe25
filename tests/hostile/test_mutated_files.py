"""Files with one thing changed in their structure: refused with one line, set aside, or read right."""

import json
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from factpin import formats
from factpin.documents import Document, from_json, to_json
from factpin.errors import FactpinError
from factpin.extraction.inputs import Input
from factpin.extraction.read import read_inputs
from factpin.formats import FORMATS, Options
from tests.extraction.papers import pdf
from tests.formats.test_formats import sample
from tests.formats.test_mutations import at_most, mutate

WHOLE = 3000  # files in `make verify`; a tenth in `make test`
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    3,
    10**6,
    2**63,
    10**30,
    0.5,
    1e308,
    "",
    "x",
    "\ud83d",
    "\x00",
    "中" * 50,
    [],
    {},
]
CELLS = ["", "0", "-1", "999999", "1e9", "T1", "R1", "E9", "O", "B-", "I-x", "x", ";", "|", "\x00", "\ufeff"]
WITH_TEXTS = {"cluener", "cmeee", "doccano", "duee", "duie", "jsonl", "labelstudio", "spacy", "triples", "uie"}
HTML = "<html><head><title>x</title></head><body><p>Anna lives in <b>Rome</b>.</p><p>小明在北京。</p></body></html>"
PAGES = {".html": HTML.encode(), ".pdf": pdf("Anna Weber lives in Rome.")}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all parts of a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(item, (*path, key))


def change_json(value: Any, chance: random.Random) -> Any:
    """Replace, remove, double, move or nest one part of a JSON value."""
    every = list(places(value))
    if not every:
        return chance.choice(VALUES)
    *way, last = chance.choice(every)
    inner = value
    for key in way:
        inner = inner[key]
    match chance.randrange(6):
        case 0 | 1:
            inner[last] = chance.choice(VALUES)
        case 2:
            del inner[last]
        case 3 if isinstance(inner, list):
            inner.insert(last, inner[last])
        case 4:
            other: Any = value
            for key in chance.choice(every):
                other = other[key]
            inner[last] = json.loads(json.dumps(other))
        case 5 if isinstance(inner[last], int) and not isinstance(inner[last], bool):
            inner[last] += chance.choice([-1, 1, -2, 2])
        case _:
            inner[last] = {"": inner[last]} if chance.random() < 0.5 else [inner[last]]
    return value


def change_lines(text: str, chance: random.Random) -> str:
    """Remove, double, move or change one line, or one cell of it."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines.insert(chance.randrange(len(lines)), lines.pop(at))
        case _:
            mark = "\t" if "\t" in lines[at] else " "
            cells = lines[at].split(mark)
            cells[chance.randrange(len(cells))] = chance.choice(CELLS + cells)
            lines[at] = mark.join(cells)
    return "\n".join(lines)


def changed(raw: bytes, chance: random.Random) -> bytes:
    """The file with one thing changed, in its structure where it is JSON."""
    text = raw.decode("utf-8")
    dump = partial(json.dumps, ensure_ascii=chance.random() < 0.5)
    if text.lstrip().startswith("["):
        found = dump(change_json(json.loads(text), chance))
    elif text.lstrip().startswith("{"):
        lines = text.rstrip("\n").split("\n")
        at = chance.randrange(len(lines))
        lines[at] = dump(change_json(json.loads(lines[at]), chance))
        found = "\n".join(lines)
    else:
        found = change_lines(text, chance)
    return found.encode("utf-8", "surrogatepass")


def right(doc: Document, name: str, path: Path) -> bool:
    """Whether every mention is its slice, and the text is one of the strings of the file, if its format has texts."""
    if not all(doc.text[m.start : m.end] == m.text for m in doc.mentions):
        return False
    return name not in WITH_TEXTS or not doc.text or doc.text in texts_of(path)


def texts_of(path: Path) -> set[str]:
    """All strings in a file of JSON."""
    text = path.read_text("utf-8", "surrogatepass")
    values = (
        [json.loads(text)] if text.lstrip().startswith("[") else [json.loads(line) for line in text.split("\n") if line]
    )
    return {string for value in values for string in _strings(value)}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def try_formats(name: str, numbers: range, folder: Path) -> dict[str, int]:
    """Read changed samples of a format, given by name or guessed; any error but those of the project is a failure."""
    original = sample(name)
    parts = [p for p in sorted(original.rglob("*")) if p.is_file()] if original.is_dir() else [original]
    seen = {"read": 0, "refused": 0}
    for number in numbers:
        chance = random.Random(f"{name} {number}")
        target = folder / f"{number}" / original.name
        victim = chance.choice(parts)
        for part in parts:
            place = target / part.relative_to(original) if original.is_dir() else target
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(changed(part.read_bytes(), chance) if part == victim else part.read_bytes())
        format = name if number % 3 else None
        with at_most(20):
            try:
                for doc in formats.read(target, format=format, options=Options(skip_bad=number % 2 == 0)):
                    assert right(doc, name, place), number
                    assert from_json(orjson.loads(orjson.dumps(to_json(doc)))) == doc, number
                seen["read"] += 1
            except FactpinError as error:
                assert 10 < len(str(error)) < 3000, number
                seen["refused"] += 1
    return seen


def try_pages(ending: str, numbers: range, folder: Path) -> dict[str, int]:
    """Read changed pages of a kind that a library parses."""
    seen = {"read": 0, "refused": 0}
    for number in numbers:
        path = folder / f"{number}{ending}"
        path.write_bytes(mutate(PAGES[ending], random.Random(number)))
        with at_most(20):
            try:
                (doc,) = read_inputs([Input(path, ending[1:], path.name, "a")])
                orjson.dumps(to_json(doc))
                seen["read"] += 1
            except FactpinError as error:
                assert 10 < len(str(error)) < 3000, number
                seen["refused"] += 1
    return seen


KINDS = [*FORMATS, *PAGES]


def try_kind(name: str, numbers: range, folder: Path) -> dict[str, int]:
    return try_pages(name, numbers, folder) if name in PAGES else try_formats(name, numbers, folder)


@pytest.mark.parametrize("name", KINDS)
def test_a_tenth_of_the_changed_files(limited: None, name: str, tmp_path: Path) -> None:
    seen = try_kind(name, range(WHOLE // len(KINDS) // 10 + 1), tmp_path)
    assert seen["read"], seen


@pytest.mark.verify
@pytest.mark.parametrize("name", KINDS)
def test_changed_files(limited: None, name: str, tmp_path: Path) -> None:
    seen = try_kind(name, range(WHOLE // len(KINDS) + 1), tmp_path)
    print(name, seen)
    assert seen["read"] and (seen["refused"] or name == "text"), seen

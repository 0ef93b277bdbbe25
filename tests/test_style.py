"""The rules of docs/style.md that a program can check: docstrings, and the names of classes."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "factpin"

IRREGULAR = {
    *("Begun", "Born", "Chosen", "Cut", "Drawn", "Found", "Given", "Gone", "Heard", "Held", "Hidden", "Kept", "Known"),
    *("Left", "Lost", "Made", "Met", "Paid", "Read", "Said", "Seen", "Sent", "Shown", "Spoken", "Taken", "Taught"),
    *("Thought", "Told", "Torn", "Unread", "Worn", "Written"),
}
ALLOWED = {
    "Decoding": "the noun: what decoding gives",
    "Reading": "the noun: what a reader makes of a passage",
    "Renaming": "the noun: a table of old and new names",
    "Setting": "the noun: one of the settings",
    "Unread": "a public name of version 0.1",
}


@cache
def modules() -> dict[str, ast.Module]:
    """The files of the package by their path in it."""
    paths = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items()}


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class with the path of its file."""
    for name, tree in modules().items():
        yield from ((name, node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def is_participle(name: str) -> bool:
    """Whether a class name is one word and a participle: Stored, but not StoredFact."""
    word = name.lstrip("_")
    one = len(re.findall(r"[A-Z]", word)) == 1
    return one and (word in IRREGULAR or re.search(r"[^e]ed$|ing$", word) is not None)


def shared_names() -> dict[str, str]:
    """The names that docs/style.md allows in several modules, each with the pattern of these modules."""
    text = (ROOT / "docs" / "style.md").read_text(encoding="utf-8")
    table = text.partition("These class names occur in several modules on purpose")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| `")]
    return {name: row[1].strip(" `") for row in rows for name in re.findall(r"`(\w+)`", row[0])}


def test_public_classes_have_a_docstring() -> None:
    without = [
        f"{path}: {node.name}"
        for path, node in classes()
        if not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert without == []


def test_public_functions_of_these_rooms_have_a_docstring() -> None:
    without = [
        f"{path}: {node.name}"
        for path, tree in modules().items()
        if path.startswith(("tasks/", "heads/", "layers/", "models/", "training/"))
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert without == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Told", True), ("_Taught", True), ("Marked", True), ("Teaching", True), ("MarkedPieces", False), ("Feed", False)],
)
def test_what_counts_as_a_participle(name: str, expected: bool) -> None:
    assert is_participle(name) is expected


def test_no_class_is_named_by_a_bare_participle() -> None:
    found = {node.name: path for path, node in classes() if is_participle(node.name)}
    assert {name: path for name, path in found.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) == set(found), "an allowed name is no longer used: remove it from ALLOWED"


def test_class_names_in_several_modules_are_those_of_the_style_guide() -> None:
    places = defaultdict(list)
    for path, node in classes():
        places[node.name].append(path)
    doubled = {name: paths for name, paths in places.items() if len(paths) > 1}
    shared = shared_names()
    strange = {
        name: paths
        for name, paths in doubled.items()
        if name not in shared or not all(fnmatch(path, shared[name]) for path in paths)
    }
    assert strange == {}
    assert set(shared) == set(doubled), "a name of the table is no longer in several modules: remove it"

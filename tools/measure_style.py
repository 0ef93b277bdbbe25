"""Measure the code of one or more checkouts and print a Markdown table with a column for each.

    python tools/measure_style.py before=../v0.1 after=.

Files are the *.py under src/. Function lengths include the signature and the docstring. A repeat is a group of six
consecutive lines of code, without blank lines, comments and imports, that occurs in more than one place. Findings of
vulture (pip install vulture) are functions, methods, properties and classes that nothing else in src/ uses: some are
public, or called by a library.
"""

import ast
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median

WINDOW = 6  # lines of a repeat
CONFIDENCE = "60"  # per cent, for vulture
KINDS = ("function", "method", "property", "class")  # findings of vulture to count

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A source file: its text and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return self.text.count("\n")


def read_modules(folder: Path) -> list[Module]:
    """All Python files below a folder."""
    paths = sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return [Module(path, text, ast.parse(text)) for path, text in zip(paths, texts, strict=True)]


def percentile(values: Sequence[int], share: float) -> int:
    """The smallest value that is at least as large as this share of the values."""
    ordered = sorted(values)
    return ordered[max(0, ceil(len(ordered) * share / 100) - 1)]


def functions(modules: Sequence[Module]) -> Iterator[Function]:
    """All functions and methods."""
    for module in modules:
        yield from (node for node in ast.walk(module.tree) if isinstance(node, Function))


def public_classes(modules: Sequence[Module]) -> list[ast.ClassDef]:
    """The classes at module level whose names do not start with an underscore."""
    nodes = [node for module in modules for node in module.tree.body if isinstance(node, ast.ClassDef)]
    return [node for node in nodes if not node.name.startswith("_")]


def code_lines(module: Module) -> list[str]:
    """The lines of code without docstrings, comments, imports and indentation."""
    skipped: set[int] = set()
    for node in ast.walk(module.tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    stripped = ((i, line.strip()) for i, line in enumerate(module.text.splitlines(), start=1))
    return [line for i, line in stripped if i not in skipped and line and not line.startswith("#")]


def count_repeats(modules: Sequence[Module]) -> int:
    """How many lines start a group of six lines that also occurs elsewhere."""
    groups: Counter[tuple[str, ...]] = Counter()
    for module in modules:
        lines = code_lines(module)
        groups.update(tuple(lines[i : i + WINDOW]) for i in range(len(lines) - WINDOW + 1))
    return sum(count for count in groups.values() if count > 1)


def count_dead(folder: Path) -> str:
    """The number of findings of vulture, or a dash if it is not installed."""
    program = shutil.which("vulture", path=f"{Path(sys.executable).parent}:/usr/bin:/usr/local/bin")
    if program is None:
        return "–"
    done = subprocess.run(
        [program, str(folder), "--min-confidence", CONFIDENCE], capture_output=True, text=True, check=False
    )
    return str(sum(f"unused {kind}" in line for line in done.stdout.splitlines() for kind in KINDS))


def shared_names(classes: Sequence[ast.ClassDef]) -> int:
    """How many class names are defined in more than one module."""
    return sum(count > 1 for count in Counter(node.name for node in classes).values())


def measure(checkout: Path) -> dict[str, str]:
    """All figures of a checkout."""
    source, tests = read_modules(checkout / "src"), read_modules(checkout / "tests")
    files = [module.lines for module in source]
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions(source)]
    public = [node for node in functions(source) if not node.name.startswith("_")]
    classes = public_classes(source)
    return {
        "files": f"{len(files)}",
        "lines": f"{sum(files):,}",
        "file length: median": f"{median(files):g}",
        "file length: 90th percentile": f"{percentile(files, 90)}",
        "file length: maximum": f"{max(files)}",
        "function length: median": f"{median(lengths):g}",
        "function length: 95th percentile": f"{percentile(lengths, 95)}",
        "function length: maximum": f"{max(lengths)}",
        "public classes with a docstring": f"{share(classes):.0%}",
        "public functions with a docstring": f"{share(public):.0%}",
        "class names in more than one module": f"{shared_names(classes)}",
        "test lines per source line": f"{sum(module.lines for module in tests) / sum(files):.2f}",
        "repeated groups of six lines": f"{count_repeats(source)}",
        "findings of vulture": count_dead(checkout / "src"),
        "`# fmt: skip`": f"{sum(module.text.count('# fmt: skip') for module in source)}",
    }


def share(nodes: Sequence[ast.ClassDef] | Sequence[Function]) -> float:
    """The share of nodes with a docstring."""
    return sum(ast.get_docstring(node) is not None for node in nodes) / max(1, len(nodes))


def main(arguments: Sequence[str]) -> None:
    """Print the table. Each argument is NAME=FOLDER."""
    pairs = [argument.partition("=")[::2] for argument in arguments or ["now=."]]
    columns = [(name, measure(Path(folder))) for name, folder in pairs]
    print("| | " + " | ".join(name for name, _ in columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for key in columns[0][1]:
        print(f"| {key} | " + " | ".join(figures[key] for _, figures in columns) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])

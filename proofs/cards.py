"""Cards: one page a method under docs/objectives, written from declarations, measured figures and a few sentences.

python -m proofs.cards docs/objectives

texts.toml       the sentences, a table for each method
measured.json    what `factpin verify --output docs/objectives/measured.json` found
NAME.md, NAME.svg      written
"""

import ast
import inspect
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from factpin import objectives
from factpin.errors import BadFile
from factpin.objectives import OBJECTIVES
from proofs import EXPERIMENTS, SYSTEMS
from proofs.drawing import draw, drawn_view
from proofs.experiment import Experiment
from proofs.results import Learned, Results, read_results
from proofs.verify import SEEDS
from proofs.world import VOCABULARY

DRAWN: dict[str, tuple[str, ...]] = {  # where not all rows are drawn
    "bart": ("bart",),
    "ernie": ("ernie_basic", "ernie_phrase", "ernie_entity"),
    "palm": ("palm_continue",),
    "pegasus": ("pegasus",),
}
FIELDS = ("title", "idea", "formula", "notes", "official", "prefer")
MOST_LINES, FEW_LINES = 60, 20  # of a declaration; most have fewer than FEW_LINES
BRICKS = ("choose", "gaps", "pairs", "spoil")


def write_cards(folder: Path) -> list[Path]:
    """Every card anew."""
    texts = read_texts(folder / "texts.toml")
    results = read_results(folder / "measured.json", EXPERIMENTS)
    written = []
    for system in SYSTEMS:
        for name, content in ((f"{system}.svg", picture(system)), (f"{system}.md", card(system, texts, results))):
            (folder / name).write_text(content, encoding="utf-8")
            written.append(folder / name)
    return written


def read_texts(path: Path) -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8"))
    for system in SYSTEMS:
        missing = [field for field in FIELDS if not texts.get(system, {}).get(field)]
        if missing:
            raise BadFile(f"{path}: [{system}] lacks {', '.join(missing)}. Write a sentence for each.")
    return texts


def picture(system: str) -> str:
    return draw({row: drawn_view(row) for row in DRAWN.get(system, SYSTEMS[system])}, VOCABULARY)


def card(system: str, texts: dict[str, dict[str, str]], results: Results) -> str:
    told = texts[system]
    names = ", ".join(f"`{row}`" for row in SYSTEMS[system])
    table = [
        ("formula", told["formula"]),
        ("rows of `OBJECTIVES`", names),
        ("often misstated", told["notes"]),
        ("public code", told["official"]),
        ("when to prefer", told["prefer"]),
        ("lines of code", where(system)),
    ]
    parts = [
        f"# {told['title']}",
        told["idea"].strip(),
        f"![What each cell can see]({system}.svg)",
        "Each row is a cell, with its input and what it predicts; filled squares are the cells it can see.",
        "\n".join(["| | |", "|---|---|", *(f"| {name} | {cell(text)} |" for name, text in table)]),
        "## Measured",
        f"```sh\nfactpin verify {system} --output docs/objectives/measured.json\n```",
        measured(system, results),
    ]
    return "\n\n".join(parts) + "\n"


def measured(system: str, results: Results) -> str:
    """A table for every experiment, one column a seed."""
    mine = {name: one for name, one in EXPERIMENTS.items() if one.system == system}
    if not mine:
        return "No experiment of its own: hiding whole units is tested in [ernie](ernie.md)."
    return "\n\n".join(_experiment(one, results.get(name, {})) for name, one in mine.items())


def _experiment(one: Experiment, learned: dict[int, Learned]) -> str:
    words = [f"**{one.checked[0].upper()}{one.checked[1:]}.** {one.language} Measured: {one.measure}.", one.remark]
    if one.design > 1:
        words.append(f"Designs tried: {one.design}.")
    seeds = [seed for seed in SEEDS if seed in learned]
    if not seeds:
        return " ".join([*filter(None, words), "Not measured yet."])
    figures = [learned[seed].figures for seed in seeds]
    lines = [f"| | {' | '.join(f'seed {one.fresh + seed}' for seed in seeds)} |", "|---|" + "---|" * len(seeds)]
    lines += [f"| {arm} | {' | '.join(f'{found[arm]:.3f}' for found in figures)} |" for arm in figures[0]]
    bars = [f"- {bar}: {'reached' if bar.holds(figures) else '**not reached**'}" for bar in one.bars]
    missing = [] if len(seeds) == len(SEEDS) else [f"Only {len(seeds)} of {len(SEEDS)} seeds are measured."]
    return "\n\n".join([" ".join(filter(None, words)), "\n".join(lines), "\n".join(bars), *missing])


def lines(system: str) -> int:
    """Non-blank lines of a method's declaration: its rows, and what they name that no other method does.

    Samplers, corruption and pairs are bricks, which any row may use; they are not counted. A file whose declarations
    are all of one method is its own, without imports and docstring; of another file only what is named counts.
    """
    named = 0
    for file, users in _files().items():
        if set().union(*users.values()) == {system}:
            named += _code_lines(file)
        else:
            named += sum(_full_lines(inspect.getsource(one)) for one, systems in users.items() if systems == {system})
    return sum(_row_lines(SYSTEMS[system]).values()) + named


def where(system: str) -> str:
    """The lines of a method in words, and what it shares with others."""
    own, shared = ["the rows"], []
    for file, users in _files().items():
        if any(systems == {system} for systems in users.values()):
            own.append(f"what only they use in {_name(file)}")
        elif count := max((len(systems) for systems in users.values() if system in systems), default=0):
            shared.append(f"{_name(file)} ({_code_lines(file)} lines), shared by {count} methods")
    return f"{lines(system)}: {' and '.join(own)}" + (f"; based on {' and '.join(shared)}" if shared else "")


@cache
def _files() -> dict[ModuleType, dict[Any, set[str]]]:
    """The files of declarations; the classes and functions in them that rows name, each with the methods that do."""
    found: dict[ModuleType, dict[Any, set[str]]] = {}
    for system, rows in SYSTEMS.items():
        for one in (one for row in rows for one in _named(OBJECTIVES[row].declare)):
            found.setdefault(sys.modules[one.__module__], {}).setdefault(one, set()).add(system)
    return found


def _named(thing: Any) -> Iterator[Any]:
    """What a declaration is made of, without bricks."""
    if isinstance(thing, partial):
        yield from _named(thing.func)
    elif inspect.isfunction(thing) or inspect.isclass(thing):
        room, _, file = thing.__module__.rpartition(".")
        if room == objectives.__name__ and file not in BRICKS:
            yield thing
    elif is_dataclass(thing):
        yield from _named(type(thing))
        for one in fields(thing):
            yield from _named(getattr(thing, one.name))


def _name(file: ModuleType) -> str:
    return f"`objectives/{file.__name__.rpartition('.')[2]}.py`"


def _full_lines(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


def _code_lines(module: ModuleType) -> int:
    source = inspect.getsource(module)
    body = ast.parse(source).body
    kept = [node for node in body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)]
    first = [min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) for node in kept]
    text = source.splitlines()
    spans = [text[start - 1 : node.end_lineno] for start, node in zip(first, kept, strict=True)]
    return sum(_full_lines("\n".join(span)) for span in spans)


def _row_lines(rows: Sequence[str]) -> dict[str, int]:
    """How many lines each row has in the table."""
    tree = ast.parse(inspect.getsource(objectives))
    tables = [node.value for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)]
    found = {}
    for key, value in zip(tables[0].keys, tables[0].values, strict=True):
        if isinstance(key, ast.Constant) and key.value in rows and value.end_lineno is not None:
            found[str(key.value)] = value.end_lineno - key.lineno + 1
    return found


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    for path in write_cards(Path(sys.argv[1])):
        print(path)

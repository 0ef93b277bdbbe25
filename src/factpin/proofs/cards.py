"""Cards: one page a method under docs/objectives, written from declarations, measured figures and a few sentences.

python -m factpin.proofs.cards docs/objectives

texts.toml       the sentences, a table for each method
measured.json    what `factpin verify --output docs/objectives/measured.json` found
NAME.md, NAME.svg      written
"""

import ast
import inspect
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from factpin import objectives
from factpin.errors import BadFile
from factpin.objectives import OBJECTIVES
from factpin.proofs import EXPERIMENTS, SYSTEMS
from factpin.proofs.drawing import draw, drawn_view
from factpin.proofs.experiment import Experiment
from factpin.proofs.results import Learned, Results, read_results
from factpin.proofs.verify import SEEDS
from factpin.proofs.world import VOCABULARY

DRAWN: dict[str, tuple[str, ...]] = {  # where not all rows are drawn
    "bart": ("bart",),
    "ernie": ("ernie_basic", "ernie_phrase", "ernie_entity"),
    "palm": ("palm_continue",),
    "pegasus": ("pegasus",),
}
FIELDS = ("title", "idea", "formula", "notes", "official", "prefer")
MOST_LINES = 60


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
    module = inspect.getmodule(_declaration(SYSTEMS[system][0]))
    file = "" if module is None else module.__name__.rpartition(".")[2]
    table = [
        ("formula", told["formula"]),
        ("rows of `OBJECTIVES`", names),
        ("where the notes err", told["notes"]),
        ("official code", told["official"]),
        ("when to prefer", told["prefer"]),
        ("lines", f"{lines(system)}: the rows, and the code of `objectives/{file}.py` without imports"),
    ]
    parts = [
        f"# {told['title']}",
        told["idea"].strip(),
        f"![Who sees whom]({system}.svg)",
        "Rows are cells that ask, with what they read and what they are asked for; filled: may be seen.",
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
        return "No learning experiment of its own: units are proved in [ernie](ernie.md)."
    return "\n\n".join(_experiment(one, results.get(name, {})) for name, one in mine.items())


def _experiment(one: Experiment, learned: dict[int, Learned]) -> str:
    words = [f"**{one.checked[0].upper()}{one.checked[1:]}.** {one.language} Measured: {one.measure}.", one.remark]
    if one.design > 1:
        words.append(f"Designs tried: {one.design}.")
    seeds = [seed for seed in SEEDS if seed in learned]
    if not seeds:
        return " ".join([*filter(None, words), "Not measured yet."])
    figures = [learned[seed].figures for seed in seeds]
    lines = [f"| | {' | '.join(f'seed {seed}' for seed in seeds)} |", "|---|" + "---|" * len(seeds)]
    lines += [f"| {arm} | {' | '.join(f'{found[arm]:.3f}' for found in figures)} |" for arm in figures[0]]
    bars = [f"- {bar}: {'reached' if bar.holds(figures) else '**not reached**'}" for bar in one.bars]
    missing = [] if len(seeds) == len(SEEDS) else [f"Only {len(seeds)} of {len(SEEDS)} seeds are measured."]
    return "\n\n".join([" ".join(filter(None, words)), "\n".join(lines), "\n".join(bars), *missing])


def lines(system: str) -> int:
    """Non-blank lines of the rows and of the file that declares them, without imports and the file's docstring."""
    modules = {inspect.getmodule(_declaration(row)) for row in SYSTEMS[system]}
    return sum(_row_lines(SYSTEMS[system]).values()) + sum(_code_lines(one) for one in modules if one is not None)


def _declaration(row: str) -> Any:
    declare: Any = OBJECTIVES[row].declare
    return declare if inspect.isfunction(declare) else type(declare)


def _code_lines(module: ModuleType) -> int:
    source = inspect.getsource(module)
    body = ast.parse(source).body
    kept = [node for node in body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)]
    first = [min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) for node in kept]
    text = source.splitlines()
    spans = [text[start - 1 : node.end_lineno] for start, node in zip(first, kept, strict=True)]
    return sum(bool(line.strip()) for span in spans for line in span)


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

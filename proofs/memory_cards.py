"""Cards of the systems that read and answer: docs/answers, written like those of docs/objectives.

python -m proofs.memory_cards docs/answers

texts.toml       the sentences, a table for each system
measured.json    what `factpin verify --output docs/answers/measured.json` found
NAME.md, NAME.svg      written
"""

import sys
import tomllib
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path

from factpin.answers.cogltx import Recall
from factpin.errors import BadFile
from proofs import ANSWERS, EXPERIMENTS
from proofs.cards import cell, measured
from proofs.lookup_world import DrawnWeights
from proofs.memory_cogltx import drawn_recall
from proofs.memory_eae import drawn_entities
from proofs.memory_fae import drawn_facts
from proofs.memory_knowbert import drawn_candidates
from proofs.results import Results, read_results

FIELDS = ("title", "idea", "caption", "formula", "use", "notes", "official", "prefer", "real")
CELL, LEFT, TOP = 28, 120, 40
WIDE, COLUMN = 220, 120  # of pictures of weights


def write_cards(folder: Path) -> list[Path]:
    """Every card anew."""
    texts, results = read_texts(folder / "texts.toml"), read_results(folder / "measured.json", EXPERIMENTS)
    written = []
    for system in ANSWERS:
        for name, content in ((f"{system}.svg", PICTURES[system]()), (f"{system}.md", card(system, texts, results))):
            (folder / name).write_text(content, encoding="utf-8")
            written.append(folder / name)
    return written


def read_texts(path: Path) -> dict[str, dict[str, str]]:
    """The sentences of every system."""
    texts: dict[str, dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8"))
    for system in ANSWERS:
        missing = [field for field in FIELDS if not texts.get(system, {}).get(field)]
        if missing:
            raise BadFile(f"{path}: [{system}] lacks {', '.join(missing)}. Write a sentence for each.")
    return texts


def card(system: str, texts: dict[str, dict[str, str]], results: Results) -> str:
    """The page of a system."""
    said = texts[system]
    table = [
        ("formula", said["formula"]),
        ("often misstated", said["notes"]),
        ("public code", said["official"]),
        ("when to prefer", said["prefer"]),
    ]
    parts = [
        f"# {said['title']}",
        said["idea"].strip(),
        f"![{cell(said['caption'])}]({system}.svg)",
        said["caption"].strip(),
        said["use"].strip(),
        "\n".join(["| | |", "|---|---|", *(f"| {name} | {cell(text)} |" for name, text in table)]),
        "## Measured",
        f"```sh\nfactpin verify {system} --output docs/answers/measured.json\n```",
        measured(system, results),
        said["real"].strip(),
    ]
    return "\n\n".join(parts) + "\n"


def recall_picture() -> str:
    """A row for every step: how dark a block is says how high it was scored; a frame says that it was kept."""
    blocks, recall = drawn_recall()
    width, height = LEFT + CELL * blocks + 10, TOP + 2 * CELL * len(recall.steps) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'font-family="monospace" font-size="10"><rect width="{width}" height="{height}" fill="#fff"/>'
    ]
    parts += [_text(LEFT + CELL * i + CELL / 2, TOP - 8, f"x{i}", "middle") for i in range(blocks)]
    for s, (step, row) in enumerate((step, row) for step in range(len(recall.steps)) for row in range(2)):
        parts.append(_row(recall, step, row, blocks, TOP + CELL * s))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(recall: Recall, step: int, row: int, blocks: int, top: int) -> str:
    one = recall.steps[step]
    chosen = one.kept if row else one.filled
    label = f"step {step + 1}: " + ("stay" if row else "compete")
    parts = [_text(LEFT - 8, top + CELL / 2 + 4, label, "end")]
    for i in range(blocks):
        shade = one.scores[i] if not row or i in chosen else 0.0
        frame = ' stroke="#c33" stroke-width="2"' if i in chosen else ' stroke="#ccc"'
        parts.append(
            f'<rect data-step="{step}" data-row="{row}" data-block="{i}" data-chosen="{int(i in chosen)}" '
            f'x="{LEFT + CELL * i + 2}" y="{top + 2}" width="{CELL - 4}" height="{CELL - 4}" fill="#4477aa" '
            f'fill-opacity="{shade:.2f}"{frame}/>'
        )
    return "".join(parts)


def weights_picture(draw: Callable[[], DrawnWeights]) -> str:
    """A row for every question: how dark a cell is says how much of that column is read."""
    drawn = draw()
    width, height = WIDE + COLUMN * len(drawn.columns) + 10, TOP + CELL * len(drawn.rows) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'font-family="monospace" font-size="10"><rect width="{width}" height="{height}" fill="#fff"/>'
    ]
    parts += [_text(WIDE + COLUMN * (i + 0.5), TOP - 8, name, "middle") for i, name in enumerate(drawn.columns)]
    for r, (name, weights) in enumerate(zip(drawn.rows, drawn.weights, strict=True)):
        parts.append(_text(WIDE - 8, TOP + CELL * r + CELL / 2 + 4, name, "end"))
        for c, weight in enumerate(weights):
            parts.append(
                f'<rect data-row="{r}" data-column="{c}" data-weight="{weight:.3f}" x="{WIDE + COLUMN * c + 2}" '
                f'y="{TOP + CELL * r + 2}" width="{COLUMN - 4}" height="{CELL - 4}" fill="#4477aa" '
                f'fill-opacity="{weight:.2f}" stroke="#ccc"/>'
            )
            parts.append(_text(WIDE + COLUMN * (c + 0.5), TOP + CELL * r + CELL / 2 + 4, f"{weight:.2f}", "middle"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="#555">{escape(text)}</text>'


PICTURES: dict[str, Callable[[], str]] = {
    "cogltx": recall_picture,
    "eae": partial(weights_picture, drawn_entities),
    "fae": partial(weights_picture, drawn_facts),
    "knowbert": partial(weights_picture, drawn_candidates),
}

if __name__ == "__main__":
    for path in write_cards(Path(sys.argv[1])):
        print(path)

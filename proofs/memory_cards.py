"""Cards of the systems that read and answer: docs/answers, written like those of docs/objectives.

python -m proofs.memory_cards docs/answers

texts.toml       the sentences, a table for each system
measured.json    what `factpin verify --output docs/answers/measured.json` found
NAME.md, NAME.svg      written
"""

import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path

from factpin.answers.cogltx import Recall
from factpin.answers.marginal import posterior
from factpin.errors import BadFile
from proofs import ANSWERS, EXPERIMENTS
from proofs.cards import cell, measured
from proofs.lookup_world import DrawnWeights
from proofs.memory_cogltx import drawn_recall
from proofs.memory_cogqa import drawn_graph
from proofs.memory_eae import drawn_entities
from proofs.memory_fae import drawn_facts
from proofs.memory_knowbert import drawn_candidates
from proofs.memory_rag import drawn_documents
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


def graph_picture() -> str:
    """The cognitive graph that grows from one passage: nodes in the order in which they were found."""
    rows, edges, answers = drawn_graph()
    places = {i: (60 + 110 * depth, 40 + 70 * line) for i, (_, depth, line) in enumerate(rows)}
    lines = [
        f'<line data-edge="{a}-{b}" x1="{places[a][0] + 34}" y1="{places[a][1]}" x2="{places[b][0] - 34}" '
        f'y2="{places[b][1]}" stroke="#888"/>'
        for a, b in edges
    ]
    boxes = [
        f'<rect data-node="{i}" data-answer="{int(i in answers)}" x="{x - 34}" y="{y - 13}" width="68" height="26" '
        f'rx="4" fill="#fff" stroke="{"#c33" if i in answers else "#4477aa"}"/>' + _text(x, y + 4, rows[i][0], "middle")
        for i, (x, y) in places.items()
    ]
    return _svg(440, 160, [*lines, *boxes])


def bars_picture(rows: Sequence[tuple[str, Sequence[float]]]) -> str:
    """A row of bars for each distribution: how likely each passage is."""
    parts = []
    for r, (label, values) in enumerate(rows):
        parts.append(_text(LEFT + 30, TOP + 44 * r + 14, label, "end"))
        for i, value in enumerate(values):
            parts.append(
                f'<rect data-row="{r}" data-bar="{i}" data-value="{value:.4f}" x="{LEFT + 40 + 50 * i}" '
                f'y="{TOP + 44 * r + 24 - 34 * value:.1f}" width="40" height="{34 * value:.1f}" fill="#4477aa"/>'
            )
    names = [_text(LEFT + 60 + 50 * i, 16, f"z{i}", "middle") for i in range(len(rows[0][1]))]
    return _svg(LEFT + 60 + 50 * len(rows[0][1]), TOP + 44 * len(rows), [*names, *parts])


def rag_picture() -> str:
    """Before and after an answer is known: prior, what each passage says, posterior."""
    doc, y = drawn_documents()
    return bars_picture([("p(z|x)", doc.exp().tolist()), ("p(y|x,z)", y.exp().tolist()),
                         ("p(z|x,y)", posterior(doc[None], y[None, :, None])[0].tolist())])  # fmt: skip


def realm_picture() -> str:
    """The null document first: prior, how well the blank is filled in, and the gain of each score, shifted to 0.5."""
    doc, y = drawn_documents()
    after = posterior(doc[None], y[None, :, None])[0]
    return bars_picture([("p(z|x)", doc.exp().tolist()), ("p(y|x,z)", y.exp().tolist()),
                         ("0.5 + gradient", (0.5 + after - doc.exp()).tolist())])  # fmt: skip


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
    head += f'font-family="monospace" font-size="10"><rect width="{width:g}" height="{height:g}" fill="#fff"/>'
    return "\n".join([head, *parts, "</svg>"]) + "\n"


PICTURES: dict[str, Callable[[], str]] = {
    "cogltx": recall_picture,
    "cogqa": graph_picture,
    "eae": partial(weights_picture, drawn_entities),
    "fae": partial(weights_picture, drawn_facts),
    "knowbert": partial(weights_picture, drawn_candidates),
    "rag": rag_picture,
    "realm": realm_picture,
}

if __name__ == "__main__":
    for path in write_cards(Path(sys.argv[1])):
        print(path)

"""Drawing: a view as an SVG: who sees whom, cell by cell, straight from its MaskSpecs.

rows       cells that ask, with what they read and, behind an arrow, what they are asked for
columns    cells that are seen
filled     may be seen; each run of neighbours in a row is one piece of a path, in units of cells

<path data-query="content" data-key="memory" d="M0 1h3v1h-3z …"/>      row 1 sees cells 0, 1, 2
"""

from html import escape

import numpy as np

from factpin.layers.masks import Bools
from factpin.objectives import OBJECTIVES, Stream, Text, View, Vocabulary
from proofs.world import VOCABULARY

CELL, LEFT, TOP, GAP = 16, 92, 60, 20
FIRST = 11  # the id of x1


def example() -> Text:
    """x1 … x8 in two sentences and words of one to three, behind two remembered pieces."""
    foreign = Text(np.arange(60, 68), np.arange(8), np.array([4, 8]))
    groups = np.array([0, 1, 1, 2, 3, 4, 4, 4])
    return Text(
        np.arange(FIRST, FIRST + 8),
        groups,
        np.array([4, 8]),
        phrases=groups,
        entities=np.array([-1, 0, 0, -1, -1, 1, 1, 1]),
        before=np.array([90, 91]),
        foreign=foreign,
    )


def drawn_view(row: str) -> View:
    """The view of a row that its card shows."""
    return OBJECTIVES[row].view(example(), VOCABULARY, seed=0, epoch=0, index=2)


def draw(views: dict[str, View], vocabulary: Vocabulary) -> str:
    """One panel for every stream of every view that sees something, side by side in rows of views."""
    panels, width, top = [], 0, GAP
    for title, view in views.items():
        left, height = 0, 0
        for name, one in view.streams.items():
            if one.sees and len(one):
                panels.append(_panel(f"{title}, {name}", view, name, vocabulary, left, top))
                left += LEFT + CELL * sum(spec.columns for spec in one.sees.values()) + GAP
                height = max(height, TOP + CELL * len(one))
        width, top = max(width, left), top + height + GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" font-family="monospace" '
        'font-size="10"><style>text{fill:#555}path{fill:#4477aa}rect{fill:none;stroke:#bbb}</style>'
        f'<rect width="{width}" height="{top}" style="fill:#fff;stroke:none"/>'
    )
    return head + "\n" + "\n".join(panels) + "\n</svg>\n"


def _panel(title: str, view: View, name: str, vocabulary: Vocabulary, left: int, top: int) -> str:
    one = view.streams[name]
    parts = [f'<g transform="translate({left + LEFT} {top + TOP})">', f'<text x="0" y="-48">{escape(title)}</text>']
    for i, asked in enumerate(one.answers):
        arrow = f" → {word(int(view.text[asked]), vocabulary)}" if asked >= 0 else ""
        label = word(int(one.tape.ids[i]), vocabulary) + arrow
        parts.append(f'<text x="-4" y="{CELL * i + 12}" text-anchor="end">{escape(label)}</text>')
    at = 0
    for seen, spec in one.sees.items():
        parts += [_column_labels(view.streams[seen], vocabulary, at), _grid(name, seen, spec.dense(), at)]
        at += spec.columns
    return "".join([*parts, "</g>"])


def _column_labels(seen: Stream, vocabulary: Vocabulary, at: int) -> str:
    labels = [escape(word(int(piece), vocabulary)) for piece in seen.tape.ids]
    places = [f"translate({CELL * (at + k) + 11} -4) rotate(-60)" for k in range(len(labels))]
    return "".join(f'<text transform="{place}">{label}</text>' for place, label in zip(places, labels, strict=True))


def _grid(query: str, key: str, allowed: Bools, at: int) -> str:
    rows, columns = allowed.shape
    frame = f'<rect x="{CELL * at}" y="0" width="{CELL * columns}" height="{CELL * rows}"/>'
    return (
        f'<path transform="translate({CELL * at} 0) scale({CELL})" data-query="{query}" data-key="{key}" '
        f'd="{path(allowed)}"/>{frame}'
    )


def path(allowed: Bools) -> str:
    """(Q, K) -> the runs of True cells."""
    runs = []
    for i, row in enumerate(allowed.astype(np.int8)):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row, [0]])))
        runs += [f"M{a} {i}h{b - a}v1h-{b - a}z" for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return "".join(runs)


def word(piece: int, v: Vocabulary) -> str:
    """What a cell reads, for people."""
    names = {v.pad: "pad", v.cls: "[CLS]", v.sep: "[SEP]", v.mask: "[M]", v.gap: "[gap]", v.tail: "[tail]"}
    names |= {v.start: "[start]", v.end: "[end]"} | {piece: f"<{k}>" for k, piece in enumerate(v.sentinels)}
    if piece in names:
        return names[piece]
    return f"x{piece - FIRST + 1}" if FIRST <= piece < FIRST + 8 else "y"

"""A comparison as a drawing: its report comes in, an SVG file goes out."""

from pathlib import Path
from typing import Any

from factpin.files import write_bytes

COLOURS = ("#4a90d9", "#d0021b", "#417505", "#f5a623", "#9013fe", "#50808e", "#8b572a", "#b8005c")
WIDTH, HEIGHT, LEFT, TOP, KEY = 420, 260, 56, 14, 150  # pixels
IN_FULL = 10_000  # counts below are not written in thousands


def draw(report: dict[str, Any], path: Path) -> None:
    """Means by pieces seen, with their intervals; all lines begin at the encoder as it was.

    A share is not drawn below 0 or above 1, where the interval of few seeds may reach.
    """
    rows = report["points"]
    begins = next(row for row in rows if row["point"] == 0)
    names = list(dict.fromkeys(row["objective"] for row in rows if row["point"]))
    widest = max(row["pieces"] for row in rows) or 1
    ends = [value for row in rows for value in (*row["scores"], *_ends(row))]
    low, high = min(ends), max(ends)
    room = (high - low) * 0.05 or 0.01
    low, high = low - room, high + room
    if _shares(rows):
        low, high = max(low, 0.0), min(high, 1.0)

    def x(pieces: float) -> float:
        return LEFT + WIDTH * pieces / widest

    def y(score: float) -> float:
        return TOP + HEIGHT * (high - min(max(score, low), high)) / (high - low)

    parts = [f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>']
    for step in range(5):
        value = low + (high - low) * step / 4
        parts.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{100 * value:.1f}</text>')
    for row in {row["point"]: row for row in rows}.values():
        parts.append(f'<text x="{x(row["pieces"]):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">'
                     f"{_count(row['pieces'])}</text>")  # fmt: skip
    for k, name in enumerate(names):
        colour, own = COLOURS[k % len(COLOURS)], [begins, *(row for row in rows if row["objective"] == name)]
        way = " ".join(f"{x(row['pieces']):.1f},{y(row['mean']):.1f}" for row in own)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for row in own:
            bottom, top = _ends(row) or (row["mean"], row["mean"])
            at = x(row["pieces"]) + 2 * k  # so that intervals are side by side
            parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(bottom):.1f}" y2="{y(top):.1f}" stroke="{colour}">'
                         f"<title>{name}: {mean_and_half_width(row)}</title></line>")  # fmt: skip
        parts.append(f'<text x="{LEFT + WIDTH + 14}" y="{TOP + 14 + 18 * k}" fill="{colour}">{name}</text>')
    words = f"pieces seen ({report['metric']}, intervals of 95 % over the seeds)"
    parts.append(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 36}" text-anchor="middle">{words}</text>')
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + KEY}" height="{TOP + HEIGHT + 50}" '
           f'font-family="sans-serif" font-size="11">{"".join(parts)}</svg>\n')  # fmt: skip
    with write_bytes(path) as stream:
        stream.write(svg.encode())


def _ends(row: dict[str, Any]) -> tuple[float, ...]:
    """The interval, where there is one."""
    return (row["low"], row["high"]) if len(row["scores"]) > 1 else ()


def _shares(rows: list[dict[str, Any]]) -> bool:
    return all(0 <= score <= 1 for row in rows for score in row["scores"])


def _count(pieces: int) -> str:
    return f"{pieces:,}" if pieces < IN_FULL else f"{pieces / 1000:,.0f} k"


def mean_and_half_width(row: dict[str, Any]) -> str:
    """The mean of a point in per cent, and half the width of its interval where it has one."""
    if len(row["scores"]) < 2:
        return f"{100 * row['mean']:.2f}"
    return f"{100 * row['mean']:.2f} ± {50 * (row['high'] - row['low']):.2f}"

"""card.md: what a model is, what it was trained on, how good it is, and how reliable its scores are."""

from dataclasses import dataclass
from pathlib import Path

from factpin.files import write_bytes
from factpin.models.settings import Settings
from factpin.scoring import Calibration
from factpin.tasks import TASKS
from factpin.words import count


@dataclass(frozen=True)
class Origin:
    """Where a model comes from: what the other files of the folder do not contain."""

    data: str  # corpora and splits, in words
    data_licence: str = "not stated"
    encoder_licence: str = "not stated"
    command: str = ""
    hardware: str = ""
    remarks: str = ""
    seed: int | None = None
    longer: str = ""  # what happens to text that cannot be read at once; "": overlapping windows, if there are any
    calibrated: str = ""  # how scores became probabilities; "": by the temperature and the shift of the settings


def write_card(
    folder: Path, settings: Settings, origin: Origin, scores: dict[str, float], reliability: Calibration | None
) -> None:
    """Write card.md and, if there is a calibration, reliability.svg."""
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in scores.items() if isinstance(value, float))
    parts = [
        f"# {settings.name or folder.name}",
        f"Finds {settings.finds or ', '.join(settings.labels)}.",
        "| | |\n|---|---|\n"
        f"| task | {settings.task} |\n| labels | {', '.join(settings.labels)} |\n| head | {settings.head} |\n"
        f"| encoder | {settings.encoder} |\n| language | {settings.language or 'any'} |\n"
        f"| reads | up to {settings.max_length} tokens at once, by {settings.context}{_longer(settings, origin)} |\n"
        f"| data | {origin.data} |\n| licence of the data | {origin.data_licence} |\n"
        f"| licence of the encoder's weights | {origin.encoder_licence} |\n| licence of the code | MIT |\n"
        f"| weights stored as | {settings.precision} |\n| hardware | {origin.hardware or 'not stated'} |"
        + ("" if origin.seed is None else f"\n| seed | {origin.seed} |"),
    ]
    if rows:
        parts.append(
            f"## Scores on dev\n\n{TASKS[settings.task].strict}, micro-averaged.\n\n"
            f"| metric | value |\n|---|---|\n{rows}"
        )
    if reliability is not None and reliability.count:
        parts.append(_reliability(reliability, settings, origin.calibrated))
        _draw(reliability, folder / "reliability.svg")
    if origin.command:
        parts.append(f"## Training\n\n```\n{origin.command}\n```")
    if origin.remarks:
        parts.append(origin.remarks)
    with write_bytes(folder / "card.md") as stream:
        stream.write(("\n\n".join(parts) + "\n").encode())


def _longer(settings: Settings, origin: Origin) -> str:
    """What happens to text that cannot be read at once; nothing is said of models that choose what they read."""
    windows = settings.task in TASKS or settings.overlap
    longer = origin.longer or ("longer text in overlapping windows" if windows else "")
    return longer and f"; {longer}"


def _reliability(found: Calibration, settings: Settings, calibrated: str) -> str:
    calibrated = calibrated or f"fitted on dev with temperature {settings.temperature} and shift {settings.shift}"
    rows = "\n".join(
        f"| {b.low:.1f} to {b.high:.1f} | {b.count} | {b.score:.3f} | {b.accuracy:.3f} |" for b in found.table
    )
    return (
        f"## Calibration\n\nScores are probabilities, {calibrated}. The expected calibration error, also on dev, is "
        f"{found.ece:.4f}.\n\n"
        f"| score | predictions | mean score | accuracy |\n|---|---|---|---|\n{rows}\n\n"
        f"![reliability](reliability.svg)"
    )


def _draw(found: Calibration, path: Path) -> None:
    """Draw the reliability diagram: accuracy against score; a calibrated model is on the diagonal."""
    size, left = 240, 40

    def x(value: float) -> float:
        return left + value * size

    def y(value: float) -> float:
        return 10 + (1 - value) * size

    bars = "".join(
        f'<rect x="{x(b.low):.1f}" y="{y(b.accuracy):.1f}" width="{size * (b.high - b.low) - 2:.1f}" '
        f'height="{b.accuracy * size:.1f}" fill="#4a90d9"><title>' + count(b.count, "prediction") + "</title></rect>"
        for b in found.table
    )
    ticks = "".join(
        f'<text x="{x(v):.0f}" y="{y(0) + 16:.0f}" text-anchor="middle">{v}</text>'
        f'<text x="{left - 6}" y="{y(v) + 4:.0f}" text-anchor="end">{v}</text>'
        for v in (0, 0.5, 1)
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size + left + 20}" height="{size + 50}" '
        f'font-family="sans-serif" font-size="11">{bars}'
        f'<line x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}" stroke="#d0021b" stroke-dasharray="4"/>'
        f'<rect x="{left}" y="10" width="{size}" height="{size}" fill="none" stroke="#888"/>{ticks}'
        f'<text x="{x(0.5)}" y="{y(0) + 32:.0f}" text-anchor="middle">score (bars: accuracy)</text></svg>\n'
    )
    with write_bytes(path) as stream:
        stream.write(svg.encode())

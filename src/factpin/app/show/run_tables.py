"""The tables at the end of `factpin train` and `factpin pretrain`."""

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from factpin.words import count


def train_table(report: dict[str, Any], output: Path, unit: str = "document") -> Table:
    """Steps, scores on dev, and what of the corpus could not be learned. unit: what it was trained on."""
    table = _table(f"{output}: trained on {count(report['train'], unit)}", report)
    for name, value in report["scores"].items():
        table.add_row(f"dev {name.replace('_', ' ')}", f"{100 * value:.2f}")
    for name, value in report["noted"].items():
        if value:
            table.add_row(f"training {name.replace('_', ' ')}", f"{value:,}")
    return table


def pretrain_table(report: dict[str, Any], output: Path) -> Table:
    """Steps, the loss on held-out texts, and the vocabulary."""
    table = _table(f"{output}: learned from {count(report['pieces'], 'piece')}", report)
    if "heldout_loss" in report["scores"]:
        table.add_row("loss on held-out texts", f"{report['scores']['heldout_loss']:.4f}")
    vocabulary = report["vocabulary"]
    table.add_row("vocabulary", f"{vocabulary['size']:,} pieces, {vocabulary.get('added', 0):,} of them new words")
    for when in ("before", "after"):
        if when in vocabulary:
            counts = vocabulary[when]
            words = "" if counts["pieces_per_word"] is None else f"{counts['pieces_per_word']} a word, "
            table.add_row(f"pieces ({when})", f"{words}{counts['unknown_pieces']:,} of {counts['pieces']:,} unknown")
    return table


def _table(title: str, report: dict[str, Any]) -> Table:
    table = Table("", "", title=Text(title), title_justify="left", show_header=False)
    table.add_row("steps (best)", f"{report['steps']} ({report['best_step']})")
    return table

"""The tables at the end of `factpin train` and `factpin pretrain`."""

from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from factpin.words import count

PLAIN = ("min_score", "utility")  # a score as `--min-score` takes it, and nats; everything else is a share, in percent


def train_table(report: dict[str, Any], output: Path, unit: str = "document") -> Group:
    """Steps, scores on dev, and what of the corpus could not be learned. unit: what it was trained on."""
    table = _table(report)
    for name, value in report["scores"].items():
        shown = f"{value:.2f}" if name in PLAIN else f"{100 * value:.2f}"
        table.add_row(f"dev {name.replace('_', ' ')}", shown)
    for name, value in report["noted"].items():
        if value:
            table.add_row(f"training {name.replace('_', ' ')}", f"{value:,}")
    return _titled(f"{output}: trained on {count(report['train'], unit)}", table)


def pretrain_table(report: dict[str, Any], output: Path) -> Group:
    """Steps, the loss on held-out texts, and the vocabulary."""
    table = _table(report)
    if "heldout_loss" in report["scores"]:
        table.add_row("loss on held-out texts", f"{report['scores']['heldout_loss']:.4f}")
    vocabulary = report["vocabulary"]
    table.add_row("vocabulary", f"{vocabulary['size']:,} pieces, {vocabulary.get('added', 0):,} of them new words")
    for when in ("before", "after"):
        if when in vocabulary:
            counts = vocabulary[when]
            words = "" if counts["pieces_per_word"] is None else f"{counts['pieces_per_word']} a word, "
            table.add_row(f"pieces ({when})", f"{words}{counts['unknown_pieces']:,} of {counts['pieces']:,} unknown")
    return _titled(f"{output}: learned from {count(report['pieces'], 'piece')}", table)


def _titled(title: str, table: Table) -> Group:
    """A table below its title, which may be as wide as the terminal: rich's own titles end where their table does."""
    return Group(Text(title, style="table.title"), table)


def _table(report: dict[str, Any]) -> Table:
    table = Table("", "", show_header=False)
    table.add_row("steps (best)", f"{report['steps']} ({report['best_step']})")
    return table

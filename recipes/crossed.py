"""Why rotary positions matter to pointer heads: spans that begin with one mention and end with another.

    python recipes/crossed.py runs/cluener-3000 --gold ../shared/data/cluener/dev.json.xz --from cluener
    python recipes/crossed.py runs/msra --part test --gold ../shared/data/msra/test --from parallel

A pointer scores (first token, last token). Without positions it cannot tell how far apart the two are, so the first
token of one mention and the last token of another of the same label score as high as those of one mention. For every
run in the folder: F1, wrong spans, how many of them are such crossed ones, and F1 without spans wider than --width.
"""

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from factpin import formats
from factpin.documents import Document
from factpin.scoring import Counts, align

Cell = tuple[int, int, str]


def cells(doc: Document) -> set[Cell]:
    return {(m.start, m.end, m.type) for m in doc.mentions}


def is_crossed(cell: Cell, gold: set[Cell]) -> bool:
    """Begins where a mention of its label begins, ends where another one ends."""
    start, end, label = cell
    begins = any(s == start and kind == label for s, _, kind in gold)
    return begins and any(e == end and kind == label for _, e, kind in gold)


def judge(pairs: list[tuple[set[Cell], set[Cell]]]) -> Counts:
    right = sum(len(gold & found) for gold, found in pairs)
    predicted, wanted = (sum(len(pair[i]) for pair in pairs) for i in (1, 0))
    return Counts(right, predicted - right, wanted - right)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--part", default="dev")
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--width", type=int, default=16, help="characters: wider predictions are taken away")
    options = parser.parse_args()
    gold = list(formats.read(options.gold, format=options.source))
    table = Table("run", "F1", "wrong", "crossed", "of wrong", f"F1 up to {options.width} characters")
    for file in sorted(options.runs.glob(f"*/{options.part}.jsonl.xz")):
        aligned = align(formats.read(file, format="jsonl"), gold).pairs
        pairs = [(cells(pair.gold), cells(pair.predicted)) for pair in aligned]
        wrong = [(cell, own) for own, found in pairs for cell in found - own]
        crossed = sum(is_crossed(cell, own) for cell, own in wrong)
        narrow = [(own, {cell for cell in found if cell[1] - cell[0] <= options.width}) for own, found in pairs]
        share = crossed / len(wrong) if wrong else 0.0
        table.add_row(file.parent.name, f"{100 * judge(pairs).f1:.2f}", f"{len(wrong):,}", f"{crossed:,}",
                      f"{share:.1%}", f"{100 * judge(narrow).f1:.2f}")  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()

"""Choose the score from which on `factpin extract` shows the mentions of a model, and write it into the model's folder.

    python recipes/show_from.py src/factpin/shipped/zh-entities runs/data/zh-entities/calibration.jsonl.xz --right 0.9

It is the lowest multiple of 0.01 from which on at least this share of the mentions is right (borders and type) in texts
that the model was not trained on. Only types that are annotated exhaustively in a text count. Prints the share and the
recall from each score on. --at 0.73 stores a score that was chosen otherwise, and reads no gold. `factpin predict` and
the thresholds of the model are not affected.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import factpin
from factpin.documents import Document
from factpin.documents.annotated import keep_annotated
from factpin.formats import read
from factpin.models.checks import SUMS, list_graph, write_sums
from factpin.models.settings import read_settings, settings_bytes, write_settings

STEPS = [step / 100 for step in range(100)]


def outcomes(model: str, gold: list[Document]) -> tuple[list[tuple[float, bool]], int]:
    """The score of every mention that is found, and whether it is right; and how many mentions gold has."""
    found, total = list[tuple[float, bool]](), 0
    for doc, guess in zip(gold, factpin.load(model).annotate(gold), strict=True):
        right = {(m.start, m.end, m.type) for m in keep_annotated(doc, doc).mentions}
        total += len(right)
        kept = keep_annotated(guess, doc).mentions
        found += [(m.score or 0.0, (m.start, m.end, m.type) in right) for m in kept]
    return found, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a model folder of the task spans")
    parser.add_argument("gold", type=Path, nargs="?", help="annotated documents")
    parser.add_argument("--right", type=float, default=0.9)
    parser.add_argument("--at", type=float, metavar="SCORE", help="store this score")
    options = parser.parse_args()
    if options.at is None and options.gold is None:
        parser.error("annotated documents or --at are missing")
    chosen = STEPS[-1] if options.at is None else options.at
    found, total = outcomes(str(options.model), list(read(options.gold, format="jsonl"))) if options.gold else ([], 0)
    for least in reversed(STEPS if found else ()):
        kept = [right for score, right in found if score >= least]
        share = sum(kept) / max(1, len(kept))
        if round(100 * least) % 5 == 0:
            print(f"from {least:.2f} on: {share:.1%} right, recall {sum(kept) / max(1, total):.1%}")
        if share >= options.right and least == min(chosen, least):
            chosen = least
    settings = replace(read_settings(options.model), shown=chosen)
    if (options.model / SUMS).is_file():
        write_sums(options.model, settings_bytes(settings))
        list_graph(options.model)
    write_settings(settings, options.model)
    print(f"{options.model}: mentions are shown from {chosen:.2f} on")


if __name__ == "__main__":
    main()

"""Nested mentions: F1 over all, and recall of mentions inside another one, around another one, or neither.

python recipes/nested.py runs/genia/genia-1/test.jsonl.xz ../shared/data/genia/test.jsonlines.xz --from oneie
"""

import argparse
from pathlib import Path

from factpin import formats
from factpin.documents import Mention
from factpin.scoring import align, spans
from factpin.scoring.counts import total


def kind_of(m: Mention, all_mentions: tuple[Mention, ...]) -> str:
    places = {(o.start, o.end) for o in all_mentions} - {(m.start, m.end)}
    if any(start <= m.start and m.end <= end for start, end in places):
        return "inside another"
    if any(m.start <= start and end <= m.end for start, end in places):
        return "holds another"
    return "neither"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predicted", type=Path)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--from", dest="source", required=True)
    options = parser.parse_args()
    gold = list(formats.read(options.gold, format=options.source))
    pairs = align(formats.read(options.predicted), gold).pairs
    strict = total(spans.score(pairs).rows["strict"])
    print(f"strict F1 {100 * strict.f1:.2f}, precision {100 * strict.precision:.2f}, recall {100 * strict.recall:.2f}")
    found: dict[str, list[bool]] = {}
    for pair in pairs:
        told = {(m.start, m.end, m.type) for m in pair.predicted.mentions}
        for m in pair.gold.mentions:
            found.setdefault(kind_of(m, pair.gold.mentions), []).append((m.start, m.end, m.type) in told)
    for kind, hits in sorted(found.items()):
        print(f"{kind}: recall {100 * sum(hits) / len(hits):.2f} of {len(hits):,}")


if __name__ == "__main__":
    main()

"""minilm-en with the 10,000 pieces that English Wikipedia uses most: small enough to ship.

python recipes/en-entities/shrink.py --output runs/minilm-10k
"""

import argparse
import lzma
from itertools import islice
from pathlib import Path

from factpin.encoders import resolve
from factpin.encoders.shrink import shrink_vocabulary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path("../shared/data/wiki_en/wiki_en.txt.xz"))
    parser.add_argument("--lines", type=int, default=40_000)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    with lzma.open(options.corpus, "rt", encoding="utf-8") as stream:
        shrink_vocabulary(resolve("minilm-en"), islice(stream, options.lines), options.size, options.output)
    print(options.output)


if __name__ == "__main__":
    main()

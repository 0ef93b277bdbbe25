"""A corpus in the native format, with every mention in an entity.

python recipes/coreference/singletons.py ../shared/data/scierc/train.json.xz runs/scierc-whole/train.jsonl.xz

SciERC has only entities with several mentions or in a relation. A model of document relations that is trained on them
learns from entities that reveal which mentions have a relation, which is not known for raw text.
"""

import argparse
from pathlib import Path

from factpin import formats
from factpin.language.coreference import with_singletons


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--from", dest="format", help="guessed where it can be")
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    documents = (with_singletons(doc) for doc in formats.read(options.corpus, format=options.format))
    formats.write(documents, options.output, format="jsonl")


if __name__ == "__main__":
    main()

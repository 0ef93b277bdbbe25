"""Re-DocRED's dev in parts, for self-training: 200 documents with their facts, 200 without, 100 for evaluation.

    python recipes/redocred/halves.py ../shared/data/redocred/dev_revised.json.xz runs/redocred-halves

The facts of the second part come from a model that was trained on the first part.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from factpin import formats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    documents = list(formats.read(options.corpus, format="docred"))
    bare = [replace(doc, facts=()) for doc in documents[200:400]]
    options.output.mkdir(parents=True, exist_ok=True)
    for name, part in (("labelled", documents[:200]), ("bare", bare), ("judged", documents[400:])):
        formats.write(part, options.output / f"{name}.jsonl.xz", format="jsonl")


if __name__ == "__main__":
    main()

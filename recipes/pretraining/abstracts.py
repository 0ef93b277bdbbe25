"""Scientific abstracts as plain text, one document per paragraph: the corpus of en-science.toml.

    python recipes/pretraining/abstracts.py runs/abstracts.txt

Only documents that recipes train on are read, never those for evaluation: the training documents of CDR and
SciERC, and GENIA's dev part, whose abstracts are of the same kind as CDR's and which recipes/genia trains on.
"""

import argparse
from pathlib import Path

from factpin import formats

DATA = Path("../shared/data")
SOURCES = {
    "cdr/CDR_TrainingSet.PubTator.txt.xz": "pubtator",
    "scierc/train.json.xz": "scierc",
    "genia/dev.jsonlines.xz": "oneie",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    output.parent.mkdir(parents=True, exist_ok=True)
    with open(output, "w", encoding="utf-8") as stream:
        for name, format in SOURCES.items():
            texts = [" ".join(doc.text.split()) for doc in formats.read(DATA / name, format=format)]
            stream.writelines(text + "\n\n" for text in texts)
            print(f"{name}: {len(texts):,} documents, {sum(map(len, texts)):,} characters")


if __name__ == "__main__":
    main()

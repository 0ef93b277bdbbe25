"""The encoder of a shipped model as a folder to train a reader from.

    python recipes/readers/start.py en-entities --output runs/en-entities-encoder

A reader that keeps the lower layers of this encoder (freeze_layers) stores only the others: it shares the rest with the
shipped model.
"""

import argparse
from pathlib import Path

from factpin.models.folder import load_model
from factpin.models.shipped import find_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    _, model, tokenizer = load_model(find_model(options.model))
    model.encoder.save(options.output)
    tokenizer.save(options.output)
    print(options.output)


if __name__ == "__main__":
    main()

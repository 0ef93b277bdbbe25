"""Save the shipped encoder of en-entities in a folder: en-relations is trained on it and shares its lower half.

python recipes/en-relations/encoder.py --output runs/en-entities-encoder
"""

import argparse
from pathlib import Path

import factpin
from factpin.models.model import torch_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    extractor = factpin.load("en-entities", runtime="torch")
    torch_model(extractor.model).encoder.save(options.output)
    extractor.tokenizer.save(options.output)
    print(options.output)


if __name__ == "__main__":
    main()

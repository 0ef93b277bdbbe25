"""Extraction of a folder of small files beside a file with the same texts: both are read in the same groups.

    python benchmarks/files.py [--data ../shared/data] [--files 400] [--model zh-entities] [--rounds 3]

Texts: the first sentences of CLUENER dev, one file each. CPU seconds (user + system) of whole commands, which take
turns; `beyond the start` takes off what the command needs for a single file.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from factpin import formats


def seconds(*words: str | Path) -> float:
    """CPU seconds of `factpin extract`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "factpin", "extract", *map(str, words), "--quiet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--model", default="zh-entities")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    documents = formats.read(options.data / "cluener/dev.json.xz", format="cluener")
    texts = [doc.text for doc, _ in zip(documents, range(options.files), strict=False)]
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        (root / "texts").mkdir()
        for i, text in enumerate(texts):
            (root / "texts" / f"{i:04}.txt").write_text(text, encoding="utf-8")
        lines = (json.dumps({"id": str(i), "text": text}, ensure_ascii=False) for i, text in enumerate(texts))
        (root / "all.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        model = ("--model", options.model)
        rows = [
            (
                seconds(root / "texts", "--output", root / f"folder{k}", *model),
                seconds(root / "all.jsonl", "--output", root / f"all{k}.jsonl", *model),
                seconds(root / "texts" / "0000.txt", "--output", root / f"one{k}.jsonl", *model),
            )
            for k in range(options.rounds)
        ]
    folder, stream, one = (statistics.median(column) for column in zip(*rows, strict=True))
    print(f"{len(texts)} files {folder:.2f} s, one file of them {stream:.2f} s, one text {one:.2f} s")
    print(f"folder / file: {folder / stream:.2f}; beyond the start: {(folder - one) / (stream - one):.2f}")


if __name__ == "__main__":
    main()

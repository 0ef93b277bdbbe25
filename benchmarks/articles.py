"""What an article costs: extraction, memory, results, a store in SQLite, and the planning of shards.

    python benchmarks/articles.py [--data ../shared/data] [--documents 150]

The articles are those of Re-DocRED. Times are CPU seconds of this process; use one thread (OMP_NUM_THREADS=1).
"""

import argparse
import json
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path

import factpin
from factpin import formats
from factpin.extraction.inputs import find_inputs
from factpin.extraction.shards import SIZE, plan

LINES = 100_000  # of the file that is planned


def main() -> None:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--documents", type=int, default=150)
    options = parser.parse_args()
    source = formats.read(options.data / "redocred/dev_revised.json.xz", format="docred")
    texts = [doc.text for doc in islice(source, options.documents)]
    count, characters = len(texts), sum(map(len, texts))
    began = time.process_time()
    docs = factpin.extract(texts)
    seconds = time.process_time() - began
    print(f"{count} articles of {characters / count:.0f} characters")
    print(f"{count / seconds:.1f} articles and {characters / seconds:,.0f} characters per CPU second, with loading")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at the peak")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        factpin.write(docs, folder / "found.jsonl.zst")
        print(f"{(folder / 'found.jsonl.zst').stat().st_size / count:.0f} bytes of results per article")
        began = time.process_time()
        with factpin.open_store(folder / "kb.db", create=True) as base:
            for doc in docs:
                base.add(doc, f"{doc.id}.txt")
        seconds = time.process_time() - began
        size = sum(path.stat().st_size for path in folder.glob("kb.db*"))
        print(f"{1000 * seconds / count:.1f} CPU ms and {size / count:,.0f} bytes of a store per article")
        corpus = folder / "in" / "corpus.jsonl"
        corpus.parent.mkdir()
        corpus.write_text((json.dumps({"id": "x", "text": "a" * (characters // count)}) + "\n") * LINES)
        began = time.process_time()
        plan(find_inputs([corpus.parent])[0], SIZE)
        print(f"{corpus.stat().st_size / 1e6 / (time.process_time() - began):,.0f} MB planned per CPU second")


if __name__ == "__main__":
    main()

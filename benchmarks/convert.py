"""Reading compared with plain `json.loads` of the same bytes, and memory at 1x and 50x the size of a file.

    python benchmarks/convert.py [--data ../shared/data] [--rounds 7]

Speed: rounds are interleaved in one process; the figures are medians. Memory: the growth of the peak of a fresh
process (VmHWM; not ru_maxrss, which a child inherits from its parent) after one record has been converted.
"""

import argparse
import json
import lzma
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from factpin import formats

FILES = {
    "cluener": "cluener/train.json.xz",
    "duie": "duie/duie2_train_a.json.xz",
    "docred": "redocred/dev_revised.json.xz",
}
PEAK = """
import sys
from pathlib import Path
from factpin.corpora.convert import convert

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

convert(Path(sys.argv[1]), Path(sys.argv[3]), source_format=sys.argv[4], target_format="jsonl")
before = peak()
done = convert(Path(sys.argv[2]), Path(sys.argv[3]), source_format=sys.argv[4], target_format="jsonl")
print(done.documents, peak() - before)
"""


def speed(data: Path, rounds: int) -> Table:
    """Seconds of json.loads and of the reader, over one unpacked file."""
    table = Table("file", "documents", "MB", "json.loads", "our reader", "ratio (goal: at most 3)")
    for name, path in FILES.items():
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / "file.json"
            plain.write_bytes(lzma.decompress((data / path).read_bytes()))
            ours, theirs, count = [], [], 0
            for _ in range(rounds):
                start = time.process_time()
                raw = plain.read_text(encoding="utf-8")
                lines = raw.splitlines() if name != "docred" else [raw]
                for line in lines:
                    json.loads(line)
                theirs.append(time.process_time() - start)
                start = time.process_time()
                count = sum(1 for _ in formats.read(plain, format=name))
                ours.append(time.process_time() - start)
            a, b = statistics.median(theirs), statistics.median(ours)
            size = plain.stat().st_size / 1e6
            table.add_row(path, f"{count:,}", f"{size:.1f}", f"{a:.3f} s", f"{b:.3f} s", f"{b / a:.2f}")
    return table


def memory(data: Path) -> Table:
    """Peak memory of converting the file, and of converting fifty copies of it."""
    table = Table("file", "documents at 1x", "growth", "documents at 50x", "growth")
    for name, path in FILES.items():
        with tempfile.TemporaryDirectory() as folder:
            raw = lzma.decompress((data / path).read_bytes())
            one = Path(folder) / "one.json"
            many = Path(folder) / "many.json"
            first = Path(folder) / "first.json"
            if name == "docred":
                items = json.loads(raw)
                first.write_text(json.dumps(items[:1]))
                one.write_bytes(raw)
                inner = raw.strip()[1:-1]
                many.write_bytes(b"[" + b",".join([inner] * 50) + b"]")
            else:
                first.write_bytes(raw.split(b"\n")[0] + b"\n")
                one.write_bytes(raw)
                many.write_bytes((raw.rstrip(b"\n") + b"\n") * 50)
            row = [path]
            for file in (one, many):
                command = [sys.executable, "-c", PEAK, str(first), str(file), f"{folder}/out.jsonl", name]
                documents, growth = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
                row += [f"{int(documents):,}", f"{int(growth) / 1024:.1f} MiB"]
            table.add_row(*row)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    Console().print(speed(options.data, options.rounds))
    Console().print(memory(options.data))


if __name__ == "__main__":
    main()

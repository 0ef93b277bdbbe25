"""How long one short text takes with a loaded model, compared with an older version of factpin.

    git worktree add --detach ../before 1f227b6
    python benchmarks/one_text.py --before ../before

Both versions load the model folders of the older one and read the same texts in turn, one text per call, each in its
own process with one thread. The result is the ratio of the medians, old / new.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXTS = {
    "zh": "谷爱凌出生于美国加利福尼亚州旧金山。",
    "en": "Marie Curie was born in Warsaw in 1867.",
}
WORKER = """
import json, sys, time
from factpin.models.extractor import Extractor
extractor = Extractor.load(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    texts = json.loads(line)
    began = time.process_time()
    documents = extractor.extract(texts)
    print(json.dumps(time.process_time() - began), flush=True)
"""
OLD_WORKER = WORKER.replace("factpin.models.extractor", "factpin.pipelines.extractor")


def start(source: Path, folder: Path, worker: str) -> "subprocess.Popen[str]":
    """A process of the version at `source` with the model of `folder`."""
    env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", worker, str(folder)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    if process.stdout is None or process.stdout.readline().strip() != "ready":
        raise SystemExit(f"{source}: the model {folder} did not load")
    return process


def ask(process: "subprocess.Popen[str]", texts: list[str]) -> float:
    """CPU seconds of one call."""
    if process.stdin is None or process.stdout is None:
        raise SystemExit("the process has ended")
    process.stdin.write(json.dumps(texts) + "\n")
    process.stdin.flush()
    return float(json.loads(process.stdout.readline()))


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="a checkout of the older version")
    parser.add_argument("--calls", type=int, default=60, help="of which the first five do not count")
    parser.add_argument("--texts", type=int, default=1, help="in one call")
    options = parser.parse_args()
    source = options.before / "src"
    models = source / "factpin" / "models"
    print("| model | old, ms | new, ms | old / new |\n|---|---|---|---|")
    for folder in sorted(models.iterdir()):
        if not (folder / "factpin.json").is_file() or folder.name.endswith("relations"):
            continue
        texts = [f"{i} {TEXTS[folder.name[:2]] * (1 + i % 4)}" for i in range(options.texts)]  # of several lengths
        old, new = start(source, folder, OLD_WORKER), start(ROOT / "src", folder, WORKER)
        times = [(ask(old, texts), ask(new, texts)) for _ in range(options.calls)][5:]
        before, after = (1000 * statistics.median(column) for column in zip(*times, strict=True))
        print(f"| {folder.name} | {before:.1f} | {after:.1f} | {before / after:.2f} |", flush=True)
        old.kill()
        new.kill()


if __name__ == "__main__":
    main()

"""`make demo`: facts from real text with the models that ship, as the command line gives them."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent
STEPS = {
    "Entities in Chinese and English text, each pinned to its characters":
        "extract winter-games.txt computing.txt --to color",
    "The same as a table: offsets, types, calibrated scores":
        "extract winter-games.txt --to table --quiet",
    "Facts with their status and the sentence that supports each; what the text denies is marked as denied":
        "extract works.txt --model zh-facts --to table --quiet",
    "A whole document: its entities, the facts between them, their status and the sentences that support them":
        "extract curie.txt --model en-entities --model en-relations --to table --quiet",
    "What is in a corpus, and what is wrong with it":
        "doctor corpus.json",
    "Predict a corpus with a model":
        "predict zh-entities corpus.json predicted.jsonl",
    "How good that is, under every convention":
        "evaluate predicted.jsonl corpus.json --task spans",
}  # fmt: skip


def main() -> None:
    for title, command in STEPS.items():
        bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
        print(f"\n{bold}{title}{plain}\n$ factpin {command}\n", flush=True)
        done = subprocess.run([sys.executable, "-m", "factpin", *command.split()], cwd=EXAMPLES)
        if done.returncode:
            sys.exit(f"factpin {command.split()[0]} ended with {done.returncode}")
    (EXAMPLES / "predicted.jsonl").unlink()


if __name__ == "__main__":
    main()

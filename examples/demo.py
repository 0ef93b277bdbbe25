"""`make demo`: facts from real text with the models that ship, as the command line gives them."""

import shlex
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent
MADE = ("predicted.jsonl", "demo.db", "demo.db-wal", "demo.db-shm")
ABSTAINED = 1  # the exit code of `ask` without an answer
STEPS = {
    "Entities in Chinese and English text, each pinned to its characters":
        "extract winter-games.txt computing.txt --to color",
    "The same as a table: offsets, types, calibrated scores":
        "extract winter-games.txt --to table --quiet",
    "Facts with their status and the sentence that supports each; what the text denies is marked as denied":
        "extract works.txt --model zh-facts --to table --quiet",
    "A whole document: its entities, the facts between them, their status and the sentences that support them":
        "extract curie.txt --model en-entities --model en-relations --to table --quiet",
    "Keep texts and their facts in a store":
        "index curie.txt computing.txt --db demo.db",
    "Ask it: the answer comes with the characters that it was found at":
        "ask 'When was Ada Lovelace born?' --db demo.db",
    "What the texts do not say is not answered":
        "ask 'Who invented the telephone?' --db demo.db",
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
        done = subprocess.run([sys.executable, "-m", "factpin", *shlex.split(command)], cwd=EXAMPLES)
        if done.returncode not in (0, ABSTAINED if command.startswith("ask") else 0):
            sys.exit(f"factpin {command.split()[0]} ended with {done.returncode}")
    for made in MADE:
        (EXAMPLES / made).unlink(missing_ok=True)


if __name__ == "__main__":
    main()

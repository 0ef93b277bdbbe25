"""`make demo`: runs the shipped models and the main commands on a few texts."""

import shlex
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent
MADE = ("predicted.jsonl", "demo.db", "demo.db-wal", "demo.db-shm")
ABSTAINED = 1  # the exit code of `ask` without an answer
STEPS = {
    "Find entities in Chinese and English text (the models are small: expect some mistakes)":
        "extract winter-games.txt computing.txt --model zh-entities --model en-entities --to color",
    "Show them as a table, with offsets, types and calibrated scores":
        "extract winter-games.txt --model zh-entities --to table --quiet",
    "Find facts, each with the sentence that supports it; facts that the text denies are marked as negated":
        "extract works.txt --model zh-facts --to table --quiet",
    "Find facts across a whole document":
        "extract curie.txt --model en-entities --model en-facts --to table --quiet",
    "Store texts and their facts":
        "index curie.txt computing.txt --db demo.db",
    "Ask a question; the answer cites the characters that support it":
        "ask 'When was Ada Lovelace born?' --db demo.db",
    "Ask whether something is so; a text denies it":
        "ask 'Did Marie Curie study at Harvard University?' --db demo.db",
    "Ask about something that the texts do not say; there is no answer":
        "ask 'Who invented the telephone?' --db demo.db",
    "See what is in a corpus, and what is wrong with it":
        "doctor corpus.json",
    "Annotate a corpus with a model":
        "predict zh-entities corpus.json predicted.jsonl",
    "Evaluate the predictions":
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

"""`make demo`: facts from Chinese and English texts, a store of them, and three questions."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parent
ABSTAINED = 1  # the exit code of `ask` without an answer
STEPS = {
    "Facts from a Chinese text. The first one is denied there, and marked so":
        "extract works.txt --only facts --to table",
    "Facts from an English text: “She was born in Warsaw” is about Marie Curie":
        "extract curie.txt --only facts --to table",
    "People, places, organizations and dates":
        "extract computing.txt --only entities --to color",
    "Texts and their facts go into a store":
        "index works.txt curie.txt computing.txt --db {db}",
    "A question. The answer cites the characters that support it":
        "ask 《三体》的作者是谁？ --db {db}",
    "A text denies this":
        "ask 'Did Marie Curie study at Harvard University?' --db {db}",
    "No text says this, so there is no answer":
        "ask 'Who invented the telephone?' --db {db}",
}  # fmt: skip
NEXT = """
Your own texts:       .venv/bin/factpin extract report.docx paper.pdf notes.txt
                      (PDF and HTML: .venv/bin/pip install -e '.[html,pdf]')
In the browser:       .venv/bin/pip install -e '.[serve]' && .venv/bin/factpin serve
On your own data:     docs/training.md"""


def main() -> None:
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    environment = {**os.environ, "PYTHONUTF8": "1"}
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, step) in enumerate(STEPS.items(), start=1):
            print(f"\n{bold}{number}/{len(STEPS)}  {title}{plain}\n$ factpin {step.format(db='kb.db')}", flush=True)
            words = shlex.split(step.format(db=shlex.quote(f"{folder}/kb.db")))
            done = subprocess.run([sys.executable, "-m", "factpin", *words], cwd=EXAMPLES, env=environment)
            if done.returncode not in (0, ABSTAINED if words[0] == "ask" else 0):
                sys.exit(f"factpin {words[0]} ended with {done.returncode}")
    print(NEXT)


if __name__ == "__main__":
    main()

"""Every code block of the README and of docs/ is run: shell examples by the real program, Python as it stands."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

ROOT = Path(__file__).parent


def run_console(example: Example) -> str | None:
    """`$ factpin …` lines are run; the lines after one, up to the next, are its output."""
    wanted: list[str] = []
    command: str | None = None
    for line in [*example.parsed.splitlines(), "$ "]:
        if line.startswith("$ "):
            if command:
                problem = _compare(command, "\n".join(wanted))
                if problem:
                    return problem
            command, wanted = line[2:], []
        else:
            wanted.append(line)
    return None


def _compare(command: str, wanted: str) -> str | None:
    words = shlex.split(command, comments=True)
    if not words or words[0] != "factpin" or "../shared" in command or "train" in words:
        return None  # make, git and pip are run by CI itself; trainings by make verify
    environment = {**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1", "NO_COLOR": "1"}
    script = command.replace("factpin", f"{shlex.quote(sys.executable)} -m factpin", 1)
    done = subprocess.run(script, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    got = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    want = "\n".join(line.rstrip() for line in wanted.splitlines())
    if want.strip() and want.strip() not in got.strip():
        return f"$ {command}\nexpected:\n{want}\ngot:\n{got}\n{done.stderr}"
    if done.returncode not in (0, 1):
        return f"$ {command}\nended with {done.returncode}: {done.stderr}"
    return None


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser("console", run_console)],
    patterns=["README.md", "README.zh.md", "docs/**/*.md", "docs/*.md"],
).pytest()

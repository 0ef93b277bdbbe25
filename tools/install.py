"""Run `pip install` and show every few seconds what it is doing; if it fails, show all that it said.

python tools/install.py .venv/bin/python -m pip install PACKAGE...
"""

import re
import shutil
import subprocess
import sys
import time
from threading import Event, Thread

PACKAGE = re.compile(
    r"(?:Collecting|Processing|Downloading|Obtaining) (?:\S*/)?([A-Za-z0-9_.-]+?)(?:-\d|[<>=!~;\[ (]|$)"
)
STEP = re.compile(r"(Installing collected packages|Building wheels|Installing build dependencies)")
EVERY = 1.0  # seconds after which a terminal shows how long the installation has taken
LINE = 10.0  # the same for anything else, where every sign is a line of its own


class Status:
    """What is being done and for how long: on a terminal in one line that is written over, elsewhere in many."""

    def __init__(self, *, terminal: bool, every: float) -> None:
        self.terminal, self.every = terminal, every
        self.doing = "starting pip"
        self._start = time.monotonic()
        self._ended = Event()
        self._thread = Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> "Status":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        if self.terminal:
            print(f"\r{'':{_width()}}", end="\r", flush=True)

    def say(self, doing: str) -> None:
        """Change what is being done; a terminal shows it at once."""
        self.doing = doing
        if self.terminal:
            self._show()

    def _repeat(self) -> None:
        while not self._ended.wait(self.every):
            self._show()

    def _show(self) -> None:
        seconds = round(time.monotonic() - self._start)
        text = f"  {self.doing} ({seconds // 60}:{seconds % 60:02} min)"
        print(
            f"\r{text:{_width()}.{_width()}}" if self.terminal else text, end="" if self.terminal else "\n", flush=True
        )


def _width() -> int:
    return shutil.get_terminal_size().columns - 1


def _packages(number: int) -> str:
    return f"{number} {'package' if number == 1 else 'packages'}"


def main(command: list[str], *, terminal: bool, every: float) -> int:
    """Run the command; its exit code."""
    said: list[str] = []
    names: dict[str, None] = {}
    with (
        Status(terminal=terminal, every=every) as status,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run,
    ):
        for line in run.stdout or ():
            said.append(line)
            if package := PACKAGE.match(line.strip()):
                names.setdefault(package[1])
                status.say(f"{_packages(len(names))}: {package[1]}")
            elif step := STEP.match(line.strip()):
                status.say(step[1].lower())
    if run.returncode:
        print("".join(said), file=sys.stderr)
    else:
        installed = next((line.split()[2:] for line in said if line.startswith("Successfully installed ")), [])
        print(f"  installed {_packages(len(installed))}")
    return run.returncode


if __name__ == "__main__":
    on_terminal = sys.stdout.isatty()
    sys.exit(main(sys.argv[1:], terminal=on_terminal, every=EVERY if on_terminal else LINE))

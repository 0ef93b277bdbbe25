"""Run `pip install` and show what it is doing in one line; if it fails, show all that it said.

python tools/install.py .venv/bin/python -m pip install PACKAGE...
"""

import re
import shutil
import subprocess
import sys

PACKAGE = re.compile(
    r"(?:Collecting|Processing|Downloading|Obtaining) (?:\S*/)?([A-Za-z0-9_.-]+?)(?:-\d|[<>=!~;\[ (]|$)"
)
STEP = re.compile(r"(Installing collected packages|Building wheels|Installing build dependencies)")


def main(command: list[str]) -> int:
    """Run the command; its exit code."""
    said: list[str] = []
    names: dict[str, None] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        for line in run.stdout or ():
            said.append(line)
            if package := PACKAGE.match(line.strip()):
                names.setdefault(package[1])
                show(f"{len(names)} packages: {package[1]}")
            elif step := STEP.match(line.strip()):
                show(step[1].lower())
    show("")
    if run.returncode:
        print("".join(said), file=sys.stderr)
    else:
        installed = next((line.split()[2:] for line in said if line.startswith("Successfully installed ")), [])
        print(f"  installed {len(installed)} {'package' if len(installed) == 1 else 'packages'}")
    return run.returncode


def show(text: str) -> None:
    """Write over the last line of a terminal; elsewhere, say nothing until the end."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{'  ' + text if text else '':{width}.{width}}", end="\r" if not text else "", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

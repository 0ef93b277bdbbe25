"""Write constraints.txt: the versions in this environment of all that factpin needs, with its extras and its tests.

    python tools/pin.py          # after changing the dependencies in pyproject.toml, once `make test` passes

Packages that are not installed here, such as those of an extra that the tests do not use, are left open and listed.
"""

import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
OUTPUT = ROOT / "constraints.txt"
HEAD = """# The versions that are tested, used by the Makefile and the Dockerfile. Written by: python tools/pin.py
# To install without them: make CONSTRAINTS= demo
"""


def declared() -> list[str]:
    """Every requirement of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = (line for lines in project["optional-dependencies"].values() for line in lines)
    return [*project["dependencies"], *extras]


def closure(lines: Iterable[str]) -> dict[str, str | None]:
    """Package -> its version here, for these requirements and what they need in turn; None if it is not installed."""
    versions: dict[str, str | None] = {}
    waiting = [Requirement(line) for line in lines]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        need = waiting.pop()
        name = canonicalize_name(need.name)
        if name == "factpin" or (name, frozenset(need.extras)) in seen:
            continue
        seen.add((name, frozenset(need.extras)))
        try:
            found = distribution(name)
        except PackageNotFoundError:
            versions[name] = None
            continue
        versions[name] = Version(found.version).public  # without +cpu
        waiting += _needed(found.requires or (), need.extras)
    return versions


def _needed(lines: Iterable[str], extras: Iterable[str]) -> Iterator[Requirement]:
    for line in lines:
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield need


def main() -> None:
    versions = closure(line for line in declared() if _applies(line))
    pins = [f"{name}=={version}" for name, version in sorted(versions.items()) if version]
    OUTPUT.write_text(HEAD + "\n".join(pins) + "\n")
    missing = sorted(name for name, version in versions.items() if version is None)
    print(f"{OUTPUT.name}: {len(pins)} packages" + (f"; not installed here: {', '.join(missing)}" if missing else ""))


def _applies(line: str) -> bool:
    marker = Requirement(line).marker
    return marker is None or marker.evaluate()


if __name__ == "__main__":
    sys.exit(main())

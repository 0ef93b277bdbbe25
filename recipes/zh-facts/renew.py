"""The zh-facts of version 0.1 with the types of the shared vocabulary, for recipe.toml to start from.

    git worktree add ../old 1f227b6
    python recipes/zh-facts/renew.py ../old/src/factpin/models/zh-facts --output runs/zh-facts-first

Version 0.1 was trained on the DuIE 2.0 sample alone: simbert-zh, 5 epochs, rate 3e-4, `ema` 0.999. Of the types of DuIE
that become one type, one gives it its weights; the others are not used any more.
"""

import argparse
import shutil
import sys
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parents[1]))

from _prepare_facts import read_table

from factpin.files import read_text, write_bytes

GIVES = {"影视作品": "work", "人物": "person", "机构": "organization", "地点": "location", "Text": "other"}


def renamed(types: list[str], names: dict[str, str]) -> list[str]:
    """The types under their new names: of several, the one in GIVES, or else the first."""
    taken: set[str] = set()
    found = []
    for type in types:
        name = names.get(type, "")
        chosen = next((old for old in types if GIVES.get(old) == name), type)
        found.append(name if name and type == chosen and name not in taken else type)
        taken.add(found[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    shutil.copytree(options.old, options.output, dirs_exist_ok=True)
    settings = orjson.loads(read_text(options.old / "factpin.json"))
    names = dict(read_table("zh").types["duie"])
    for role in ("subjects", "objects"):
        settings["head_config"][role] = renamed(settings["head_config"][role], names)
    with write_bytes(options.output / "factpin.json") as stream:
        stream.write(orjson.dumps(settings, option=orjson.OPT_INDENT_2))


if __name__ == "__main__":
    main()

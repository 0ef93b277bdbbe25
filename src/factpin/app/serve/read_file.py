"""A process that reads one file and prints its documents as JSON lines: `python -m factpin.app.serve.read_file`.

Files are read here and not in the server, because a damaged or hostile file can take any time and memory.
"""

import resource
import sys
from pathlib import Path

import orjson

from factpin.documents import to_json
from factpin.errors import FactpinError
from factpin.extraction.inputs import Input
from factpin.extraction.read import read_input


def main(path: str, kind: str, name: str, id: str, column: str, seconds: str, memory: str) -> None:
    """Print a document per line, or {"error": …}."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    out = sys.stdout.buffer
    try:
        for doc in read_input(Input(Path(path), kind, name, id, column)):
            record = to_json(doc)
            if "source" in record.get("meta", {}):
                record["meta"]["source"] = name
            out.write(orjson.dumps(record) + b"\n")
    except FactpinError as error:
        message = str(error).replace(path, name).replace("--column", "the field `column`")
        out.write(orjson.dumps({"error": [type(error).__name__, message]}) + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

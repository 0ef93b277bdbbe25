"""What names a model exactly."""

import hashlib
from pathlib import Path

from factpin import files


def fingerprint(model: Path) -> str:
    """The model's name with a mark of its settings and weights."""
    mark = hashlib.sha256()
    for name in ("factpin.json", "model.safetensors"):
        with files.open_bytes(model / name) as stream:
            mark.update(stream.read())
    return f"{model.resolve().name}:{mark.hexdigest()[:16]}"

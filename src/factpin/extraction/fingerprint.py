"""A name for the exact state of a model."""

import hashlib
from pathlib import Path

from factpin import files


def fingerprint(model: Path) -> str:
    """The name of the model folder, with a digest of its settings and weights."""
    digest = hashlib.sha256()
    for name in ("factpin.json", "model.safetensors"):
        with files.open_bytes(model / name) as stream:
            digest.update(stream.read())
    return f"{model.resolve().name}:{digest.hexdigest()[:16]}"

"""What shipped models find in the texts of examples/, as rows that can be stored.

    python tests/tasks/stored.py MODELS FILE     with the factpin that is on the path

tests/data/found.json was written like this by the version before finding left torch (commit a6055aa).
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from factpin.documents import Document
from factpin.language.coreference import resolve
from factpin.models.extractor import Extractor

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXTS = {
    "zh-entities": ("winter-games.txt", "works.txt"),
    "zh-facts": ("winter-games.txt", "works.txt"),
    "en-entities": ("computing.txt", "curie.txt"),
    "en-relations": ("computing.txt", "curie.txt"),
}


def digest(folder: Path) -> str:
    """Of the weights of a model."""
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()[:16]


def rows_of(task: str, found: Any) -> list[tuple[list[int], float]]:
    """Every cell with its score."""
    if task == "spans":
        columns = [(found.label, found.first, found.last, found.score)]
    elif task == "triples":
        spans = (found.label, found.first, found.last)
        ends = [column[at] for at in (found.subject, found.object) for column in spans]
        columns = [(*spans, found.span_score), (found.relation, *ends, found.score)]
    else:
        columns = [(found.head, found.relation, found.tail, found.score), (found.proof_of, found.proof, found.proof)]
    rows = [row for part in columns for row in zip(*(column.tolist() for column in part), strict=True)]
    return sorted(([*map(int, row[:-1])], round(float(row[-1]), 5)) for row in rows)


def found_by(model: str, models: Path) -> dict[str, list[tuple[list[int], float]]]:
    """What a model finds in each of its texts; that of relations between the entities of en-entities."""
    extractor = Extractor.load(models / model)
    found = {}
    for name in TEXTS[model]:
        doc = Document(name, (EXAMPLES / name).read_text(encoding="utf-8"))
        if extractor.settings.task == "document_relations":
            (doc,) = Extractor.load(models / "en-entities").annotate([doc])
            doc = resolve(doc)
        (one,) = extractor.find([extractor.reader.read(doc)])
        found[name] = rows_of(extractor.settings.task, getattr(one, "found", one))
    return found


def main() -> None:
    models, target = Path(sys.argv[1]), Path(sys.argv[2])
    stored = {name: {"weights": digest(models / name), "found": found_by(name, models)} for name in TEXTS}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(record)}" for name, record in stored.items())
    target.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

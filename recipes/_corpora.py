"""The eight corpora of defaults.py: how each is cut into parts, and what is tried on it.

If a corpus has no labelled test part, half of its dev part is the test part; if it has no dev part, a sixth of its
training part is the dev part. The MD5 of a text decides, so the split never changes. Only texts of at most `longest`
characters are used, so that a run takes minutes.
"""

import hashlib
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin import formats
from factpin.documents import Document
from factpin.formats import Options

SIZES = ("small", "large")
PARTS = ("train", "dev", "test")
Parts = dict[str, list[Document]]
Settings = dict[str, Any]


@dataclass(frozen=True)
class Corpus:
    """A corpus, and what is tried on it. A point of a grid is "rate x epochs", or with a head: "rate x epochs, egp"."""

    task: str
    encoder: str
    read: Callable[[Path], Parts]
    sizes: tuple[int, int]  # documents to learn from: small and large
    grids: tuple[tuple[str, ...], tuple[str, ...]]  # of both sizes
    seconds: float  # that a document takes in an epoch, on one core
    tuned: Settings = field(default_factory=dict)  # what all tuned runs have besides
    tokens: float = 0  # of a document, where they are so many that batches are smaller
    judged: tuple[int, int] = (200, 600)  # most documents of dev and of test
    convention: str = "strict"
    longest: int | None = None  # characters of the longest text that is used

    @property
    def metric(self) -> str:
        """F1 on dev, by the convention of the corpus."""
        return "text_f1" if self.convention == "text" else "f1"


def digest(text: str) -> int:
    return int(hashlib.md5(text.encode()).hexdigest(), 16)


def files(format: str, **paths: str | Sequence[str]) -> Callable[[Path], Parts]:
    """The parts as the corpus has them; a missing test part is half of dev, a missing dev part a sixth of train."""

    def read(data: Path) -> Parts:
        found: Parts = {}
        for part, names in paths.items():
            several = [names] if isinstance(names, str) else names
            found[part] = [doc for name in several for doc in formats.read(data / name, format=format, options=GOLD)]
        for missing, source, share in (("test", "dev", 2), ("dev", "train", 6)):
            if missing not in found:
                found[missing] = [doc for doc in found[source] if digest(doc.text) % share == 0]
                found[source] = [doc for doc in found[source] if digest(doc.text) % share]
        return found

    return read


def worldwide(data: Path) -> Parts:
    """News of many countries, cut by article: a tenth is dev, a tenth is test. Documents are sentences.

    Sentences with a line that has no tag are left out.
    """
    lines: dict[str, list[str]] = {part: [] for part in PARTS}
    with tarfile.open(data / "worldwide_newswire/processed_annotated.tar.xz") as archive:
        for member in archive.getmembers():
            if stream := archive.extractfile(member):
                rows = [row.split("\t")[:2] for row in stream.read().decode("utf-8").split("\n")]
                rows = [row for row in rows if not row[0].startswith("http")]
                part = {0: "dev", 1: "test"}.get(digest(member.name) % 10, "train")
                lines[part] += [*map("\t".join, rows), ""]
    found: Parts = {}
    with tempfile.TemporaryDirectory() as folder:
        for part, text in lines.items():
            file = Path(folder) / f"{part}.conll"
            file.write_text("\n".join(text), encoding="utf-8")
            found[part] = list(formats.read(file, format="conll", options=Options(skip_bad=True)))
    return found


GOLD = Options(occurrences="nearest")
CLUENER = files("cluener", train="cluener/train.json.xz", dev="cluener/dev.json.xz")
MSRA = files("parallel", train="msra/val", test="msra/test")
WNUT17 = files("conll", train="wnut17/wnut17train.conll.xz", dev="wnut17/emerging.dev.conll.xz",
               test="wnut17/emerging.test.annotated.xz")  # fmt: skip
GENIA = files("oneie", train="genia/dev.jsonlines.xz", test="genia/test.jsonlines.xz")
DUIE = files("duie", train=("duie/duie2_train_a.json.xz", "duie/duie2_train_b.json.xz"), dev="duie/duie2_dev.json.xz")
WEBNLG = files("triples", train="webnlg/WebNLG/train_triples.json.xz", dev="webnlg/WebNLG/val_triples.json.xz",
               test="webnlg/WebNLG/test_triples.json.xz")  # fmt: skip
CDR = files("atlop", **{part: f"cdr/atlop/{part}_filter.data.xz" for part in PARTS})
FLAT = ("4e-4 x 47", "4e-4 x 47, egp"), ("4e-4 x 10", "4e-4 x 10, egp")
FACTS = ("4e-4 x 47",), ("4e-4 x 10", "2e-4 x 20")
FEW = ("2e-4 x 16",), ("2e-4 x 8",)
WHOLE = {"context": "window"}  # facts reach over sentences
RECIPE = {"batch_size": 2, "head_learning_rate": 5e-4, "size": 384, "top_k": 1}  # of recipes/cdr
CORPORA = {
    "cluener": Corpus("spans", "ltp-zh", CLUENER, (200, 1000), FLAT, 0.007),
    "wnut17": Corpus("spans", "minilm-en", WNUT17, (200, 1000), FLAT, 0.006, longest=80),
    "duie": Corpus("triples", "ltp-zh", DUIE, (200, 1000), FACTS, 0.007, WHOLE, convention="text", longest=50),
    "webnlg": Corpus("triples", "minilm-en", WEBNLG, (200, 1000), FACTS, 0.012, WHOLE, convention="text", longest=80),
    "genia": Corpus("spans", "minilm-en", GENIA, (200, 600), (("4e-4 x 47",), ("4e-4 x 16",)), 0.01, longest=150),
    "worldwide": Corpus("spans", "minilm-en", worldwide, (200, 1000), FLAT, 0.008, longest=80),
    "msra": Corpus("spans", "simbert-zh", MSRA, (200, 1000), FLAT, 0.012, longest=60),
    "cdr": Corpus(
        "document_relations", "minilm-en", CDR, (50, 100), FEW, 0.15, RECIPE, 200, judged=(50, 86), longest=800
    ),
}


def point(name: str) -> Settings:
    """ "2e-4 x 20" or "2e-4 x 20, egp" -> its settings."""
    numbers, _, head = name.partition(", ")
    rate, epochs = numbers.split(" x ")
    return {"learning_rate": float(rate), "epochs": int(epochs)} | ({"head": head} if head else {})

"""The shipped models find the same with torch and with onnxruntime: odd texts here, whole corpora in `make verify`.

That the command line, Python and the server give equal documents is in tests/serve/test_doors.py.
"""

from itertools import islice
from pathlib import Path

import pytest

import factpin
from factpin import formats
from factpin.documents import Document
from factpin.models.graphs.check import same

DATA = Path(__file__).parents[4] / "shared" / "data"
TEXTS = [
    "谷爱凌出生于旧金山。",
    "Marie Curie was born in Warsaw and worked in Paris.",
    "Tim Cook 于 2011 年出任苹果公司首席执行官。He lives in California.",
    "👨‍👩‍👧 谷爱凌𠮷出生于旧金山😀。",
    "",
    " \n\t",
]
LONG = ("谷爱凌出生于旧金山。" + "今天下了一整天的雨，大家都待在家里看书。" * 1100)[:20_000]
CORPORA = {  # all of CLUENER dev; the others up to a number of documents
    "cluener/dev.json.xz": ("cluener", 2_000),
    "duie/duie2_dev.json.xz": ("duie", 500),
    "redocred/dev_revised.json.xz": ("docred", 100),
}


@pytest.mark.parametrize("texts", [TEXTS, pytest.param([LONG], marks=pytest.mark.verify)], ids=["odd", "long"])
def test_both_runtimes_find_the_same(texts: list[str]) -> None:
    onnx, torch = (factpin.load(runtime=name).extract(texts, 0.0) for name in ("onnx", "torch"))
    assert all(same(a, b) for a, b in zip(onnx, torch, strict=True))
    assert all(doc.mentions for doc, text in zip(onnx, texts, strict=True) if text.strip())


@pytest.mark.verify
@pytest.mark.timeout(2_400)
@pytest.mark.skipif(not DATA.exists(), reason="the corpora of ../shared/data are not beside this checkout")
@pytest.mark.parametrize("path", CORPORA)
def test_both_runtimes_find_the_same_in_a_corpus(path: str) -> None:
    format, most = CORPORA[path]
    plain = [Document(doc.id, doc.text) for doc in islice(formats.read(DATA / path, format=format), most)]
    onnx, torch = (list(factpin.load(runtime=name).annotate(plain, 0.0)) for name in ("onnx", "torch"))
    different = [a.id for a, b in zip(onnx, torch, strict=True) if not same(a, b)]
    assert not different, f"{len(different)} of {len(plain)}: {different[:5]}"

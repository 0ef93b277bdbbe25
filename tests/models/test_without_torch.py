"""Reading, finding and decoding need no torch: a process that cannot import it finds what a whole model finds."""

import pickle
import subprocess
import sys
from typing import Any

import pytest

from factpin.models.extractor import Extractor
from factpin.models.shipped import find_model, shipped

TEXTS = {
    "zh": "谷爱凌出生于美国旧金山。李安执导了《卧虎藏龙》，主演是周润发和杨紫琼。",
    "en": "Marie Curie was born in Warsaw. She discovered radium with Pierre Curie in Paris in 1898.",
}
CHILD = """
import pickle, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Refuse())
import factpin
import factpin.extraction.combine, factpin.extraction.coverage, factpin.extraction.inputs, factpin.extraction.read
import factpin.extraction.request, factpin.extraction.route, factpin.extraction.summary
from factpin.documents import Document, to_json
from factpin.models.settings import read_settings
from factpin.tasks import TASKS
from factpin.tokens import Tokenizer
from factpin.tokens.reading import WindowReader
from pathlib import Path

folder, text, scores = pickle.loads(sys.stdin.buffer.read())
settings, tokenizer = read_settings(Path(folder)), Tokenizer.load(Path(folder))
finder = TASKS[settings.task].prepare(settings, tokenizer)
reader = WindowReader(tokenizer, settings.max_length - tokenizer.frame_size, settings.overlap, settings.context)
document = reader.read(Document("d0", text))
given = iter(scores)
(found,) = finder.find([document], lambda batch: next(given), settings.cut(0.0))
done = finder.annotate(document, found)
assert "torch" not in sys.modules and "transformers" not in sys.modules
sys.stdout.buffer.write(pickle.dumps([(m.start, m.end, m.type, m.score) for m in done.mentions]
                                     + [(f.relation, f.head_mention, f.tail_mention, f.score) for f in done.facts]))
"""


@pytest.mark.parametrize("name", [name for name, own in shipped().items() if own.task in ("spans", "triples")])
def test_a_process_without_torch_finds_the_same(name: str) -> None:
    folder = find_model(name)
    extractor = Extractor.load(folder)
    scores: list[Any] = []
    plain = extractor.predict

    def predict(batch: Any) -> Any:
        scores.append(plain(batch))
        return scores[-1]

    extractor.predict = predict  # type: ignore[method-assign]
    text = TEXTS[extractor.settings.language]
    (doc,) = extractor.extract(text, 0.0)
    given = pickle.dumps((str(folder), text, scores))
    done = subprocess.run([sys.executable, "-c", CHILD], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    expected = [(m.start, m.end, m.type, m.score) for m in doc.mentions]
    expected += [(f.relation, f.head_mention, f.tail_mention, f.score) for f in doc.facts]
    assert pickle.loads(done.stdout) == expected and expected

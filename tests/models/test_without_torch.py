"""A process that can import neither torch nor transformers extracts with the shipped models, as torch does."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import factpin
from factpin.models.graphs.check import same
from factpin.models.shipped import shipped

TEXTS = [
    "谷爱凌出生于美国旧金山。李安执导了《卧虎藏龙》，主演是周润发和杨紫琼。",
    "Marie Curie was born in Warsaw. She discovered radium with Pierre Curie in Paris in 1898.",
    "马云 founded Alibaba in 杭州 👨‍👩‍👧 in 1999.",
    "",
    "王小明出生于北京。" * 400,
]
REFUSE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
"""
EXTRACT = """
import pickle
import factpin

models, texts = pickle.loads(sys.stdin.buffer.read())
found = [factpin.load(name).extract(texts, 0.0) for name in models]
assert not {"torch", "transformers"} & sys.modules.keys()
sys.stdout.buffer.write(pickle.dumps(found))
"""
RUN = "\nfrom factpin.app.cli import main\nmain(sys.argv[1:])\n"


def without_torch(*words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The program in a process without torch."""
    command = [sys.executable, "-c", REFUSE + RUN, *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=200)


def test_the_shipped_models_find_the_same_in_both_runtimes() -> None:
    models = [name for name, settings in shipped().items() if settings.task != "reader"]
    assert models
    given = pickle.dumps(([*models, None], TEXTS))
    done = subprocess.run([sys.executable, "-c", REFUSE + EXTRACT], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for name, found in zip([*models, None], pickle.loads(done.stdout), strict=True):
        wanted = factpin.load(name, runtime="torch").extract(TEXTS, 0.0)
        assert all(same(a, b) for a, b in zip(wanted, found, strict=True))
        assert any(doc.mentions for doc in found)


def test_extract_index_ask_and_models_need_no_torch(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Marie Curie was born in Warsaw.")
    assert "Warsaw" in without_torch("extract", tmp_path / "a.txt", "--to", "jsonl").stdout
    assert without_torch("index", tmp_path / "a.txt", "--db", tmp_path / "kb.db").returncode == 0
    done = without_torch("ask", "Where was Marie Curie born?", "--db", tmp_path / "kb.db")
    assert done.returncode == 0 and "Warsaw" in done.stdout, done.stderr
    predict = ["predict", "en-entities", tmp_path / "a.txt", "-", "--from", "text", "--to", "jsonl"]
    for words in (["models"], ["models", "--encoders"], predict):
        done = without_torch(*words)
        assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["train", "spans", "--train", "a.jsonl", "--encoder", "minilm-en", "--output", "run"],
        ["extract", "-", "--runtime", "torch"],
        ["extract", "-", "--bf16"],
        ["extract", "-", "--device", "cuda"],
        ["onnx", "en-entities"],
        ["models", "--fetch", "minilm-en"],
    ],
)
def test_what_needs_torch_says_how_to_install_it(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTPIN_HOME", str(tmp_path))  # no encoder is fetched yet
    done = without_torch(*words, stdin="Anna was born in Rome.")
    assert done.returncode == 2 and "pip install 'factpin[train]'" in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1

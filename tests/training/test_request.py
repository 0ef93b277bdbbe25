"""What a user may have got wrong is said before torch is imported, and notes say what is true."""

import subprocess
import sys
from pathlib import Path

import pytest

from factpin import formats
from factpin.formats import questions as question_format
from factpin.training.request import run_request, train_request
from tests.answers.small_world import questions
from tests.conftest import corpus

REFUSED = """
import sys
from pathlib import Path
from factpin.errors import BadInput
from factpin.training.request import run_request, train_request
request = train_request("spans", None, {"train": sys.argv[1]}, {"encoder": "minilm-en"}, Path("run"))
try:
    run_request(request, note=print)
except BadInput as error:
    print(error, "torch" in sys.modules, sep="|")
"""


@pytest.mark.parametrize("text, reason", [("{", "is not JSON"), ('{"a": 1}', "no format fits")])
def test_a_file_that_cannot_be_read_is_refused_before_torch_is_imported(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(text)
    done = subprocess.run([sys.executable, "-c", REFUSED, str(path)], capture_output=True, text=True, check=True)
    assert reason in done.stdout and done.stdout.rstrip().endswith("|False")


def test_one_document_is_not_documents(encoder_folder: Path, tmp_path: Path) -> None:
    formats.write(corpus(1, 5), tmp_path / "train.jsonl")
    said: list[str] = []
    request = train_request("spans", None, {"train": str(tmp_path / "train.jsonl")},
                            {"encoder": str(encoder_folder), "max_steps": 1}, tmp_path / "run")  # fmt: skip
    run_request(request, quiet=True, note=said.append)
    assert any(text.startswith("only 1 training document:") for text in said)


@pytest.mark.parametrize("chosen", [True, False])
def test_a_reader_of_short_windows_does_not_blame_its_encoder(
    *, chosen: bool, encoder_folder: Path, tmp_path: Path
) -> None:
    """It keeps to what it has learned from; who did not ask for longer windows is not told."""
    question_format.write(questions(4, 5), tmp_path / "train.jsonl")
    said: list[str] = []
    settings = {"encoder": str(encoder_folder), "max_steps": 1, **({"max_length": 300} if chosen else {})}
    request = train_request("reader", None, {"train": str(tmp_path / "train.jsonl")}, settings, tmp_path / "run")
    report = run_request(request, quiet=True, note=said.append)
    assert report is not None and report["max_length"] == 64
    assert any("the reader keeps to windows of 64 tokens" in text for text in said) == chosen
    assert not any("this encoder reads at most" in text for text in said)

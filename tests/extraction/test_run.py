"""A whole extraction as one function: files to files, resumed, in shards that add up."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from factpin.documents import Document
from factpin.errors import BadInput
from factpin.extraction.progress import Progress
from factpin.extraction.request import Request
from factpin.extraction.run import run_extraction
from factpin.extraction.summary import Cases, Summary
from tests.conftest import corpus
from tests.models.small_model import small_model


@pytest.fixture(scope="module")
def model(encoder_folder: Path) -> Path:
    return small_model(encoder_folder)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Nine text files, of which one is not UTF-8, and a JSONL file with one bad record."""
    folder = tmp_path / "in"
    folder.mkdir()
    for i, doc in enumerate(corpus(9, 51)):
        (folder / f"{i}.txt").write_bytes(b"\xff" if i == 4 else doc.text.encode())
    lines = [json.dumps({"id": doc.id, "text": doc.text}) for doc in corpus(3, 52)]
    (folder / "many.jsonl").write_text("\n".join([lines[0], "{broken", *lines[1:]]))
    (folder / "other.odt").write_text("x")
    return folder


def test_a_run_writes_its_results_and_reports_progress(source: Path, tmp_path: Path, model: Path) -> None:
    (source / "4.txt").unlink()
    (source / "many.jsonl").unlink()
    starts: list[int | None] = []
    done: list[int] = []
    request = Request((source,), (str(model),), tmp_path / "found.jsonl")
    summary = run_extraction(request, Progress(starts.append, lambda: done.append(1)))
    assert starts == [8] and len(done) == summary.documents == summary.inputs == 8
    records = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert sum(len(record.get("mentions", ())) for record in records) == summary.mentions.total() > 0
    assert summary.skipped == {".odt": 1} and summary.rejected == 0


def test_documents_can_be_taken_instead_of_written(source: Path, model: Path) -> None:
    seen: list[Document] = []
    request = Request((source / "0.txt", source / "1.txt"), (str(model),))
    assert run_extraction(request, show=seen.extend).documents == 2
    assert [doc.id for doc in seen] == ["0", "1"]


def test_a_resumed_folder_counts_what_was_done_before(source: Path, tmp_path: Path, model: Path) -> None:
    request = Request((source,), (str(model),), tmp_path / "found", skip_bad=True)
    first = run_extraction(request)
    assert (first.inputs, first.done_before, first.documents, first.rejected) == (10, 0, 11, 2)
    again = run_extraction(request)
    assert (again.inputs, again.done_before, again.documents, again.rejected) == (10, 8, 3, 2)
    with pytest.raises(BadInput, match="other options"):
        run_extraction(replace(request, min_score=0.25))


def test_a_run_over_finished_work_loads_no_model(source: Path, tmp_path: Path, model: Path) -> None:
    request = Request((source / "0.txt",), (str(model),), tmp_path / "found")
    run_extraction(request)
    assert run_extraction(replace(request, device="abacus")) == Summary(inputs=1, done_before=1)


def test_shards_add_up_to_the_whole(source: Path, tmp_path: Path, model: Path) -> None:
    files = tuple(sorted(path for path in source.iterdir() if path.suffix != ".odt"))
    whole = Request(files, (str(model),), tmp_path / "whole.jsonl", skip_bad=True)
    shards = [
        replace(whole, inputs=part, output=tmp_path / f"{i}.jsonl", rejects=tmp_path / f"rejects-{i}.jsonl")
        for i, part in enumerate((files[:3], files[3:7], files[7:]))
    ]
    total = run_extraction(whole)
    assert sum((run_extraction(shard) for shard in shards), Summary()) == total
    assert total.rejected == 2 and total.inputs == 10
    for one, parts in (
        (whole.output, [shard.output for shard in shards]),
        (whole.rejects_file, [shard.rejects_file for shard in shards]),
    ):
        assert b"".join(path.read_bytes() for path in parts if path.exists()) == one.read_bytes()


def test_a_rejects_file_among_the_inputs_is_not_read(source: Path, model: Path) -> None:
    request = Request((source,), (str(model),), skip_bad=True, rejects=source / "rejects.jsonl")
    seen: list[Document] = []
    for _ in range(2):
        seen.clear()
        assert run_extraction(request, show=seen.extend).rejected == 2
        assert len(seen) == 11


def test_cases_keep_the_first_examples() -> None:
    total = sum((Cases(1, (f"d{i}",)) for i in range(7)), Cases())
    assert total == Cases(7, ("d0", "d1", "d2", "d3", "d4")) and str(total) == "d0, d1, d2, d3, d4, ..."
    assert str(Cases(1, ("a",))) == "a"


@pytest.mark.parametrize(
    "request_of, words",
    [
        (lambda: Request(format="brat"), "name it with --output"),
        (lambda: run_extraction(Request((Path("absent.txt"),))), "absent.txt: there is no such file"),
        (lambda: run_extraction(Request(models=("nowhere",))), "There is no model 'nowhere'"),
        (lambda: run_extraction(Request(coreference="en-entities")), "en-entities is a spans model"),
    ],
)
def test_wrong_requests_are_refused(request_of: object, words: str) -> None:
    with pytest.raises(Exception, match=words):
        request_of()  # type: ignore[operator]


def test_a_run_imports_torch_only_for_models_and_never_training(source: Path, tmp_path: Path, model: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from factpin.extraction.request import Request
from factpin.extraction.run import run_extraction
assert "torch" not in sys.modules
request = Request((Path({str(source / "0.txt")!r}),), ({str(model)!r},), Path({str(tmp_path / "o.jsonl")!r}))
assert run_extraction(request).documents == 1
assert "torch" in sys.modules
assert not [name for name in sys.modules if name.startswith(("factpin.training", "factpin.pretraining", "factpin.app"))]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

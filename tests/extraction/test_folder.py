"""A folder of results: taken up again after a stop, read again where an input changed, never mixed."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from factpin.documents import Document
from factpin.errors import BadFile, BadInput
from factpin.extraction import folder as module
from factpin.extraction.annotator import Annotate, annotator
from factpin.extraction.folder import RECORD, describe_run, extract_folder, is_done, open_folder
from factpin.extraction.inputs import Input, find_inputs
from factpin.extraction.rejects import Rejects
from tests.conftest import corpus
from tests.models.small_model import small_model, variant


@pytest.fixture(scope="module")
def model(encoder_folder: Path) -> Path:
    return small_model(encoder_folder)


@pytest.fixture(scope="module")
def annotate(model: Path) -> Annotate:
    return annotator([model]).annotate


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Seventy small files of several kinds, in three folders."""
    for i, doc in enumerate(corpus(70, 21)):
        path = tmp_path / "in" / f"part{i % 3}" / f"{i:02}{'.md' if i % 5 == 0 else '.txt'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(doc.text, encoding="utf-8")
    lines = (json.dumps({"id": doc.id, "text": doc.text}) for doc in corpus(40, 22))
    (tmp_path / "in" / "part1" / "many.jsonl").write_text("\n".join(lines))
    return tmp_path / "in"


def todo(source: Path, output: Path) -> list[Input]:
    return [one for one in find_inputs([source], exclude=[output])[0] if not is_done(output, one)]


def results(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_every_input_has_its_result_and_all_are_done(source: Path, tmp_path: Path, annotate: Annotate) -> None:
    output = tmp_path / "found"
    assert len(todo(source, output)) == 71
    extract_folder(todo(source, output), output, annotate)
    assert todo(source, output) == []
    assert {f"{p.relative_to(source).as_posix()}.jsonl" for p in source.rglob("*.*")} == set(results(output))
    record = json.loads((output / "part0" / "00.md.jsonl").read_bytes())
    assert record["id"] == "part0/00" and record["text"] == (source / "part0" / "00.md").read_text(encoding="utf-8")
    assert len((output / "part1" / "many.jsonl.jsonl").read_bytes().splitlines()) == 40


def test_long_names_are_cut_and_a_file_that_is_gone_is_named(tmp_path: Path, annotate: Annotate) -> None:
    (tmp_path / "in" / ("中" * 85)).mkdir(parents=True)
    long = [tmp_path / "in" / ("中" * 85) / f"{'x' * 250}{end}.txt" for end in "ab"]
    for path in (*long, tmp_path / "in" / "gone.txt"):
        path.write_text("王小明出生于北京。", "utf-8")
    inputs, output = todo(tmp_path / "in", tmp_path / "out"), tmp_path / "out"
    (tmp_path / "in" / "gone.txt").unlink()
    with Rejects(None) as rejects:
        extract_folder(inputs, output, annotate, rejects=rejects)
    assert len(rejects.named) == 1 and "gone.txt: there is no such file" in rejects.named[0]
    assert len(results(output)) == 2 and todo(tmp_path / "in", output) == []


def test_results_do_not_depend_on_where_the_run_was_stopped(
    source: Path, tmp_path: Path, annotate: Annotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    extract_folder(todo(source, whole), whole, annotate)
    monkeypatch.setattr(module, "TOGETHER", 7)
    runs = 0
    while waiting := todo(source, parts):
        runs += 1
        left = 13

        def stop(documents: Iterable[Document]) -> Iterator[Document]:
            nonlocal left
            for doc in annotate(documents):
                yield doc
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt

        try:
            extract_folder(waiting, parts, stop if runs < 4 else annotate)
        except KeyboardInterrupt:
            assert not list(parts.rglob(".*.part"))
    assert runs >= 4 and results(whole) == results(parts)


def test_a_changed_input_is_read_again_also_where_it_became_older(
    source: Path, tmp_path: Path, annotate: Annotate
) -> None:
    output, changed = tmp_path / "found", source / "part1" / "01.txt"
    extract_folder(todo(source, output), output, annotate)
    for text, shift in (("王小明出生于北京。", 5), ("李雷出生于广州。", -500)):
        changed.write_text(text, encoding="utf-8")
        stamp = changed.stat().st_mtime + shift
        os.utime(changed, (stamp, stamp))
        assert [one.path for one in todo(source, output)] == [changed]
        extract_folder(todo(source, output), output, annotate)
        assert json.loads((output / "part1" / "01.txt.jsonl").read_bytes())["text"] == text
    assert todo(source, output) == []


def test_a_bad_input_stops_the_run_and_what_was_done_stays(
    source: Path, tmp_path: Path, annotate: Annotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOGETHER", 4)
    output = tmp_path / "found"
    (source / "part1" / "04.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(BadFile, match=r"04\.txt: not UTF-8"):
        extract_folder(todo(source, output), output, annotate)
    assert 71 > len(todo(source, output)) > 24


def test_a_bad_input_is_set_aside_in_every_run_until_it_is_repaired(
    source: Path, tmp_path: Path, annotate: Annotate
) -> None:
    output, bad, many = tmp_path / "found", source / "part1" / "04.txt", source / "part1" / "many.jsonl"
    extract_folder(todo(source, output), output, annotate)
    good, lines = bad.read_bytes(), many.read_text()
    bad.write_bytes(b"\xff\xfe")
    many.write_text("{broken\n" + lines)
    for _ in range(2):
        with Rejects(tmp_path / "rejects.jsonl") as rejects:
            assert [one.path for one in todo(source, output)] == [bad, many]
            extract_folder(todo(source, output), output, annotate, rejects=rejects)
        assert rejects.count == len((tmp_path / "rejects.jsonl").read_text().splitlines()) == 2
        assert not (output / "part1" / "04.txt.jsonl").exists()  # the result of what it was before would mislead
        assert len((output / "part1" / "many.jsonl.jsonl").read_bytes().splitlines()) == 40
    bad.write_bytes(good)
    many.write_text(lines)
    extract_folder(todo(source, output), output, annotate)
    assert todo(source, output) == []


def test_other_models_and_options_do_not_mix(model: Path, tmp_path: Path) -> None:
    options = {"from": None, "encoding": None, "on-overflow": "window"}
    output, paths = tmp_path / "found", [tmp_path]
    open_folder(output, describe_run([model], paths, options))
    open_folder(output, describe_run([model], paths, options))
    other = variant(model, tmp_path / model.name, labels=("man", "town"))
    for run, words in ((describe_run([other], paths, options), "other models"),
                       (describe_run([model, other], paths, options), "other models"),
                       (describe_run([model], [model], options), "other inputs"),
                       (describe_run([model], paths, {**options, "encoding": "gbk"}), "--encoding gbk")):  # fmt: skip
        with pytest.raises(BadInput, match=words):
            open_folder(output, run)


def test_a_model_that_was_only_moved_is_the_same(model: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(model, tmp_path / model.name, ignore=shutil.ignore_patterns("checkpoints"))
    assert describe_run([model], [], {}) == describe_run([copy], [], {})


def test_a_folder_of_something_else_is_left_alone(model: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(BadFile, match="not from an earlier run"):
        open_folder(tmp_path / "mine", describe_run([model], [], {}))
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / RECORD).write_text("{")
    with pytest.raises(BadFile, match="not JSON"):
        open_folder(tmp_path / "odd", describe_run([model], [], {}))

"""`factpin predict`: a corpus in, the same corpus with a model's annotation out."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import factpin
from factpin import formats
from factpin.app.cli import main
from factpin.formats import Options
from factpin.layers import half
from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
from factpin.training.run import start
from tests.conftest import corpus
from tests.models.small_model import small_model
from tests.training import test_document_relations as relations

Door = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def model(encoder_folder: Path) -> Path:
    return small_model(encoder_folder)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Door:
    def call(*words: object, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["predict", *map(str, words)])
        return int(stop.value.code or 0), *capsys.readouterr()

    return call


def test_the_command_finds_what_the_library_finds(door: Door, model: Path, tmp_path: Path) -> None:
    documents = corpus(60, 41)
    formats.write(documents, tmp_path / "gold.jsonl")
    code, out, err = door(model, tmp_path / "gold.jsonl", tmp_path / "found.jsonl.gz")
    assert (code, out) == (0, "") and err.startswith("written: ")
    found = list(formats.read(tmp_path / "found.jsonl.gz"))
    assert found == list(factpin.load(model).annotate(documents))
    right = sum({(m.start, m.end, m.type) for m in a.mentions} == {(m.start, m.end, m.type) for m in b.mentions}
                for a, b in zip(found, documents, strict=True))  # fmt: skip
    assert right > 50


def test_gold_is_never_replaced_by_what_is_predicted_on_it(door: Door, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    formats.write(corpus(5, 42), path)
    code, _, err = door(model, path, path)
    assert code == 2 and "the same file" in err
    assert list(formats.read(path)) == corpus(5, 42)


def test_a_pipe_reads_and_writes(door: Door, model: Path) -> None:
    line = json.dumps({"id": "x", "text": "王小明出生于北京。"}).encode()
    code, out, err = door(model, "-", "-", stdin=line)
    assert code == 0 and err == "1 document; 2 mentions\n"
    assert [m["text"] for m in json.loads(out)["mentions"]] == ["王小明", "北京"]


def test_nothing_found_says_so_in_a_sentence(door: Door, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "……"}\n', "utf-8")
    assert door(model, tmp_path / "a.jsonl", tmp_path / "b.jsonl")[2].endswith("\n1 document. Nothing was found.\n")


def test_formats_are_changed_on_the_way_and_losses_are_counted(door: Door, model: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in.conll", tmp_path / "out.json"
    formats.write(corpus(10, 43), source, format="conll", options=Options(lossy=True))
    code, out, err = door(model, source, target, "--to", "text")
    assert code == 2 and "mentions" in err and "--lossy" in err and not target.exists()
    code, out, err = door(model, source, target, "--to", "cluener")  # scores are no annotation: written without them
    assert code == 0 and "not held by cluener: " in err and "scores" in err and out == ""
    assert len(list(formats.read(target, format="cluener"))) == len(list(formats.read(source, format="conll")))
    assert door(model, source, target, "--to", "cluener", "--lossy", "--quiet")[2] == ""


@pytest.mark.parametrize(
    "words, said",
    [
        (["absent.jsonl", "out.jsonl"], "no such file"),
        (["in.jsonl", "out.xyz"], "--to"),
        (["in.jsonl", "out.jsonl", "--from", "cluner"], "Did you mean 'cluener'?"),
        (["in.jsonl", "out.jsonl", "--on-overflow", "error"], "--on-overflow window"),
        (["in.jsonl", "out.jsonl", "--min-score", "nan"], "nan is not in the range"),
        (["in.jsonl", "-", "--json"], "Name a file"),
    ],
)
def test_a_refusal_is_one_line_and_writes_nothing(
    door: Door, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "王小明，" * 60}))
    code, out, err = door(model, *words)
    assert code == 2 and said in err and out == "" and len(err.splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]


def test_an_unknown_model_is_refused(door: Door, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "x"}')
    code, _, err = door("nowhere", tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert code == 2 and "There is no model 'nowhere'" in err


def test_bad_records_are_set_aside_and_all_is_told_as_json(door: Door, model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "x", "text": "王小明出生于北京。"}\n{"id": 1}\n')
    code, out, err = door(model, tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--skip-bad", "--json")
    told = json.loads(out)
    assert code == 0 and err == "" and (told["documents"], told["mentions"], told["rejected"]) == (1, 2, 1)
    assert told["asks"] == "text" and told["without"] == 0 and Path(told["rejects"]).is_file()


def test_documents_without_what_the_model_asks_about_are_counted(door: Door, tmp_path: Path) -> None:
    told = {"id": "b", "text": "Mira Tan was born in Rome.",
            "mentions": [{"id": "m0", "start": 0, "end": 8, "text": "Mira Tan", "type": "PER"},
                         {"id": "m1", "start": 21, "end": 25, "text": "Rome", "type": "LOC"}],
            "entities": [{"id": "e0", "mentions": ["m0"], "type": "PER"},
                         {"id": "e1", "mentions": ["m1"], "type": "LOC"}]}  # fmt: skip
    path, target = tmp_path / "in.jsonl", tmp_path / "result.json"
    path.write_text(json.dumps({"id": "a", "text": told["text"]}) + "\n" + json.dumps(told) + "\n")
    encoder = relations.save_encoder(tmp_path / "encoder")
    options = RelationOptions(str(encoder), size=16, group=8)
    start(DOCUMENT_RELATIONS, options, relations.corpus(8, 1), 1).save(model := tmp_path / "model")
    code, _, err = door(model, path, target, "--to", "docred_result")
    assert code == 0 and "2 documents; 2 mentions, 2 entities" in err
    assert "not searched: 1 of 2 documents without entities" in err
    assert all(record["title"] == "b" for record in json.loads(target.read_text()))
    assert json.loads(door(model, path, target, "--to", "docred_result", "--json")[1])["without"] == 1
    assert door(model, path, target, "--to", "docred_result", "--min-score", "1")[0] == 0
    assert json.loads(target.read_text()) == []


def test_half_precision_that_is_emulated_is_said(
    door: Door, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(half, "emulates_bf16", lambda: True)
    formats.write(corpus(2, 42), tmp_path / "a.jsonl")
    assert "Float32 is faster" in door(model, tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--bf16")[2]
    assert "Float32" not in door(model, tmp_path / "a.jsonl", tmp_path / "c.jsonl")[2]

"""Malformed model folders: each ends in BadModel, soon and without much memory, or loads a model that works."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from factpin.answers.cogltx_judge import Judge, JudgeModel, JudgeSettings
from factpin.answers.reader import Reader, ReaderSettings
from factpin.answers.reader_model import ReaderModel
from factpin.documents.answer import Passage
from factpin.documents.keys import passage_key
from factpin.encoders import Encoder
from factpin.errors import BadModel, FactpinError
from factpin.heads.answer_pointer import AnswerPointer, AnswerPointerConfig
from factpin.models.checks import SUMS, is_slow
from factpin.models.extractor import Extractor
from factpin.models.graphs.write import write_onnx
from factpin.models.judge_folder import judge_settings, load_judge
from factpin.models.part_folder import save_part
from factpin.models.reader_folder import LABELS, load_reader, save_reader
from factpin.models.settings import Settings
from factpin.training.judge_options import JudgeOptions
from tests.formats.test_mutations import at_most

SHIPPED = Path(__file__).parents[2] / "tests" / "data" / "model-0.1"
ODD: list[Any] = [0, -1, 1, 10**6, 10**7, 4 * 10**9, 10**30, 0.5, None, "", "x", [], {}, [[]], True, "(a+)+$", 1e308]
JSONS = ["factpin.json", "encoder/config.json", "tokenizer.json", "tokenizer_config.json"]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to some values of a JSON record."""
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    found = [path] if path else []
    for key, item in items[:40]:
        found += places(item, (*path, key))
    return found


def change(folder: Path, chance: random.Random, jsons: Sequence[str]) -> str:
    """Change one thing in a folder; returns what."""
    kind = chance.randrange(6)
    file = folder / (chance.choice(jsons) if kind < 4 else "model.safetensors")
    if kind == 0:
        file.unlink()
        return f"{file.name} removed"
    if kind == 1:
        raw = file.read_bytes()
        file.write_bytes(raw[: chance.randrange(len(raw))])
        return f"{file.name} cut"
    if kind < 4:
        record = json.loads(file.read_text("utf-8"))
        *way, last = chance.choice(places(record))
        inner = record
        for key in way:
            inner = inner[key]
        inner[last] = chance.choice(ODD)
        file.write_text(json.dumps(record), "utf-8")
        return f"{file.name}: {[*way, last]} = {inner[last]!r}"
    raw = bytearray(file.read_bytes())
    start = 0 if kind == 4 else chance.randrange(len(raw))
    for _ in range(50):
        raw[min(len(raw) - 1, start + chance.randrange(400))] = chance.randrange(256)
    file.write_bytes(raw)
    return f"{file.name}: 50 bytes from {start} on"


@dataclass(frozen=True)
class Kind:
    """A kind of model folder: how a good one is written, and how one is loaded and used."""

    make: Callable[[Path, Path], None]  # (encoder, target)
    use: Callable[[Path], None]
    more: tuple[str, ...] = ()  # JSON files beyond those of every folder


def extract_with(runtime: str) -> Callable[[Path], None]:
    def use(folder: Path) -> None:
        (doc,) = Extractor.load(folder, runtime=runtime).extract(["Anna lives in Rome."])
        assert all(doc.text[m.start : m.end] == m.text for m in doc.mentions)

    return use


def make_reader(encoder: Path, target: Path) -> None:
    part = Encoder.load(encoder)
    config = AnswerPointerConfig(labels=LABELS)
    model = ReaderModel(part, AnswerPointer(config, part.width))
    settings = Settings("reader", LABELS, "answer_pointer", asdict(config), "small", max_length=64, overlap=16)
    save_reader(target, settings, Reader(model, part.tokenizer, ReaderSettings(max_length=64, overlap=16)))


def read_with(folder: Path) -> None:
    load_reader(folder).read("Where?", [Passage(passage_key("a", 0, 19), "a", 0, 19, "Anna lives in Rome.")])


def make_judge(encoder: Path, target: Path) -> None:
    part = Encoder.load(encoder)
    chosen = JudgeSettings(64, 16, (2, 2))
    settings = judge_settings(chosen, JudgeOptions("small"))
    save_part(target, settings, Judge(JudgeModel(part), part.tokenizer, chosen))


def judge_with(folder: Path) -> None:
    load_judge(folder).recall("Where?", ["Anna lives in Rome. " * 20])


KINDS = {
    "judge": Kind(make_judge, judge_with),
    "onnx": Kind(lambda _, target: write_onnx(SHIPPED, target) and None, extract_with("onnx"), ("graph.json",)),
    "reader": Kind(make_reader, read_with),
    "torch": Kind(lambda _, target: Extractor.load(SHIPPED).save(target), extract_with("torch")),
}


def outcomes(numbers: Iterable[int], kind: Kind, source: Path, folder: Path, *, sums: bool) -> dict[str, int]:
    """Load malformed folders of these numbers; any error but those of the project is a failure."""
    seen, failures = {"refused": 0, "loaded": 0}, []
    for number in numbers:
        chance = random.Random(number)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        if not sums:
            (folder / SUMS).unlink(missing_ok=True)
        what = change(folder, chance, [*JSONS, *kind.more])
        with at_most(60):
            try:
                kind.use(folder)
                seen["loaded"] += 1
            except FactpinError as error:
                assert len(str(error)) > 10
                seen["refused"] += 1
            except Exception as error:
                failures.append(f"{number}: {what}: {type(error).__name__}: {error}"[:400])
    assert not failures, "\n".join(failures)
    return seen


@pytest.mark.parametrize("name", KINDS)
def test_malformed_folders_are_refused(limited: None, name: str, encoder_folder: Path, tmp_path: Path) -> None:
    KINDS[name].make(encoder_folder, tmp_path / "whole")
    KINDS[name].use(tmp_path / "whole")
    seen = outcomes(range(13), KINDS[name], tmp_path / "whole", tmp_path / "bad", sums=False)
    assert seen["refused"] > 5, seen


@pytest.mark.verify
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # weights of 1e38
@pytest.mark.parametrize("name", KINDS)
def test_five_hundred_malformed_folders(limited: None, name: str, encoder_folder: Path, tmp_path: Path) -> None:
    KINDS[name].make(encoder_folder, tmp_path / "whole")
    seen = outcomes(range(500), KINDS[name], tmp_path / "whole", tmp_path / "bad", sums=False)
    print(f"{name}: {seen}")
    assert seen["refused"] > 250, seen


@pytest.mark.parametrize("name", KINDS)
def test_with_digests_no_changed_byte_loads(limited: None, name: str, encoder_folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "whole"
    KINDS[name].make(encoder_folder, source)
    if name == "onnx":  # the folder of version 0.1 has no digests
        Extractor.load(SHIPPED).save(source)
        write_onnx(source)
    assert len((source / SUMS).read_text().splitlines()) == 5 + 2 * (name == "onnx")
    seen = outcomes(range(12), KINDS[name], source, tmp_path / "bad", sums=True)
    assert seen["loaded"] <= 1, seen  # a change may write the same value again


@pytest.mark.parametrize("name", ["reader", "torch"])
@pytest.mark.parametrize("value", ["", "x", [], True, 0.5])
def test_a_head_with_a_setting_of_the_wrong_type(name: str, value: Any, encoder_folder: Path, tmp_path: Path) -> None:
    KINDS[name].make(encoder_folder, tmp_path)
    (tmp_path / SUMS).unlink(missing_ok=True)
    record = json.loads((tmp_path / "factpin.json").read_text("utf-8"))
    record["head_config"]["max_span"] = value
    (tmp_path / "factpin.json").write_text(json.dumps(record), "utf-8")
    with pytest.raises(BadModel, match="max_span"):
        KINDS[name].use(tmp_path)


def test_a_huge_file_of_settings_is_refused_before_it_is_read(limited: None, tmp_path: Path) -> None:
    for name in ("factpin.json", "tokenizer.json", "encoder/config.json"):
        folder = tmp_path / name.replace("/", "-")
        shutil.copytree(SHIPPED, folder)
        (folder / SUMS).unlink(missing_ok=True)
        os.truncate(folder / name, 6_000_000_000)
        with pytest.raises(BadModel, match="has 6,000,000,000 bytes"):
            Extractor.load(folder)


@pytest.mark.parametrize("upon", ["..", ".", "../other", "/etc", "a/b"])
def test_weights_are_shared_only_with_a_folder_beside_it(upon: str, tmp_path: Path) -> None:
    shutil.copytree(SHIPPED, tmp_path / "a")
    (tmp_path / "a" / SUMS).unlink(missing_ok=True)
    record = json.loads((tmp_path / "a" / "factpin.json").read_text("utf-8"))
    (tmp_path / "a" / "factpin.json").write_text(json.dumps(record | {"upon": upon}), "utf-8")
    with pytest.raises(BadModel, match="not a plain name of a folder"):
        Extractor.load(tmp_path / "a")


def test_slow_patterns_are_known() -> None:
    for pattern in ("(a+)+$", "(a|aa)*b", "((a*)b?)+", "(?:x{2,})*", "(([a-z])+.)+"):
        assert is_slow(pattern), pattern
    gpt2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    llama3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)"
    for pattern in (gpt2, llama3, r"\d+", "(ab)?c*", r"[(+)]+", r"\(a+\)+"):
        assert not is_slow(pattern), pattern

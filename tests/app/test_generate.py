"""`factpin generate`: prompts of every kind, files, JSON, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from factpin.app.commands.generate import generate
from factpin.app.show.answers_text import Typist, answer_notes
from factpin.errors import BadFile, BadInput, BadModel
from factpin.objectives.generate import GenerationSearch
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.generation import KINDS, GeneratedText, Generator, kinds_of
from factpin.pretraining.pretrain import pretrain
from factpin.training.config import TrainConfig
from tests.conftest import corpus

PROMPTS = {"glm": "Anna [MASK] in Berlin.", "mass": "Anna [MASK][MASK] in Berlin.", "t5": "Anna [MASK] in [MASK]."}


def run(*words: str | Path) -> int:
    code: int = generate.main([str(word) for word in words], standalone_mode=False)
    return code


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of each kind, after two steps."""
    place = tmp_path_factory.mktemp("models")
    text = "\n\n".join("\n".join(d.text for d in corpus(5, seed)) for seed in range(12))
    (place / "t.txt").write_text(text, encoding="utf-8")
    for name in (*KINDS, "wwm"):
        config = PretrainConfig(name, shape="1x16x2", length=32, vocab_size=200, heldout=0, buffer=16,
                                words="characters")  # fmt: skip
        pretrain([place / "t.txt"], config, TrainConfig(max_steps=2, batch_size=4), place / name, quiet=True)
    return place


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_something_and_the_same_again(
    kind: str, models: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    said = []
    for seed in (1, 1, 2):
        words = (models / kind, PROMPTS.get(kind, "Anna lives in"), "--top-k", "50", "--seed", str(seed))
        assert run(*words, "--max-pieces", "9", "--min-pieces", "3", "--json", "--quiet") == 0
        said.append(json.loads(capfdbinary.readouterr().out))
    assert said[0] == said[1] and said[0] != said[2]
    assert said[0]["pieces"] and "[UNK]" not in said[0]["text"]


def test_a_transformer_xl_goes_on_for_longer_than_a_segment(
    models: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for kind in ("transformer_xl", "gpt"):
        run(models / kind, "Anna lives in", "--max-pieces", "80", "--json", "--quiet")
        assert json.loads(capfdbinary.readouterr().out)["pieces"] == 80


def test_files_of_prompts_keep_their_fields(
    models: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "p.jsonl").write_text('{"prompt": "Anna", "id": 7}\n{"prompt": "Berlin", "id": 8}\n')
    run(models / "bart", tmp_path / "p.jsonl", "--beams", "2", "--count", "2", "--json", "--quiet")
    lines = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [line["id"] for line in lines] == [7, 7, 8, 8] and lines[0]["score"] >= lines[1]["score"]
    (tmp_path / "p.txt").write_text("Anna\n\nBerlin\n")
    run(models / "gpt", tmp_path / "p.txt", "--max-pieces", "3", "--quiet")
    assert len(capfdbinary.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    ("kind", "words", "error", "match"),
    [("wwm", ["a"], BadModel, "does not generate"), ("gpt", ["  "], BadInput, "empty"),
     ("gpt", ["a [MASK]"], BadInput, "does not fill in"), ("t5", ["a b"], BadInput, r"Mark it with \[MASK\]"),
     ("bart", ["a [GAP] b"], BadInput, r"does not know \[GAP\]"), ("t5", ["[MASK] " * 101], BadInput, "at most 100"),
     ("gpt", ["\u200b"], BadInput, "keeps nothing"), ("gpt", ["prompts.jsonl"], BadFile, "no such file"),
     ("gpt", ["a", "--min-pieces", "9", "--max-pieces", "3"], BadInput, "more than --max-pieces"),
     ("gpt", ["a", "--length-penalty", "1"], BadInput, "Add --beams"),
     ("mass", ["[MASK] a [MASK]"], BadInput, "one run"), ("bart", ["ab " * 40], BadInput, "this model reads"),
     ("gpt", ["a", "--beams", "2", "--top-k", "3"], BadInput, "Choose one"),
     ("gpt", ["a", "--count", "2"], BadInput, "as many beams"), ("none", ["a"], BadModel, "no such folder")],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(
    kind: str, words: list[str], error: type[Exception], match: str, models: Path
) -> None:
    with pytest.raises(error, match=match):
        run(models / kind, *words)


def test_a_bad_line_is_named(models: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"prompt": "Anna"}\n{"text": "Anna"}\n')
    with pytest.raises(BadFile, match="line 2"):
        run(models / "gpt", tmp_path / "p.jsonl")


def test_a_prompt_of_a_file_that_is_refused_is_named(models: Path, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(f"Anna\n\n{'ab ' * 40}\n")
    with pytest.raises(BadInput, match="line 3: The prompt has"):
        run(models / "bart", tmp_path / "p.txt")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(BadInput, match="there is no prompt"):
        run(models / "bart", tmp_path / "empty.txt")


def test_other_encodings_are_read(models: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "p.jsonl").write_bytes('{"prompt": "王小明"}\n'.encode("gb18030"))
    run(models / "gpt", tmp_path / "p.jsonl", "--encoding", "gb18030", "--max-pieces", "2", "--json", "--quiet")
    assert json.loads(capfdbinary.readouterr().out)["prompt"] == "王小明"


def test_what_is_not_read_or_cut_or_empty_is_said(models: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(models / "gpt", "Anna lives in Berlin. " * 20, "--max-pieces", "2")
    assert "pieces of the prompt are not read: this model reads 32" in capfd.readouterr().err
    run(models / "unilm", "Anna lives in", "--min-pieces", "3", "--max-pieces", "3")
    assert "the answer is cut at 3 pieces (--max-pieces)" in capfd.readouterr().err
    cut, ended = (GeneratedText(text, (), 0.0, len(text), False) for text in ("ab", ""))
    assert [line[:27] for line in answer_notes([cut, replace(ended, finished=True)], 9)] == [
        "1 of 2 answers is cut where", "1 of 2 answers is empty: th"]  # fmt: skip


def test_an_answer_that_continues_a_word_has_no_mark(models: Path) -> None:
    generator = Generator.load(models / "gpt")
    inside = [i for i in range(generator.vocabulary.size) if generator.model.tokenizer.token(i).startswith("##")]
    assert inside and not generator._decode(np.array(inside[:1])).startswith("#")


def test_text_is_typed_as_it_grows(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    typist = Typist(sys.stdout)
    for text in ("a", "a b", "a bc"):
        typist.type(text)
    assert typist.end() == "a bc" and capsys.readouterr().out == "a bc\n"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_typed_ends_as_the_answer_begins(kind: str, models: Path) -> None:
    told: list[str] = []
    search = GenerationSearch("sample", top_k=50, longest=6, shortest=3)
    prompt = {**PROMPTS, "glm": "Anna [MASK] in Berlin [MASK]."}.get(kind, "Anna lives in")
    (answer,) = Generator.load(models / kind).answers(prompt, search, seed=1, tell=told.append)
    assert len(told) >= 2 and answer.text.startswith(told[-1]) and told[-1]


def test_what_was_learned_from_pairs_comes_first() -> None:
    assert kinds_of(frozenset({"bart", "bart_pairs"})) == ["bart_pairs", "bart"]
    assert kinds_of(frozenset({"transformer_xl"})) == ["transformer_xl"] and not kinds_of(frozenset({"unilm_both"}))

"""docs/answers.md: its commands run on its own files, and it explains every row that they print."""

import json
import re
import shlex
from pathlib import Path

import pytest

from factpin.app.cli import main
from factpin.encoders import small_encoder
from factpin.formats import questions
from factpin.formats.questions import QUESTION_FORMATS
from factpin.tokens.small import build_tokenizer
from factpin.training.parts import PARTS
from tests.answers.test_rag import small_generator
from tests.test_docs import DOCS, names, page, rows, section

RUN = ("answer from passages", "answer from long texts", "follow several documents", "train a retriever",
       "write answers", "classify long texts")  # fmt: skip
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXTS = {
    "curie": "Marie Curie was born in Warsaw. She lived in Paris.",
    "nintendo": "Nintendo makes games. It was founded by Fusajiro Yamauchi.",
}
SHORT = ["--max-steps", "1", "--batch-size", "2"]


def blocks(heading: str) -> dict[str, str]:
    """The code of a section by its language."""
    return dict(BLOCK.findall(section(page("answers"), f"## {heading.capitalize()}")))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A small encoder and a small generator, for those that the page names."""
    home = tmp_path_factory.mktemp("small")
    tokenizer = build_tokenizer([page("answers")], vocab_size=800)
    encoder = small_encoder(tokenizer.vocab_size, width=32, layers=1, max_length=512, tokenizer=tokenizer)
    encoder.save(home / "encoder")
    return {"minilm-en": str(home / "encoder"), "FOLDER": str(small_generator(home / "t5", tokenizer, "t5"))}


def explained(table: str, part: str) -> set[str]:
    """The rows of a part that one of the two tables explains."""
    found = section(page("answers"), "## The table of a run").split("What follows begins")[table == "training"]
    return {name for row in rows(found) if row[1] == "all" or part in row[1].split(", ") for name in names(row[0])}


@pytest.mark.parametrize("heading", RUN)
def test_the_commands_run_and_what_they_print_is_explained(
    heading: str,
    small: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code = blocks(heading)
    ending = "json" if "json" in code else "jsonl"
    for name in ("train", "dev"):
        Path(f"{name}.{ending}").write_text(code[ending], "utf-8")
    Path("texts").mkdir()
    for name, text in TEXTS.items():
        Path("texts", f"{name}.txt").write_text(text, "utf-8")
    Path("text.txt").write_text(TEXTS["curie"], "utf-8")
    for line in code["sh"].splitlines():
        words = [small.get(word, word) for word in shlex.split(line)]
        if words[:2] == ["python", "-c"]:
            exec(words[2], {})
            assert capsys.readouterr().out.strip() in {"sport", "business"}
            continue
        assert words[0] == "factpin"
        with pytest.raises(SystemExit) as stop:
            main([*words[1:], *(SHORT if words[1] == "train" else [])])
        out, err = capsys.readouterr()
        assert not stop.value.code or words[1] == "ask" and stop.value.code == 1, (line, out, err)
        if words[1] == "train":
            _check_rows(out, words[2])
    assert list(Path("runs").iterdir()) and ("graph" not in code["sh"] or json.loads(Path("graph.json").read_text()))


def _check_rows(out: str, part: str) -> None:
    printed = [cells[1].strip() for line in out.splitlines() if len(cells := line.split("│")) == 4]
    assert printed[0] == "steps (best)" and any(row.startswith("dev ") for row in printed)
    for row in printed[1:]:
        kind, name = row.split(" ", 1)
        assert name in explained(kind, part), row


def test_every_part_and_every_card_is_on_the_page() -> None:
    text = page("answers")
    table = rows(text.split("The page of a method")[0])
    assert {name for row in table for name in names(row[1])} == PARTS.keys()
    assert {f"answers/{card.name}" for card in (DOCS / "answers").glob("*.md")} <= set(
        re.findall(r"\]\((\S+\.md)\)", text)
    )
    assert {f"## {heading.capitalize()}" for heading in RUN} <= set(text.splitlines())


def test_every_format_of_questions_has_its_shape() -> None:
    text = section(page("formats"), "## Questions")
    assert [names(row[0])[0] for row in rows(text.split("### The native format")[0])] == list(QUESTION_FORMATS)


def test_the_examples_of_questions_are_read_as_what_they_are_called(tmp_path: Path) -> None:
    examples = dict(BLOCK.findall(section(page("formats"), "## Questions")))
    path = tmp_path / "questions.jsonl"
    path.write_text(examples["jsonl"], "utf-8")
    assert questions.guess(path) == "questions"
    (one,) = questions.read(path)
    assert one.span_texts() == one.answers == ("Warsaw",) and one.support and one.meta == {}
    for heading, name in (("answer from passages", "squad"), ("answer from long texts", "hotpotqa")):
        path.write_text(blocks(heading)["json"], "utf-8")
        assert questions.guess(path) == name
        for question in questions.read(path):
            assert question.span_texts() == question.answers

"""Answers against gold, as `factpin evaluate --task answers` reads and reports them."""

from pathlib import Path

import orjson
import pytest

from factpin.app.cli import main
from factpin.corpora.evaluate_answers import evaluate_answers, read_replies
from factpin.documents import Document, Question
from factpin.errors import BadFile, BadRecord
from factpin.formats.questions import write
from factpin.scoring.answers import Reply

TEXT = Document("d", "Ada Lovelace was born in London in 1815.")
GOLD = [
    Question("a", "Where was Ada born?", "en", ("London",), context=(TEXT,)),
    Question("b", "When was Ada born?", "en", ("1815",), context=(TEXT,)),
    Question("c", "Where did Ada die?", "en", answerable=False, context=(TEXT,)),
    Question("d", "Who was born in London?", "en", ("Ada Lovelace",), context=(TEXT,)),
]
RIGHT = {"a": Reply("London", 0.9), "b": Reply("1815", 0.8), "c": Reply(""), "d": Reply("Ada", 0.4)}


def test_figures_with_intervals_and_what_abstaining_does() -> None:
    report = evaluate_answers(GOLD, RIGHT)
    assert report["figures"]["em"]["value"] == 0.75 and report["figures"]["f1"]["value"] == pytest.approx(11 / 12)
    low, high = report["figures"]["em"]["interval"]
    assert low < 0.75 < high
    assert (report["questions"], report["replies"], report["answers"]) == (4, 4, 3)
    assert report["answered"] == 0.75 and report["precision"] == pytest.approx(2 / 3)
    assert report["precision_at_half"] == 1.0 and report["notes"] == []


def test_what_is_missing_or_unknown_is_said() -> None:
    report = evaluate_answers(GOLD, {"a": RIGHT["a"], "x": Reply("London", 0.5)})
    assert report["figures"]["em"]["value"] == 0.25
    assert [note.split(" ")[0] for note in report["notes"]] == ["3", "1"]


def test_replies_are_read_as_ask_writes_them_and_as_squad_has_them(tmp_path: Path) -> None:
    lines = [{"id": "a", "answer": "London", "score": 0.9}, {"id": 2, "answer": "", "score": 0.1, "abstained": True}]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert read_replies(tmp_path / "a.jsonl") == {"a": Reply("London", 0.9), "2": Reply("", 0.1)}
    (tmp_path / "one.jsonl").write_bytes(orjson.dumps(lines[0]))
    assert read_replies(tmp_path / "one.jsonl") == {"a": Reply("London", 0.9)}
    (tmp_path / "a.json").write_bytes(orjson.dumps({"a": "London"}, option=orjson.OPT_INDENT_2))
    assert read_replies(tmp_path / "a.json") == {"a": Reply("London")}


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [("[1]", BadFile, "expected {id: answer}"), ('{"answer": "x"}', BadRecord, "keeps the ids"),
     ('{"id": 1, "answer": "x"}\n{', BadRecord, "not JSON"),
     ('{"id": 1, "answer": "x"}\n{"id": 1, "answer": "y"}', BadRecord, "there twice")],
)  # fmt: skip
def test_bad_predictions_are_named(tmp_path: Path, text: str, error: type[Exception], said: str) -> None:
    (tmp_path / "bad").write_text(text)
    with pytest.raises(error, match=said):
        read_replies(tmp_path / "bad")


def test_the_command_prints_a_table_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(GOLD, tmp_path / "gold.jsonl")
    for name, ids in (("one", "abcd"), ("two", "ac")):
        rows = [orjson.dumps({"id": id, "answer": RIGHT[id].text, "score": RIGHT[id].score or 0.0}) for id in ids]
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(rows))
    command = ["evaluate", str(tmp_path / "one.jsonl"), str(tmp_path / "gold.jsonl"), "--task", "answers"]
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--against", str(tmp_path / "two.jsonl")])
    shown = capsys.readouterr().out
    assert "4 questions, 3 answered" in shown and "75.00" in shown and "F1 against the other: +41.67" in shown
    with pytest.raises(SystemExit, match="1"):
        main([*command, "--fail-under", "0.99", "--json"])
    report = orjson.loads(capsys.readouterr().out)
    assert report["task"] == "answers" and report["figures"]["em_unanswerable"]["value"] == 1.0
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--train", "x"])

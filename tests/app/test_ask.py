"""`factpin ask` as users meet it: text, JSON, JSONL, explanations, exit codes, and all of it without torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from factpin.answers.say import say
from factpin.app.show.answer_tree import answer_text
from factpin.documents import Answer, Citation
from factpin.documents.answer import answer_from_json
from tests.app.store_door import Door, make_door, write_documents
from tests.memory.world import Said, tell

WITHOUT_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers"):
            raise ImportError(f"{name} is not here")
sys.meta_path.insert(0, Refuse())
from factpin.app.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Door:
    return make_door(monkeypatch, capfd, tmp_path / "kb.db")


@pytest.fixture
def docs(door: Door, tmp_path: Path) -> Path:
    path = write_documents(
        tmp_path / "d.jsonl",
        film=tell(Said("Ed Wood", "director", "Tim Burton", "{h} was directed by {t}.", "work", "person", score=0.9)),
        burton=tell(Said("Tim Burton", "date of birth", "1958", "{h} was born in {t}.", "person", "date", score=0.8)),
    )
    assert door("index", path, "--no-facts", "--quiet").code == 0
    return path


def test_an_answer_names_the_characters(door: Door, docs: Path) -> None:
    done = door("ask", "Who directed Ed Wood?")
    assert done.code == 0 and done.out.splitlines()[0] == "Tim Burton  0.90, facts"
    assert f"{docs}#film:24-34 “Tim Burton”" in done.out


def test_the_json_has_the_promised_shape(door: Door, docs: Path) -> None:
    done = door("ask", "When was the director of Ed Wood born?", "--json")
    record = done.json
    assert record.keys() == {"question", "answer", "score", "abstained", "generated", "mode", "citations", "path",
                             "conflict", "alternatives", "as_of", "searched", "notes"}  # fmt: skip
    assert (record["answer"], record["mode"], record["as_of"]) == ("1958", "facts", None)
    assert record["score"] == pytest.approx(0.72) and [hop["relation"] for hop in record["path"]] == [
        "director",
        "date of birth",
    ]
    assert record["citations"][0]["sentence"] == [0, 28] and record["citations"][0]["uri"] == f"{docs}#burton"
    assert answer_from_json(record).text == "1958"


def test_abstaining_is_exit_code_1(door: Door, docs: Path) -> None:
    done = door("ask", "Who shot Ed Wood?")
    assert done.code == 1 and done.out.startswith("no answer") and f"{docs}#film" in done.out
    record = door("ask", "Who shot Ed Wood?", "--json")
    assert (
        record.code == 1
        and record.json["abstained"]
        and record.json["searched"] == {"passages": 1, "read": 1, "hops": 0}
    )
    assert door("ask", "Who directed Ed Wood?", "--min-score", 0.95).code == 1
    assert door("ask", "Who directed Ed Wood?", "--mode", "extract", "--reader", "none").code == 1


def test_an_abstention_says_why_before_it_shows_passages_in_the_language_of_the_question(
    door: Door, tmp_path: Path
) -> None:
    text = "徐文光\n\n徐文光出生于苏州，长期从事戏曲研究。"
    (tmp_path / "xu.txt").write_text(text, encoding="utf-8")
    assert door("index", tmp_path / "xu.txt", "--no-facts", "--quiet").code == 0
    lines = door("ask", "戏曲研究始于何时？", "--reader", "none").out.splitlines()
    assert lines[0] == "没有答案" and "以下段落可能有帮助" in lines[1] and lines[2] == "  可参看："
    assert f"{tmp_path}/xu.txt:5-" in lines[3]
    assert "徐文光”" not in door("ask", "徐文光娶了谁？", "--reader", "none").out, "a title alone is no help"


def test_passages_that_only_repeat_the_question_are_not_shown() -> None:
    title = Answer("徐文光娶了谁？", "徐文光", 0.0, "extract", citations=(Citation("d", "xu.txt", 0, 3, "徐文光"),))
    answer = Answer("徐文光娶了谁？", "", 0.0, "extract", abstained=True, alternatives=(title,),
                    notes=(say("unread", "zh"),))  # fmt: skip
    console = Console(width=80)
    with console.capture() as shown:
        console.print(answer_text(answer))
    assert shown.get().splitlines() == ["没有答案", f"  {say('none', 'zh')}"]


def test_the_shipped_reader_answers_from_passages(door: Door, docs: Path) -> None:
    read = door("ask", "Who directed Ed Wood?", "--mode", "extract", "--json")
    assert (read.code, read.json["answer"], read.json["mode"]) == (0, "Tim Burton", "extract")
    (citation,) = read.json["citations"]
    assert (citation["uri"], citation["quote"]) == (f"{docs}#film", "Tim Burton")


def test_questions_come_as_jsonl(door: Door, docs: Path) -> None:
    lines = '{"id": 7, "question": "Who directed Ed Wood?"}\n\n{"question": "Who shot Ed Wood?"}\n'
    done = door("ask", "-", stdin=lines)
    first, second = (json.loads(line) for line in done.out.splitlines())
    assert done.code == 1 and (first["id"], first["answer"], second["abstained"]) == (7, "Tim Burton", True)
    for bad in ("not json\n", "[]\n", '{"text": "x"}\n'):
        assert door("ask", "-", stdin=bad).code == 2


def test_explain_shows_what_was_looked_at(door: Door, docs: Path) -> None:
    done = door("ask", "When was the director of Ed Wood born?", "--explain")
    assert "asks for: time (en)" in done.out and "answer: 1958 (0.72)" in done.out
    assert "Tim Burton – date of birth → 1958 (active, 0.80): it answers the question" in done.out
    assert "passages found" in door("ask", "Who shot Ed Wood?", "--explain").out


def test_as_of_asks_the_past(door: Door, tmp_path: Path) -> None:
    for year, person in (("2015", "Ann Ash"), ("2021", "Bo Birch")):
        said = Said("Acme", "CEO", person, "The CEO of {h} is {t}.", "organization", "person")
        door("index", write_documents(tmp_path / f"{year}.jsonl", x=tell(said)), "--no-facts", "--published", year)
    done = door("ask", "Who is the CEO of Acme?")
    assert done.out.startswith("Bo Birch") and "No longer or not yet: Acme – CEO – Ann Ash" in done.out
    assert door("ask", "Who is the CEO of Acme?", "--as-of", "2018").out.startswith("Ann Ash")
    assert door("ask", "Who is the CEO of Acme?", "--as-of", "soon").code == 2


def test_ask_and_store_need_no_torch(docs: Path, tmp_path: Path) -> None:
    for words, code in ((["ask", "Who directed Ed Wood?"], 0), (["ask", "Who shot Ed Wood?", "--explain"], 1),
                        (["store", "facts", "--json"], 0), (["store", "check"], 0),
                        (["index", str(docs), "--no-facts"], 0), (["export", str(tmp_path / "f.nq")], 0)):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_TORCH, *words], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == code, (words, done.stderr)

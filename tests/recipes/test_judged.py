"""recipes/judged: the choice of passages, and sheets made of and scored from made-up outputs."""

import importlib.util
import json
import random
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from factpin.errors import BadInput

JUDGED = Path(__file__).parents[2] / "recipes" / "judged"


def load(name: str) -> ModuleType:
    key = f"recipe_judged_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, JUDGED / f"{name}.py")
        assert spec and spec.loader
        sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[key])
    return sys.modules[key]


sheet = load("sheet")
collect = load("collect")

TEXTS = {"a": ("en", "Ada Lovelace lived in London. She met Babbage."), "b": ("zh", "张三在北京工作。")}


def record(id: str, mentions: list[tuple[str, str]], facts: list[tuple[int, str, int, str]] = []) -> dict[str, Any]:  # noqa: B006
    text = TEXTS[id][1]
    starts = [text.index(surface) for surface, _ in mentions]
    return {
        "id": id,
        "text": text,
        "mentions": [
            {"id": f"m{i}", "start": starts[i], "end": starts[i] + len(surface), "text": surface, "type": type}
            for i, (surface, type) in enumerate(mentions)
        ],
        "entities": [{"id": f"e{i}", "type": type, "mentions": [f"m{i}"]} for i, (_, type) in enumerate(mentions)],
        "facts": [
            {"head": f"e{head}", "relation": name, "tail": f"e{tail}"} | ({"assertion": said} if said else {})
            for head, name, tail, said in facts
        ],
    }


OLD = [
    record("a", [("Ada Lovelace", "PER"), ("London", "LOC"), ("She", "PER")], [(0, "residence", 1, "")]),
    record("b", [("张三", "name"), ("北京", "address")]),
]
NEW = [
    record("a", [("Ada Lovelace", "person"), ("London", "location"), ("Babbage", "person")],
           [(0, "residence", 1, "asserted"), (2, "residence", 1, "possible")]),
    record("b", [("张三", "person"), ("北京", "organization")]),
]  # fmt: skip


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A sheet of two versions, each a script that prints what it would find."""
    passages = tmp_path / "passages.jsonl"
    passages.write_text(
        "".join(json.dumps({"id": id, "text": t, "language": lang}) + "\n" for id, (lang, t) in TEXTS.items())
    )
    versions = []
    for name, found in (("old", OLD), ("new", NEW)):
        data, script = tmp_path / f"{name}_found.jsonl", tmp_path / f"{name}.py"
        data.write_text("".join(json.dumps(r) + "\n" for r in found))
        script.write_text(
            "import os, sys\n"
            "assert sys.argv[1] == 'extract' and sys.argv[3:] == ['--to', 'jsonl', '--quiet'], sys.argv\n"
            "assert '\"language\"' not in open(sys.argv[2]).read()\n"
            "print(open(os.environ['FOUND']).read())\n"
        )
        versions.append(f"{name}=FOUND={data} {sys.executable} {script}")
    sheet.make(versions, passages, tmp_path / "sheets")
    return tmp_path / "sheets"


def keys(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "key.jsonl").read_text().splitlines()]


def fill(folder: Path, path: Path, wrong: set[tuple[str, ...]]) -> Path:
    """The sheet with every verdict right but those of some cells."""
    lines = (folder / "sheet.md").read_text().splitlines()
    cells = {entry["number"]: tuple(entry["cells"]) for entry in keys(folder)}
    for i, line in enumerate(lines):
        number = line.split("|")[1].strip() if line.startswith("|") else ""
        if number.isdigit():
            lines[i] = f"{line[: -len('| |')]}| {'wrong' if cells[int(number)] in wrong else 'right'} |"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_items_are_pooled_once_in_one_vocabulary(made: Path) -> None:
    found = {(entry["passage"], *entry["cells"]): entry["versions"] for entry in keys(made)}
    assert found == {
        ("a", "Ada Lovelace", "person"): ["new", "old"],
        ("a", "London", "location"): ["new", "old"],
        ("a", "Babbage", "person"): ["new"],
        ("a", "Ada Lovelace", "residence", "London", "asserted"): ["new", "old"],
        ("a", "Babbage", "residence", "London", "possible"): ["new"],
        ("b", "张三", "person"): ["new", "old"],
        ("b", "北京", "location"): ["old"],
        ("b", "北京", "organization"): ["new"],
    }


def test_the_sheet_has_every_text_and_row_and_no_version(made: Path) -> None:
    text = (made / "sheet.md").read_text()
    assert all(passage in text for _, passage in TEXTS.values())
    assert "old" not in text.split("## Passage 1")[1] and "new" not in text.split("## Passage 1")[1]
    for entry in keys(made):
        assert f"| {entry['number']} | {' | '.join(entry['cells'])} | |" in text
    assert sorted(entry["number"] for entry in keys(made)) == list(range(1, 9))


@pytest.mark.parametrize(
    "type, common",
    [("PER", "person"), ("TIME", "date"), ("MISC", "other"), ("government", "organization"), ("scene", "location"),
     ("position", "title"), ("movie", "work"), ("影视作品", "work"), ("Date", "date"), ("title", "title"),
     ("", "other")],
)  # fmt: skip
def test_types_of_all_versions_have_a_common_name(type: str, common: str) -> None:
    assert sheet.common_type(type) == common


def test_scores_count_each_version_by_language(made: Path, tmp_path: Path) -> None:
    first = fill(
        made, tmp_path / "first.md", {("北京", "organization"), ("Babbage", "residence", "London", "possible")}
    )
    second = fill(made, tmp_path / "second.md", {("北京", "organization"), ("London", "location")})
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- figures -->\nstale\n<!-- end of figures -->\nafter\n")
    report = sheet.score(made, (first, second), readme)
    assert "Rows: 8. Both judges say the same of 75.0%" in report
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in report.splitlines() if "%" in line]
    assert ("old", "English", "entities", "2", "1 (50.0%)", "2 (100.0%)") in rows
    assert ("new", "Chinese", "entities", "2", "1 (50.0%)", "1 (50.0%)") in rows
    assert ("new", "both", "facts", "2", "1 (50.0%)", "2 (100.0%)") in rows
    assert ("old", "both", "entities", "4", "3 (75.0%)", "4 (100.0%)") in rows
    assert readme.read_text() == f"before\n<!-- figures -->\n{report}\n<!-- end of figures -->\nafter\n"


def test_verdicts_may_be_plain_lines(made: Path, tmp_path: Path) -> None:
    entries = [sheet._entry(entry) for entry in keys(made)]
    plain = tmp_path / "plain.txt"
    plain.write_text("".join(f"{entry.number} Unsure\n" for entry in entries))
    assert set(sheet.verdicts(plain, entries).values()) == {"unsure"}


@pytest.mark.parametrize("lines, said", [("1 right\n", "7 rows have no verdict"), ("1 maybe\n", "row 1 says 'maybe'")])
def test_half_filled_sheets_are_refused(made: Path, tmp_path: Path, lines: str, said: str) -> None:
    bad = tmp_path / "bad.md"
    bad.write_text(lines)
    with pytest.raises(BadInput, match=said):
        sheet.verdicts(bad, [sheet._entry(entry) for entry in keys(made)])


def test_a_version_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ended with 3: no model"):
        sheet.run(
            f"{sys.executable} -c \"import sys; sys.stderr.write('no model'); sys.exit(3)\"", tmp_path / "t.jsonl"
        )


# ---- the choice of passages


def source(language: str, names: bool = True) -> Any:
    return load("collect").Source("s", "kind", language, 1, names, "free", lambda _: iter(()))


SENTENCE = "The old bridge near Vienna was built by Otto Wagner for the city of Linz in the summer of that year. "


def test_passages_are_whole_sentences_of_the_right_length() -> None:
    text = collect.Text("article", (SENTENCE * 20).strip())
    passage = collect.cut(text, source("en"), random.Random(1), "")
    assert 300 <= len(passage) <= 900 and passage.startswith("The old bridge") and passage.endswith("that year.")


@pytest.mark.parametrize(
    "text", [SENTENCE, SENTENCE.lower() * 6, SENTENCE * 5 + "See https://example.org.", SENTENCE * 6 + "{x}."]
)
def test_short_nameless_and_marked_up_texts_are_left_out(text: str) -> None:
    passage = collect.cut(collect.Text("article", text.strip()), source("en"), random.Random(1), "")
    assert "http" not in passage and "{" not in passage
    assert not passage or (len(passage) >= 300 and "Vienna" in passage)


def test_texts_of_training_data_are_left_out() -> None:
    text = collect.Text("article", (SENTENCE * 6).strip())
    assert not collect.cut(text, source("en"), random.Random(1), collect.letters(SENTENCE * 9))
    assert collect.is_new(SENTENCE, collect.letters("Something else entirely, and nothing about bridges."))


def test_the_collection_keeps_its_promises() -> None:
    docs = [json.loads(line) for line in (JUDGED / "passages.jsonl").read_text("utf-8").splitlines()]
    assert Counter(doc["language"] for doc in docs) == {"en": 20, "zh": 20}
    assert len({doc["id"] for doc in docs}) == len({doc["text"] for doc in docs}) == 40
    for language, (shortest, longest) in collect.LENGTHS.items():
        mine = [doc for doc in docs if doc["language"] == language]
        kinds = Counter(doc["meta"]["kind"] for doc in mine)
        assert all(shortest <= len(doc["text"]) <= longest for doc in mine)
        assert len(kinds) >= 5 and max(kinds.values()) <= 6
        assert sum(collect.name_density(d["text"], language) >= collect.NAME_DENSITY[language] for d in mine) >= 10
        assert all(doc["meta"]["source"] and doc["meta"]["licence"] for doc in mine)

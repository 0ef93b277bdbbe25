"""The pages under docs/ say what the code says: tables, names, options.

`python -m tests.test_docs` prints the table of docs/formats.md anew.
"""

import ast
import builtins
import json
import re
import tomllib
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from factpin import errors, formats
from factpin.app.cli import cli
from factpin.app.commands import COMMANDS
from factpin.corpora.doctor import ERRORS, FIXES, doctor
from factpin.corpora.evaluate import evaluate
from factpin.corpora.vocabulary import VocabularyCheck
from factpin.errors import FactpinError
from factpin.formats import FORMATS
from factpin.formats._writing import FEATURES
from factpin.heads import CONFIGS, HEADS
from factpin.language.sentences import split_sentences
from factpin.objectives import OBJECTIVES
from factpin.tasks import TASKS, Task
from factpin.tasks.coreference.task import CoreferenceOptions
from factpin.tasks.document_relations.task import RelationOptions
from factpin.tasks.events.task import EventOptions
from factpin.tasks.spans.task import SpanOptions
from factpin.tasks.triples.task import TripleOptions
from factpin.tokens.small import build_tokenizer
from factpin.training.config import TrainConfig

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "tests" / "formats" / "samples"
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
WRITTEN = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
SETTINGS = {
    CoreferenceOptions: "What is trained",
    RelationOptions: "What is trained",
    EventOptions: "What is trained",
    SpanOptions: "What is trained",
    TrainConfig: "How it is trained",
    TripleOptions: "What is trained",
}
FROM_THE_CORPUS = {"labels", "objects", "relations", "roles", "subjects", "triggers"}  # of a head's config: no settings


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The text under a heading, up to the next one of its rank or a higher one."""
    marks = heading.split(" ")[0]
    match = re.search(rf"^{re.escape(heading)}$\n(.*?)(?=^#{{1,{len(marks)}}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"there is no heading {heading!r}"
    return match[1]


def rows(text: str) -> list[list[str]]:
    """The cells of every table row, without the heads and rules; a \\| inside a cell is a mark of it."""
    found = []
    lines = text.splitlines()
    for i, line in enumerate(lines):
        is_head = i + 1 < len(lines) and lines[i + 1].startswith("|--")
        if line.startswith("|") and not line.startswith("|--") and not is_head:
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            found.append([cell.strip().replace("\\|", "|") for cell in cells])
    return found


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def holds_table() -> str:
    lines = ["| format | written as | holds | cannot hold |", "|---|---|---|---|"]
    for name, format in FORMATS.items():
        held = [feature for feature in FEATURES if feature in format.HOLDS]
        not_held = [feature for feature in FEATURES if feature not in format.HOLDS]
        ending = f"`{format.ENDING}`" if format.ENDING else "folder or file" if name == "text" else "folder"
        lines.append(f"| `{name}` | {ending} | {', '.join(held) or 'the text'} | {', '.join(not_held) or 'nothing'} |")
    return "\n".join(lines)


def test_the_table_of_formats_is_the_code() -> None:
    text = page("formats")
    start, end = text.index("<!-- holds"), text.index("<!-- end of holds -->")
    written = text[start:end].split("\n", 1)[1].strip()
    assert written == holds_table(), "print it anew: python -m tests.test_docs"


def test_every_format_has_its_shape_and_every_feature_its_words() -> None:
    assert [names(row[0])[0] for row in rows(section(page("formats"), "## The table"))] == list(FORMATS)
    words = section(page("formats"), "## What each format can hold").split("The words:")[1]
    assert [name for row in rows(words) for name in names(row[0])] == list(FEATURES)


def test_the_number_of_formats_is_right() -> None:
    assert f"any of {len(FORMATS)} formats" in page("index")
    assert f"in {len(FORMATS)} formats" in page("architecture")
    assert f"{len(FORMATS)} formats can be read and written" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(FORMATS)} 种格式" in (ROOT / "README.zh.md").read_text(encoding="utf-8")


def test_the_number_of_objectives_is_right() -> None:
    assert f"{len(OBJECTIVES)} objectives" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(OBJECTIVES)} 种预训练目标" in (ROOT / "README.zh.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("model", ["en-facts", "zh-facts"])
def test_the_changelog_gives_as_many_relations_as_the_list_of_models(model: str) -> None:
    """Of the newest version that says so."""
    listed = CliRunner().invoke(cli, ["models", "--json"])
    labels = {row["name"]: row["labels"] for row in json.loads(listed.stdout)["models"]}
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    said = re.search(rf"^- `{model}`[^\n]*?: (\d+) relations", text, re.MULTILINE)
    assert said is not None and int(said[1]) == len(labels[model])


def test_the_figures_and_failures_of_the_sentence_splitter_are_those_of_the_gold_set() -> None:
    gold = (ROOT / "tests" / "language" / "hard_sentences.jsonl").read_text(encoding="utf-8")
    cases = [json.loads(line) for line in gold.split("\n") if line]
    right = [[c["text"][s:e] for s, e in split_sentences(c["text"])] == c["sentences"] for c in cases]
    parts = {"all": right}
    parts["marked held back"] = [ok for c, ok in zip(cases, right, strict=True) if c.get("held")]
    for name, code in (("English", "en"), ("Chinese", "zh"), ("mixed", "mixed")):
        parts[name] = [ok for c, ok in zip(cases, right, strict=True) if c["language"] == code]
    told = {row[0]: (row[1], row[2].split(" / ")[0]) for row in rows(section(page("documents"), "### Measured"))}
    assert told == {name: (str(len(part)), f"{100 * sum(part) / len(part):.1f}") for name, part in parts.items()}
    failures = {names(row[0])[0] for row in rows(section(page("documents"), "### Known failures"))}
    assert failures == {c["text"] for c, ok in zip(cases, right, strict=True) if not ok}


def shown(field: "Field[Any]") -> str:
    return "required" if field.default is MISSING else f"`{field.default!r}`"


def settings(config: type[Any]) -> list[list[str]]:
    return rows(section(page("training"), f"### {SETTINGS[config]}: `{config.__name__}`"))


@pytest.mark.parametrize("config", SETTINGS)
def test_the_tables_of_settings_are_the_code(config: type[Any]) -> None:
    table = settings(config)
    assert [row[0] for row in table] == [f"`{field.name}`" for field in fields(config)]
    assert [row[1] for row in table] == [shown(field) for field in fields(config)]


@pytest.mark.parametrize("config", SETTINGS)
def test_every_setting_names_the_option_that_sets_it(config: type[Any]) -> None:
    by_option = {option: parameter.name for parameter in COMMANDS["train"].params for option in parameter.opts}
    named = {names(row[0])[0]: row[2] for row in settings(config)}
    for field in fields(config):
        wanted = {option for option, name in by_option.items() if name == field.name}
        cell = named[field.name]
        assert set(names(cell)) <= wanted and bool(wanted) == (cell != "recipe only"), field.name


def test_every_task_that_can_be_trained_is_told_with_its_settings_and_metrics() -> None:
    aliases = {task.alias: task.name for task in TASKS.values()}
    told = {names(row[0])[0]: names(row[1])[0] for row in rows(page("training").split("## A whole run")[0])}
    assert told == {name: alias for alias, name in aliases.items()} and told.keys() == TASKS.keys()
    assert {task.options for task in TASKS.values()} == SETTINGS.keys() - {TrainConfig}
    metric = next(row[3] for row in settings(TrainConfig) if row[0] == "`metric`")
    assert set(names(metric)) == {name for task in TASKS.values() for name in task.metrics}


def test_a_new_task_is_told_what_it_brings() -> None:
    table = rows(section(page("architecture"), "### Another task"))
    assert [names(row[0])[0].split("(")[0] for row in table] == [field.name for field in fields(Task)]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_every_option_that_a_page_names_exists(path: Path) -> None:
    groups = [command for command in COMMANDS.values() if isinstance(command, click.Group)]
    commands = [cli, *COMMANDS.values(), *(one for group in groups for one in group.commands.values())]
    known = {option for command in commands for parameter in command.params
             for option in (*parameter.opts, *parameter.secondary_opts)}  # fmt: skip
    foreign = {"--help", "--most", "--nproc-per-node", "--no-save", "--seconds"}  # click's, torchrun's, npm's, tools'
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)) <= known | foreign


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_python_block_stands_alone(path: Path) -> None:
    """Blocks of a page may be run by different processes."""
    for block in re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        nodes = list(ast.walk(ast.parse(block)))
        used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        made = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        made |= {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
        made |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ExceptHandler) and node.name}
        made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        assert used - made - set(dir(builtins)) == set(), block


def test_the_map_leads_to_every_page_room_and_command() -> None:
    text = page("index")
    assert {f"{p.stem}.md" for p in PAGES if p.stem != "index"} <= set(re.findall(r"\]\((\w+\.md)\)", text))
    source = ROOT / "src" / "factpin"
    rooms = {p.parent.name for p in source.glob("*/__init__.py")} | {p.stem for p in source.glob("[a-z]*.py")}
    assert {names(row[0])[0] for row in rows(section(page("architecture"), "## The rooms"))} == rooms
    commands = rows(section(text, "## The commands").split("| exit code")[0])
    assert {names(row[0])[0] for row in commands} == {f"factpin {name}" for name in COMMANDS}


def test_the_map_draws_the_layers_that_are_checked() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    source = ROOT / "src" / "factpin"
    there = {p.stem for p in source.glob("*") if p.is_dir() or p.suffix == ".py"}
    checked = [[name for name in re.findall(r"\w+", layer) if name in there] for layer in told[0]["layers"]]
    drawing = re.search(r"```\n(.*?)```", section(page("architecture"), "## Who may import whom"), re.DOTALL)
    assert drawing
    drawn = [re.findall(r"\w+", line) for line in drawing[1].splitlines()]
    assert drawn == [layer for layer in checked if layer]


def test_every_head_has_a_card_of_the_same_shape() -> None:
    cards = {name: [row[0] for row in rows(section(page("heads"), f"## `{name}`"))] for name in HEADS}
    assert len({tuple(card) for card in cards.values()}) == 1
    assert {"formula", "input", "output", "paper", "what differs", "when to prefer", "measured"} <= set(cards["crf"])
    for name in HEADS:
        told = next(row[1] for row in rows(section(page("heads"), f"## `{name}`")) if row[0] == "settings")
        assert names(told) == [field.name for field in fields(CONFIGS[name]) if field.name not in FROM_THE_CORPUS]


def test_doctor_lists_every_kind_with_its_severity_and_every_key() -> None:
    kinds = {names(row[0])[0]: row[1] for row in rows(section(page("doctor"), "## What it finds"))}
    assert kinds == {kind: "error" if kind in ERRORS else "warning" for kind in FIXES}
    keys = {name for row in rows(section(page("doctor"), "## The JSON")) for name in names(row[0])}
    assert keys == doctor([SAMPLES / "cluener.json"]).keys()
    assert all(f"`{key}`" in page("doctor") for key in VocabularyCheck(build_tokenizer(["a"])).summary())


@pytest.mark.parametrize("task", TASKS)
def test_every_convention_is_explained(task: str) -> None:
    table = rows(section(page("scoring"), f"## {task.replace('_', ' ').capitalize()}"))
    assert {name for row in table for name in names(row[0])} == TASKS[task].conventions.keys()


def test_scoring_lists_every_key_of_the_report() -> None:
    told = {name for row in rows(section(page("scoring"), "## The JSON")) for name in names(row[0])}
    found: set[str] = set()
    for name in ("jsonl.jsonl", "docred.json", "atlop.data"):
        documents = list(formats.read(SAMPLES / name))
        train = documents if name == "docred.json" else None
        found |= evaluate(documents, documents, train=train, against=documents, samples=5).keys()
    assert told == found


def test_every_error_stands_in_the_table_and_every_message_in_the_code() -> None:
    text = page("troubleshooting")
    tree = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, FactpinError)}
    assert {names(row[0])[0] for row in rows(text) if len(row) == 2} == tree - {"FactpinError"}
    sources = "".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "src").rglob("*.py")))
    messages = re.sub(r'"\s*\n\s*f?"', "", sources)  # a message that goes on in the next line
    symptoms = [name for row in rows(text) if len(row) == 3 for name in names(row[0])]
    assert len(symptoms) > 30
    assert [symptom for symptom in symptoms if symptom not in messages] == []


if __name__ == "__main__":
    print(holds_table())

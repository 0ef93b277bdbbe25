"""What `import factpin` promises: these names, quickly, and that each does what its command does."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import factpin
from factpin import documents
from factpin.app.cli import main
from factpin.errors import BadInput, FactpinError, FormatLoss
from tests.conftest import corpus

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "tests" / "formats" / "samples" / "jsonl.jsonl"


def test_these_names_are_public() -> None:
    assert factpin.__all__ == [
        "Answer",
        "Citation",
        "Document",
        "Entity",
        "Event",
        "Fact",
        "Mention",
        "Schema",
        "__version__",
        "evaluate",
        "extract",
        "load",
        "open_store",
        "read",
        "train",
        "write",
    ]
    assert set(factpin.__all__) <= set(dir(factpin))
    assert all(getattr(factpin, name) is not None for name in factpin.__all__)
    assert all(getattr(factpin, name) is getattr(documents, name) for name in factpin.NOUNS)
    with pytest.raises(AttributeError, match="no attribute 'extrakt'"):
        factpin.extrakt  # type: ignore[attr-defined]  # noqa: B018


def test_every_public_function_says_what_it_does() -> None:
    for name in factpin.__all__:
        assert name == "__version__" or getattr(factpin, name).__doc__, name


def test_the_version_is_that_of_the_package() -> None:
    assert factpin.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_types_ship() -> None:
    assert (Path(factpin.__file__).parent / "py.typed").is_file()


HEAVY = "{'torch', 'transformers', 'numpy', 'click', 'rich', 'tokenizers', 'safetensors'}"


@pytest.mark.parametrize(
    "program",
    [
        "import factpin; dir(factpin)",
        "from factpin import *; Document('d', 'a').to_html()",
        f"import factpin; next(factpin.read({str(SAMPLE)!r})).mentions",
    ],
)
def test_importing_it_and_reading_documents_is_light(program: str) -> None:
    light = HEAVY.replace("'numpy', ", "") if "read" in program else HEAVY
    check = f"{program}\nimport sys\nassert not {light} & sys.modules.keys(), {light} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", check], check=True, timeout=120)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    found = list(factpin.read(SAMPLE))
    assert found and all(isinstance(doc, factpin.Document) for doc in found)
    factpin.write(found, tmp_path / "again.jsonl")
    assert list(factpin.read(tmp_path / "again.jsonl")) == found
    assert list(factpin.read(str(tmp_path / "again.jsonl"), format="jsonl")) == found
    with pytest.raises(FormatLoss):
        factpin.write(found, tmp_path / "tags.conll")


def test_a_store_is_filled_and_asked(tmp_path: Path) -> None:
    text = "Ada Lovelace was born in London."
    mentions = (factpin.Mention("m0", 0, 12, "Ada Lovelace", "PER"), factpin.Mention("m1", 25, 31, "London", "LOC"))
    entities = (factpin.Entity("e0", ("m0",)), factpin.Entity("e1", ("m1",)))
    fact = factpin.Fact("e0", "place of birth", "e1", score=0.9, evidence=(documents.Evidence(0),))
    doc = factpin.Document("ada", text, sentences=(documents.Span(0, 32),), mentions=mentions, entities=entities,
                           facts=(fact,))  # fmt: skip
    with pytest.raises(FactpinError, match=r"kb\.db"):
        factpin.open_store(tmp_path / "kb.db")
    with factpin.open_store(tmp_path / "kb.db", create=True, reader="none") as kb:
        assert kb.add(doc, published="1815") == "added" and kb.add(doc, published="1815") == "unchanged"
        answer = kb.ask("Where was Ada Lovelace born?")
        assert isinstance(answer, factpin.Answer) and answer.text == "London" and answer.score == pytest.approx(0.9)
        (citation,) = answer.citations
        assert isinstance(citation, factpin.Citation) and text[citation.start : citation.end] == citation.quote
        assert kb.ask("Where was Ada Lovelace born?", as_of="1800").abstained
        (judged,) = kb.facts(head="Ada Lovelace")
        assert (judged.fact.tail.name, judged.status) == ("London", "active") and kb.facts(relation="spouse") == []
    with factpin.open_store(str(tmp_path / "kb.db"), reader="none") as kb:
        assert list(kb.documents()) == [doc]
        (tmp_path / "bob.txt").write_text("Bob lives in Rome.")
        assert kb.index(tmp_path / "bob.txt", facts=False).added == 1
        kb.remove("ada")
        assert kb.ask("Where was Ada Lovelace born?").abstained


def test_evaluate_takes_documents_and_files() -> None:
    gold = corpus(8, 3)
    report = factpin.evaluate(gold, gold)
    assert report["task"] == "spans" and report["strict"]["f1"] == 1.0
    assert factpin.evaluate(SAMPLE, str(SAMPLE), task="re")["strict"]["f1"] == 1.0
    with pytest.raises(FactpinError, match="spans"):
        factpin.evaluate(gold, gold, task="span")


def test_a_model_is_trained_and_loaded(encoder_folder: Path, tmp_path: Path) -> None:
    factpin.write(corpus(60, 1), tmp_path / "train.jsonl")
    report = factpin.train("ner", train=tmp_path / "train.jsonl", dev=corpus(20, 2), encoder=encoder_folder,
                           output=tmp_path / "first", quiet=True, epochs=2, batch_size=8)  # fmt: skip
    assert report["train"] == 60 and report["dev"] == 20 and 0 <= report["scores"]["f1"] <= 1
    again = factpin.train("spans", train=iter(corpus(60, 1)), initial=tmp_path / "first", output=tmp_path / "second",
                          quiet=True, max_steps=1)  # fmt: skip
    assert again["steps"] == 1 and again["scores"] == {}
    (doc,) = factpin.load(tmp_path / "second").extract(["王小明出生于北京。"])
    assert isinstance(doc, factpin.Document)


def test_the_command_and_python_train_the_same_model(encoder_folder: Path, tmp_path: Path) -> None:
    factpin.write(corpus(24, 1), tmp_path / "train.jsonl")
    factpin.train("spans", train=tmp_path / "train.jsonl", encoder=encoder_folder, output=tmp_path / "python",
                  quiet=True, max_steps=3, head="gp", seed=5)  # fmt: skip
    words = ["train", "spans", "--train", tmp_path / "train.jsonl", "--encoder", encoder_folder, "--max-steps", 3,
             "--head", "gp", "--seed", 5, "--quiet", "--output", tmp_path / "command"]  # fmt: skip
    with pytest.raises(SystemExit) as stop:
        main(list(map(str, words)))
    assert not stop.value.code
    for name in ("model.safetensors", "recipe.toml"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"task": "span"}, "Did you mean 'spans'"),
        ({"epoch": 3}, "no setting 'epoch' for spans. Did you mean 'epochs'"),
        ({"top_k": 3}, "no setting 'top_k' for spans"),
        ({"epochs": "3"}, "epochs is '3'; expected a whole number"),
        ({"encoder": None}, "encoder=…"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_before_anything_is_read(
    wrong: dict[str, Any], message: str, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"task": "spans", "train": tmp_path / "absent", "encoder": "m3e-zh", "output": tmp_path}
    with pytest.raises(BadInput, match=message):
        factpin.train(**{**asked, **wrong})

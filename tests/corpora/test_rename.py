"""Names of predictions become those of gold, whichever way a table is written; what it does not know is counted."""

import json
import lzma
from dataclasses import replace
from pathlib import Path

import pytest

from factpin import formats
from factpin.corpora.convert import convert
from factpin.corpora.evaluate import evaluate
from factpin.corpora.rename import Renaming, few, read_names, towards
from factpin.documents import Document, Entity, Fact, Mention
from factpin.errors import BadFile, BadInput

SAMPLES = Path(__file__).parents[1] / "formats" / "samples"
TABLE = {"P17": "country", "P19": "place of birth"}


def document(*relations: str, type: str = "LOC") -> Document:
    mentions = (Mention("m0", 0, 1, "a", type), Mention("m1", 1, 2, "b", type), Mention("m2", 2, 3, "a", type))
    entities = (Entity("e0", ("m0", "m2")), Entity("e1", ("m1",)))
    return Document("d", "aba", mentions=mentions, entities=entities,
                    facts=tuple(Fact("e0", relation, "e1") for relation in relations))  # fmt: skip


def told(doc: Document) -> list[str]:
    return [fact.relation for fact in doc.facts]


@pytest.mark.parametrize(("came", "went"), [("P17", "country"), ("country", "P17")])
def test_the_first_known_name_decides_the_direction(came: str, went: str) -> None:
    renaming = Renaming(TABLE)
    assert told(renaming.rename(document("unknown", came, "P19"))) == ["unknown", went, "place of birth"][:2] + [
        "place of birth" if came == "P17" else "P19"
    ]
    assert renaming.notes()[0].startswith("renamed: ") and ": unknown" in renaming.notes()[1]
    assert "types" not in " ".join(renaming.notes())


def test_a_table_that_knows_nothing_says_so() -> None:
    renaming = Renaming({"x": "y"})
    assert renaming.rename(document("P17")) == document("P17")
    assert renaming.notes() == [
        "kept, as the table of names has no entry for 3 types: LOC",
        "kept, as the table of names has no entry for 1 relation: P17",
    ]


def test_the_first_five_names_are_listed() -> None:
    assert (few("abcde"), few("abcdefg"), few("")) == ("a, b, c, d, e", "a, b, c, d, e and 2 more", "")


def test_types_are_renamed_too() -> None:
    assert {m.type for m in Renaming({"LOC": "place"}).rename(document()).mentions} == {"place"}


def test_beside_gold_names_that_are_right_already_stay() -> None:
    gold = [document("P17", "P19")]
    for predicted in ("P17", "country"):
        renaming = towards(TABLE, [document(predicted)], gold)
        assert told(renaming.rename(document(predicted))) == ["P17"]


def test_a_name_that_could_become_two_is_refused() -> None:
    with pytest.raises(BadInput, match="'P17' or 'P18'"):
        Renaming({"P17": "country", "P18": "country"}).rename(document("country"))


@pytest.mark.parametrize("table", [TABLE, {key: {"id": 1, "name": name} for key, name in TABLE.items()} | {"Na": ""}])
def test_tables_are_read_as_docred_has_them(table: dict[str, object], tmp_path: Path) -> None:
    with lzma.open(tmp_path / "rel_info.json.xz", "wt") as stream:
        json.dump(table, stream)
    assert read_names(tmp_path / "rel_info.json.xz") == TABLE


@pytest.mark.parametrize("text", ["[]", "{}", '{"a": 1}', '{"a": {}}', "{"])
def test_what_is_no_table_of_names_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text(text)
    with pytest.raises(BadFile, match="expected one JSON object of names"):
        read_names(tmp_path / "names.json")


def test_predictions_with_other_names_are_noted_and_right_once_renamed() -> None:
    gold, predicted = [document("P17", "P19")], [document("country", "place of birth")]
    report = evaluate(predicted, gold, samples=10)
    (note,) = [note for note in report["notes"] if "--rename" in note]
    assert report["strict"]["f1"] == 0 and note.startswith("none of the 2 predicted relations occurs in gold")
    assert "country" in note and "P17" in note
    report = evaluate(predicted, gold, rename=TABLE, against=[document("country")], samples=10)
    assert report["strict"]["f1"] == 1 and report["against"]["recall"] == 0.5
    assert "renamed: 2 relations" in report["notes"] and "--rename" not in str(report["notes"])


def test_types_of_spans_with_other_names_are_noted() -> None:
    gold = [replace(document(type="place"), facts=())]
    report = evaluate([replace(document(), facts=())], gold, task="spans", samples=10)
    assert [note for note in report["notes"] if "predicted types" in note]


def test_a_result_gets_the_names_of_docred(tmp_path: Path) -> None:
    gold = SAMPLES / "docred.json"
    relations = sorted({fact.relation for doc in formats.read(gold) for fact in doc.facts})
    table = {relation: f"name of {relation}" for relation in relations}
    convert(gold, tmp_path / "named.jsonl", rename=table)
    done = convert(tmp_path / "named.jsonl", tmp_path / "r.json", target_format="docred_result", rename=table)
    assert {record["r"] for record in json.loads((tmp_path / "r.json").read_text())} == {*relations}
    assert len(done.renamed) == 1 and done.renamed[0].startswith("renamed: ")

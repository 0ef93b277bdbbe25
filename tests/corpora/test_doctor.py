import json
from pathlib import Path

import pytest

from factpin import formats
from factpin.app.show.doctor_table import render
from factpin.corpora.doctor import doctor
from factpin.corpora.vocabulary import VocabularyCheck
from factpin.documents import Document, Mention
from factpin.tokens.small import build_tokenizer


def write(path: Path, *documents: Document) -> Path:
    formats.write(documents, path)
    return path


def marked(id: str, text: str, *names: tuple[str, str]) -> Document:
    """A document with the first occurrence of each name marked."""
    spans = [(text.index(name), name, type) for name, type in names]
    return Document(id, text, mentions=tuple(Mention(f"m{i}", at, at + len(name), name, type)
                                             for i, (at, name, type) in enumerate(spans)))  # fmt: skip


def test_counts(tmp_path: Path) -> None:
    names = (("北京大学", "org"), ("北京", "place"), ("大学在", "odd"))
    path = write(tmp_path / "a.jsonl", marked("1", "北京大学在北京。真的。", *names))
    report = doctor([path])
    assert (report["documents"], report["sentences"], report["characters"], report["mentions"]) == (1, 2, 11, 3)
    assert report["labels"] == {"org": 1, "place": 1, "odd": 1}
    assert (report["nested"], report["overlapping"]) == (1, 1)
    assert report["lengths"]["characters"] == {"p50": 11, "p90": 11, "p99": 11, "max": 11}
    assert report["ok"]


def test_every_token_is_counted_not_only_those_that_the_text_does_not_show(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Mr\tO\n.\tO\nAsh\tB-PER\n\nwell-known\tO\nin\tO\nRome\tB-LOC\n", encoding="utf-8")
    assert doctor([path])["tokens"] == 6
    assert doctor([write(tmp_path / "b.jsonl", Document("1", "他 is 3.5 m."))])["tokens"] == 5


def test_a_second_mention_without_a_label_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", marked("1", "李雷和李雷的狗", ("李雷", "p")),
                 marked("2", "Ron saw Aaron. Ron left.", ("Ron", "p")))  # fmt: skip
    report = doctor([path])
    assert report["unlabelled_repeats"] == 2, "Aaron is another word"


def test_duplicates_and_leaks(tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", Document("1", "同一句"), Document("2", "同一句"), Document("3", "ＡＢ c"))
    b = write(tmp_path / "b.jsonl", Document("1", "AB  c"), Document("2", "别的"))
    report = doctor([a, b])
    assert (report["duplicates"], report["leaked"], report["ok"]) == (1, 1, False)
    assert doctor([a])["leaked"] == 0


def test_inclusive_ends_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record = {"id": "1", "text": "在北京", "mentions": [{"start": 1, "end": 2, "text": "北京"}]}
    path.write_text(json.dumps(record) + "\n" + json.dumps({**record, "id": "2"}) + "\n", encoding="utf-8")
    report = doctor([path])
    assert report["ends"] == "inclusive" and not report["ok"]
    assert report["kinds"]["offset_inclusive"] == 2 and report["rejected"] == 2
    assert report["problems"][0]["line"] == 1 and "add 1" in report["problems"][0]["fix"]


def test_bad_records_are_findings_not_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "text": "x"}\nbroken\n{"id": "2", "text": "y"}\n')
    report = doctor([path], source_format="jsonl")
    assert (report["documents"], report["rejected"], report["ok"]) == (2, 1, False)


def test_what_a_tokenizer_cannot_do_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", marked("1", "unbelievable things", ("believ", "x"), ("things", "y")),
                 marked("2", "北京 ☃ glucocorticosteroid"))  # fmt: skip
    tokenizer = build_tokenizer(["unbelievable things 北京"] * 5, vocab_size=80)
    report = doctor([path], vocabulary=VocabularyCheck(tokenizer))
    assert report["unalignable"] == 1
    assert report["lengths"]["tokens"]["max"] >= 2
    assert "☃" in report["unknown"]
    assert report["words"] == 3 and report["pieces_per_word"] >= 1


def test_noise_of_annotation_tools_is_found(tmp_path: Path) -> None:
    blank = Document("1", "在杭州 。", mentions=(Mention("m0", 1, 4, "杭州 ", "p"), Mention("m1", 1, 3, "杭州", "p"),
                                              Mention("m2", 1, 3, "杭州", "p")))  # fmt: skip
    report = doctor([write(tmp_path / "a.jsonl", blank, Document("2", " \n"))])
    found = {kind: report["kinds"][kind] for kind in ("blank_edge", "repeated_mention", "empty_document")}
    assert found == {"blank_edge": 1, "repeated_mention": 1, "empty_document": 1}


def test_rare_labels_are_warned_of(tmp_path: Path) -> None:
    docs = [marked(str(i), f"北京{i}号", ("北京", "place")) for i in range(30)]
    report = doctor([write(tmp_path / "a.jsonl", *docs, marked("x", "李雷", ("李雷", "person")))])
    assert report["kinds"] == {"rare_label": 1} and report["imbalance"] == 30.0 and report["ok"]


def test_the_report_can_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    path = write(tmp_path / "a.jsonl", marked("1", "李雷和李雷", ("李雷", "person")))
    Console(width=150).print(render(doctor([path], vocabulary=VocabularyCheck(build_tokenizer(["李雷和"])))))
    shown = capsys.readouterr().out
    assert "person" in shown and "unlabelled_repeat" in shown and "nothing needs fixing" in shown


def test_numbers_glued_to_characters_are_no_text(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl", Document("1", "科0 技1 公2 司3 在4"), Document("2", "第1名和第2名，共3人，1998年5月3日。")
    )
    report = doctor([path])
    assert report["kinds"]["numbered_characters"] == 1 and not report["ok"]
    assert "科0 技1 公2" in report["problems"][0]["message"]


def test_codes_of_languages_before_names_are_noticed(tmp_path: Path) -> None:
    marked_name = marked("1", "en:India borders Nepal.", ("en:India", "place"))
    plain = "See http://en:x, note: this, zh: 你好, at 12:30."
    path = write(tmp_path / "a.jsonl", marked_name, Document("2", plain), Document("3", "en:A zh:B de:C"))
    report = doctor([path])
    assert report["kinds"]["language_prefix"] == 2 and report["ok"]
    triples = tmp_path / "t.json"
    triples.write_text(
        json.dumps([{"text": "India borders Nepal.", "triple_list": [["en:India", "borders", "en:Nepal"]]}])
    )
    assert doctor([triples])["kinds"]["language_prefix"] == 1

"""A trained reader: exact characters, long passages, yes and no, abstention, and independence of batches."""

import random
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from factpin.answers.reader import Reader, ReaderSettings, WholeText, whole
from factpin.app.cli import main
from factpin.documents import Document, Span
from factpin.errors import BadInput, BadModel
from factpin.formats.questions import write
from factpin.models.graphs.write import write_onnx
from factpin.models.reader_folder import load_reader, save_reader
from factpin.models.readers import open_reader
from factpin.models.settings import read_settings
from factpin.training.reader_fit import ask_strangers, best_readings, fitted, given_f1, raw_outcomes
from factpin.training.reader_int8 import ReaderFit, halves, write_reader_int8
from factpin.training.reader_options import ReaderOptions
from tests.answers.small_world import SNOW, WHERE, WHO, passage, questions


@pytest.fixture
def reader(reader_folder: Path) -> Reader:
    return load_reader(reader_folder)


def test_onnxruntime_reads_the_same(reader_folder: Path, tmp_path: Path) -> None:
    copy = write_onnx(reader_folder, tmp_path / "copy").folder
    one, two = (open_reader(copy, runtime=runtime) for runtime in ("torch", "onnx"))
    assert open_reader(copy).model.__class__ is two.model.__class__ is not one.model.__class__
    asked = [(question.text, whole(question.context)) for question in questions(20, 6)]
    for a, b in zip(one.read_all(asked, limit=3), two.read_all(asked, limit=3), strict=True):
        assert [(r.document, r.span, r.text, r.kind) for r in a] == [(r.document, r.span, r.text, r.kind) for r in b]
        assert [r.probability for r in a] == pytest.approx([r.probability for r in b], abs=1e-4)


def test_int8_has_a_scale_and_a_least_score_of_its_own(
    reader_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = write_onnx(reader_folder, tmp_path / "copy").folder
    with pytest.raises(BadModel, match="no graph for int8"):
        open_reader(copy, precision="int8")
    asked = questions(40, 6)
    write(asked, tmp_path / "dev.jsonl")
    command = ["onnx", str(copy), "--precision", "int8"]
    with pytest.raises(SystemExit, match="0"):
        main(command)
    assert "int8 graph" in capsys.readouterr().out
    assert open_reader(copy, precision="int8").settings == open_reader(copy).settings
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--tune", str(tmp_path / "dev.jsonl"), "--json"])
    report = orjson.loads(capsys.readouterr().out)
    exact, rough = open_reader(copy), open_reader(copy, precision="int8")
    assert rough.model.session.graph.precision == "int8"
    assert rough.settings.scale != exact.settings.scale and rough.settings.choices == exact.settings.choices
    assert report["documents"] == 40 and abs(report["before"] - report["same"]) < 0.1
    with pytest.raises(BadInput, match="some of these have none"):
        write_reader_int8(copy, [replace(asked[0], context=())])


def test_a_file_of_questions_of_an_unknown_form_can_be_named(
    reader_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = write_onnx(reader_folder, tmp_path / "copy").folder
    write(questions(40, 6), tmp_path / "dev.jsonl")
    command = ["onnx", str(copy), "--precision", "int8"]
    (tmp_path / "odd.jsonl").write_text('{"odd": 1}\n')
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--tune", str(tmp_path / "odd.jsonl")])
    assert "Name one with --from" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--tune", str(tmp_path / "dev.jsonl"), "--from", "questions"])
    assert "each half with settings that were fitted on the other" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--from", "questions"])
    assert "--check or --tune" in capsys.readouterr().err


def test_int8_is_fitted_as_training_fitted_float32(reader_folder: Path, tmp_path: Path) -> None:
    dev = questions(60, 6)
    settings = read_settings(reader_folder)
    assert settings.task_config["strangers"] is False and settings.task_config["precision"] == ReaderOptions.precision
    for config in ({"strangers": True, "precision": 0.97}, {}):  # folders of before do not say it
        copy = tmp_path / f"copy{len(config)}"
        bare = {"choices": settings.task_config["choices"]}
        save_reader(copy, replace(settings, task_config={**bare, **config}), load_reader(reader_folder))
        write_onnx(copy)
        write_reader_int8(copy, dev)
        rough = open_reader(copy, precision="int8")
        fit_on = [*dev, *(ask_strangers(dev) if config else ())]
        expected = fitted(
            rough.settings, raw_outcomes(fit_on, best_readings(rough, fit_on)), config.get("precision", 0.8)
        )
        assert (rough.settings.scale, rough.settings.min_score) == (expected.scale, expected.min_score)


def test_what_int8_loses_is_measured_with_what_was_fitted_on_other_passages(
    reader_folder: Path, tmp_path: Path
) -> None:
    copy = write_onnx(reader_folder, tmp_path / "copy").folder
    dev = questions(60, 6)
    one, two = halves(dev)
    assert sorted(q.id for q in (*one, *two)) == sorted(q.id for q in dev)
    assert not {q.context[0].text for q in one} & {q.context[0].text for q in two}
    report, exact, rough = write_reader_int8(copy, dev), open_reader(copy), open_reader(copy, precision="int8")
    fit, means = ReaderFit.of(copy), []
    for used, left in ((exact, exact), (rough, exact), (rough, rough)):
        parts = [len(b) * given_f1(used, b, fit(left, a)) for a, b in ((one, two), (two, one))]
        means.append(sum(parts) / len(dev))
    assert [report.before, report.same, report.after] == pytest.approx(means)
    with pytest.raises(BadInput, match="two passages or more"):
        write_reader_int8(copy, [replace(dev[0], id="a"), replace(dev[0], id="b")])


def test_answers_are_characters_of_the_document(reader: Reader) -> None:
    text = "昨天王小明到了旧金山，天晴了。"
    inside = WholeText("d", text, start=100)  # as part of a longer document
    (where,) = reader.read(WHERE, [inside])
    assert (where.text, where.document, where.passage, where.kind) == ("旧金山", "d", 0, "span")
    assert where.span == Span(107, 110) and text[where.span.start - 100 : where.span.end - 100] == where.text
    (who,) = reader.read(WHO, [inside])
    assert who.text == "王小明" and who.span == Span(102, 105)


def test_yes_and_no_are_answered_with_the_passage_as_their_place(reader: Reader) -> None:
    assert reader.settings.choices == ("是", "否")
    for text, kind, word in (("昨天李雷到了北京，下雪了。", "yes", "是"), ("昨天李雷到了北京，天晴了。", "no", "否")):
        (found,) = reader.read(SNOW, [WholeText("d", text, start=5)])
        assert (found.kind, found.text, found.span) == (kind, word, Span(5, 5 + len(text)))


def test_every_reading_of_every_question_is_exact(reader: Reader) -> None:
    for question in questions(40, 5):
        passages = whole(question.context)
        for reading in reader.read(question.text, passages, limit=5):
            there = question.context[reading.passage].text[slice(*reading.span)]
            assert there == reading.text if reading.kind == "span" else there == passages[0].text
            assert 0 <= reading.probability <= 1


def test_the_surest_passage_comes_first(reader: Reader) -> None:
    chance = random.Random(3)
    silent = [passage(chance, f"s{i}", place=False)[0] for i in range(3)]
    told = Document("told", "昨天韩梅到了上海市，天晴了。")
    readings = reader.read(WHERE, whole([*silent, told]))
    assert len(readings) == 4
    assert (readings[0].document, readings[0].passage, readings[0].text) == ("told", 3, "上海市")
    assert [r.sure for r in readings] == sorted((r.sure for r in readings), reverse=True)
    assert readings[0].probability > 0.9 > 0.3 > readings[1].probability


def test_nothing_is_answered_where_the_passage_does_not_say(reader: Reader) -> None:
    silent = WholeText("d", "昨天王小明没有说话，下雪了。")
    assert reader.read(WHERE, [silent])[0].score <= 0
    assert reader.answer(WHERE, [silent]) is None
    assert reader.answer(WHO, [silent]).text == "王小明"
    assert reader.answer(WHERE, []) is None
    sure = Reader(reader.model, reader.tokenizer, replace(reader.settings, min_score=1.0))
    bold = Reader(reader.model, reader.tokenizer, replace(reader.settings, min_score=0.0))
    assert bold.answer(WHERE, [silent]) is not None
    assert sure.answer(WHERE, [silent]) is None


def test_a_long_passage_is_read_in_windows(reader: Reader) -> None:
    quiet = "昨天李雷没有说话，天晴了。" * 12
    text = f"{quiet}昨天赵云飞到了广州，天晴了。{quiet}"
    short = Reader(reader.model, reader.tokenizer, replace(reader.settings, max_length=32, overlap=0))
    read = short.pairs.beside(WHERE, short.pairs.cut(text))
    assert len(read.windows) == 25 and max(len(pair.ids) for pair in read.pairs) <= 32
    best = short.read(WHERE, [WholeText("d", text, start=7)])[0]
    assert best.text == "广州" and best.span.start == 7 + text.index("广州")


def test_readings_do_not_depend_on_what_else_is_read(reader: Reader) -> None:
    asked = [(q.text, whole(q.context)) for q in questions(30, 6)]
    together = reader.read_all(asked)
    for (question, passages), readings in zip(asked, together, strict=True):
        alone = reader.read(question, passages)
        assert [(r.text, r.span, r.kind) for r in alone] == [(r.text, r.span, r.kind) for r in readings]
        assert [r.score for r in alone] == pytest.approx([r.score for r in readings], abs=1e-3)


def test_more_readings_of_a_passage_are_distinct_and_ordered(reader: Reader) -> None:
    found = reader.read(WHO, [WholeText("d", "昨天王小明到了北京，天晴了。")], limit=4)
    assert len({(r.span, r.kind) for r in found}) == len(found) > 1
    assert found[0].text == "王小明"
    assert [r.sure for r in found] == sorted((r.sure for r in found), reverse=True)


def test_what_cannot_be_read_is_refused_or_empty(reader: Reader) -> None:
    assert reader.read(WHO, [WholeText("d", ""), WholeText("e", "  ")]) == []
    with pytest.raises(BadInput, match="The question is empty"):
        reader.read("  ", [WholeText("d", "x")])
    with pytest.raises(BadInput, match="limit is 0"):
        reader.read(WHO, [WholeText("d", "x")], limit=0)
    with pytest.raises(BadInput, match="min_score is 2"):
        ReaderSettings(min_score=2)
    with pytest.raises(BadInput, match="a word for yes and a word for no"):
        ReaderSettings(choices=("yes",))

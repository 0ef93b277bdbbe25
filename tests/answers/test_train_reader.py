"""Training a reader: it learns, what was taught is counted, runs can be had again and gone on with."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import torch

import factpin
from factpin.answers.reader import ReaderSettings, Reading
from factpin.app.cli import main
from factpin.documents import Document, Question, Span
from factpin.errors import BadInput, BadModel, UnknownName
from factpin.formats.questions import write
from factpin.models.reader_folder import READER_HEADS, load_reader, save_reader
from factpin.models.settings import read_settings
from factpin.tasks.spans import Scale
from factpin.tokens import char_span
from factpin.training.config import TrainConfig, from_dict, read_recipe
from factpin.training.part_table import train_part
from factpin.training.reader import ReaderJob, choices_of, familiar, start
from factpin.training.reader_fit import ask_strangers, best_readings, fitted, held_out_error, judge, raw_outcomes
from factpin.training.reader_options import ReaderOptions
from tests.answers.small_world import QUICK, encoder_folder, questions, trained

SHORT = replace(QUICK, epochs=1)


def config(home: Path, **change) -> ReaderOptions:
    return ReaderOptions(str(encoder_folder(home)), max_length=64, overlap=8, **change)


def job(home: Path, asked: list[Question], **change) -> ReaderJob:
    chosen = config(home, **change)
    return ReaderJob(start(chosen, asked, 1)[0], asked, [], chosen, 1)


@pytest.mark.parametrize("head", READER_HEADS)
def test_both_heads_learn_spans_yes_no_and_silence(head: str, home: Path) -> None:
    _, report = trained(home, head)
    scores = report["scores"]
    assert scores["f1"] > 0.95 and scores["em_unanswerable"] > 0.9 and scores["em_yes_no"] > 0.9
    assert scores["precision_kept"] >= 0.8 and scores["ece"] < 0.05 and scores["ece_held_out"] < 0.1
    assert report["noted"] == {"questions": 240}


def test_the_loaded_reader_scores_as_the_trained_one(reader_folder: Path) -> None:
    dev = questions(80, 2)
    metrics = orjson.loads((reader_folder / "metrics.json").read_bytes())
    loaded = load_reader(reader_folder)
    scores = judge(dev, best_readings(loaded, dev))
    assert scores.rows["f1"][:, 0].mean() == pytest.approx(metrics["f1"])
    assert loaded.settings.min_score == metrics["min_score"]


def test_the_folder_says_what_it_is(reader_folder: Path) -> None:
    settings = read_settings(reader_folder)
    assert (settings.task, settings.labels, settings.language) == ("reader", ("answer",), "zh")
    assert settings.task_config["choices"] == ["是", "否"]
    card = (reader_folder / "card.md").read_text(encoding="utf-8")
    assert "| em_unanswerable |" in card and "reader" in card
    recipe = read_recipe(reader_folder / "recipe.toml")
    assert from_dict(ReaderOptions, recipe["reader"], "reader").head == settings.head
    assert from_dict(TrainConfig, recipe["train"], "train") == QUICK


def test_two_runs_are_equal_and_a_stopped_one_goes_on(home: Path, tmp_path: Path) -> None:
    asked, how = questions(24, 1), replace(QUICK, epochs=2)
    for name in ("a", "b"):
        train_part("reader", asked, [], config(home), how, tmp_path / name, quiet=True)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("a", "b")]
    assert weights[0] == weights[1]
    with pytest.raises(BadInput, match="holds a model already"):
        train_part("reader", asked, [], config(home), how, tmp_path / "a", quiet=True)
    (tmp_path / "a" / "factpin.json").unlink()
    train_part("reader", asked, [], config(home), how, tmp_path / "a", quiet=True, resume=True)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == weights[0]


def test_gold_cells_are_the_answers(home: Path) -> None:
    asked = [q for q in questions(60, 1) if q.spans]
    made = job(home, asked, empty_windows=0)
    assert len(made.pairs) == len(asked)
    for question, (pair, cells) in zip(asked, made.pairs, strict=True):
        pieces = made.reader.pairs.cut(question.context[0].text).pieces
        texts = []
        for first, last in cells:
            start, end = char_span(pieces, first - pair.second_at, last - pair.second_at)
            texts.append(question.context[0].text[start:end])
        assert tuple(texts) == question.answers


def test_windows_without_an_answer_are_taught_by_choice(home: Path) -> None:
    text = "昨天李雷没有说话，天晴了。" * 10 + "昨天韩梅到了广州。"
    start_at = text.index("广州")
    long = Question("q", "去了哪里？", answers=("广州",), context=(Document("d", text),),
                    spans=((0, Span(start_at, start_at + 2)),))  # fmt: skip
    everything = [cells for _, cells in job(home, [long], empty_windows=99).pairs]
    assert any(everything) and everything.count(()) > 2
    for empty_windows in (0, 1, 2):
        taught = [cells for _, cells in job(home, [long], empty_windows=empty_windows).pairs]
        assert taught.count(()) == empty_windows
        assert len(taught) - empty_windows == len(everything) - everything.count(())
    silent = Question("q", "去了哪里？", answerable=False, context=(Document("d", "天晴了。"),))
    assert [cells for _, cells in job(home, [silent], empty_windows=0).pairs] == [()]


def test_strangers_are_taught_and_fitted_on(home: Path) -> None:
    asked = [q for q in questions(40, 1) if q.spans]
    made = job(home, asked, strangers=2, empty_windows=0)
    assert len(asked) < len(made.pairs) <= 3 * len(asked)
    elsewhere = ask_strangers(asked)
    assert 0 < len(elsewhere) <= len(asked)
    by_id = {q.id: q for q in asked}
    for question in elsewhere:
        own = by_id[question.id.removesuffix(" elsewhere")]
        assert question.text == own.text and not question.answerable
        assert not any(answer in question.context[0].text for answer in own.answers)


def test_what_could_not_be_taught_is_counted(home: Path) -> None:
    wide = Question("q", "去了哪里？", answers=("昨天李雷没有",), context=(Document("d", "昨天李雷没有说话。"),),
                    spans=((0, Span(0, 6)),))  # fmt: skip
    assert job(home, [wide]).noted == {"questions": 1}
    assert job(home, [wide], max_span=3).noted == {"questions": 1, "not_taught": 1}


def test_pairs_are_not_much_longer_than_in_training() -> None:
    assert familiar(384, [100, 200]) == 250 and familiar(384, [380]) == 384
    assert familiar(384, [10]) == 64 and familiar(48, [10]) == 48 and familiar(384, []) == 384


def test_choices_follow_the_language_of_the_questions() -> None:
    assert choices_of([Question("q", "Why?", "en")]) == ()
    assert choices_of([Question("q", "Is it?", "en", ("yes",), kind="yes_no")]) == ("yes", "no")
    assert choices_of([Question("q", "是吗？", "zh-Hans", ("no",), kind="yes_no")]) == ("是", "否")


def outcomes(*scored: tuple[float, bool, int]) -> list[tuple[float, bool]]:
    return [(score, right) for score, right, count in scored for _ in range(count)]


def test_the_least_score_gives_the_wanted_precision() -> None:
    settings = ReaderSettings(scale=Scale(1.0, 0.0))
    clear = fitted(settings, outcomes((6, True, 90), (6, False, 10), (-2, True, 30), (-2, False, 70)), 0.8)
    assert clear.scale.probability(6) == pytest.approx(0.9, abs=0.02) == clear.min_score
    assert clear.scale.probability(-2) == pytest.approx(0.3, abs=0.02)
    good = fitted(settings, outcomes((6, True, 99), (6, False, 1), (-6, True, 1), (-6, False, 9)), 0.8)
    assert good.min_score == 0.5  # all of them together are right often enough, those at -6 are not
    hopeless = fitted(settings, outcomes((3, True, 5), (3, False, 15), (0, True, 5), (0, False, 75)), 0.8)
    assert hopeless.min_score == hopeless.scale.probability(3)  # the surest tenth
    assert fitted(settings, [], 0.8).min_score == settings.min_score


def test_outcomes_are_judged_as_scoring_judges(home: Path) -> None:
    asked = questions(30, 9)
    best = [Reading(0, q.id, Span(0, 2), (q.answers or ("昨天",))[0], 1.0, 0.5) for q in asked]
    found = raw_outcomes(asked, best)
    assert [right for _, right in found] == [q.answerable for q in asked]
    assert raw_outcomes(asked, [None] * 30) == []
    assert 0 <= held_out_error(asked, best) <= 1


@pytest.mark.parametrize(
    "change, said",
    [({"empty_windows": -1}, "empty_windows is -1"), ({"precision": 0}, "precision is 0"),
     ({"max_span": 0}, "max_span is 0"),
     ({"dropout": 1}, "dropout is 1")],
)  # fmt: skip
def test_settings_that_make_no_sense(change: dict, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        ReaderOptions("x", **change)


def test_runs_that_make_no_sense(home: Path, tmp_path: Path) -> None:
    asked = questions(10, 1)
    with pytest.raises(BadInput, match="There is no metric 'macro_f1'. Known: f1, em"):
        train_part("reader", asked, [], config(home), replace(SHORT, metric="macro_f1"), tmp_path / "m", quiet=True)
    with pytest.raises(BadInput, match="early_stopping needs a dev set"):
        train_part("reader", asked, [], config(home), replace(SHORT, early_stopping=2), tmp_path / "m", quiet=True)
    with pytest.raises(UnknownName, match="There is no head of a reader 'crf'"):
        train_part("reader", asked, [], config(home, head="crf"), SHORT, tmp_path / "m", quiet=True)
    with pytest.raises(BadInput, match="no example to train on"):
        train_part("reader", [], [], config(home), SHORT, tmp_path / "m", quiet=True)
    with pytest.raises(BadInput, match="no gold answer"):
        train_part("reader", asked, [Question("q", "Why?")], config(home), SHORT, tmp_path / "n", quiet=True)


def test_folders_that_are_no_readers(reader_folder: Path, tmp_path: Path) -> None:
    reader, settings = load_reader(reader_folder), read_settings(reader_folder)
    save_reader(tmp_path / "half", settings, reader, precision="float16")
    other = load_reader(tmp_path / "half")
    pairs = zip(reader.model.parameters(), other.model.parameters(), strict=True)
    assert all(torch.allclose(a, b, atol=1e-2) for a, b in pairs)
    (tmp_path / "half" / "SHA256SUMS").unlink()  # the files are changed on purpose
    record = orjson.loads((tmp_path / "half" / "factpin.json").read_bytes())
    for change, said in (({"task": "spans"}, "a reader was expected"), ({"head_config": {"x": 1}}, "another version")):
        (tmp_path / "half" / "factpin.json").write_bytes(orjson.dumps(record | change))
        with pytest.raises(BadModel, match=said):
            load_reader(tmp_path / "half")
    (tmp_path / "half" / "factpin.json").write_bytes(orjson.dumps(record))
    (tmp_path / "half" / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(BadModel, match="cannot be loaded"):
        load_reader(tmp_path / "half")


def test_the_command_trains_a_reader_from_files(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(questions(30, 1), tmp_path / "train.jsonl")
    write(questions(12, 2), tmp_path / "dev.jsonl")
    options = ["--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl", "--output", tmp_path / "reader",
               "--encoder", encoder_folder(home), "--max-length", 64, "--overlap", 8, "--epochs", 1]  # fmt: skip
    command = ["train", "reader", *map(str, options)]
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--json"])
    report = orjson.loads(capsys.readouterr().out)
    assert report["train"] == 30 and "ece_held_out" in report["scores"]
    assert read_settings(tmp_path / "reader").head == "answer_pointer"
    again = factpin.train("reader", train=questions(30, 1), dev=questions(12, 2), output=tmp_path / "again", quiet=True,
                          encoder=encoder_folder(home), max_length=64, overlap=8, epochs=1)  # fmt: skip
    assert again["scores"] == report["scores"]
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--triggers"])
    assert "--triggers has no meaning for reader" in capsys.readouterr().err

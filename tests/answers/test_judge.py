"""A judge learns which blocks matter, and its folder judges as it did."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from factpin.answers.cogltx import cut_blocks
from factpin.answers.cogltx_judge import IGNORED, assemble, collate_targets, collate_windows, room_beside
from factpin.documents import Document, Question, Span
from factpin.errors import BadInput, BadModel
from factpin.models.judge_folder import load_judge
from factpin.models.reader_folder import load_reader
from factpin.tokens.pairs import pair_frame
from factpin.training.config import TrainConfig
from factpin.training.judge import JudgeJob, area, judged_question, judged_windows, start_judge
from factpin.training.judge_options import JudgeOptions, parse_keep
from factpin.training.part_table import train_part
from tests.answers.long_world import long_encoder, long_questions, trained_judge


def test_a_window_is_the_query_and_its_blocks_and_targets_are_at_their_tokens(home: Path) -> None:
    judge = load_judge(trained_judge(home)[0])
    question = long_questions(1, 5)[0]
    blocks = cut_blocks([question.context[0].text], judge.tokenizer, 16)
    query = judge.tokenizer.encode(question.text).ids
    window = assemble(judge.tokenizer, query, blocks[:3])
    for block, (first, last) in zip(blocks, window.places, strict=False):
        assert np.array_equal(window.pair.ids[first:last], block.ids)
    separator = pair_frame(judge.tokenizer).middle[0][0]
    assert all(window.pair.ids[last] == separator for _, last in window.places)
    used = sum(len(b.ids) + 1 for b in blocks[:3])
    assert len(window.pair.ids) == 64 - room_beside(judge.tokenizer, query, 64) + used
    targets = window.targets([False, True, False])
    (a, b), (c, d) = window.places[1], window.places[2]
    assert targets[: window.pair.second_at].all() and targets[a : b + 1].all() and not targets[c:].any()
    assert not targets[window.pair.second_at : a].any() and d > c
    both = [window, assemble(judge.tokenizer, query, blocks[:1])]
    table = collate_targets(both, [[True] * 3, [False]])
    assert table.shape == collate_windows(both, 0).ids.shape and bool((table[1] == IGNORED).any())


def test_padding_and_company_of_windows_change_no_score(home: Path) -> None:
    judge = load_judge(trained_judge(home)[0])
    question = long_questions(1, 6)[0]
    blocks = cut_blocks([question.context[0].text], judge.tokenizer, 16)
    query = judge.tokenizer.encode(question.text).ids
    windows = [[0, 1], [2], [0, 2]]
    together = judge.score(query, blocks, windows)
    for window, scores in zip(windows, together, strict=True):
        assert judge.score(query, blocks, [window])[0] == pytest.approx(scores, abs=1e-5)


def test_a_judge_learns_finds_what_matters_and_comes_back_from_its_folder(home: Path) -> None:
    folder, report = trained_judge(home)
    assert report["scores"]["recall"] > 0.9  # type: ignore[index]
    assert report["scores"]["auc"] > 0.9  # type: ignore[index]
    judge = load_judge(folder)
    right = 0
    for question in long_questions(20, 9):
        text = question.context[0].text
        found = judge.recall(question.text, [text])
        assert len(found.recall.kept) < len(found.blocks)
        for part in found.excerpt.parts:
            assert found.excerpt.text[part.at :].startswith(text[part.span.start : part.span.end])
        right += found.excerpt.find(*question.spans[0]) is not None
        assert found == found and judge.recall(question.text, [text]).recall == found.recall
    assert right >= 18
    assert (folder / "card.md").is_file() and (folder / "recipe.toml").is_file()
    with pytest.raises(BadModel, match="its task is 'judge', a reader was expected"):
        load_reader(folder)


def test_what_a_judge_learns_from(home: Path) -> None:
    judge = load_judge(trained_judge(home)[0])
    chance = np.random.default_rng(0)
    for question in long_questions(10, 4):
        one = judged_question(question, judge.tokenizer, judge.settings)
        holds = [
            b.span.start < question.spans[0][1].end and question.spans[0][1].start < b.span.end for b in one.blocks
        ]
        assert all(relevant or not here for relevant, here in zip(one.relevant, holds, strict=True)) and any(holds)
        for numbers in judged_windows(one, chance):
            assert numbers == sorted(numbers) and sum(one.lengths[i] for i in numbers) <= one.room
        assert {i for i, r in enumerate(one.relevant) if r} <= set(judged_windows(one, chance)[1])
    job = JudgeJob(judge, long_questions(4, 4), [])
    torch.manual_seed(1)
    batch, targets = job.batch([0, 1])
    assert batch.ids.shape == targets.shape and len(targets) == 4 and job.evaluate() == {}
    with pytest.raises(BadInput, match="No question has support or a gold span"):
        JudgeJob(judge, [replace(q, spans=(), support=()) for q in long_questions(2, 4)], [])


def test_a_question_that_leaves_no_room_is_left_out_and_counted(home: Path) -> None:
    judge, questions = load_judge(trained_judge(home)[0]), long_questions(3, 4)
    endless = replace(questions[0], text=questions[0].text * 40)
    job = JudgeJob(judge, [endless, *questions[1:]], [endless, questions[1]])
    assert (len(job.taught), job.untaught, len(job.dev)) == (2, 1, 1)
    job.batch([0, 1])
    with pytest.raises(BadInput, match="leaves room"):
        JudgeJob(judge, [endless], [])


def short_questions(size: int, seed: int) -> list[Question]:
    """Questions whose texts fit at once: the sentence that answers, and the one beside it."""
    found = []
    for question in long_questions(size, seed):
        doc, number = question.context[0], question.support[0][1]
        first = min(number, len(doc.sentences) - 2)
        at, end = doc.sentences[first].start, doc.sentences[first + 1].end
        start, stop = question.spans[0][1]
        cut = Document(doc.id, doc.text[at:end], sentences=tuple(Span(a - at, b - at)
                       for a, b in doc.sentences[first : first + 2]))  # fmt: skip
        found.append(replace(question, context=(cut,), spans=((0, Span(start - at, stop - at)),),
                             support=((0, number - first),)))  # fmt: skip
    return found


def test_texts_that_fit_at_once_judge_a_judge_too(home: Path, tmp_path: Path) -> None:
    """Nothing is left out of them, so that only the order of their blocks can say how good it is."""
    options = JudgeOptions(str(long_encoder(home)), max_length=64, block_size=16, keep="1")
    report = train_part("judge", long_questions(8, 1), short_questions(6, 3), options, TrainConfig(max_steps=1),
                        tmp_path / "judge", quiet=True)  # fmt: skip
    assert report["scores"].keys() == {"auc"} and json.loads((tmp_path / "judge" / "metrics.json").read_text())
    judge = start_judge(options, 1)
    job = JudgeJob(judge, [], short_questions(6, 3))
    assert len(job.dev) == 6 and all(question.fits for question in job.dev)
    assert job.metrics == ("auc",) and job.evaluate().keys() == {"auc"}
    mixed = JudgeJob(judge, [], [*short_questions(2, 3), *long_questions(2, 5)])
    assert mixed.metrics == tuple(mixed.evaluate()) == ("recall", "all", "auc")


def test_the_area_is_the_share_of_pairs_in_the_right_order() -> None:
    assert area([0.9, 0.1, 0.5], [True, False, False]) == 1.0 and area([0.1, 0.9], [True, False]) == 0.0
    assert area([0.5, 0.5], [True, False]) == 0.5 and area([3, 1, 2, 0], [True, False, False, True]) == 0.5


def test_a_dev_set_that_cannot_judge_is_refused_before_training(home: Path) -> None:
    judge = start_judge(JudgeOptions(str(long_encoder(home)), max_length=64, block_size=16, keep="1"), 1)
    for dev in ([replace(q, spans=(), support=()) for q in long_questions(2, 4)],
                [replace(q, support=(), context=(Document("d", "赵云飞"),), spans=((0, Span(0, 3)),))
                 for q in long_questions(2, 4)]):  # fmt: skip
        with pytest.raises(BadInput, match="The dev set cannot judge a judge"):
            JudgeJob(judge, long_questions(4, 4), dev)


def test_the_numbers_of_blocks_that_stay() -> None:
    assert parse_keep("3") == (3,) and parse_keep("3,5") == (3, 5) and parse_keep("none") == ()
    with pytest.raises(BadInput, match="expected numbers of blocks such as 3"):
        JudgeOptions(keep="3;5")
    with pytest.raises(BadInput, match="expected room for two blocks"):
        JudgeOptions(max_length=64)

"""Why MemRecall is behind reading all windows on HotpotQA: the judge, the room, or the excerpt?

    python recipes/answers/cogltx_blocks.py --train 1000 --steps 240 --questions 120 --output runs/cogltx-blocks
    python recipes/answers/cogltx_blocks.py --no-judge --questions 40
    python recipes/answers/cogltx_blocks.py --longer --steps 1000 --batch 2 --held 40 --questions 150 --output runs/j

The judge learns from supporting sentences, and is measured on the way on training questions that it does not learn
from. Then one reader, the one that ships, reads what each arm keeps: BM25's blocks, the judge's, all
supporting blocks filled up with BM25's (what a perfect judge would keep), those blocks alone, and whole paragraphs in
place of blocks. `all windows` reads everything. --no-judge leaves out what needs a judge. Questions with yes or no are
left out: en-reader answers with spans.

--longer asks whether the judge has only learned too little: in half precision, with its lower layers as they are, it
learns for more steps, also from 2WikiMultihop, and is measured at four points. No reader reads; only the supporting
blocks that are kept are counted, against those of BM25. --from-reader begins with the encoder of en-reader, which has
read questions beside passages before, in place of --encoder.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import safetensors.torch
from _sets import DATA, questions_of
from _start import start_from_reader
from cogltx import ROOM, TRAIN, bm25_scores, kept_question

from factpin.answers.cogltx import mem_recall, pack
from factpin.answers.cogltx_judge import Judge, JudgeSettings
from factpin.documents import Question
from factpin.encoders import resolve
from factpin.formats.questions import read
from factpin.layers.half import half_precision
from factpin.memory import bm25
from factpin.memory.terms import query_terms, terms
from factpin.models.judge_folder import load_judge
from factpin.models.readers import open_reader
from factpin.models.shipped import find_model
from factpin.scoring.answers import AnswerScores, compare
from factpin.scoring.intervals import paired_bootstrap
from factpin.scoring.means import as_mean_rows, mean, mean_interval, mean_of
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.judge import JudgedQuestion, judged_question, start_judge
from factpin.training.judge_options import JudgeOptions
from factpin.training.part_table import train_part
from factpin.training.reader_fit import best_readings
from factpin.training.reader_fit import judge as score

FEW = 4  # blocks; as many support the median question
WIKI = DATA / "2wikimultihop" / "2wiki_train.jsonl.xz"
POINTS, FROZEN = 4, 3  # measurements of a longer run, and its layers that do not learn
FIRST, LAST = 1e6, -1e6  # scores of blocks that are kept before all others, or after them
Asked = list[tuple[Question, JudgedQuestion]]


def keep_best(scores: Sequence[float], one: JudgedQuestion, room: int) -> list[int]:
    """The best blocks that fit, in the order of the text."""
    return list(mem_recall(one.lengths, room, lambda ws: [[scores[i] for i in w] for w in ws], ()).kept)


def competed(judge: Judge, one: JudgedQuestion) -> list[float]:
    """The score of every block in the first competition, in windows of the length that the judge learned from."""
    found = [0.0] * len(one.blocks)
    windows = pack(one.lengths, one.room - ROOM, ())
    for window, scores in zip(windows, judge.score(one.query, one.blocks, windows), strict=True):
        for i, value in zip(window, scores, strict=True):
            found[i] = value
    return found


def paragraph_scores(question: Question, one: JudgedQuestion) -> list[float]:
    """The BM25 score of each block's paragraph; of its blocks the first come first."""
    words = [terms(doc.text) for doc in question.context]
    average = sum(map(len, words)) / len(words)
    asked = query_terms(question.text)
    weights = {t: bm25.idf(len(words), sum(t in w for w in words)) for t in asked}
    scores = [sum(bm25.part(weights[t], w.count(t), len(w), average) for t in asked if t in w) for w in words]
    return [scores[b.document] - 1e-6 * i for i, b in enumerate(one.blocks)]


def kept_by_arm(asked: Asked, judge: Judge | None, more: int, one_step: bool) -> dict[str, list[list[int]]]:
    """What each arm keeps of every question. more: pieces that are added to the room for the arms with more of it."""
    found: dict[str, list[list[int]]] = {}
    for question, one in asked:
        room = one.room - ROOM
        words = bm25_scores(question, one)
        gold = [FIRST if relevant else 0.0 for relevant in one.relevant]
        scored = {
            "BM25 blocks": (words, room),
            "BM25 paragraphs": (paragraph_scores(question, one), room),
            "support, filled up with BM25": ([g + w for g, w in zip(gold, words, strict=True)], room),
            f"BM25 blocks, room + {more}": (words, room + more),
        }
        if judge is not None:
            judged = competed(judge, one)
            scored |= {
                "judge, one step": (judged, room),
                "judge and BM25": ((ranks(words) + ranks(judged)).tolist(), room),
                f"judge, room + {more}": (judged, room + more),
            }
            found.setdefault(f"judge, best {FEW} blocks", []).append(best_few(judged))
        if judge is not None and not one_step:
            steps = mem_recall(one.lengths, one.room, lambda ws, q=one: judge.score(q.query, q.blocks, ws), (3,))
            found.setdefault("MemRecall, two steps", []).append(list(steps.kept))
        for name, (scores, size) in scored.items():
            found.setdefault(name, []).append(keep_best(scores, one, size))
        found.setdefault(f"BM25, best {FEW} blocks", []).append(best_few(words))
        found.setdefault("support alone", []).append([i for i, relevant in enumerate(one.relevant) if relevant])
    return found


def best_few(scores: Sequence[float]) -> list[int]:
    """The best blocks alone, however much room there is."""
    return sorted(sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:FEW])


def ranks(scores: Sequence[float]) -> np.ndarray:
    """Minus the logarithm of the place of each score, best first."""
    order = np.argsort(np.argsort(-np.array(scores), kind="stable"), kind="stable")
    return -np.log2(order + 2.0)


def print_arms(asked: Asked, judge: Judge | None, options: argparse.Namespace) -> None:
    """Support that is kept, and what the same reader answers from it."""
    reader = open_reader(find_model(options.reader))
    learned = "no judge" if judge is None else f"judge after {options.steps} steps"
    print(f"{len(asked)} questions, {learned}, reader {options.reader}, capacity {options.capacity}\n")
    print(
        "| arm | supporting blocks kept | all of them | answer in what is kept | EM | F1 | 95 % |\n" + "|---" * 7 + "|"
    )
    whole = [question for question, _ in asked]
    scores: dict[str, AnswerScores] = {"all windows": score(whole, best_readings(reader, whole))}
    print_arm("all windows", "100.0 | 100.0 | 100.0", scores["all windows"])
    for name, kept in kept_by_arm(asked, judge, options.more, options.one_step).items():
        gold = [{i for i, relevant in enumerate(one.relevant) if relevant} for _, one in asked]
        shares = [len(w & set(k)) / len(w) for w, k in zip(gold, kept, strict=True)]
        every = [w <= set(k) for w, k in zip(gold, kept, strict=True)]
        shown = [kept_question(question, one, k) for (question, one), k in zip(asked, kept, strict=True)]
        says = [any(answer in q.context[0].text for answer in q.answers) for q in shown]
        scores[name] = score(shown, best_readings(reader, shown))
        print_arm(name, " | ".join(f"{100 * np.mean(column):.1f}" for column in (shares, every, says)), scores[name])
    print("\n| F1 against all windows | | 95 % | p |\n|---|---|---|---|")
    for name in list(scores)[1:]:
        d = compare(scores[name], scores["all windows"])
        low, high = d.interval
        print(f"| {name} | {100 * d.difference:+.1f} | {100 * low:+.1f} to {100 * high:+.1f} | {d.p_value:.3f} |")


def print_arm(name: str, blocks: str, scores: AnswerScores) -> None:
    """One row."""
    low, high = mean_interval(scores.rows["f1"])
    em, f1 = 100 * mean(scores.rows["em"]), 100 * mean(scores.rows["f1"])
    print(f"| {name} | {blocks} | {em:.1f} | {f1:.1f} | {100 * low:.1f}–{100 * high:.1f} |", flush=True)


def print_curve(folder: Path, held: Asked) -> None:
    """How much support the judge keeps of questions that it does not learn from, on the way; and BM25 of the same."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    print("\n| steps of the judge | supporting blocks kept | all of them |\n|---|---|---|")
    for line in lines:
        if "recall" in line:
            print(f"| {line['step']} | {100 * line['recall']:.1f} | {100 * line['all']:.1f} |")
    shares = []
    for question, one in held:
        gold = {i for i, relevant in enumerate(one.relevant) if relevant}
        shares.append(len(gold & set(keep_best(bm25_scores(question, one), one, one.room))) / len(gold))
    print(f"| BM25 blocks | {100 * np.mean(shares):.1f} | {100 * np.mean([s == 1 for s in shares]):.1f} |")


def print_kept(asked: Asked, judge: Judge) -> None:
    """The share of supporting blocks that is kept, against BM25."""
    kept: dict[str, list[float]] = {}
    for question, one in asked:
        gold, room = {i for i, relevant in enumerate(one.relevant) if relevant}, one.room - ROOM
        words, judged = bm25_scores(question, one), competed(judge, one)
        steps = mem_recall(one.lengths, one.room, lambda ws, q=one: judge.score(q.query, q.blocks, ws), (3,))
        for name, some in (
            ("BM25 blocks", keep_best(words, one, room)),
            ("judge, one step", keep_best(judged, one, room)),
            ("judge and BM25", keep_best((ranks(words) + ranks(judged)).tolist(), one, room)),
            ("MemRecall, two steps", list(steps.kept)),
        ):
            kept.setdefault(name, []).append(len(gold & set(some)) / len(gold))
    print(f"{len(asked)} questions\n\n| arm | supporting blocks kept | 95 % | against BM25 | 95 % | p |\n{'|---' * 6}|")
    for name, shares in kept.items():
        low, high = mean_interval(as_mean_rows(shares))
        d = paired_bootstrap(as_mean_rows(shares), as_mean_rows(kept["BM25 blocks"]), statistic=mean_of)
        against = (
            f"{100 * d.difference:+.1f} | {100 * d.interval[0]:+.1f} to {100 * d.interval[1]:+.1f} | {d.p_value:.3f}"
        )
        print(f"| {name} | {100 * np.mean(shares):.1f} | {100 * low:.1f}–{100 * high:.1f} | {against} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--from-reader", action="store_true", help="begin with the encoder of en-reader")
    parser.add_argument("--reader", default="en-reader", help="a model that ships, or a folder")
    parser.add_argument("--capacity", type=int, default=256)
    parser.add_argument("--block-size", type=int, default=31)
    parser.add_argument("--more", type=int, default=256, help="pieces that the arms with more room add to it")
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held", type=int, default=24, help="training questions that judge the judge on the way")
    parser.add_argument("--no-judge", action="store_true")
    parser.add_argument("--longer", action="store_true", help="count supporting blocks of a judge that learned longer")
    parser.add_argument("--one-step", action="store_true", help="leave out MemRecall in two steps")
    parser.add_argument(
        "--stopped", action="store_true", help="train no further: measure the best weights that a run left"
    )
    parser.add_argument("--output", type=Path, help="folder for the judge")
    options = parser.parse_args()
    if not options.no_judge and options.output is None:
        parser.error("--output is missing: name a folder for the judge, or leave the judge out (--no-judge).")
    if options.from_reader:
        options.encoder = start_from_reader(options.output / "start")
    dev = questions_of("hotpotqa", options.questions)
    judge = None if options.no_judge else trained_judge(options, {question.id for question in dev})
    tokenizer = Tokenizer.load(resolve(options.encoder)) if judge is None else judge.tokenizer
    settings = JudgeSettings(options.capacity, options.block_size) if judge is None else judge.settings
    asked = too_long([question for question in dev if not question.kind], tokenizer, settings)
    if options.longer and judge is not None:
        with half_precision("cpu", enabled=True):
            print_kept(asked, judge)
    else:
        print_arms(asked, judge, options)
    if judge is not None:
        held, _ = training_questions(options, {question.id for question in dev})
        print_curve(options.output / "judge", too_long(held, tokenizer, settings))


def too_long(questions: Sequence[Question], tokenizer: Tokenizer, settings: JudgeSettings) -> Asked:
    """The questions whose blocks do not all fit, with these."""
    asked = [(question, judged_question(question, tokenizer, settings)) for question in questions]
    return [(question, one) for question, one in asked if any(one.relevant) and sum(one.lengths) > one.room]


def training_questions(options: argparse.Namespace, known: set[str]) -> tuple[list[Question], list[Question]]:
    """The training questions that judge the judge on the way, and those that it learns from."""
    training = [question for question in read(TRAIN) if question.id not in known][: options.train]
    return training[: options.held], training[options.held :]


def trained_judge(options: argparse.Namespace, known: set[str]) -> Judge:
    """The judge in the folder, or one that is trained now."""
    held, training = training_questions(options, known)
    if options.longer:
        training += list(read(WIKI))
    folder = options.output / "judge"
    if options.stopped:
        judge = start_judge(JudgeOptions(options.encoder, options.capacity, options.block_size), options.seed)
        judge.model.load_state_dict(safetensors.torch.load_file(folder / "checkpoints" / "best.safetensors"))
        return judge
    if not (folder / "factpin.json").exists():
        chosen = JudgeOptions(options.encoder, options.capacity, options.block_size)
        often = max(1, options.steps // (POINTS if options.longer else 3))
        how = TrainConfig(batch_size=options.batch, learning_rate=1e-4, max_steps=options.steps, epochs=1000,
                          evaluate_every=often, save_every=often, seed=options.seed, bf16=options.longer,
                          freeze_layers=FROZEN if options.longer else 0)  # fmt: skip
        train_part("judge", training, held, chosen, how, folder, quiet=True, resume=True)
    return load_judge(folder)


if __name__ == "__main__":
    main()

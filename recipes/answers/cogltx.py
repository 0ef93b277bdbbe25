"""CogLTX on HotpotQA: how many of the supporting blocks are kept when ten paragraphs do not fit.

    python recipes/answers/cogltx.py --train 200 --steps 60 --questions 30        first figures, minutes
    python recipes/answers/cogltx.py --train 600 --steps 1000 --questions 239     everything

The judge learns from the supporting sentences of the training questions. Arms, all with the same blocks and room:
the first blocks (truncation), BM25's best blocks, MemRecall in one step, MemRecall in two.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from _sets import DATA, questions_of

from factpin.answers.cogltx import mem_recall
from factpin.answers.cogltx_judge import Judge
from factpin.documents import Question
from factpin.formats.questions import read
from factpin.memory import bm25
from factpin.memory.terms import query_terms, terms
from factpin.models.judge_folder import load_judge
from factpin.scoring.means import mean_interval
from factpin.training.config import TrainConfig
from factpin.training.judge import JudgedQuestion, judged_question, train_judge
from factpin.training.judge_options import JudgeOptions

TRAIN = DATA / "hotpotqa" / "distractor_train.jsonl.xz"


def bm25_scores(question: Question, one: JudgedQuestion) -> list[float]:
    """The BM25 score of every block."""
    words = [terms(question.context[b.document].text[b.span.start : b.span.end]) for b in one.blocks]
    average = sum(map(len, words)) / len(words)
    asked = query_terms(question.text)
    weights = {t: bm25.idf(len(words), sum(t in w for w in words)) for t in asked}
    return [sum(bm25.part(weights[t], w.count(t), len(w), average) for t in asked if t in w) for w in words]


def arms(judge: Judge) -> dict[str, Callable[[Question, JudgedQuestion], Sequence[int]]]:
    """What each arm keeps."""

    def scored(scores: Sequence[float], one: JudgedQuestion) -> Sequence[int]:
        return mem_recall(one.lengths, one.room, lambda ws: [[scores[i] for i in w] for w in ws], ()).kept

    def recalled(one: JudgedQuestion, keep: tuple[int, ...]) -> Sequence[int]:
        return mem_recall(one.lengths, one.room, lambda ws: judge.score(one.query, one.blocks, ws), keep).kept

    return {
        "truncation": lambda _, one: scored([-float(i) for i in range(len(one.blocks))], one),
        "BM25 blocks": lambda question, one: scored(bm25_scores(question, one), one),
        "MemRecall, one step": lambda _, one: recalled(one, ()),
        "MemRecall, two steps": lambda _, one: recalled(one, (3,)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--capacity", type=int, default=256)
    parser.add_argument("--block-size", type=int, default=31)
    parser.add_argument("--train", type=int, default=200)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judge", type=Path, help="a trained judge; otherwise one is trained")
    options = parser.parse_args()
    dev = questions_of("hotpotqa", options.questions)
    known = {question.id for question in dev}
    training = [question for question in read(TRAIN) if question.id not in known][: options.train]
    with tempfile.TemporaryDirectory() as folder:
        trained = options.judge or Path(folder) / "judge"
        if options.judge is None:
            config = JudgeOptions(options.encoder, options.capacity, options.block_size)
            how = TrainConfig(max_steps=options.steps, epochs=1000, batch_size=4, learning_rate=1e-4, seed=options.seed)
            train_judge(training, [], config, how, trained, quiet=True)
        judge = load_judge(trained)
    asked = [(question, judged_question(question, judge.tokenizer, judge.settings)) for question in dev]
    asked = [(question, one) for question, one in asked if any(one.relevant) and sum(one.lengths) > one.room]
    print(f"{len(asked)} questions, {options.steps} steps, capacity {options.capacity}, seed {options.seed}\n")
    print("| arm | supporting blocks kept | 95 % | all of them |\n|---|---|---|---|")
    for name, keep in arms(judge).items():
        gold = [({i for i, r in enumerate(one.relevant) if r}, set(keep(question, one))) for question, one in asked]
        rows = np.array([[len(wanted & kept) / len(wanted), 1.0] for wanted, kept in gold])
        low, high = mean_interval(rows)
        every = np.mean([wanted <= kept for wanted, kept in gold])
        print(
            f"| {name} | {100 * rows[:, 0].mean():.1f} | {100 * low:.1f}–{100 * high:.1f} | {100 * every:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""CogLTX on HotpotQA (questions) and on 20 Newsgroups (classes), beside the simplest ways to read what does not fit.

    python recipes/answers/cogltx.py questions --train 600 --steps 300 --questions 239 --output runs/cogltx-questions
    python recipes/answers/cogltx.py classes --train 800 --test 200 --epochs 2 --freeze 3 --output runs/cogltx-classes

questions   the judge learns from the supporting sentences; arms have the same blocks and room: the first blocks
            (truncation), all windows, BM25's best blocks, MemRecall in one step and in two. One reader, which learned
            from windows, reads for all of them; another one learned from what MemRecall keeps
classes     without headers; half of the training texts and `--test` of the test texts have more than 350 words, and as
            many have fewer. The first blocks, the first and the last, all windows, MemRecall without interventions and
            with them; then the model of windows again, which reads one window of each long text: the first one, the
            last one, and whichever is right

What is there in --output already is not trained again, so a run that was cut goes on.
"""

import argparse
import io
import json
import lzma
import random
import shutil
import tarfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from _sets import DATA, questions_of

from factpin.answers.cogltx import mem_recall
from factpin.answers.cogltx_excerpt import excerpt
from factpin.answers.cogltx_judge import Judge
from factpin.answers.cogltx_long import LongLabeller
from factpin.documents import Document, Question
from factpin.formats.questions import read
from factpin.layers.half import half_precision
from factpin.memory import bm25
from factpin.memory.terms import query_terms, terms
from factpin.models.classify_folder import load_labeller
from factpin.models.judge_folder import load_judge
from factpin.models.reader_folder import load_reader
from factpin.scoring.answers import AnswerScores, compare
from factpin.scoring.intervals import paired_bootstrap
from factpin.scoring.means import as_mean_rows, mean, mean_interval, mean_of
from factpin.training.classify import label_of
from factpin.training.classify_options import ClassifyOptions
from factpin.training.config import TrainConfig
from factpin.training.judge import JudgedQuestion, judged_question
from factpin.training.judge_options import JudgeOptions
from factpin.training.part_table import train_part
from factpin.training.reader_fit import best_readings
from factpin.training.reader_fit import judge as score
from factpin.training.reader_long import recalled_questions
from factpin.training.reader_options import ReaderOptions

TRAIN = DATA / "hotpotqa" / "distractor_train.jsonl.xz"
NEWS = DATA / "newsgroups20"
LONG = 350  # words of a long posting
ROOM = 8  # pieces to spare where blocks are joined
Keep = Callable[[Question, JudgedQuestion], Sequence[int]]


def bm25_scores(question: Question, one: JudgedQuestion) -> list[float]:
    """The BM25 score of every block."""
    words = [terms(question.context[b.document].text[b.span.start : b.span.end]) for b in one.blocks]
    average = sum(map(len, words)) / len(words)
    asked = query_terms(question.text)
    weights = {t: bm25.idf(len(words), sum(t in w for w in words)) for t in asked}
    return [sum(bm25.part(weights[t], w.count(t), len(w), average) for t in asked if t in w) for w in words]


def arms(judge: Judge) -> dict[str, Keep]:
    """What each arm keeps."""

    def scored(scores: Sequence[float], one: JudgedQuestion) -> Sequence[int]:
        room = one.room - ROOM
        return mem_recall(one.lengths, room, lambda ws: [[scores[i] for i in w] for w in ws], ()).kept

    def recalled(one: JudgedQuestion, keep: tuple[int, ...]) -> Sequence[int]:
        room = one.room - ROOM
        return mem_recall(one.lengths, room, lambda ws: judge.score(one.query, one.blocks, ws), keep).kept

    return {
        "truncation": lambda _, one: scored([-float(i) for i in range(len(one.blocks))], one),
        "BM25 blocks": lambda question, one: scored(bm25_scores(question, one), one),
        "MemRecall, one step": lambda _, one: recalled(one, ()),
        "MemRecall, two steps": lambda _, one: recalled(one, (3,)),
    }


def kept_question(question: Question, one: JudgedQuestion, kept: Sequence[int]) -> Question:
    """A question with one context, what was kept of its own."""
    made = excerpt([doc.text for doc in question.context], one.blocks, kept)
    return replace(question, context=(Document(f"{question.id} kept", made.text),), spans=(), support=())


def config(options: argparse.Namespace, **other: object) -> TrainConfig:
    """How all arms are trained."""
    return TrainConfig(batch_size=8, learning_rate=1e-4, bf16=True, seed=options.seed, **other)  # type: ignore[arg-type]


def answer_questions(options: argparse.Namespace) -> None:
    """Support that is kept, and answers that are read from it."""
    dev = questions_of("hotpotqa", options.questions)
    known = {question.id for question in dev}
    training = [question for question in read(TRAIN) if question.id not in known][: options.train]
    folder = options.output
    how = config(options, max_steps=options.steps, epochs=1000, evaluate_every=10**6, save_every=100)
    if not (folder / "judge" / "factpin.json").exists():
        chosen = JudgeOptions(options.encoder, options.capacity, options.block_size)
        train_part("judge", training, [], chosen, replace(how, batch_size=4), folder / "judge", quiet=True, resume=True)
    judge = load_judge(folder / "judge")
    reading = ReaderOptions(options.encoder, max_length=options.capacity, overlap=64)
    for name, learned in (("windows", lambda: training),
                          ("kept", lambda: recalled_questions(training, judge, with_gold=True))):  # fmt: skip
        if not (folder / name / "factpin.json").exists():
            with half_precision("cpu", enabled=True):
                examples = learned()
            train_part("reader", examples, [], reading, how, folder / name, quiet=True, resume=True)
    with half_precision("cpu", enabled=True):
        _compare_arms(options, dev, judge)


def _compare_arms(options: argparse.Namespace, dev: Sequence[Question], judge: Judge) -> None:
    asked = [(question, judged_question(question, judge.tokenizer, judge.settings)) for question in dev]
    asked = [(question, one) for question, one in asked if any(one.relevant) and sum(one.lengths) > one.room]
    readers = {name: load_reader(options.output / name) for name in ("windows", "kept")}
    bridge = [question.meta.get("type") == "bridge" for question, _ in asked]
    print(f"{len(asked)} questions ({sum(bridge)} bridge), {options.steps} steps, capacity {options.capacity}\n")
    print("| arm | supporting blocks kept | 95 % | all of them | bridge, all | EM | F1 | 95 % |\n" + "|---" * 8 + "|")
    scores: dict[str, AnswerScores] = {}
    rows: dict[str, np.ndarray] = {}
    for name, keep in arms(judge).items():
        kept = [set(keep(question, one)) for question, one in asked]
        gold = [{i for i, r in enumerate(one.relevant) if r} for _, one in asked]
        rows[name] = as_mean_rows([len(w & k) / len(w) for w, k in zip(gold, kept, strict=True)])
        every = [w <= k for w, k in zip(gold, kept, strict=True)]
        shown = [kept_question(question, one, sorted(k)) for (question, one), k in zip(asked, kept, strict=True)]
        low, high = mean_interval(rows[name])
        blocks = f"{100 * mean(rows[name]):.1f} | {100 * low:.1f}–{100 * high:.1f} | {100 * np.mean(every):.1f} | "
        blocks += f"{100 * np.mean([e for e, b in zip(every, bridge, strict=True) if b] or [0]):.1f}"
        for label, reader in (
            readers.items() if name.startswith("MemRecall, two") else [("windows", readers["windows"])]
        ):
            arm = name if label == "windows" else f"{name}, reader of what is kept"
            scores[arm] = score(shown, best_readings(reader, shown))
            _print_arm(arm, blocks, scores[arm])
    whole = [question for question, _ in asked]
    scores["all windows"] = score(whole, best_readings(readers["windows"], whole))
    _print_arm("all windows", "100 | | 100 | 100", scores["all windows"])
    print("\n| compared | F1 | 95 % | p |\n|---|---|---|---|")
    for first, second in (("MemRecall, two steps, reader of what is kept", "all windows"),
                          ("MemRecall, two steps", "all windows"), ("MemRecall, two steps", "truncation"),
                          ("MemRecall, two steps", "MemRecall, one step")):  # fmt: skip
        d = compare(scores[first], scores[second])
        print(f"| {first} − {second} | {100 * d.difference:+.1f} | {_percent(d.interval)} | {d.p_value:.3f} |")
    for first, second in (("MemRecall, two steps", "BM25 blocks"), ("MemRecall, two steps", "MemRecall, one step")):
        d = paired_bootstrap(rows[first], rows[second], statistic=mean_of)
        print(f"| blocks: {first} − {second} | {100 * d.difference:+.1f} | {_percent(d.interval)} | {d.p_value:.3f} |")


def _print_arm(name: str, blocks: str, scores: AnswerScores) -> None:
    low, high = mean_interval(scores.rows["f1"])
    em, f1 = 100 * mean(scores.rows["em"]), 100 * mean(scores.rows["f1"])
    print(f"| {name} | {blocks} | {em:.1f} | {f1:.1f} | {100 * low:.1f}–{100 * high:.1f} |", flush=True)


def _percent(interval: tuple[float, float]) -> str:
    return f"{100 * interval[0]:+.1f} to {100 * interval[1]:+.1f}"


def postings(part: str) -> list[Document]:
    """The postings of a part, without headers."""
    found = []
    with (
        lzma.open(NEWS / f"20news-bydate-{part}.tar.xz") as raw,
        tarfile.open(fileobj=io.BytesIO(raw.read())) as archive,
    ):
        for member in sorted(archive.getmembers(), key=lambda one: one.name):
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is not None:
                text = stream.read().decode("latin-1").partition("\n\n")[2].replace("\x00", " ").strip()
                if text:
                    found.append(Document(member.name, text, meta={"label": member.name.split("/")[-2]}))
    return found


def half_long(documents: Sequence[Document], count: int, seed: int) -> list[Document]:
    """As many long texts as short ones, `count` in all."""
    chance = random.Random(seed)
    drawn = chance.sample(list(documents), len(documents))
    long = [doc for doc in drawn if len(doc.text.split()) > LONG][: count // 2]
    short = [doc for doc in drawn if len(doc.text.split()) <= LONG][: count - len(long)]
    return chance.sample([*long, *short], len(long) + len(short))


CLASS_ARMS: dict[str, dict[str, object]] = {
    "first blocks": {"long": "head"},
    "first and last blocks": {"long": "ends"},
    "all windows": {"long": "windows"},
    "MemRecall, no interventions": {"long": "memrecall", "interventions": 0},
    "MemRecall": {"long": "memrecall", "interventions": 100},
}


def classify_postings(options: argparse.Namespace) -> None:
    """The share of right classes, of long texts and of others."""
    training = half_long(postings("train"), options.train, options.seed)
    test = half_long(postings("test"), 2 * options.test, 0)
    long = np.array([len(doc.text.split()) > LONG for doc in test])
    how = config(options, epochs=options.epochs, evaluate_every=10**6, save_every=50, freeze_layers=options.freeze)
    print(f"{len(training)} training texts, {options.epochs} epochs, {long.sum()} long and {(~long).sum()} other test "
          f"texts, capacity {options.capacity}, {options.freeze} frozen layers, seed {options.seed}\n")  # fmt: skip
    print(
        "| arm | long | 95 % | others | CPU minutes | long, against the first blocks | 95 % | p |\n" + "|---" * 8 + "|"
    )
    first: np.ndarray | None = None
    for name, own in CLASS_ARMS.items():
        folder = options.output / name.replace(",", "").replace(" ", "-")
        arm = replace(
            ClassifyOptions(options.encoder, max_length=options.capacity, block_size=options.block_size), **own
        )
        right, minutes = right_classes(folder, training, test, arm, how)
        mine = as_mean_rows(right[long].tolist())
        low, high = mean_interval(mine)
        figures = f"{100 * mean(mine):.1f} | {100 * low:.1f}–{100 * high:.1f} | {100 * right[~long].mean():.1f}"
        against = " | | "
        if first is None:
            first = mine
        else:
            d = paired_bootstrap(mine, first, statistic=mean_of)
            against = f"{100 * d.difference:+.1f} | {_percent(d.interval)} | {d.p_value:.3f}"
        print(f"| {name} | {figures} | {minutes:.1f} | {against} |", flush=True)
    one_window(options, [doc for doc, is_long in zip(test, long, strict=True) if is_long])


def right_classes(
    folder: Path, training: Sequence[Document], test: Sequence[Document], arm: ClassifyOptions, how: TrainConfig
) -> tuple[np.ndarray, float]:
    """Which test texts an arm gets right, and the CPU minutes that it took, unless they are in its folder already."""
    kept, began = folder / "right.json", time.process_time()
    if not (folder / "factpin.json").exists():
        # labels that interventions change are not in a checkpoint, so such a run begins anew
        resume = arm.long != "memrecall" or not arm.interventions
        if not resume and folder.exists():
            shutil.rmtree(folder)
        train_part("classify", training, [], arm, how, folder, quiet=True, resume=resume)
    if not kept.exists():
        labeller = load_labeller(folder)
        with half_precision("cpu", enabled=True):
            right = [labeller.classify(doc.text).label == label_of(doc) for doc in test]
        minutes = (time.process_time() - began) / 60
        kept.write_text(json.dumps({"right": right, "minutes": minutes}))
    found = json.loads(kept.read_text())
    return np.array(found["right"], float), found["minutes"]


def one_window(options: argparse.Namespace, test: Sequence[Document]) -> None:
    """How often the first, the last, some window, and the mean of all windows of a text gives its class."""
    kept = options.output / "one-window.json"
    if not kept.exists():
        labeller = load_labeller(options.output / "all-windows")
        with half_precision("cpu", enabled=True):
            rows = [windows_right(labeller, doc) for doc in test]
        kept.write_text(json.dumps(rows))
    rows = json.loads(kept.read_text())
    print("\n| the model of windows reads | long |\n|---|---|")
    means = {
        "the first window": [row[0] for row in rows],
        "the last window": [row[-1] for row in rows],
        "a window, mean over all of them": [np.mean(row) for row in rows],
        "a window that is right, if there is one": [max(row) for row in rows],
    }
    for name, values in means.items():
        print(f"| {name} | {100 * np.mean(values):.1f} |", flush=True)


def windows_right(labeller: LongLabeller, doc: Document) -> list[bool]:
    """Of every window of a text, whether it gives the class of the text."""
    each = labeller.read(np.zeros(0, np.int32), labeller.cut(doc.text)).each
    gold = labeller.settings.labels.index(label_of(doc))
    return [best == gold for best in each.argmax(-1).tolist()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("questions", "classes"))
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--capacity", type=int, default=256)
    parser.add_argument("--block-size", type=int, default=31)
    parser.add_argument("--train", type=int, default=200)
    parser.add_argument("--steps", type=int, default=60, help="of questions")
    parser.add_argument("--epochs", type=int, default=2, help="of classes")
    parser.add_argument("--freeze", type=int, default=0, help="layers that do not learn, of classes")
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--test", type=int, default=100, help="long test texts of classes, and as many others")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is trained")
    options = parser.parse_args()
    {"questions": answer_questions, "classes": classify_postings}[options.what](options)


if __name__ == "__main__":
    main()

"""RAG on Natural Questions: answers written from nothing, from one passage, and from several.

    python recipes/answers/t5.py --output runs/t5-titles
    python recipes/answers/rag.py train --k 0 1 3 --output runs/rag
    python recipes/answers/rag.py compare --questions 150 --output runs/rag
    python recipes/answers/rag.py compare --model k1 --questions 30 --output runs/rag

Every question of nq-open-oracle has one passage that answers it. All of these are one pool, and a question is asked in
it by words. The generator is the small T5 of t5.py; the query encoder is minilm-en, whose vectors passages keep.
Questions from 2,001 on are never learned from; half of them may have been in what the T5 learned before it was
distilled to write titles, which all arms share.

    closed book           trained and asked with no passage
    k = 1                 with the best passage by words
    k = 3, thorough       one model, trained with the sequence loss on three passages; three ways to search its answers
    k = 3, fast
    k = 3, token
    k = 3, token loss     trained and decoded by token, if it was trained (train --k 3 --marginal token)

With --model, all arms are read by one model, so that only the passages and the search differ. Every arm is written to
--output as soon as it is there, and is not run again; so is training.
"""

import argparse
import json
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from _sets import questions_of

from factpin.answers.rag import score_answer
from factpin.answers.rag_writer import NO_PASSAGE, AnswerWriter
from factpin.documents import Question
from factpin.layers.half import half_precision
from factpin.models.generator_folder import load_writer
from factpin.scoring.answers import AnswerScores, Reply, compare, score_answers
from factpin.scoring.means import as_mean_rows, mean, mean_interval
from factpin.training.config import TrainConfig
from factpin.training.generator import AskedQuestion, asked_questions
from factpin.training.generator_options import GeneratorOptions
from factpin.training.part_table import train_part

HELD_OUT = 2000  # questions from here on are not learned from
MOST = 3  # passages
ARMS = {  # the folder of the model, passages, and how answers are searched
    "closed book": ("k0", 0, "thorough"),
    "k = 1": ("k1", 1, "thorough"),
    "k = 3, thorough": ("k3", 3, "thorough"),
    "k = 3, fast": ("k3", 3, "fast"),
    "k = 3, token": ("k3", 3, "token"),
    "k = 3, token loss": ("k3-token", 3, "token"),
}


def train(options: argparse.Namespace) -> None:
    """Train what is not in the folder yet, one model for every k."""
    training = questions_of("nq", HELD_OUT)[: options.steps * options.batch]
    how = TrainConfig(max_steps=options.steps, epochs=1000, batch_size=options.batch, learning_rate=2e-5,
                      head_learning_rate=5e-4, bf16=True, freeze_layers=3, seed=options.seed, evaluate_every=10**6,
                      save_every=50)  # fmt: skip
    for k in options.k:
        folder = options.output / f"k{k}{'-token' if options.marginal == 'token' else ''}"
        if not (folder / "factpin.json").exists():
            chosen = GeneratorOptions(
                "minilm-en", options.generator, k, options.marginal, max_length=options.max_length
            )
            train_part("generator", training, [], chosen, how, folder, quiet=True, resume=True)


def arms_of(options: argparse.Namespace) -> dict[str, tuple[str, int, str]]:
    """The arms whose models are there."""
    arms = {name: (options.model or folder, k, decode) for name, (folder, k, decode) in ARMS.items()}
    if options.model:
        del arms["k = 3, token loss"]
    return {name: arm for name, arm in arms.items() if (options.output / arm[0] / "factpin.json").exists()}


@dataclass
class AskedSet:
    """Dev questions, which are asked once in the pool of all passages."""

    options: argparse.Namespace
    dev: list[Question]
    pool: list[Question]

    @cached_property
    def found(self) -> list[AskedQuestion]:
        """The questions with MOST passages; every model has the same encoder of passages."""
        writer = load_writer(self.options.output / next(iter(arms_of(self.options).values()))[0])
        return asked_questions(writer, self.dev, self.pool, MOST)

    def asked(self, writer: AnswerWriter, k: int) -> list[AskedQuestion]:
        """The questions with their k best passages; with an empty one if there is to be none."""
        if k == 0:
            nothing = writer.documents(NO_PASSAGE)
            return [replace(one, passages=tuple(NO_PASSAGE), documents=nothing) for one in self.found]
        return [replace(one, passages=one.passages[:k], documents=one.documents[:k]) for one in self.found]


def answer(name: str, asked: AskedSet) -> dict[str, Any]:
    """What an arm answers, with the weights of passages and which of them hold an answer; from its file if there."""
    model, k, decode = arms_of(asked.options)[name]
    file = f"{model} {name} {asked.options.questions}.json"
    path = asked.options.output / file.replace(" = ", "").replace(",", "").replace(" ", "-")
    if not path.exists():
        writer = load_writer(asked.options.output / model)
        writer.settings = replace(writer.settings, decode=decode)
        questions = asked.asked(writer, k)
        began = time.process_time()
        found = [writer.write(one.question.text, one.passages, one.documents) for one in questions]
        rows = [
            {"id": one.question.id, "text": written[0].text, "score": written[0].score, "weights": written[0].weights,
             "gold": one.gold()}
            for one, written in zip(questions, found, strict=True)
        ]  # fmt: skip
        path.write_text(json.dumps({"seconds": time.process_time() - began, "rows": rows}, ensure_ascii=False))
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def alone(asked: AskedSet) -> dict[str, float]:
    """How likely a model finds gold answers, beside passages that hold one and beside others."""
    model = asked.options.model or "k3"
    path = asked.options.output / f"{model}-gold-answers-{asked.options.questions}.json"
    if not path.exists():
        writer = load_writer(asked.options.output / model)
        rows: list[tuple[bool, float]] = []
        for one in asked.asked(writer, MOST):
            rows += zip(one.gold(), gold_log_p(writer, one), strict=True)
        path.write_text(json.dumps(rows))
    rows = json.loads(path.read_text())
    return {name: sum(p for g, p in rows if g == is_gold) / max(1, sum(g == is_gold for g, _ in rows))
            for name, is_gold in (("holds it", True), ("does not", False))}  # fmt: skip


@torch.no_grad()
def gold_log_p(writer: AnswerWriter, one: AskedQuestion) -> list[float]:
    """log p of the first gold answer from each passage, a piece."""
    head = writer.model.head.eval()
    pieces = (*head.tokenizer.encode(one.question.answers[0]).ids.tolist(), head.end)
    states, mask = head.encode(writer.prompts(one.question.text, one.passages))
    found: list[float] = (score_answer(head, states, mask, pieces).sum(-1) / len(pieces)).tolist()
    return found


def report(options: argparse.Namespace) -> None:
    """The tables of all arms whose models are there."""
    everything = questions_of("nq", None)
    dev = everything[HELD_OUT : HELD_OUT + options.questions]
    asked = AskedSet(options, dev, everything)
    scores: dict[str, AnswerScores] = {}
    print(f"{len(dev)} questions, {len(everything)} passages\n")
    print("| arm | an answer is in the passages | EM | 95 % | F1 | 95 % | most weight on a passage with an answer | "
          "CPU s a question |\n" + "|---" * 8 + "|")  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    for name in arms_of(options):
        with half_precision("cpu", enabled=True):
            found[name] = answer(name, asked)
        rows = found[name]["rows"]
        scores[name] = score_answers(dev, {row["id"]: Reply(row["text"]) for row in rows})
        shown = []
        for metric in ("em", "f1"):
            low, high = mean_interval(scores[name].rows[metric])
            shown += [f"{100 * mean(scores[name].rows[metric]):.1f}", f"{100 * low:.1f}–{100 * high:.1f}"]
        some = [row for row in rows if any(row["gold"]) and not all(row["gold"])]
        most = [float(row["gold"][row["weights"].index(max(row["weights"]))]) for row in some]
        weight = ""
        if len(most) > 1:
            low, high = mean_interval(as_mean_rows(most))
            weight = (
                f"{sum(most):.0f} of {len(most)}: {100 * sum(most) / len(most):.1f} ({100 * low:.1f}–{100 * high:.1f})"
            )
        there = 100 * sum(any(row["gold"]) for row in rows) / len(rows)
        print(f"| {name} | {there:.1f} | {' | '.join(shown)} | {weight} | {found[name]['seconds'] / len(dev):.2f} |",
              flush=True)  # fmt: skip
    print("\n| compared | EM | 95 % | p | F1 | 95 % | p |\n|---|---|---|---|---|---|---|")
    for first, second in (("k = 1", "closed book"), ("k = 3, thorough", "k = 1"), ("k = 3, thorough", "k = 3, fast"),
                          ("k = 3, thorough", "k = 3, token"),
                          ("k = 3, token loss", "k = 3, thorough")):  # fmt: skip
        if first in scores and second in scores:
            tests = (compare(scores[first], scores[second], metric) for metric in ("em", "f1"))
            cells = [f"{100 * d.difference:+.1f} | {100 * d.interval[0]:+.1f} to {100 * d.interval[1]:+.1f} | "
                     f"{d.p_value:.3f}" for d in tests]  # fmt: skip
            print(f"| {first} − {second} | {' | '.join(cells)} |", flush=True)
    if "k = 3, fast" in found:
        pairs = list(zip(found["k = 3, thorough"]["rows"], found["k = 3, fast"]["rows"], strict=True))
        below = sum(a["score"] < b["score"] - 0.02 for a, b in pairs)  # bf16 rounds log p
        other = sum(a["text"] != b["text"] for a, b in pairs)
        print(f"\nthorough scores its answer lower than fast: {below} of {len(pairs)}; answers that differ: {other}")
        with half_precision("cpu", enabled=True):
            print("log p of gold answers, a piece, from a passage that", alone(asked))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "compare"))
    parser.add_argument("--k", type=int, nargs="+", default=[0, 1, 3])
    parser.add_argument("--marginal", choices=("sequence", "token"), default="sequence")
    parser.add_argument("--generator", default="runs/t5-titles")
    parser.add_argument("--model", default="", help="folder below --output of the one model that all arms are read by")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=6, help="questions a step")
    parser.add_argument("--max-length", type=int, default=160, help="tokens of a passage with its question")
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is trained")
    options = parser.parse_args()
    {"train": train, "compare": report}[options.what](options)


if __name__ == "__main__":
    main()

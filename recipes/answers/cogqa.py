"""CogQA on HotpotQA and 2WikiMultihop: hops that are learned, beside titles that are followed and a single hop.

    python recipes/answers/cogqa.py --steps 300 --questions 100 --output runs/cogqa

All paragraphs of the dev questions of both sets are one store. A reader and a model of hops learn from the same
training questions, with the same encoder and the same number of passages a step. Arms:

    single hop            the reader reads k passages that words find
    name hops             and k more, whose titles are mentioned there
    CogQA, no graph       System 1 and the loop; of the answers, the one that System 1 scored highest
    CogQA                 System 2 chooses

`all gold` is the share of questions all of whose supporting paragraphs were among those that were read.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from _sets import DATA, contexts, fill, questions_of

from factpin.answers.cogqa_ask import HopReasoner
from factpin.answers.passages import Retrieval, follow, retrieve
from factpin.answers.reasoners import ReasonedAnswers
from factpin.documents import Passage, Question
from factpin.formats.questions import read
from factpin.layers.half import half_precision
from factpin.memory import ALL, Store
from factpin.memory.search import Search
from factpin.models.hops_folder import load_hops
from factpin.models.reader_folder import load_reader
from factpin.scoring.answers import AnswerScores, Reply, compare, score_answers
from factpin.scoring.means import as_mean_rows, mean, mean_interval
from factpin.training.config import TrainConfig
from factpin.training.hops_options import HopOptions
from factpin.training.part_table import train_part
from factpin.training.reader_options import ReaderOptions

TRAIN = (DATA / "hotpotqa" / "distractor_train.jsonl.xz", DATA / "2wikimultihop" / "2wiki_train.jsonl.xz")
K, MOST = 5, 10  # passages that are retrieved, and that are read in all


def gold_read(question: Question, passages: Sequence[Passage]) -> float:
    """1 if all supporting paragraphs are among these."""
    there = {passage.text.strip() for passage in passages}
    return float(all(question.context[i].text.strip() in there for i in question.gold))


def by_titles(question: Question, store: Store, search: Search, *, hops: bool) -> Retrieval:
    """What words find, and with hops what is mentioned there: MOST passages in both cases."""
    if not hops:
        return retrieve(question.text, search, MOST)
    return follow(retrieve(question.text, search, K), store, MOST - K, ALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--train", type=int, default=500, help="questions of each set")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--questions", type=int, default=40, help="dev questions of each set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is trained")
    options = parser.parse_args()
    dev = [*questions_of("hotpotqa", options.questions), *questions_of("2wiki", options.questions)]
    known = {question.id for question in dev}
    training = [q for path in TRAIN for q in list(read(path))[: options.train] if q.id not in known]
    how = TrainConfig(max_steps=options.steps, epochs=1000, batch_size=3, learning_rate=1e-4, bf16=True,
                      seed=options.seed, evaluate_every=10**6, save_every=50)  # fmt: skip
    if not (options.output / "hops" / "factpin.json").exists():
        hops = HopOptions(options.encoder, max_length=192)
        train_part("hops", training, [], hops, how, options.output / "hops", quiet=True, resume=True)
    if not (options.output / "reader" / "factpin.json").exists():
        many = TrainConfig(**{**how.__dict__, "batch_size": 18})  # as many inputs a step as three graphs have
        config = ReaderOptions(options.encoder, max_length=192, overlap=32)
        train_part("reader", training, [], config, many, options.output / "reader", quiet=True, resume=True)
    with half_precision("cpu", enabled=True):
        compare_arms(options, dev)


def compare_arms(options: argparse.Namespace, dev: Sequence[Question]) -> None:
    """The table of all arms."""
    store = fill(contexts(dev))
    search, reader = Search(store), load_reader(options.output / "reader")
    hops = HopReasoner(load_hops(options.output / "hops"))
    scores: dict[str, AnswerScores] = {}
    gold: dict[str, list[float]] = {}
    for name, more in (("single hop", False), ("name hops", True)):
        found = [by_titles(question, store, search, hops=more) for question in dev]
        gold[name] = [gold_read(q, r.passages) for q, r in zip(dev, found, strict=True)]
        best = [reader.read(q.text, r.passages) for q, r in zip(dev, found, strict=True)]
        replies = {
            q.id: Reply("" if not mine else mine[0].text if mine[0].kind == "span" else mine[0].kind)
            for q, mine in zip(dev, best, strict=True)
        }
        scores[name] = score_answers(dev, replies)
        show(name, gold[name], scores[name])
    graphs = [hops(question.text, search, K, ALL) for question in dev]
    reads = [r.retrieval.passages for r in graphs]
    gold["CogQA"] = [gold_read(q, passages) for q, passages in zip(dev, reads, strict=True)]
    texts = {q.id: Reply(_best_of_system_1(r)) for q, r in zip(dev, graphs, strict=True)}
    scores["CogQA, no graph"] = score_answers(dev, texts)
    show("CogQA, no graph", gold["CogQA"], scores["CogQA, no graph"])
    scores["CogQA"] = score_answers(dev, {q.id: Reply(r.answers[0].text if r.answers else "")
                                          for q, r in zip(dev, graphs, strict=True)})  # fmt: skip
    show("CogQA", gold["CogQA"], scores["CogQA"])
    each = f"{sum(r.read for r in graphs) / len(dev):.1f} a question, {sum(map(len, reads)) / len(dev):.1f} different"
    print(f"\npassages read by the loop: {each} ones\n\n| compared | F1 | 95 % | p |\n|---|---|---|---|")
    for first, second in (("CogQA", "single hop"), ("CogQA", "name hops"), ("CogQA", "CogQA, no graph")):
        d = compare(scores[first], scores[second])
        low, high = d.interval
        print(f"| {first} − {second} | {100 * d.difference:+.1f} | {100 * low:+.1f} to {100 * high:+.1f} | "
              f"{d.p_value:.3f} |", flush=True)  # fmt: skip
    (options.output / "answers.json").write_text(json.dumps([r.answers[0].text if r.answers else "" for r in graphs]))


def _best_of_system_1(reasoning: ReasonedAnswers) -> str:
    """The answer that System 1 scored highest; yes, no and choices as System 2 has them."""
    answers, nodes = reasoning.answers, reasoning.graph.nodes if reasoning.graph else []
    spans = [span for node in nodes if node.findings for span in node.findings.answers]
    if answers and not answers[0].path and not spans:
        return str(answers[0].text)
    return str(max(spans, key=lambda span: span.score).text) if spans else ""


def show(name: str, gold: Sequence[float], scores: AnswerScores) -> None:
    """A row of the table."""
    if name == "single hop":
        print(f"{len(gold)} questions\n\n| arm | all gold | EM | F1 | 95 % |\n|---|---|---|---|---|")
    low, high = mean_interval(scores.rows["f1"])
    every, em, f1 = mean(as_mean_rows(list(gold))), mean(scores.rows["em"]), mean(scores.rows["f1"])
    print(f"| {name} | {100 * every:.1f} | {100 * em:.1f} | {100 * f1:.1f} | {100 * low:.1f}–{100 * high:.1f} |",
          flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

"""CogQA on HotpotQA and 2WikiMultihop: hops that are learned, beside titles that are followed and a single hop.

    python recipes/answers/cogqa.py --passages --questions 60 --output runs/cogqa-passages
    python recipes/answers/cogqa.py --steps 400 --questions 100 --output runs/cogqa
    python recipes/answers/cogqa.py --only-hops --steps 400 --questions 40 --output runs/cogqa-hops
    python recipes/answers/cogqa.py --only-hops --from-reader --steps 400 --questions 40 --output runs/cogqa-start

All paragraphs of the dev questions of both sets are one store. A reader and a model of hops learn from the same
training questions, with the same encoder and the same number of passages a step. Arms:

    single hop            the reader reads the ten passages that words find
    name hops             it reads five, and five more whose titles are mentioned there
    CogQA, no graph       System 1 and the loop, from the same five; of the answers, the one System 1 scored highest
    CogQA                 System 2 chooses
    … , en-reader         the shipped reader reads what these arms have read, at most ten passages
    CogQA, gold hops      System 1 names the titles of the other supporting paragraphs where a supporting one mentions
                          them, and no others; it answers as it has learned

With --passages nothing is trained: en-reader reads what words find, what name hops add, and what the loop adds with
gold hops, in which case System 1 is perfect. This is the most that learned hops can be worth to this reader. With
--only-hops no reader learns or reads: what the loop finds is counted, beside what titles find.

--only-hops also says what System 1 finds in the supporting paragraphs of training and of dev questions, and how many of
the titles that a paragraph mentions have to be followed until all gold is read: in the order of name hops, by the
score of System 1 at the title, and with gold hops first. --from-reader begins with the encoder of the shipped
en-reader in place of --encoder.

`all gold` is the share of questions all of whose supporting paragraphs were read. Every arm is written to --output as
soon as it is there, and is not run again; so is training.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _sets import DATA, contexts, fill, questions_of, spread
from _start import start_from_reader

from factpin.answers.cogqa import CognitiveGraph, Findings, FoundSpan, GraphNode, grow
from factpin.answers.cogqa_ask import HopReasoner
from factpin.answers.cogqa_hops import HopReader
from factpin.answers.cogqa_systems import HOP
from factpin.answers.pair_reader import collate_pairs
from factpin.answers.passages import Retrieval, follow, retrieve
from factpin.answers.reader import Reader, Reading
from factpin.answers.reasoners import ReasonedAnswers
from factpin.documents import Document, Passage, Question, Span
from factpin.documents.keys import passage_key
from factpin.formats.questions import read
from factpin.layers.half import half_precision
from factpin.memory import ALL
from factpin.memory.hops import linked
from factpin.memory.names import title_key
from factpin.memory.search import Search
from factpin.models.hops_folder import load_hops
from factpin.models.reader_folder import load_reader
from factpin.models.readers import open_reader
from factpin.models.shipped import find_model
from factpin.scoring.answers import AnswerScores, Reply, compare, score_answers
from factpin.scoring.intervals import paired_bootstrap
from factpin.scoring.means import as_mean_rows, mean, mean_interval, mean_of
from factpin.training.config import TrainConfig
from factpin.training.hops import mentions_of, title_of
from factpin.training.hops_options import HopOptions
from factpin.training.part_table import train_part
from factpin.training.reader_options import ReaderOptions

TRAIN = (DATA / "hotpotqa" / "distractor_train.jsonl.xz", DATA / "2wikimultihop" / "2wiki_train.jsonl.xz")
FOLLOWED = (0, 1, 2, 3, 5)  # titles
K, MOST = 5, 10  # passages that are retrieved, and that are read in all
RIGHT = 2 / 3  # the F1 from which an answer is right


@dataclass(frozen=True)
class ArmRow:
    """What an arm answers to one question, the titles that it read, and how many passages it read."""

    text: str
    titles: tuple[str, ...]
    gold: bool  # whether all supporting paragraphs were read
    read: int
    edges: tuple[tuple[str, str], ...] = ()  # from title to title
    cited: tuple[str, ...] = ()  # titles of the passages that are cited


@dataclass
class GoldHops(HopReader):
    """System 1 with the hops of gold: what supporting paragraphs mention of each other."""

    question: Question | None = None

    def findings(self, question: str, nodes: Sequence[GraphNode], *, forced: bool = False) -> list[Findings]:
        """The answers of System 1, and gold hops."""
        found = super().findings(question, nodes, forced=forced)
        return [replace(one, hops=gold_hops(self.question, node)) for node, one in zip(nodes, found, strict=True)]


def gold_hops(question: Question | None, node: GraphNode) -> tuple[FoundSpan, ...]:
    """Where a supporting paragraph mentions the titles of the others."""
    gold = [question.context[i] for i in question.gold] if question else []
    passage = node.passage
    if passage is None or passage.text.strip() not in {doc.text.strip() for doc in gold}:
        return ()
    others = [doc for doc in gold if title_of(doc) != passage.title]
    spans = [span for doc in others for span in mentions_of(title_of(doc), passage.text)]
    return tuple(FoundSpan(s, s, passage.text[s.start : s.end], 1.0) for s in spans)


class Arms:
    """The store of all dev paragraphs, the models, and what was read of each question before."""

    def __init__(self, options: argparse.Namespace, dev: Sequence[Question], pool: Sequence[Question]) -> None:
        self.dev, self.store = dev, fill(contexts(pool))
        self.search, self.folder = Search(self.store), options.output
        self._graphs: list[ReasonedAnswers] | None = None
        self._found: dict[str, Retrieval] = {}
        self._read: dict[tuple[int, str, str], list[Reading]] = {}

    def found(self, question: Question) -> Retrieval:
        """The MOST passages that words find; each question is searched for once."""
        if question.id not in self._found:
            self._found[question.id] = retrieve(question.text, self.search, MOST)
        return self._found[question.id]

    def passages(self, *, hops: bool) -> list[tuple[Passage, ...]]:
        """What words find, and with hops what is mentioned there: MOST passages in both cases."""
        found = [self.found(question) for question in self.dev]
        if not hops:
            return [one.passages for one in found]
        return [follow(replace(one, passages=one.passages[:K]), self.store, MOST - K, ALL).passages for one in found]

    def passages_of_gold_hops(self) -> list[tuple[Passage, ...]]:
        """What the loop reads with gold hops, from the same K passages."""
        found = []
        for question in self.dev:
            seeds = self.found(question).passages[:K]

            def read_gold(nodes: Sequence[GraphNode], _: bool, asked: Question = question) -> list[Findings]:
                return [Findings(gold_hops(asked, node), (), 1.0) for node in nodes]

            graph = grow(seeds, read_gold, self.titled, MOST - K)
            found.append(tuple(node.passage for node in graph.nodes if node.passage))
        return found

    def titled(self, name: str) -> list[Passage]:
        """The passage of a title."""
        key = title_key(name)
        return self.store.passages(self.store.titled([key], ALL).get(key, [])[:1])

    def graphs(self) -> list[ReasonedAnswers]:
        """What the loop finds for every question."""
        if self._graphs is None:
            reasoner = HopReasoner(load_hops(self.folder / "hops"))
            self._graphs = [reasoner(q.text, self.search, K, ALL) for q in self.dev]
        return self._graphs

    def with_gold_hops(self) -> list[ReasonedAnswers]:
        """The same with gold hops."""
        hops = load_hops(self.folder / "hops")
        return [
            HopReasoner(GoldHops(hops.model, hops.tokenizer, hops.settings, q))(q.text, self.search, K, ALL)
            for q in self.dev
        ]

    def read(self, reader: Reader[Any], passages: Sequence[Sequence[Passage]]) -> list[ArmRow]:
        """The best answers of a reader, which reads a passage for a question once."""
        rows = []
        for question, mine in zip(self.dev, passages, strict=True):
            new = [p for p in mine[:MOST] if (id(reader), question.id, p.id) not in self._read]
            readings = reader.read(question.text, new) if new else []
            for number, passage in enumerate(new):
                own = [reading for reading in readings if reading.passage == number]
                self._read[id(reader), question.id, passage.id] = own
            best = [r for p in mine[:MOST] for r in self._read[id(reader), question.id, p.id]]
            first = max(best, key=lambda reading: reading.sure, default=None)
            text = "" if first is None else first.text if first.kind == "span" else first.kind
            rows.append(_row(question, text, mine[:MOST], min(MOST, len(mine))))
        return rows

    def graph_rows(self, graphs: Sequence[ReasonedAnswers], *, system2: bool) -> list[ArmRow]:
        """What the loop answers, with System 2 or without."""
        rows = []
        for question, one in zip(self.dev, graphs, strict=True):
            text = one.answers[0].text if system2 and one.answers else "" if system2 else _best_of_system_1(one)
            row = _row(question, text, one.retrieval.passages, one.read)
            graph = one.graph or CognitiveGraph()
            edges = tuple((graph.nodes[e.source].name, graph.nodes[e.target].name) for e in graph.edges)
            names = {p.document: p.title for p in one.retrieval.passages}
            uris = {uri: names.get(document, "") for document, uri in one.retrieval.uris.items()}
            cited = tuple(uris.get(c.uri, "") for c in one.answers[0].citations) if one.answers and system2 else ()
            rows.append(replace(row, edges=edges, cited=cited))
        return rows


def _row(question: Question, text: str, passages: Sequence[Passage], read: int) -> ArmRow:
    there = {passage.text.strip() for passage in passages}
    gold = all(question.context[i].text.strip() in there for i in question.gold)
    return ArmRow(text, tuple(passage.title for passage in passages), gold, read)


def _best_of_system_1(reasoning: ReasonedAnswers) -> str:
    """The answer that System 1 scored highest; yes, no and choices as System 2 has them."""
    answers, nodes = reasoning.answers, reasoning.graph.nodes if reasoning.graph else []
    spans = [span for node in nodes if node.findings for span in node.findings.answers]
    if answers and not answers[0].path and not spans:
        return str(answers[0].text)
    return str(max(spans, key=lambda span: span.score).text) if spans else ""


def train(options: argparse.Namespace, training: Sequence[Question], *, only_hops: bool = False) -> None:
    """Train what is not in the folder yet."""
    how = TrainConfig(max_steps=options.steps, epochs=1000, batch_size=3, learning_rate=1e-4, bf16=True,
                      freeze_layers=options.freeze, seed=options.seed, evaluate_every=10**6, save_every=50)  # fmt: skip
    many = replace(how, batch_size=18)  # as many inputs a step as three graphs have
    parts = (
        ("hops", HopOptions(options.encoder, max_length=192), how),
        ("reader", ReaderOptions(options.encoder, max_length=192, overlap=32), many),
    )
    for name, config, how_ in parts[: 1 if only_hops else None]:
        if not (options.output / name / "factpin.json").exists():
            train_part(name, training, [], config, how_, options.output / name, quiet=True, resume=True)


def rows_of(folder: Path, name: str, make: Callable[[], list[ArmRow]]) -> list[ArmRow]:
    """An arm from its file, or made now and written there, with the CPU seconds that it took."""
    path = folder / f"{name.replace(',', '').replace(' ', '-')}.json"
    if not path.exists():
        began = time.process_time()
        rows = make()
        shown = {"seconds": time.process_time() - began, "rows": [asdict(row) for row in rows]}
        path.write_text(json.dumps(shown, ensure_ascii=False))
    rows = json.loads(path.read_text())["rows"]
    return [ArmRow(r["text"], tuple(r["titles"]), r["gold"], r["read"],
                   tuple((a, b) for a, b in r["edges"]), tuple(r["cited"])) for r in rows]  # fmt: skip


def hop_quality(dev: Sequence[Question], rows: Sequence[ArmRow]) -> str:
    """How many of the gold hops from a paragraph that was read the loop took, and how many of its hops are gold."""
    wanted = taken = made = 0
    for question, row in zip(dev, rows, strict=True):
        gold = [question.context[i] for i in question.gold]
        names = {title_of(doc) for doc in gold}
        pairs = {(title_of(x), title_of(y)) for x in gold for y in gold
                 if x is not y and mentions_of(title_of(y), x.text) and title_of(x) in row.titles}  # fmt: skip
        hops = {(a, b) for a, b in row.edges if b in row.titles}
        wanted, taken = wanted + len(pairs), taken + len(pairs & hops)
        made += sum(a in names for a, _ in hops)
    return (f"gold hops from paragraphs that were read: {wanted}, taken: {taken}; hops that were taken from "
            f"supporting paragraphs: {made}")  # fmt: skip


def print_hops(dev: Sequence[Question], rows: Sequence[ArmRow], scores: AnswerScores) -> None:
    """How good the hops are, and whether right answers are cited from supporting paragraphs."""
    print(f"\n{hop_quality(dev, rows)}")
    right = [row for row, f1 in zip(rows, scores.rows["f1"][:, 0], strict=True) if f1 >= RIGHT]
    gold = {q.id: {title_key(title_of(q.context[i])) for i in q.gold} for q in dev}
    by_row = {id(row): q.id for q, row in zip(dev, rows, strict=True)}
    from_gold = sum(bool(r.cited) and all(title_key(t) in gold[by_row[id(r)]] for t in r.cited) for r in right)
    print(f"right answers of CogQA: {len(right)}, all of whose citations are in supporting paragraphs: {from_gold}")


def report(dev: Sequence[Question], arms: dict[str, list[ArmRow]]) -> None:
    """The tables."""
    scores: dict[str, AnswerScores] = {}
    print(f"{len(dev)} questions\n\n| arm | passages read | all gold | EM | F1 | 95 % | HotpotQA | 2Wiki |"
          f"\n{'|---' * 8}|")  # fmt: skip
    hotpot = [question.id in {q.id for q in questions_of("hotpotqa", None)} for question in dev]
    for name, rows in arms.items():
        scores[name] = score_answers(dev, {q.id: Reply(row.text) for q, row in zip(dev, rows, strict=True)})
        f1 = scores[name].rows["f1"]
        low, high = mean_interval(f1)
        halves = [100 * mean(f1[[h == wanted for h in hotpot]]) for wanted in (True, False)]
        read, gold = sum(row.read for row in rows) / len(rows), 100 * sum(row.gold for row in rows) / len(rows)
        em = 100 * mean(scores[name].rows["em"])
        print(f"| {name} | {read:.1f} | {gold:.1f} | {em:.1f} | {100 * mean(f1):.1f} | {100 * low:.1f}–{100 * high:.1f}"
              f" | {halves[0]:.1f} | {halves[1]:.1f} |", flush=True)  # fmt: skip
    if "CogQA" in arms:
        print_hops(dev, arms["CogQA"], scores["CogQA"])
    print("\n| compared | all gold | 95 % | p | F1 | 95 % | p |\n|---|---|---|---|---|---|---|")
    for first, second in (
        ("name hops", "single hop"),
        ("CogQA", "single hop"),
        ("CogQA", "name hops"),
        ("CogQA", "CogQA, no graph"),
        ("CogQA, gold hops", "CogQA"),
        ("name hops, en-reader", "single hop, en-reader"),
        ("CogQA, en-reader", "name hops, en-reader"),
        ("CogQA, gold hops, en-reader", "name hops, en-reader"),
        ("CogQA, gold hops, en-reader", "single hop, en-reader"),
    ):
        if first in arms and second in arms:
            a, b = (as_mean_rows([float(row.gold) for row in arms[name]]) for name in (first, second))
            differences = (paired_bootstrap(a, b, statistic=mean_of), compare(scores[first], scores[second]))
            shown = [f"{100 * d.difference:+.1f} | {100 * d.interval[0]:+.1f} to {100 * d.interval[1]:+.1f} | "
                     f"{d.p_value:.3f}" for d in differences]  # fmt: skip
            print(f"| {first} − {second} | {' | '.join(shown)} |", flush=True)


def compare_passages(options: argparse.Namespace, dev: Sequence[Question], pool: Sequence[Question]) -> None:
    """What en-reader answers from the passages of three ways to find them."""
    options.output.mkdir(parents=True, exist_ok=True)
    made, shipped = Arms(options, dev, pool), open_reader(find_model("en-reader"))
    ways: dict[str, Callable[[], list[tuple[Passage, ...]]]] = {
        "single hop": lambda: made.passages(hops=False),
        "name hops": lambda: made.passages(hops=True),
        "CogQA, gold hops": made.passages_of_gold_hops,
    }
    arms: dict[str, list[ArmRow]] = {}
    for name, find in ways.items():
        arm = f"{name}, en-reader"
        arms[arm] = rows_of(options.output, arm, lambda find=find: made.read(shipped, find()))
        print(f"{arm}: done", flush=True)
    report(dev, arms)


def hop_scores(hops: HopReader, question: str, passage: Passage, spans: Sequence[Span]) -> list[float]:
    """How far above [CLS] System 1 scores the first token of each span of a passage, in characters of its text."""
    inputs = hops.inputs(question, (), passage.text)
    pairs = collate_pairs([one.pair for one in inputs], hops.tokenizer.pad_id)
    a = hops.model.scores(pairs).pointer.a[:, HOP].float()  # (windows, N)
    found = [[float(a[row, cell[0]] - a[row, 0]) for row, one in enumerate(inputs) if (cell := one.cell(*span))]
             for span in spans]  # fmt: skip
    return [max(scores, default=-np.inf) for scores in found]


@torch.no_grad()
def print_spans(hops: HopReader, sets: dict[str, Sequence[Question]]) -> None:
    """What System 1 finds in supporting paragraphs, and in others, when it reads them without clues."""
    print("\n| questions | gold hops | start above [CLS] | the best start | found, to the character | hops found in "
          "supporting paragraphs | of these gold | in 2 others a question |\n" + "|---" * 8 + "|")  # fmt: skip
    for name, questions in sets.items():
        gold = above = best = exact = made = right = other = 0
        for question in questions:
            read = [*question.gold, *(i for i in range(len(question.context)) if i not in question.gold)][
                : len(question.gold) + 2
            ]
            nodes = [GraphNode(i, "", passage_of(question.context[i])) for i in read]
            for node, found in zip(nodes, hops.findings(question.text, nodes), strict=True):
                if node.passage is None:
                    continue
                if node.number not in question.gold:
                    other += len(found.hops)
                    continue
                others = [question.context[i] for i in question.gold if i != node.number]
                spans = [span for doc in others for span in mentions_of(title_of(doc), node.passage.text)]
                scores = hop_scores(hops, question.text, node.passage, spans)
                spans_found = [span.span for span in found.hops]
                gold, above = gold + len(spans), above + sum(score > 0 for score in scores)
                highest = max(found.hops, key=lambda one: one.score, default=None)
                best += sum(highest is not None and highest.span.start == span.start for span in spans)
                exact += sum(span in spans_found for span in spans)
                made += len(spans_found)
                right += sum(any(a.start < b.end and b.start < a.end for b in spans) for a in spans_found)
        print(f"| {name}, {len(questions)} | {gold} | {above} | {best} | {exact} | {made} | {right} | {other} |",
              flush=True)  # fmt: skip


def passage_of(doc: Document) -> Passage:
    """A context as a passage."""
    return Passage(passage_key(doc.id, 0, len(doc.text)), doc.id, 0, len(doc.text), doc.text, title_of(doc))


@torch.no_grad()
def print_titles(made: Arms, hops: HopReader) -> None:
    """How often all gold is read after so many titles were followed, in four orders."""
    rows: dict[str, list[list[float]]] = {}
    for question in made.dev:
        seeds = made.found(question).passages[:K]
        ranks = {hit.passage: at for at, hit in enumerate(made.search(question.text, 1000, by="words"))}
        there = {passage.id for passage in seeds}
        named: dict[str, tuple[float, ...]] = {}  # passage -> its score in each order
        gold = {question.context[i].text.strip() for i in question.gold}
        for seed in seeds:
            mentions = linked(made.store, seed)
            spans = [Span(m.span.start - seed.start, m.span.end - seed.start) for m in mentions]
            scores = hop_scores(hops, question.text, seed, spans) if spans else []
            for mention, score in zip(mentions, scores, strict=True):
                for id in set(mention.passages[:1]) - there:
                    at = -float(len(named))
                    old = named.get(id, (at, -np.inf))
                    named[id] = (old[0], max(old[1], score), -float(ranks.get(id, 1000)))
        texts = {passage.id: passage.text.strip() for passage in made.store.passages(list(named))}
        read = {passage.text.strip() for passage in seeds}
        orders = {
            "in the order of name hops": sorted(named, key=lambda id: -named[id][0]),
            "by words of the question": sorted(named, key=lambda id: -named[id][2]),
            "by System 1": sorted(named, key=lambda id: -named[id][1]),
            "gold first": sorted(named, key=lambda id: texts[id] not in gold),
        }
        for name, order in orders.items():
            followed = [read | {texts[id] for id in order[:many]} for many in FOLLOWED]
            rows.setdefault(name, []).append([float(gold <= texts_read) for texts_read in followed])
    print(f"\n| titles followed, all gold | {' | '.join(map(str, FOLLOWED))} |\n{'|---' * (1 + len(FOLLOWED))}|")
    for name, values in rows.items():
        print(f"| {name} | {' | '.join(f'{100 * v:.1f}' for v in np.mean(values, axis=0))} |", flush=True)
    for other in ("in the order of name hops", "by words of the question"):
        for at, many in enumerate(FOLLOWED[1:], start=1):
            a, b = (as_mean_rows([row[at] for row in rows[name]]) for name in ("by System 1", other))
            d = paired_bootstrap(a, b, statistic=mean_of)
            print(f"by System 1 − {other}, {many}: {100 * d.difference:+.1f}, {100 * d.interval[0]:+.1f} to "
                  f"{100 * d.interval[1]:+.1f}, p {d.p_value:.3f}")  # fmt: skip


def count_hops(options: argparse.Namespace, training: Sequence[Question], made: Arms) -> None:
    """What a model of hops finds on its way, beside titles."""
    train(options, training, only_hops=True)
    hops = load_hops(options.output / "hops")
    with half_precision("cpu", enabled=True):
        print_spans(hops, {"training": spread(training, 2 * options.questions), "dev": made.dev})
        print_titles(made, hops)
    print()
    named = [_row(q, "", p, min(MOST, len(p))) for q, p in zip(made.dev, made.passages(hops=True), strict=True)]
    with half_precision("cpu", enabled=True):
        found = rows_of(options.output, "CogQA", lambda: made.graph_rows(made.graphs(), system2=True))
    for name, rows in (("name hops", named), ("CogQA", found)):
        print(f"{name}: all gold {100 * sum(row.gold for row in rows) / len(rows):.1f}, "
              f"passages read {sum(row.read for row in rows) / len(rows):.1f}")  # fmt: skip
    replies = {q.id: Reply(row.text) for q, row in zip(made.dev, found, strict=True)}
    print_hops(made.dev, found, score_answers(made.dev, replies))
    a, b = (as_mean_rows([float(row.gold) for row in rows]) for rows in (found, named))
    d = paired_bootstrap(a, b, statistic=mean_of)
    print(f"CogQA − name hops, all gold: {100 * d.difference:+.1f}, {100 * d.interval[0]:+.1f} to "
          f"{100 * d.interval[1]:+.1f}, p {d.p_value:.3f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", action="store_true", help="train nothing: what hops can be worth to en-reader")
    parser.add_argument("--only-hops", action="store_true", help="train hops alone, and count what they find")
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--from-reader", action="store_true", help="begin with the encoder of en-reader")
    parser.add_argument("--train", type=int, default=500, help="questions of each set")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--freeze", type=int, default=3, help="layers that do not learn")
    parser.add_argument("--questions", type=int, default=40, help="dev questions of each set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is trained")
    options = parser.parse_args()
    pools = [questions_of(name, None) for name in ("hotpotqa", "2wiki")]
    dev = [question for pool in pools for question in pool[: options.questions]]
    known = {question.id for pool in pools for question in pool}
    training = [q for path in TRAIN for q in list(read(path))[: options.train] if q.id not in known]
    if options.from_reader:
        options.encoder = start_from_reader(options.output / "start")
    if options.passages:
        compare_passages(options, dev, [question for pool in pools for question in pool])
        return
    if options.only_hops:
        count_hops(options, training, Arms(options, dev, [question for pool in pools for question in pool]))
        return
    train(options, training)
    arms: dict[str, list[ArmRow]] = {}
    with half_precision("cpu", enabled=True):
        made = Arms(options, dev, [question for pool in pools for question in pool])

        def add(name: str, make: Callable[[], list[ArmRow]]) -> None:
            arms[name] = rows_of(options.output, name, make)
            print(f"{name}: done", flush=True)

        reader = load_reader(options.output / "reader")
        single, named = made.passages(hops=False), made.passages(hops=True)
        add("single hop", lambda: made.read(reader, single))
        add("name hops", lambda: made.read(reader, named))
        add("CogQA, no graph", lambda: made.graph_rows(made.graphs(), system2=False))
        add("CogQA", lambda: made.graph_rows(made.graphs(), system2=True))
        gold: list[ReasonedAnswers] = []

        def gold_graphs() -> list[ReasonedAnswers]:
            gold.extend(made.with_gold_hops() if not gold else ())
            return gold

        add("CogQA, gold hops", lambda: made.graph_rows(gold_graphs(), system2=True))
    shipped = open_reader(find_model("en-reader"))
    add("single hop, en-reader", lambda: made.read(shipped, single))
    add("name hops, en-reader", lambda: made.read(shipped, named))
    add("CogQA, en-reader", lambda: made.read(shipped, [g.retrieval.passages for g in made.graphs()]))
    add("CogQA, gold hops, en-reader", lambda: made.read(shipped, [g.retrieval.passages for g in gold_graphs()]))
    report(dev, arms)


if __name__ == "__main__":
    main()

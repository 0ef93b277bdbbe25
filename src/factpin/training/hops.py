"""Training hops: questions with several supporting passages in, a model folder out.

Every question becomes a gold graph. Its nodes are the supporting passages, some that do not help, the answer, and wrong
answers whose clue is a sentence of a passage that does not help. A passage that mentions the title of another one has
an edge to it, and that sentence is a clue. System 1 learns the spans, System 2 which node answers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from factpin.answers.cogqa_ask import titles_of
from factpin.answers.cogqa_compare import NamedTitle, answer_kind, compared, spans_of
from factpin.answers.cogqa_hops import FoundAnswer, HopInput, HopReader, HopSettings
from factpin.answers.cogqa_systems import ANSWER, HOP, HopModel, span_loss
from factpin.answers.pair_reader import PairBatch, collate_pairs
from factpin.answers.yes_no import WORDS
from factpin.documents import Document, Passage, Question, Span
from factpin.documents.keys import fold, passage_key
from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.heads.cells import Cells
from factpin.memory.names import title_key
from factpin.models.hops_folder import hops_settings
from factpin.models.part_folder import save_part
from factpin.scoring.answers import AnswerScores, Reply, figures, score_answers
from factpin.tokens.pairs import FramedPair
from factpin.tokens.pieces import Ints
from factpin.training.config import TrainConfig
from factpin.training.hops_options import HOPS, HopOptions
from factpin.training.part_fit import fit_answers
from factpin.training.part_run import PartRun, SavedPart, column_of, open_encoder

METRICS = ("f1", "em")


@dataclass(eq=False)
class TaughtNode:
    """A passage with the spans that it names, or an answer without a passage; and its clues."""

    text: str  # "" without a passage
    clues: list[str] = field(default_factory=list)
    spans: list[tuple[int, Span]] = field(default_factory=list)  # (label, characters of the text)


@dataclass(eq=False)
class TaughtGraph:
    """The gold graph of a question."""

    question: str
    nodes: list[TaughtNode]
    edges: list[tuple[int, int]]
    kind: str  # "", yes_no or choice
    answer: int  # the node that answers, or of the two that are compared: 1 for yes and the first one, 0 otherwise
    pair: tuple[int, int] = (0, 0)


def title_of(doc: Document) -> str:
    """The title of a context."""
    return str(doc.meta.get("title", ""))


def mentions_of(title: str, text: str) -> list[Span]:
    """Where a title, without what is in brackets, is first mentioned in a text."""
    return spans_of(title_key(title), text)[:1]


def gold_graph(question: Question, negatives: int, chance: np.random.Generator) -> TaughtGraph | None:
    """The graph of a question; None if it has no gold, or nothing in its passages answers it."""
    gold, others = list(question.gold), [i for i in range(len(question.context)) if i not in question.gold]
    shown = [*gold, *(others[i] for i in sorted(chance.permutation(len(others))[:negatives].tolist()))]
    nodes = [TaughtNode(question.context[i].text) for i in shown]
    edges: list[tuple[int, int]] = []
    for x in range(len(gold)):
        for y in range(len(gold)):
            found = mentions_of(title_of(question.context[gold[y]]), nodes[x].text) if x != y else []
            for span in found:
                nodes[x].spans.append((HOP, span))
                nodes[y].clues.append(sentence_at(question.context[gold[x]], span))
                edges.append((x, y))
    graph = TaughtGraph(question.text, nodes, edges, "", -1)
    if not gold or not _teach_answer(question, gold, graph):
        return None
    _wrong_answers(graph, [question.context[i] for i in shown[len(gold) :]], len(gold), chance)
    return graph


def _teach_answer(question: Question, gold: Sequence[int], graph: TaughtGraph) -> bool:
    """Put the answer into a graph; whether there is one."""
    names = [title_of(question.context[i]) for i in gold]
    answer = fold(question.answers[0]) if question.answers else ""
    kind = "yes_no" if question.kind == "yes_no" else "choice" if answer_kind(question.text) == "choice" else ""
    pair = compared(kind, question.text, names)
    side = _right_side(kind, question.text, answer, pair, names) if pair and answer else None
    if pair and side is not None:
        graph.kind, graph.pair, graph.answer = kind, (pair[0].number, pair[1].number), side
        return True
    titles = [_is_title(answer, name) for name in names]
    spans = [(gold.index(context), span) for context, span in question.spans if context in gold]
    target = titles.index(True) if any(titles) else len(graph.nodes)
    if not spans and target == len(graph.nodes):
        return False
    if target == len(graph.nodes):
        graph.nodes.append(TaughtNode(""))
    for x, span in spans:
        graph.nodes[x].spans.append((ANSWER, span))
        if x != target and (x, target) not in graph.edges:
            graph.edges.append((x, target))
            graph.nodes[target].clues.append(sentence_at(question.context[gold[x]], span))
    graph.answer = target
    return True


def _right_side(kind: str, question: str, answer: str, pair: Sequence[NamedTitle], names: Sequence[str]) -> int | None:
    """1 where yes or the first title is the answer, 0 where no or the second one is; None where neither or both are."""
    if kind == "yes_no":
        return int(answer in ("yes", WORDS["zh"][0]))
    first, second = (answer == fold(question[slice(*t.span)]) or _is_title(answer, names[t.number]) for t in pair)
    return None if first == second else int(first)


def _is_title(answer: str, title: str) -> bool:
    """Whether a folded answer is a title, with what it has in brackets or without."""
    return bool(answer) and answer in (fold(title), title_key(title))


def _wrong_answers(graph: TaughtGraph, others: Sequence[Document], first: int, chance: np.random.Generator) -> None:
    """A wrong answer for each passage that does not help, with one of its sentences as its clue."""
    for x, doc in enumerate(others, start=first):
        start, end = doc.sentences[int(chance.integers(len(doc.sentences)))] if doc.sentences else (0, len(doc.text))
        graph.edges.append((x, len(graph.nodes)))
        graph.nodes.append(TaughtNode("", [doc.text[start:end]]))


def sentence_at(doc: Document, span: Span) -> str:
    """The sentence of a context around some characters."""
    for start, end in doc.sentences:
        if start <= span.start < end:
            return doc.text[start:end].strip()
    return doc.text[max(0, span.start - 100) : span.end + 100]


@dataclass(frozen=True, eq=False)
class HopBatch:
    """The nodes of some graphs side by side, the spans in them, and the rows of each graph's nodes.

    Nodes without a passage are short; they are a batch of their own, and their rows come behind those of the passages.
    """

    pairs: PairBatch
    bare: PairBatch | None
    spans: Cells
    graphs: tuple[tuple[TaughtGraph, tuple[int, ...]], ...]


class TaughtHops(nn.Module):
    """System 1 and System 2 as they learn together."""

    def __init__(self, hops: HopModel, final_weight: float) -> None:
        super().__init__()
        self.hops, self.final_weight = hops, final_weight

    @property
    def encoder(self) -> Encoder:
        """The encoder of System 1."""
        return self.hops.encoder

    @property
    def head(self) -> nn.ModuleDict:
        """The heads of both systems."""
        return self.hops.head

    def loss(self, batch: HopBatch) -> Tensor:
        """The loss of the spans, and that of the graphs."""
        scores = self.hops.scores(batch.pairs)
        meaning = scores.meaning
        if batch.bare is not None:
            meaning = torch.cat([meaning, self.hops.scores(batch.bare).meaning])
        final = torch.stack([self.graph_loss(graph, meaning[list(rows)]) for graph, rows in batch.graphs])
        per_graph = len(batch.pairs.ids) / len(batch.graphs)
        return span_loss(scores.pointer, batch.spans) * per_graph + self.final_weight * final.mean()

    def graph_loss(self, graph: TaughtGraph, meaning: Tensor) -> Tensor:
        """Cross entropy over all nodes; of a comparison, of the right side."""
        if graph.kind:
            score = self.hops.system2.compare(graph.kind, *meaning[list(graph.pair)])
            return binary_cross_entropy_with_logits(score, torch.full_like(score, graph.answer))
        scores = self.hops.system2(meaning, graph.edges)
        return cross_entropy(scores[None], torch.tensor([graph.answer], device=scores.device))


class HopsJob:
    """The graphs of a set of questions, and its dev set."""

    def __init__(
        self, reader: HopReader, training: Sequence[Question], dev: Sequence[Question], options: HopOptions, seed: int
    ) -> None:
        self.reader, self.dev = reader, dev
        self.model = TaughtHops(reader.model, options.final_weight)
        fitting = [(i, question) for i, question in enumerate(training) if reader.fits(question.text)]
        drawn = [gold_graph(q, options.negatives, np.random.default_rng([seed, i])) for i, q in fitting]
        self.graphs = [graph for graph in drawn if graph is not None]
        if training and not self.graphs:
            raise BadInput(
                f"No question of at most {options.max_length} tokens has supporting passages that answer it; hops are "
                f"learned from these."
            )
        self.too_long, self.untaught = len(training) - len(fitting), len(fitting) - len(self.graphs)
        self.lengths = [sum(len(node.text) // 4 + 32 for node in graph.nodes) for graph in self.graphs]
        self.terms = None

    def batch(self, examples: Sequence[int]) -> HopBatch:
        """The inputs of graphs; half of the time a passage is read without its clues, as when it is retrieved."""
        chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
        chosen = [self.graphs[i] for i in examples]
        many = sum(bool(node.text) for graph in chosen for node in graph.nodes)
        pairs, bare = list[FramedPair](), list[FramedPair]()
        cells: list[tuple[int, int, int, int]] = []
        graphs = []
        for graph in chosen:
            rows = []
            for node in graph.nodes:
                if not node.text:
                    rows.append(many + len(bare))
                    bare.append(self.reader.bare_input(graph.question, node.clues))
                    continue
                pair, found = self._input(graph.question, node, node.clues if chance.random() < 0.5 else [])
                rows.append(len(pairs))
                cells += [(len(pairs), label, first, last) for label, first, last in found]
                pairs.append(pair)
            graphs.append((graph, tuple(rows)))
        pad = self.reader.tokenizer.pad_id
        return HopBatch(collate_pairs(pairs, pad), collate_pairs(bare, pad) if bare else None, Cells.of(cells),
                        tuple(graphs))  # fmt: skip

    def _input(
        self, question: str, node: TaughtNode, clues: Sequence[str]
    ) -> tuple[FramedPair, list[tuple[int, int, int]]]:
        """A passage as an input: of a long one, the window with most gold spans."""
        inputs = self.reader.inputs(question, clues, node.text)
        best = max(inputs, key=lambda one: len(_cells(one, node)))
        return best.pair, _cells(best, node)

    def evaluate(self) -> dict[str, float]:
        """em and f1 on dev, where the contexts of a question are all there is."""
        return figures(judge_answers(self.dev, answers_of(self.reader, self.dev))) if self.dev else {}

    def columns(self) -> list[Ints]:
        """All that it learns from."""
        return [column_of("\n".join([g.question, *(n.text for n in g.nodes)])) for g in self.graphs]


def _cells(one: HopInput, node: TaughtNode) -> list[tuple[int, int, int]]:
    found = [(label, one.cell(*span)) for label, span in node.spans]
    return [(label, *cell) for label, cell in found if cell is not None]


def passages_of(question: Question) -> list[Passage]:
    """The contexts of a question as passages."""
    return [
        Passage(passage_key(doc.id, 0, len(doc.text)), doc.id, 0, len(doc.text), doc.text, title_of(doc))
        for doc in question.context
        if doc.text
    ]


def answers_of(reader: HopReader, questions: Sequence[Question]) -> list[FoundAnswer | None]:
    """The best answer to each question from its own contexts; None to one that is too long."""
    found: list[FoundAnswer | None] = []
    for question in questions:
        if not reader.fits(question.text):
            found.append(None)
            continue
        passages = passages_of(question)
        titles = titles_of(passages)
        _, answers = reader.answer(question.text, passages, partial(_titled, titles))
        found.append(answers[0] if answers else None)
    return found


def _titled(titles: Mapping[str, list[Passage]], name: str) -> list[Passage]:
    return titles.get(title_key(name), [])


def judge_answers(questions: Sequence[Question], best: Sequence[FoundAnswer | None]) -> AnswerScores:
    """The scores of the best answers."""
    yes_no = {word: ("yes", "no")[i] for words in WORDS.values() for i, word in enumerate(words)}
    replies = {
        question.id: Reply("" if one is None else yes_no.get(one.text, one.text) if one.compared else one.text)
        for question, one in zip(questions, best, strict=True)
    }
    return score_answers(questions, replies)


def start_hops(options: HopOptions, seed: int) -> HopReader:
    """A model with fresh heads on a pretrained encoder."""
    encoder, tokenizer = open_encoder(options.encoder, seed)
    length = min(options.max_length, encoder.max_length or options.max_length)
    settings = HopSettings(length, options.overlap, options.new_nodes)
    return HopReader(HopModel(encoder, options.dropout), tokenizer, settings)


def prepare_hops(
    training: Sequence[Question], dev: Sequence[Question], options: HopOptions, how: TrainConfig
) -> PartRun:
    """Both systems on a pretrained encoder, ready to learn; their scale is fitted on dev before they are saved."""
    reader = start_hops(options, how.seed)
    job = HopsJob(reader, training, dev, options, how.seed)

    def save(folder: Path) -> SavedPart:
        if dev:
            best = answers_of(reader, dev)
            reader.settings = fit_answers(reader.settings, best, judge_answers(dev, best), options.precision)
        settings = hops_settings(reader.settings, options)
        save_part(folder, settings, reader)
        return SavedPart(settings)

    kinds = Counter(graph.kind or "span" for graph in job.graphs)
    hops = sum(label == HOP for graph in job.graphs for node in graph.nodes for label, _ in node.spans)
    noted = {"not_taught": job.untaught, "too_long": job.too_long, **kinds, "hops": hops}
    counts = {"train": len(training), "dev": len(dev), "noted": noted}
    return PartRun(HOPS, job, options, how, METRICS, counts, save, job.columns)

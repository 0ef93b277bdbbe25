"""Answers to questions that need several documents: System 1 reads, the graph grows, System 2 chooses.

    hops = HopReader(model, tokenizer)
    graph, found = hops.answer(question, seeds, link)

Every answer is a span of a passage, words of the question (for "x or y"), or yes or no. A yes-no question that does not
name two titles has no answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from factpin.answers.cogqa import CognitiveGraph, Findings, FoundSpan, GraphNode, Link, grow
from factpin.answers.cogqa_compare import NamedTitle, answer_kind, compared
from factpin.answers.cogqa_systems import ANSWER, HOP, HopModel, decode
from factpin.answers.pair_reader import collate_pairs
from factpin.answers.yes_no import WORDS
from factpin.documents import Passage, Span
from factpin.language.identify import HAN
from factpin.language.sentences import split_sentences
from factpin.tasks.scale import Scale
from factpin.tokens import Pieces, Tokenizer, Window, char_span, piece_span
from factpin.tokens.pairs import LEAST, FramedPair, pair_frame, windows_beside
from factpin.tokens.pieces import Ints

MOST_HOPS, MOST_ANSWERS, LONGEST = 3, 1, 10  # spans of a passage, and pieces of a span
CLUE_SHARE = 3  # clues get at most a third of the room
FORCED = 0.1  # how much is allowed beyond the gap, where an answer has to be found
AT_ONCE = 8  # inputs in a batch


@dataclass(frozen=True)
class HopSettings:
    """How passages are read, and how scores become probabilities."""

    max_length: int = 256
    overlap: int = 32
    new_nodes: int = 5
    scale: Scale = field(default_factory=Scale)
    min_score: float = 0.5


@dataclass(frozen=True, eq=False, slots=True)
class HopInput:
    """A question, its clues and a window of a passage, and where the pieces of the passage are."""

    pair: FramedPair
    pieces: Pieces
    window: Window
    sentences: tuple[tuple[int, int], ...]  # in characters of the passage

    @property
    def shift(self) -> int:
        """From the tokens of the input to the pieces of the passage."""
        return self.window.first - self.pair.second_at

    def ends(self) -> list[int]:
        """Of every token, the token behind its sentence."""
        found = list(range(1, len(self.pair.ids) + 1))
        last = self.pair.second_at + self.window.last - self.window.first
        for token in range(self.pair.second_at, last):
            at = int(self.pieces.start[token + self.shift])
            stop = next((end for _, end in self.sentences if at < end), len(self.pieces.text))
            behind = int(np.searchsorted(self.pieces.start, stop)) - self.shift
            found[token] = min(last, max(token + 1, behind))
        return found

    def cell(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and last token of some characters of the passage; None if they are not fully in the window."""
        span = piece_span(self.pieces, start, end)
        if span is None or span[0] < self.window.first or span[1] >= self.window.last:
            return None
        return span[0] - self.shift, span[1] - self.shift

    def characters(self, first: int, last: int) -> Span:
        """The characters of the passage under some tokens."""
        return Span(*char_span(self.pieces, first + self.shift, last + self.shift))


@dataclass(frozen=True)
class FoundAnswer:
    """An answer, its score, and the node it is; for yes, no and "x or y" the two nodes that were compared."""

    text: str
    score: float
    node: int
    compared: tuple[int, int] | None = None


@dataclass
class HopReader:
    """Reads passages for questions hop by hop."""

    model: HopModel
    tokenizer: Tokenizer
    settings: HopSettings = field(default_factory=HopSettings)

    def inputs(self, question: str, clues: Sequence[str], text: str) -> list[HopInput]:
        """A question with clues beside every window of a text."""
        first = self.first_part(question, clues)
        sentences = tuple(split_sentences(text))
        pieces = self.tokenizer.encode_sentences(text, sentences)
        frame, limits = pair_frame(self.tokenizer), (self.settings.max_length, self.settings.overlap)
        found = windows_beside(self.tokenizer, first, pieces, sentences, *limits)
        return [HopInput(frame.join(first, pieces.ids[w.first : w.last]), pieces, w, sentences) for w in found]

    def first_part(self, question: str, clues: Sequence[str]) -> Ints:
        """The pieces of a whole question and its clues, with separators; the last clues that fit."""
        asked, *hints = (part.ids for part in self.tokenizer.encode_batch([question, *clues]))
        middle = np.array([id for id, _ in pair_frame(self.tokenizer).middle[:1]], np.int32)
        room = max(0, min(self.settings.max_length // CLUE_SHARE, self._room_beside(asked)))
        kept: list[Ints] = []
        for hint in hints[::-1]:
            part = np.concatenate([middle, hint])[:room]
            room -= len(part)
            kept = [part, *kept] if len(part) > 1 else kept
        return np.concatenate([asked, *kept])

    def fits(self, question: str) -> bool:
        """Whether a question leaves room for a passage; one that does not is refused."""
        return self._room_beside(self.tokenizer.encode(question).ids) >= 0

    def _room_beside(self, asked: Ints) -> int:
        """The tokens that are left for clues beside a question and the shortest window."""
        return self.settings.max_length - pair_frame(self.tokenizer).size - LEAST - len(asked)

    def bare_input(self, question: str, clues: Sequence[str]) -> FramedPair:
        """The input of a node that has no passage: the question and its clues."""
        return pair_frame(self.tokenizer).join(self.first_part(question, clues), np.zeros(0, np.int32))

    def meaning(self, question: str, clues: Sequence[Sequence[str]]) -> Tensor:
        """The meanings of nodes that have no passage, from their clues (N, D)."""
        pairs = [self.bare_input(question, some) for some in clues]
        return self.model.scores(collate_pairs(pairs, self.tokenizer.pad_id)).meaning

    def findings(self, question: str, nodes: Sequence[GraphNode], *, forced: bool = False) -> list[Findings]:
        """What System 1 finds in the passages of nodes."""
        reads: list[tuple[int, HopInput]] = []
        for number, node in enumerate(nodes):
            if node.passage is not None:
                reads += [(number, one) for one in self.inputs(question, node.clues, node.passage.text)]
        found: list[list[Findings]] = [[] for _ in nodes]
        for at in range(0, len(reads), AT_ONCE):
            some = reads[at : at + AT_ONCE]
            pairs = collate_pairs([one.pair for _, one in some], self.tokenizer.pad_id)
            scores = self.model.scores(pairs)
            for row, (number, one) in enumerate(some):
                passage = nodes[number].passage
                if passage is not None:
                    a, z = scores.pointer.a[row].float(), scores.pointer.z[row].float()
                    found[number].append(_findings(one, passage, a, z, scores.meaning[row], forced=forced))
        return [_joined(mine) for mine in found]

    @torch.no_grad()
    def answer(self, question: str, seeds: Sequence[Passage], link: Link) -> tuple[CognitiveGraph, list[FoundAnswer]]:
        """The graph that grew, and the answers of System 2, best first."""
        self.model.eval()
        graph = grow(
            seeds, lambda nodes, forced: self.findings(question, nodes, forced=forced), link, self.settings.new_nodes
        )
        if not graph.nodes:
            return graph, []
        kind = answer_kind(question)
        pair = compared(kind, question, [node.passage.title if node.passage else "" for node in graph.nodes])
        if pair is not None:
            x, y = self.meanings(question, graph)[[pair[0].number, pair[1].number]]
            return graph, _decided(question, kind, pair, float(self.model.system2.compare(kind, x, y)))
        return graph, [] if kind == "yes_no" else self._chosen(question, graph)

    def _chosen(self, question: str, graph: CognitiveGraph) -> list[FoundAnswer]:
        """The nodes that may be the answer, by their score among all nodes."""
        scores = self.model.system2(
            self.meanings(question, graph), [(edge.source, edge.target) for edge in graph.edges]
        )
        found = [
            FoundAnswer(max(node.named.values(), key=lambda span: span.score).text, odds, node.number)
            for node, odds in zip(graph.nodes, log_odds(scores).tolist(), strict=True)
            if node.answers
        ]
        return sorted(found, key=lambda one: (-one.score, one.node))

    def meanings(self, question: str, graph: CognitiveGraph) -> Tensor:
        """The meanings of all nodes (N, D): from their passages, or from their clues."""
        bare = [node for node in graph.nodes if node.findings is None or node.findings.meaning is None]
        by_clues = self.meaning(question, [node.clues for node in bare]) if bare else None
        rows: list[Tensor] = []
        for node in graph.nodes:
            if node.findings is not None and node.findings.meaning is not None:
                rows.append(node.findings.meaning)
            elif by_clues is not None:
                rows.append(by_clues[bare.index(node)])
        return torch.stack(rows)


def log_odds(scores: Tensor) -> Tensor:
    """The log odds of each node under the softmax over all nodes, which is what is learned (N,)."""
    if len(scores) < 2:
        return torch.zeros_like(scores)
    own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    return scores - scores.expand(len(scores), -1).masked_fill(own, -torch.inf).logsumexp(-1)


def _decided(question: str, kind: str, pair: tuple[NamedTitle, NamedTitle], score: float) -> list[FoundAnswer]:
    """Both answers of a comparison, the likelier one first; score is that of yes, or of the first title."""
    numbers = (pair[0].number, pair[1].number)
    if kind == "yes_no":
        yes, no = WORDS["zh" if HAN.search(question) else "en"]
        found = [FoundAnswer(yes, score, numbers[0], numbers), FoundAnswer(no, -score, numbers[0], numbers)]
    else:
        words = [question[slice(*one.span)] for one in pair]
        found = [FoundAnswer(words[i], (score, -score)[i], numbers[i], numbers) for i in (0, 1)]
    return sorted(found, key=lambda one: -one.score)


def _findings(one: HopInput, passage: Passage, a: Tensor, z: Tensor, meaning: Tensor, *, forced: bool) -> Findings:
    ends = one.ends()
    hops, _ = decode(a, z, HOP, ends, MOST_HOPS, LONGEST)
    answers, gap = decode(a, z, ANSWER, ends, MOST_ANSWERS, LONGEST)
    if forced and not answers:
        answers, _ = decode(a, z, ANSWER, ends, MOST_ANSWERS, LONGEST, allow=gap + FORCED)
    spans = [tuple(_span(one, passage, *found) for found in some) for some in (hops, answers)]
    return Findings(spans[0], spans[1], gap, meaning)


def _span(one: HopInput, passage: Passage, first: int, last: int, score: float) -> FoundSpan:
    start, end = one.characters(first, last)
    a, b = next(((s, e) for s, e in one.sentences if s <= start < e), (start, end))
    shift = passage.start
    return FoundSpan(
        Span(start + shift, end + shift),
        Span(min(a, start) + shift, max(b, end) + shift),
        passage.text[start:end],
        score,
    )


def _joined(found: Sequence[Findings]) -> Findings:
    """What the windows of a passage say together. It means what the window means that names most, as in training."""
    hops = _best([hop for one in found for hop in one.hops], MOST_HOPS)
    answers = _best([answer for one in found for answer in one.answers], MOST_ANSWERS)
    telling = max(found, key=lambda one: (len(one.hops) + len(one.answers), -one.gap))
    return Findings(hops, answers, min(one.gap for one in found), telling.meaning)


def _best(spans: Sequence[FoundSpan], most: int) -> tuple[FoundSpan, ...]:
    """The best spans, each once: windows overlap, and give the same span different scores."""
    found: dict[Span, FoundSpan] = {}
    for one in sorted(spans, key=lambda span: -span.score):
        found.setdefault(one.span, one)
    return tuple(found.values())[:most]

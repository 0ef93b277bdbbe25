"""Answers to questions that need several documents: System 1 reads, the graph grows, System 2 chooses.

    hops = HopReader(model, tokenizer)
    graph, found = hops.answer(question, seeds, link)

Every answer is a span of a passage, the name of a node (for "x or y"), or yes or no.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from factpin.answers.cogqa import CognitiveGraph, Findings, FoundSpan, GraphNode, Link, grow
from factpin.answers.cogqa_systems import ANSWER, HOP, HopModel, decode
from factpin.answers.pair_reader import collate_pairs
from factpin.answers.yes_no import WORDS
from factpin.documents import Passage, Span
from factpin.documents.keys import fold
from factpin.language.identify import HAN
from factpin.language.sentences import split_sentences
from factpin.memory.names import title_key
from factpin.tasks.scale import Scale
from factpin.tokens import Pieces, Tokenizer, Window, char_span, piece_span
from factpin.tokens.pairs import FramedPair, pair_frame, windows_beside
from factpin.tokens.pieces import Ints

MOST_HOPS, MOST_ANSWERS, LONGEST = 3, 1, 10  # spans of a passage, and pieces of a span
CLUE_SHARE = 3  # clues get at most a third of the room
FORCED = 0.1  # how much is allowed beyond the gap, where an answer has to be found
AT_ONCE = 8  # inputs in a batch
_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b|[吗么嘛]\W*$|是不是|是否|有没有", re.I
)
_CHOICE = re.compile(r"\bor\b|还是|或者", re.I)


def answer_kind(question: str) -> str:
    """What answers a question: "" (a span), yes_no, or choice (one of two that it names)."""
    return "choice" if _CHOICE.search(question) else "yes_no" if _YES_NO.search(question) else ""


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
        """The pieces of a question and its clues, with separators; the last clues that fit."""
        asked, *hints = (part.ids for part in self.tokenizer.encode_batch([question, *clues]))
        middle = np.array([id for id, _ in pair_frame(self.tokenizer).middle[:1]], np.int32)
        room = max(0, self.settings.max_length // CLUE_SHARE)
        kept: list[Ints] = []
        for hint in hints[::-1]:
            part = np.concatenate([middle, hint])[:room]
            room -= len(part)
            kept = [part, *kept] if len(part) > 1 else kept
        most = self.settings.max_length // 2 - sum(map(len, kept))
        return np.concatenate([asked[: max(8, most)], *kept])

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
        meaning = self.meanings(question, graph)
        kind = answer_kind(question)
        pair = compared_nodes(question, graph) if kind else None
        if kind and pair is not None:
            score = float(self.model.system2.compare(kind, meaning[pair[0]], meaning[pair[1]]))
            return graph, _decided(question, kind, graph, pair, score)
        scores = self.model.system2(meaning, [(edge.source, edge.target) for edge in graph.edges])
        chosen = [node for node in graph.nodes if node.answers]
        found = [FoundAnswer(node.name, _margin(scores, chosen, node), node.number) for node in chosen]
        return graph, sorted(found, key=lambda one: (-one.score, one.node))

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


def _margin(scores: Tensor, chosen: Sequence[GraphNode], node: GraphNode) -> float:
    """How far the score of a node is above those of the other answers; its log odds among them."""
    rest = [scores[other.number] for other in chosen if other is not node]
    return float(scores[node.number] - (torch.stack(rest).logsumexp(0) if rest else 0.0))


def _decided(question: str, kind: str, graph: CognitiveGraph, pair: tuple[int, int], score: float) -> list[FoundAnswer]:
    if kind == "yes_no":
        words = WORDS["zh" if HAN.search(question) else "en"]
        named = [(words[0], score), (words[1], -score)]
    else:
        named = [(graph.nodes[pair[0]].name, score), (graph.nodes[pair[1]].name, -score)]
    found = [
        FoundAnswer(text, value, pair[i if kind == "choice" else 0], pair) for i, (text, value) in enumerate(named)
    ]
    return sorted(found, key=lambda one: -one.score)


def compared_nodes(question: str, graph: CognitiveGraph) -> tuple[int, int] | None:
    """The two nodes that a question compares."""
    read = [node for node in graph.nodes if node.passage]
    names = [node.name for node in read]
    pair = two_offered(question, names) if answer_kind(question) == "choice" else two_named(question, names)
    return None if pair is None else (read[pair[0]].number, read[pair[1]].number)


def two_named(question: str, titles: Sequence[str]) -> tuple[int, int] | None:
    """The two titles that a question names first, in its order; where it names fewer, the first of the others."""
    asked = fold(question)
    found = [(named_at(asked, title_key(title)), i) for i, title in enumerate(titles)]
    ranked = [i for _, i in sorted(one for one in found if one[0] >= 0)] + [i for at, i in found if at < 0]
    return (ranked[0], ranked[1]) if len(ranked) > 1 else None


def two_offered(question: str, titles: Sequence[str]) -> tuple[int, int] | None:
    """The two titles that a question names on both sides of an "or"; an "or" inside a title offers nothing."""
    asked, keys = fold(question), [title_key(title) for title in titles]
    spans = sorted((at, at + len(key), i) for i, key in enumerate(keys) if (at := named_at(asked, key)) >= 0)
    whole = [(s, e, i) for s, e, i in spans if not any(a <= s and e <= b and b - a > e - s for a, b, _ in spans)]
    for (_, end, x), (start, _, y) in zip(whole, whole[1:], strict=False):
        if _CHOICE.search(asked[end:start]):
            return x, y
    return None


def named_at(asked: str, name: str) -> int:
    """Where a folded text has a folded name, in whole words unless it is Chinese; -1 where it has not."""
    for match in re.finditer(re.escape(name), asked) if name else ():
        around = asked[: match.start()][-1:], asked[match.end() :][:1]
        if HAN.search(name) or not any(c.isalnum() and not HAN.match(c) for c in around):
            return match.start()
    return -1


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
    """What the windows of a passage say together."""
    if len(found) == 1:
        return found[0]
    hops = sorted((hop for one in found for hop in one.hops), key=lambda hop: -hop.score)[:MOST_HOPS]
    answers = sorted((ans for one in found for ans in one.answers), key=lambda ans: -ans.score)[:MOST_ANSWERS]
    best = min(found, key=lambda one: one.gap)
    return Findings(tuple(dict.fromkeys(hops)), tuple(answers), best.gap, found[0].meaning)

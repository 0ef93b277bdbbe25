"""Judge: how much each block matters for a query, read side by side.

    [CLS] query [SEP] block [SEP] block [SEP] …

    H       token vectors                                      (B, N, D)
    s       scores of tokens, w·H + b                          (B, N)
    loss    binary cross entropy of s; tokens of the query and of relevant blocks are 1, of others 0
    score   of a block: the mean of sigmoid(s) over its pieces

Public code calls it introspector. It has the same shape: one linear layer, no MLP.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from factpin.answers.cogltx import CAPACITY, KEEP, SIZE, Recall, TextBlock, Windows, cut_blocks, mem_recall
from factpin.answers.cogltx_excerpt import Excerpt, excerpt
from factpin.answers.pair_reader import PairBatch, collate_pairs
from factpin.answers.pair_tensors import to_tensors
from factpin.documents import Span
from factpin.encoders import Encoder
from factpin.layers.dropout import Dropout
from factpin.tokens import Tokenizer
from factpin.tokens.pairs import FramedPair, pair_frame
from factpin.tokens.pieces import Ints

BUDGET = 4096  # tokens in a batch, including padding
IGNORED = -1.0  # target of tokens that are not judged


@dataclass(frozen=True)
class JudgeSettings:
    """How much is read at once, how long blocks are, and how many stay after each rehearsal."""

    capacity: int = CAPACITY
    size: int = SIZE
    keep: tuple[int, ...] = KEEP


@dataclass(frozen=True, eq=False, slots=True)
class BlockWindow:
    """A query and some blocks as one input, and the tokens [first, last) of each block in it."""

    pair: FramedPair
    places: tuple[tuple[int, int], ...]

    def targets(self, relevant: Sequence[bool]) -> Tensor:
        """1 at the query and at relevant blocks, 0 at others (n,)."""
        found = torch.ones(len(self.pair.ids))
        found[self.pair.second_at :] = 0.0
        for (first, last), wanted in zip(self.places, relevant, strict=True):
            found[first : last + 1] = float(wanted)
        return found


def assemble(tokenizer: Tokenizer, query: Ints, blocks: Sequence[TextBlock]) -> BlockWindow:
    """A query and some blocks as one input, with a separator between blocks."""
    frame = pair_frame(tokenizer)
    between = np.array([id for id, _ in frame.middle[:1]], np.int32)
    parts = [part for block in blocks for part in (block.ids, between)][:-1]
    pair = frame.join(query, np.concatenate(parts) if parts else np.zeros(0, np.int32))
    at = np.cumsum([pair.second_at, *(len(part) for part in parts)])
    places = [(int(at[2 * i]), int(at[2 * i + 1])) for i in range(len(blocks))]
    return BlockWindow(pair, tuple(places))


def room_beside(tokenizer: Tokenizer, query: Ints, capacity: int) -> int:
    """How many pieces of blocks, each with its separator, fit beside a query."""
    frame = pair_frame(tokenizer)
    return capacity - len(query) - frame.size + len(frame.middle[:1])


class JudgeModel(nn.Module):
    """Scores of tokens = head(dropout(encoder(window)))."""

    def __init__(self, encoder: Encoder, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(encoder.width, 1)
        self.dropout = Dropout(dropout)

    def scores(self, batch: PairBatch) -> Tensor:
        """The scores of all tokens (B, N)."""
        ids, segments, mask, _ = to_tensors(batch, next(self.parameters()).device)
        hidden = self.encoder(ids, mask, segments=segments).hidden  # (B, N, D)
        scores: Tensor = self.head(self.dropout(hidden)).squeeze(-1)  # (B, N)
        return scores

    def loss(self, example: tuple[PairBatch, Tensor]) -> Tensor:
        """The mean over the tokens of a batch."""
        batch, targets = example
        return judge_loss(self.scores(batch), targets)


def judge_loss(scores: Tensor, targets: Tensor) -> Tensor:
    """scores, targets (B, N) -> the mean over tokens that are judged."""
    targets = targets.to(scores.device)
    judged = targets != IGNORED
    return binary_cross_entropy_with_logits(scores[judged], targets[judged])


def collate_windows(windows: Sequence[BlockWindow], pad: int) -> PairBatch:
    """Windows side by side."""
    return collate_pairs([window.pair for window in windows], pad)


def collate_targets(windows: Sequence[BlockWindow], relevant: Sequence[Sequence[bool]]) -> Tensor:
    """The targets of windows side by side (B, N)."""
    rows = [window.targets(wanted) for window, wanted in zip(windows, relevant, strict=True)]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=IGNORED)


@dataclass(frozen=True)
class RecalledText:
    """Blocks of some documents, and which of them were kept."""

    texts: tuple[str, ...]
    blocks: tuple[TextBlock, ...]
    recall: Recall

    @property
    def excerpt(self) -> Excerpt:
        """What was kept, as one text."""
        return excerpt(self.texts, self.blocks, self.recall.kept)

    def spans(self) -> list[tuple[int, Span]]:
        """The kept parts of the documents."""
        return [(part.document, part.span) for part in self.excerpt.parts]


@dataclass
class Judge:
    """A trained judge: finds the blocks of long texts that matter for a query."""

    model: JudgeModel
    tokenizer: Tokenizer
    settings: JudgeSettings = field(default_factory=JudgeSettings)

    def recall(self, query: str, texts: Sequence[str], *, reserve: int = 0) -> RecalledText:
        """Read documents for a query. reserve: pieces that something else needs beside what is kept."""
        blocks = cut_blocks(texts, self.tokenizer, self.settings.size)
        asked = self.tokenizer.encode(query).ids
        room = room_beside(self.tokenizer, asked, self.settings.capacity) - reserve
        lengths = [len(block.ids) + 1 for block in blocks]
        found = mem_recall(lengths, room, lambda windows: self.score(asked, blocks, windows), self.settings.keep)
        return RecalledText(tuple(texts), tuple(blocks), found)

    def recall_beside(self, number: int, blocks: Sequence[TextBlock]) -> Recall:
        """The blocks that matter for the pieces of one of them, which is the query (token labelling)."""
        asked, others = blocks[number].ids, [i for i in range(len(blocks)) if i != number]
        room = room_beside(self.tokenizer, asked, self.settings.capacity)
        lengths = [len(blocks[i].ids) + 1 for i in others]
        chosen = [blocks[i] for i in others]
        found = mem_recall(lengths, room, lambda windows: self.score(asked, chosen, windows), self.settings.keep)
        return Recall(tuple(others[i] for i in found.kept), found.steps)

    def score(self, query: Ints, blocks: Sequence[TextBlock], windows: Windows) -> list[list[float]]:
        """The score of every block in every window."""
        return list(score_windows(self.model, self.tokenizer, query, blocks, windows))


class TokenJudge(Protocol):
    """Scores tokens: a JudgeModel, or a model with a judge among its heads."""

    def eval(self) -> object: ...
    def scores(self, batch: PairBatch) -> Tensor: ...


def score_windows(
    model: TokenJudge, tokenizer: Tokenizer, query: Ints, blocks: Sequence[TextBlock], windows: Windows
) -> Iterator[list[float]]:
    """The score of every block in every window, a few windows at a time: memory does not grow with the text."""
    model.eval()
    longest = len(query) + pair_frame(tokenizer).size
    longest += max((sum(len(blocks[i].ids) + 1 for i in window) for window in windows), default=0)
    many = max(1, BUDGET // max(1, longest))
    for at in range(0, len(windows), many):
        here = [assemble(tokenizer, query, [blocks[i] for i in window]) for window in windows[at : at + many]]
        with torch.no_grad():
            table = model.scores(collate_windows(here, tokenizer.pad_id)).sigmoid().cpu()
        for row, window in zip(table, here, strict=True):
            yield [float(row[first:last].mean()) for first, last in window.places]

"""Long texts to classes, and the pieces of long texts to labels: what CogLTX calls its tasks b and c.

    text     [CLS] [SEP] block [SEP] block …             classes(h_CLS)                         (B, C)
    pieces   [CLS] block to label [SEP] block …          labels(h) at the pieces of the block   (B, N, C)
    judge    w·h of every token, as in cogltx_judge                                             (B, N)

One encoder reads for both heads. Public code has an encoder for each; that is twice the work and the weights.

How a text that does not fit is read:

    memrecall   what the judge keeps of it
    head        its first blocks
    ends        its first and its last blocks
    windows     all of it, window by window; the mean of the scores counts
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from factpin.answers.cogltx import CAPACITY, KEEP, SIZE, TextBlock, cut_blocks, mem_recall, pack
from factpin.answers.cogltx_excerpt import excerpt
from factpin.answers.cogltx_judge import BlockWindow, assemble, collate_windows, judge_loss, room_beside, score_windows
from factpin.answers.pair_reader import PairBatch
from factpin.answers.pair_tensors import to_tensors
from factpin.documents import Span
from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.layers.dropout import Dropout
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints

Long = Literal["memrecall", "head", "ends", "windows"]
Unit = Literal["text", "pieces"]
NO_LABEL = -100  # of tokens that are not labelled; cross_entropy leaves these out
AT_ONCE = 8  # windows in a batch
OUTSIDE = "O"  # the label of pieces in no mention


@dataclass(frozen=True)
class LongSettings:
    """The labels, what has one, how much is read at once, and how what does not fit is read."""

    labels: tuple[str, ...]
    unit: Unit = "text"
    long: Long = "memrecall"
    capacity: int = CAPACITY
    size: int = SIZE
    keep: tuple[int, ...] = KEEP

    def __post_init__(self) -> None:
        if len(set(self.labels)) < 2 or len(set(self.labels)) != len(self.labels):
            raise BadInput(f"labels are {', '.join(self.labels) or 'empty'}; expected two or more different ones.")
        if self.unit == "pieces" and self.long == "windows":
            raise BadInput("Pieces are labelled block by block, so long=windows has no meaning; expected another one.")


@dataclass(frozen=True, eq=False)
class LongBatch:
    """Windows that are labelled, windows that are judged, and the targets of both."""

    read: PairBatch
    gold: Tensor  # (B,) classes, or (B, N) labels of pieces
    judged: PairBatch | None = None
    relevant: Tensor | None = None  # (J, N)


class LongModel(nn.Module):
    """An encoder with a head for labels and one for the relevance of blocks."""

    def __init__(self, encoder: Encoder, labels: int, unit: Unit, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder, self.unit = encoder, unit
        self.head = nn.ModuleDict({"judge": nn.Linear(encoder.width, 1), "labels": nn.Linear(encoder.width, labels)})
        self.dropout = Dropout(dropout)

    def hidden(self, batch: PairBatch) -> Tensor:
        """Token vectors (B, N, D)."""
        ids, segments, mask, _ = to_tensors(batch, next(self.parameters()).device)
        return self.dropout(self.encoder(ids, mask, segments=segments).hidden)

    def scores(self, batch: PairBatch) -> Tensor:
        """How relevant every token is (B, N)."""
        return self.head["judge"](self.hidden(batch)).squeeze(-1)

    def label_scores(self, batch: PairBatch) -> Tensor:
        """The scores of classes (B, C), or of the labels of every token (B, N, C)."""
        hidden = self.hidden(batch)
        return self.head["labels"](hidden[:, 0] if self.unit == "text" else hidden)

    def losses(self, batch: PairBatch, gold: Tensor) -> Tensor:
        """The loss of each window (B,): the mean over what is labelled in it."""
        scores = self.label_scores(batch)
        gold = gold.to(scores.device)
        each = cross_entropy(scores.flatten(0, -2).float(), gold.flatten(), ignore_index=NO_LABEL, reduction="none")
        each = each.view_as(gold)
        return each if self.unit == "text" else each.sum(-1) / (gold != NO_LABEL).sum(-1).clamp(min=1)

    def loss(self, batch: LongBatch) -> Tensor:
        """That of the labels, and that of the judge where there is something to judge."""
        loss = self.losses(batch.read, batch.gold).mean()
        if batch.judged is None or batch.relevant is None:
            return loss
        return loss + judge_loss(self.scores(batch.judged).float(), batch.relevant)


def without_block(batch: PairBatch, row: int, place: tuple[int, int]) -> PairBatch:
    """A batch in which a block of one window cannot be seen; all other pieces keep their positions."""
    mask = batch.mask.copy()
    mask[row, place[0] : place[1] + 1] = False
    return PairBatch(batch.ids, batch.segments, mask, batch.real)


def first_blocks(lengths: Sequence[int], room: int) -> tuple[int, ...]:
    """As many of the first blocks as fit."""
    return tuple(int(i) for i in np.flatnonzero(np.cumsum(lengths) <= room))


def blocks_at_both_ends(lengths: Sequence[int], room: int) -> tuple[int, ...]:
    """First blocks in a quarter of the room, and last ones in the rest."""
    first = first_blocks(lengths, room // 4)
    left = room - sum(lengths[i] for i in first)
    last = [len(lengths) - 1 - i for i in first_blocks(lengths[::-1], left)]
    return tuple(sorted({*first, *last}))


@dataclass(frozen=True)
class TextLabel:
    """A text with its class, how likely each class is, and the characters that were read for it."""

    label: str
    probabilities: dict[str, float]
    read: tuple[Span, ...]


@dataclass(frozen=True, eq=False)
class ReadText:
    """The windows of a text that were read, and the log probabilities of the classes in each (W, C)."""

    windows: tuple[tuple[int, ...], ...]
    each: Tensor

    @property
    def scores(self) -> Tensor:
        """The mean over the windows (C,)."""
        return self.each.mean(0)


@dataclass
class LongLabeller:
    """Labels long texts or their pieces."""

    model: LongModel
    tokenizer: Tokenizer
    settings: LongSettings

    def cut(self, text: str) -> list[TextBlock]:
        """The blocks of a text."""
        return cut_blocks([text], self.tokenizer, self.settings.size)

    def room(self, query: Ints) -> int:
        """Pieces of blocks that fit beside a query."""
        return room_beside(self.tokenizer, query, self.settings.capacity)

    def windows(self, query: Ints, blocks: Sequence[TextBlock]) -> list[list[int]]:
        """The blocks to read, in the order of the text: one window, or with long=windows as many as it takes."""
        lengths, room = [len(block.ids) + 1 for block in blocks], self.room(query)
        if sum(lengths) <= room:
            return [list(range(len(blocks)))]
        match self.settings.long:
            case "head":
                return [list(first_blocks(lengths, room))]
            case "ends":
                return [list(blocks_at_both_ends(lengths, room))]
            case "windows":
                return pack(lengths, room, ())
        return [list(mem_recall(lengths, room, lambda w: self.judge(query, blocks, w), self.settings.keep).kept)]

    def judge(self, query: Ints, blocks: Sequence[TextBlock], windows: Sequence[Sequence[int]]) -> list[list[float]]:
        """The relevance of every block in every window."""
        return list(score_windows(self.model, self.tokenizer, query, blocks, windows))

    def assemble(self, query: Ints, blocks: Sequence[TextBlock], kept: Sequence[int]) -> BlockWindow:
        """A query and some blocks as one input."""
        return assemble(self.tokenizer, query, [blocks[i] for i in kept])

    @torch.no_grad()
    def read(self, query: Ints, blocks: Sequence[TextBlock]) -> "ReadText":
        """The scores of the classes of a text, a few windows at a time."""
        self.model.eval()
        windows = self.windows(query, blocks)
        rows = []
        for at in range(0, len(windows), AT_ONCE):
            some = [self.assemble(query, blocks, window) for window in windows[at : at + AT_ONCE]]
            rows.append(self.model.label_scores(collate_windows(some, self.tokenizer.pad_id)).float().log_softmax(-1))
        return ReadText(tuple(map(tuple, windows)), torch.cat(rows))

    def classify(self, text: str) -> TextLabel:
        """The class of a text."""
        if self.settings.unit != "text":
            raise BadInput("This model labels pieces. Train one for texts: factpin train classify --unit text.")
        blocks = self.cut(text)
        read = self.read(np.zeros(0, np.int32), blocks)
        shown = excerpt([text], blocks, sorted({i for window in read.windows for i in window}))
        found = dict(zip(self.settings.labels, read.scores.softmax(-1).tolist(), strict=True))
        return TextLabel(max(found, key=lambda label: found[label]), found, tuple(part.span for part in shown.parts))

    @torch.no_grad()
    def label_pieces(self, query: Ints, others: Sequence[TextBlock]) -> list[int]:
        """The labels of the pieces of a block, read beside what matters for it of the others."""
        self.model.eval()
        (kept,) = self.windows(query, others)
        window = self.assemble(query, others, kept)
        scores = self.model.label_scores(collate_windows([window], self.tokenizer.pad_id))[0]  # (N, C)
        first = first_piece(window, query)
        found: list[int] = scores[first : first + len(query)].argmax(-1).tolist()
        return found

    def label(self, text: str) -> list[tuple[Span, str]]:
        """The labelled runs of pieces, as characters of the text."""
        if self.settings.unit != "pieces":
            raise BadInput("This model labels texts. Train one for pieces: factpin train classify --unit pieces.")
        blocks, found = self.cut(text), list[tuple[Span, str]]()
        for number, block in enumerate(blocks):
            others = [one for i, one in enumerate(blocks) if i != number]
            found += _runs(block, [self.settings.labels[tag] for tag in self.label_pieces(block.ids, others)])
        return found


def first_piece(window: BlockWindow, query: Ints) -> int:
    """The token at which the query begins."""
    ids = window.pair.ids[: window.pair.second_at]
    return next(i for i in range(len(ids)) if np.array_equal(ids[i : i + len(query)], query))


def piece_labels(block: TextBlock, spans: Sequence[tuple[Span, str]]) -> list[str]:
    """The label of every piece of a block: that of the span it is in."""
    return [
        next((label for span, label in spans if span.start <= start and end <= span.end), OUTSIDE)
        for start, end in zip(block.starts.tolist(), block.ends.tolist(), strict=True)
    ]


def _runs(block: TextBlock, labels: Sequence[str]) -> list[tuple[Span, str]]:
    """Neighbouring pieces of one label, as characters."""
    runs: list[tuple[Span, str]] = []
    last = OUTSIDE
    for start, end, label in zip(block.starts.tolist(), block.ends.tolist(), labels, strict=True):
        if label != OUTSIDE and label == last:
            runs[-1] = (Span(runs[-1][0].start, end), label)
        elif label != OUTSIDE:
            runs.append((Span(start, end), label))
        last = label
    return runs

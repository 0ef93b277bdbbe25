"""Coreference: what a scorer of pairs says about the mentions of read documents, and the documents with entities.

    H       the windows of a document, merged               (N, D)
    s       scores of each mention's candidates             (M, K)        heads/mention_pair
    p       softmax([0; s] / temperature), without the 0    (M, K)
    entities = resolve(doc, judged=(p, keep, add))                        tasks/coreference

The document brings its mentions; entities that it brings are not looked at. Rules propose, the scorer accepts, refuses
and adds, and the vetoes of `resolve` hold whatever it says. A mention that no piece holds is left to the rules, and
named in the coverage. Documents are read whole, in overlapping windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from factpin.arrays import Bools, Ints
from factpin.documents import Document, Mention
from factpin.encoders import Encoder
from factpin.encoders.merge_windows import WindowLayout, merge_hidden
from factpin.heads.mention_pair import MentionPair, Pairs, gold_of, judged_of, probability
from factpin.language.coreference import KEEP, MentionPairs
from factpin.layers.dropout import Dropout
from factpin.models.reading import Read, batched
from factpin.models.settings import Settings
from factpin.tasks.coreference import Targets, decode, targets
from factpin.tokens import Tokenizer


@dataclass(frozen=True)
class CoreferenceSettings:
    """How scores become entities: Settings.task_config of a model of coreference. `add` is its threshold."""

    keep: float = KEEP  # PairScores.keep


@dataclass(frozen=True)
class Paired:
    """A document with the pairs of mentions that are asked."""

    windows: tuple[NDArray[np.int32], ...]  # ids of each
    layout: WindowLayout
    tokens: Ints  # (M, 2) first and last token of every mention, in the order of the text
    targets: Targets

    @property
    def candidates(self) -> MentionPairs:
        return self.targets.candidates

    @property
    def gold(self) -> Bools:
        """(M, K)."""
        return self.targets.gold

    @property
    def unread(self) -> tuple[Mention, ...]:
        """No piece holds any of it: neither asked nor a candidate."""
        return self.targets.unread

    def __len__(self) -> int:
        """Tokens of all windows."""
        return sum(len(ids) for ids in self.windows)


def paired(read: Read, most: int, tokenizer: Tokenizer) -> Paired:
    """The pairs of a document, at most so many for each mention, with gold from the entities that it brings."""
    y, prefix = targets(read.doc, read.pieces, most), len(tokenizer.prefix)
    layout = WindowLayout(read.windows, len(read.pieces), prefix, tokenizer.frame_size - prefix)
    tokens = np.where(y.read[:, None], np.stack((y.first, y.last), axis=1) + prefix, 0)
    return Paired(read.ids, layout, tokens, y)


class MentionModel(nn.Module):
    """Scores = head(the windows of each document, merged)."""

    def __init__(self, encoder: Encoder, head: MentionPair, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.dropout = Dropout(dropout)

    def scores(self, documents: Sequence[Paired], tokenizer: Tokenizer) -> Tensor:
        """s (M, K) of the mentions of all documents. Windows are read in batches of a token budget."""
        device = next(self.parameters()).device
        hidden: list[dict[int, Tensor]] = [{} for _ in documents]
        for chosen, batch in batched([doc.windows for doc in documents], tokenizer):
            batch = batch.to(device)
            vectors = self.dropout(self.encoder(batch.ids, batch.mask).hidden)  # (B, N, D)
            for i, (d, w) in enumerate(chosen):
                hidden[d][w] = vectors[i]
        H = [
            merge_hidden([own[w] for w in sorted(own)], doc.layout) for own, doc in zip(hidden, documents, strict=True)
        ]
        pairs = Pairs.of([(doc.tokens, doc.candidates) for doc in documents])
        s: Tensor = self.head(pad_sequence(H, batch_first=True), pairs)
        return s

    def loss(self, example: tuple[Sequence[Paired], Tokenizer]) -> Tensor:
        """The mean loss over the mentions of these documents."""
        documents, _ = example
        return self.head.loss(self.scores(*example), gold_of([doc.gold for doc in documents]))

    def agreement(self, example: tuple[Sequence[Paired], Tokenizer]) -> tuple[Tensor, Tensor]:
        """R-Drop: the mean loss of two passes under dropout, and how far their scores are apart."""
        gold = gold_of([doc.gold for doc in example[0]])
        a, b = self.scores(*example), self.scores(*example)
        return (self.head.loss(a, gold) + self.head.loss(b, gold)) / 2, self.head.apart(a, b)


@dataclass(frozen=True)
class Scored:
    """What the scorer said of one document; temperature and keep are applied when it is annotated."""

    paired: Paired
    scores: Tensor  # (M, K)
    add: float  # PairScores.add


def find(
    model: MentionModel, tokenizer: Tokenizer, settings: Settings, reads: Sequence[Read], cut: float | Tensor
) -> list[Scored]:
    """The scores of every document, one document at a time."""
    found = []
    for read in reads:
        document = paired(read, model.head.config.antecedents, tokenizer)
        scores = torch.full(document.candidates.antecedent.shape, -torch.inf)
        if bool((document.candidates.antecedent >= 0).any()):
            with torch.no_grad():
                scores = model.scores([document], tokenizer).float().cpu()
        found.append(Scored(document, scores, float(cut)))
    return found


def annotated(read: Read, found: Scored, settings: Settings) -> Document:
    """The document with its mentions gathered into entities; facts follow their mentions."""
    own = CoreferenceSettings(**settings.task_config)
    (judged,) = judged_of(probability(found.scores, settings.temperature), [found.paired.candidates])
    return decode(read.doc, replace(judged, keep=own.keep, add=found.add), found.paired.targets)

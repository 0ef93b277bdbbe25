"""REALM: a retriever learns from what helps to fill in a blank. ICT: it learns first which passage a sentence is from.

    x      a sentence with one name or date blanked out            salient spans: the mentions of its document
    z      K passages: the null document, and the best others; never one of the sentence's own document
    doc    log p(z | x), softmax over the K of SHARP * cos(x, z)   (B, K)
    y      log p(y_t | x, z) of the pieces of the blank            (B, K, T)   read as [CLS] x [SEP] z [SEP]
           softmax over the vocabulary and the pieces of z: a piece is said from memory, or copied from the passage

    token      log p(y | x) = Σ_t log Σ_z p(z | x) p(y_t | x, z)       as the released code has it
    sequence   log p(y | x) = log Σ_z p(z | x) Π_t p(y_t | x, z)       as the paper has it
    utility    log p(y | x) - log p(y | x, null)                       what retrieval adds; logged

    ict        softmax over the passages of a batch: each sentence finds its own, out of which it is taken mostly

One encoder embeds sentences and passages, another reads them side by side. The reader of the published system has been
pretrained to fill in masks, and learns to copy by itself. Candidates are chosen by vectors that are as old as the last
refresh; the loss is computed with new ones. In its lesson only the reader learns, beside a passage that states the name
and beside none: a retriever cannot learn from passages that the reader does not use.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from factpin.answers.embedding import SHARP, TextEmbedder
from factpin.answers.marginal import prior, sequence, token
from factpin.answers.pair_reader import collate_pairs
from factpin.answers.pair_tensors import to_tensors
from factpin.documents import Document, Span
from factpin.encoders import Encoder
from factpin.language.sentences import split_sentences
from factpin.memory.passages import PassageSettings, cut
from factpin.tokens import Tokenizer
from factpin.tokens.pairs import FramedPair, pair_frame

MOST_PIECES = 6  # of a blank; longer names are not blanked out


@dataclass(frozen=True, slots=True)
class PoolPassage:
    """A passage of a document that may be retrieved, with the document's title."""

    document: int
    span: Span
    text: str
    title: str = ""

    @property
    def shown(self) -> str:
        """As the store embeds it."""
        return self._titled(self.text)

    def shown_without(self, sentence: Span) -> str:
        """The same without one of its sentences."""
        return self._titled(without(self.text, sentence))

    def _titled(self, text: str) -> str:
        return f"{self.title}\n{text}" if self.title else text


@dataclass(frozen=True, slots=True)
class Blank:
    """A sentence of a document, and the characters in it that are blanked out."""

    document: int
    sentence: str
    span: Span

    @property
    def name(self) -> str:
        """What is blanked out."""
        return self.sentence[self.span.start : self.span.end]

    def masked(self, mask: str) -> str:
        """The sentence with a mask for its blank."""
        return f"{self.sentence[: self.span.start]}{mask}{self.sentence[self.span.end :]}"


def pool_of(documents: Sequence[Document], size: int) -> list[PoolPassage]:
    """The passages of documents."""
    return [
        PoolPassage(number, span, doc.text[span.start : span.end], str(doc.meta.get("title", "")))
        for number, doc in enumerate(documents)
        for span in cut(doc.text, PassageSettings(size))
    ]


def blanks_of(documents: Sequence[Document]) -> list[Blank]:
    """One blank for each mention that is in one sentence: salient spans."""
    found = []
    for number, doc in enumerate(documents):
        sentences = doc.sentences or tuple(Span(*span) for span in split_sentences(doc.text))
        for start, end in sentences:
            inside = {Span(m.start - start, m.end - start) for m in doc.mentions if start <= m.start and m.end <= end}
            found += [Blank(number, doc.text[start:end], span) for span in sorted(inside) if span.end - span.start > 1]
    return found


def ict_pairs(pool: Sequence[PoolPassage]) -> list[tuple[int, Span]]:
    """(passage, a sentence of it) wherever a passage has two sentences or more."""
    found = []
    for number, passage in enumerate(pool):
        sentences = list(split_sentences(passage.text))
        if len(sentences) > 1:
            found += [(number, Span(*span)) for span in sentences]
    return found


def without(text: str, span: Span) -> str:
    """A text without one of its sentences."""
    return f"{text[: span.start].rstrip()} {text[span.end :].lstrip()}".strip()


def nearest(queries: Tensor, vectors: Tensor, owners: NDArray[np.int64], own: Sequence[int], k: int) -> list[list[int]]:
    """The k best passages of each query (B, D) among vectors (N, D), none of them of the query's own document."""
    scores = queries @ vectors.T  # (B, N)
    mine = (torch.from_numpy(owners)[None] == torch.tensor(own)[:, None]).to(scores.device)
    best: list[list[int]] = scores.masked_fill(mine, -torch.inf).topk(min(k, len(vectors)), dim=1).indices.tolist()
    return [[i for i in row if owners[i] != document] for row, document in zip(best, own, strict=True)]


@dataclass(frozen=True, eq=False)
class IctBatch:
    """Sentences, their passages in the same order, and which passages these are: the same one may be there twice."""

    sentences: tuple[str, ...]
    passages: tuple[str, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RealmBatch:
    """Sentences with blanks, K passages for each, the inputs that the reader reads, and the pieces of the blanks."""

    sentences: tuple[str, ...]
    passages: tuple[tuple[str, ...], ...]  # B x K, the null document "" first
    pairs: tuple[FramedPair, ...]  # B * K
    places: tuple[tuple[int, ...], ...]  # of the masks of each sentence, the same beside every passage
    pieces: tuple[tuple[int, ...], ...]  # the vocabulary numbers of the blank
    found: Tensor  # (B, K), False where fewer passages were found than for others: there is no such passage
    lesson: bool = False  # of the reader: each passage counts the same, whatever the retriever says


class BlankReader(nn.Module):
    """Fills blanks in beside passages, by the vectors of its own words or with pieces of the passage."""

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.encoder, self.tokenizer = encoder, tokenizer
        width, words = encoder.width, encoder.word_vectors.shape[1]
        self.words = nn.Sequential(nn.Linear(width, words), nn.GELU(), nn.LayerNorm(words))
        self.copied = nn.Linear(width, width)
        nn.init.eye_(self.copied.weight)

    def forward(self, batch: RealmBatch) -> Tensor:
        """log p (B, K, T) of the pieces of blanks, 0 at padding."""
        K, vectors = len(batch.passages[0]), self.encoder.word_vectors
        ids, segments, mask, real = to_tensors(collate_pairs(batch.pairs, self.tokenizer.pad_id), vectors.device)
        hidden = self.encoder(ids, mask, segments=segments).hidden  # (B * K, N, D)
        T = max(map(len, batch.pieces))
        rows = []
        for b, (places, pieces) in enumerate(zip(batch.places, batch.pieces, strict=True)):
            mine, wanted = slice(b * K, (b + 1) * K), torch.tensor(pieces, device=vectors.device)
            all_h, h = hidden[mine], hidden[mine, list(places)]  # (K, N, D), (K, t, D)
            said = (self.words(h) @ vectors.T).float()  # (K, t, V)
            copies = (self.copied(h) @ all_h.mT).float() / all_h.shape[-1] ** 0.5  # (K, t, N)
            copies = copies.masked_fill(~real[mine, None], -torch.inf)
            own = said.gather(-1, wanted[None, :, None].expand(K, -1, 1))  # (K, t, 1)
            same = copies.masked_fill(ids[mine, None] != wanted[None, :, None], -torch.inf)
            found = torch.cat([own, same], -1).logsumexp(-1) - torch.cat([said, copies], -1).logsumexp(-1)
            rows.append(nn.functional.pad(found, (0, T - found.shape[1])))
        return torch.stack(rows)


class RealmModel(nn.Module):
    """A retriever, and for REALM a reader of blanks on an encoder of its own. A frozen retriever stays as it is."""

    def __init__(
        self,
        retriever: TextEmbedder,
        reader: BlankReader | None = None,
        *,
        frozen: bool = False,
        marginal: str = "token",
    ) -> None:
        super().__init__()
        self.retriever, self.frozen, self.marginal = retriever, frozen, marginal
        self.head: nn.Module = reader or nn.Identity()
        if frozen:
            retriever.requires_grad_(False)

    @property
    def encoder(self) -> Encoder:
        """The encoder of the retriever, which is what is kept."""
        return self.retriever.encoder

    def documents(self, batch: RealmBatch) -> Tensor:
        """Scores of the passages (B, K), -inf where there is none. A frozen retriever gets no gradient."""
        K = len(batch.passages[0])
        flat = [text or " " for row in batch.passages for text in row]
        vectors = self.retriever.embed if self.frozen else self.retriever
        q, d = vectors(list(batch.sentences)), vectors(flat)
        scores = SHARP * torch.einsum("bd,bkd->bk", q, d.view(len(q), K, -1))
        return scores.masked_fill(~batch.found.to(scores.device), -torch.inf)

    def log_p(self, batch: RealmBatch) -> tuple[Tensor, Tensor]:
        """log p(z | x) (B, K) and log p(y_t | x, z) (B, K, T)."""
        return prior(self.documents(batch)), self.head(batch)

    def loss(self, batch: IctBatch | RealmBatch) -> Tensor:
        """That of the objective whose batch it is; of blanks a piece."""
        if isinstance(batch, IctBatch):
            q, d = self.retriever(batch.sentences), self.retriever(batch.passages)
            numbers, own = torch.tensor(batch.numbers, device=q.device), torch.arange(len(q), device=q.device)
            twice = (numbers[:, None] == numbers) & (own[:, None] != own)  # another sentence of the same passage
            return cross_entropy((SHARP * q @ d.T).masked_fill(twice, -torch.inf), own)
        if batch.lesson:
            total = self.head(batch).sum(-1).mean(-1)
        else:
            total = blank_log_p(*self.log_p(batch), self.marginal)
        return -(total / torch.tensor([float(len(p)) for p in batch.pieces], device=total.device)).mean()


def blank_log_p(doc: Tensor, y: Tensor, marginal: str) -> Tensor:
    """log p(y | x) of blanks (B,)."""
    return token(doc, y).sum(-1) if marginal == "token" else sequence(doc, y)


def utilities(doc: Tensor, y: Tensor, marginal: str) -> Tensor:
    """What retrieval adds beside the null document, which is the first (B,), in nats."""
    return blank_log_p(doc, y, marginal) - y[:, 0].sum(-1)


def blank_inputs(
    tokenizer: Tokenizer, blank: Blank, passages: Sequence[str], mask: int, longest: int
) -> tuple[list[FramedPair], tuple[int, ...], tuple[int, ...]] | None:
    """The inputs of a blank beside passages, the places of its masks, and its pieces; None if it is too long."""
    before, name, behind = (part.ids for part in tokenizer.encode_batch(
        [blank.sentence[: blank.span.start], blank.sentence[blank.span.start : blank.span.end],
         blank.sentence[blank.span.end :]]))  # fmt: skip
    frame = pair_frame(tokenizer)
    if not 0 < len(name) <= MOST_PIECES or len(before) + len(name) + len(behind) > longest // 2:
        return None
    first = np.concatenate([before, np.full(len(name), mask, np.int32), behind])
    room = longest - len(first) - frame.size
    pairs = [frame.join(first, tokenizer.encode(text).ids[:room] if text else first[:0]) for text in passages]
    start = len(frame.prefix) + len(before)
    return pairs, tuple(range(start, start + len(name))), tuple(int(i) for i in name)

"""FactAsker: a question with a blank, read by an encoder; the facts of a store answer it.

    [CLS] Who directed Ed Wood? [MASK] [SEP]

    x      token vectors                                                     (B, N, D)
    w      softmax over the names in the text of a learned score             (B, C)
    about  Σ w Σ prior · code of the candidates of each name                 (B, d)
    v      W_q x_blank + W_e about                                           (B, d)     then fact_memory.py

The names of a text are those that the store knows. What is answered is the tail of a fact, never what the text alone
suggests: an answer always has a citation, and goes away with its fact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from factpin.documents import Span
from factpin.encoders import Encoder
from factpin.errors import BadModel
from factpin.knowledge.fact_memory import FactMemory, FactReading
from factpin.knowledge.mentions import MentionSpan, NameBatch, collate_mentions
from factpin.knowledge.tables import EntityCodes, FactTable, RelationNames
from factpin.memory import ALL, Candidate, Filter, Store
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints

BLANK = "▁"  # where the answer is missing, in texts
MASKS = ("[MASK]", "<mask>")
SIZE = 128  # of vectors of entities and relations


@dataclass(frozen=True, eq=False, slots=True)
class BlankText:
    """Framed pieces with one mask, and the names in it."""

    ids: Ints
    blank: int
    mentions: tuple[MentionSpan, ...]


@dataclass(frozen=True, eq=False, slots=True)
class BlankBatch:
    """Texts side by side."""

    ids: Tensor  # (B, N)
    mask: Tensor  # (B, N)
    blanks: Tensor  # (B,)
    mentions: NameBatch


class FactAsker(nn.Module):
    """An encoder over a fact memory."""

    def __init__(self, encoder: Encoder, size: int = SIZE) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.width
        memory = FactMemory(
            width, EntityCodes(size), RelationNames(encoder.word_vectors.shape[1], size, lambda: encoder.word_vectors)
        )
        self.head = nn.ModuleDict({"facts": memory, "about": nn.Linear(2 * width, 1)})
        self.table = FactTable((), (), (), (), {})

    @property
    def facts(self) -> FactMemory:
        """The fact memory."""
        memory: Any = self.head["facts"]
        found: FactMemory = memory
        return found

    @property
    def codes(self) -> EntityCodes:
        """The vectors of the store's entities."""
        codes: Any = self.facts.entities
        found: EntityCodes = codes
        return found

    @property
    def names(self) -> RelationNames:
        """The vectors of the store's relations."""
        names: Any = self.facts.relations
        found: RelationNames = names
        return found

    def know(self, table: FactTable, tokenizer: Tokenizer) -> None:
        """Look things up in these facts from now on. No weight changes."""
        self.table = table
        self.codes.replace(table.entities)
        self.names.replace([tokenizer.encode(name.replace("_", " ")).ids.tolist() for name in table.relations])
        self.facts.replace_facts(table.rows)

    def forward(self, batch: BlankBatch, hide: Tensor | None = None) -> FactReading:
        """What the facts say to every text."""
        return self.look_up(self.encoder(batch.ids, batch.mask).hidden, batch, hide)

    def look_up(self, hidden: Tensor, batch: BlankBatch, hide: Tensor | None = None) -> FactReading:
        """The same, of what the encoder has read (B, N, D)."""
        blank = hidden[torch.arange(len(hidden)), batch.blanks]  # (B, D)
        found: FactReading = self.facts(blank, self._about(hidden, batch.mentions), hide)
        return found

    def _about(self, hidden: Tensor, mentions: NameBatch) -> Tensor:
        """The mean code of what the names of each text refer to (B, d)."""
        text = torch.arange(len(hidden))[:, None]
        ends = torch.cat([hidden[text, mentions.first], hidden[text, mentions.last]], dim=-1)  # (B, C, 2 D)
        scores = self.head["about"](ends).squeeze(-1).masked_fill(~mentions.real, -1e4)  # (B, C)
        codes = (mentions.priors[..., None, :] @ self.codes(mentions.candidates)).squeeze(-2)  # (B, C, d)
        weights = scores.softmax(-1) * mentions.real
        return (weights[..., None, :] @ codes).squeeze(-2)


def mask_id(tokenizer: Tokenizer) -> int:
    """The number of the mask."""
    for token in (tokenizer.names.get("mask_token", ""), *MASKS):
        if token and (id := tokenizer.id_of(token)) is not None:
            return id
    raise BadModel("The vocabulary has no mask, so there is no way to show what is missing. Use another encoder.")


def blank_text(
    text: str,
    blank: Span,
    names: Sequence[tuple[Span, Sequence[Candidate]]],
    table: FactTable,
    tokenizer: Tokenizer,
    longest: int = 96,
) -> BlankText | None:
    """A text whose characters at `blank` are replaced by one mask; None if it does not fit.

    names: known names in the text, longest first; those that overlap the blank or a longer name are left out.
    """
    before, behind = tokenizer.encode(text[: blank.start]), tokenizer.encode(text[blank.end :])
    ids = np.concatenate([before.ids, [mask_id(tokenizer)], behind.ids]).astype(np.int32)
    if len(ids) + tokenizer.frame_size > longest:
        return None
    prefix, number = len(tokenizer.prefix), table.numbers
    mentions, taken = [], [blank]
    for span, candidates in names:
        if any(span.start < other.end and other.start < span.end for other in taken):
            continue
        known = [(number[c.entity.id], c.prior) for c in candidates if c.entity.id in number]
        part, shift, add = (before, 0, 0) if span.end <= blank.start else (behind, blank.end, len(before.ids) + 1)
        ends = zip(part.start.tolist(), part.end.tolist(), strict=True)
        inside = [i for i, (s, e) in enumerate(ends) if span.start - shift < e and s < span.end - shift]
        if known and inside:
            rows, priors = zip(*known, strict=True)
            at = prefix + add
            mentions.append(MentionSpan(at + inside[0], at + inside[-1], rows, tuple(p / sum(priors) for p in priors)))
            taken.append(span)
    framed = tokenizer.frame(ids)[0]
    return BlankText(framed, prefix + len(before.ids), tuple(mentions))


def collate_blanks(texts: Sequence[BlankText], pad: int) -> BlankBatch:
    """Texts side by side."""
    n = max(len(text.ids) for text in texts)
    ids = np.full((len(texts), n), pad, np.int64)
    mask = np.zeros((len(texts), n), np.bool_)
    for b, text in enumerate(texts):
        ids[b, : len(text.ids)], mask[b, : len(text.ids)] = text.ids, True
    blanks = torch.tensor([text.blank for text in texts])
    return BlankBatch(
        torch.from_numpy(ids), torch.from_numpy(mask), blanks, collate_mentions([text.mentions for text in texts])
    )


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """A row of the memory that answers a question, and the share of the attention that it gets."""

    row: int
    weight: float


@dataclass
class MemoryReader:
    """A trained FactAsker with its tokenizer."""

    model: FactAsker
    tokenizer: Tokenizer

    @torch.no_grad()
    def ask(self, question: str, store: Store, filter: Filter = ALL, most: int = 5) -> tuple[list[FactAnswer], float]:
        """The rows that answer a question, most attended first, and the weight of the null fact."""
        self.model.eval()
        text = question if BLANK in question else f"{question} {BLANK}"
        at = text.index(BLANK)
        framed = blank_text(
            text, Span(at, at + 1), store.names_in(text, filter), self.model.table, self.tokenizer, longest=512
        )
        if framed is None or not framed.mentions or not self.model.table.rows:
            return [], 1.0
        reading = self.model(collate_blanks([framed], self.tokenizer.pad_id))
        chances = reading.facts[0].softmax(-1)
        best = chances[1:].topk(min(most, len(chances) - 1))
        found = [FactAnswer(int(row), float(w)) for w, row in zip(best.values, best.indices, strict=True)]
        return found, float(chances[0])

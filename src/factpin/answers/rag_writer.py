"""The parts of RAG as one: an encoder of questions that learns, one of passages that does not, and a generator."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from factpin.answers.embedding import SHARP, TextEmbedder
from factpin.answers.rag import Marginal, RagSettings, answer_log_p, prompt_ids, rag_loss, write
from factpin.documents import Passage
from factpin.encoders import Encoder
from factpin.encoders.generator import EncoderDecoder
from factpin.tokens.pieces import Ints

NO_PASSAGE = [("", "")]  # what is read where an answer is written from nothing


@dataclass(frozen=True, eq=False)
class RagBatch:
    """Questions, their prompts (K for each), the vectors of their passages, and their answers."""

    questions: tuple[str, ...]
    prompts: tuple[Ints, ...]  # B * K
    documents: Tensor  # (B, K, D)
    found: Tensor  # (B, K), False where a question has fewer passages than others: there is no such passage
    answers: tuple[Ints, ...]  # with their end


class RagModel(nn.Module):
    """The query encoder and the generator, which learn together."""

    def __init__(self, query: TextEmbedder, generator: EncoderDecoder, marginal: Marginal) -> None:
        super().__init__()
        self.query, self.head, self.marginal = query, generator, marginal

    @property
    def encoder(self) -> Encoder:
        """The encoder of questions."""
        return self.query.encoder

    def log_p(self, batch: RagBatch) -> tuple[Tensor, Tensor, Tensor]:
        """The scores of passages (B, K), log p of the pieces of answers (B, K, T), and where pieces are (B, T)."""
        B, K, _ = batch.documents.shape
        q = self.query(batch.questions)  # (B, D)
        documents, found = batch.documents.to(q.device), batch.found.to(q.device)
        doc = SHARP * torch.einsum("bd,bkd->bk", q, documents).masked_fill(~found, -torch.inf)
        states, mask = self.head.encode(batch.prompts)  # (B * K, m, D)
        said, real = self.head.collate(batch.answers)  # (B, T)
        every = [x.repeat_interleave(K, dim=0) for x in (said, real)]
        return doc, answer_log_p(self.head, states, mask, *every).view(B, K, -1), real

    def loss(self, batch: RagBatch) -> Tensor:
        """-log p(y | x) a piece."""
        doc, y, real = self.log_p(batch)
        return rag_loss(doc, y, real, self.marginal)


@dataclass(frozen=True)
class WrittenText:
    """An answer as text, its log probability, and what each passage adds."""

    text: str
    score: float
    weights: tuple[float, ...]


@dataclass
class AnswerWriter:
    """Writes answers from passages."""

    model: RagModel
    document: TextEmbedder
    settings: RagSettings = field(default_factory=RagSettings)

    def prompts(self, question: str, passages: Sequence[tuple[str, str]]) -> list[Ints]:
        """The prompts of a question with each passage, (title, text)."""
        tokenizer, longest = self.model.head.tokenizer, self.settings.max_length
        return [prompt_ids(tokenizer, question, *one, longest) for one in passages or NO_PASSAGE]

    def documents(self, passages: Sequence[tuple[str, str]]) -> Tensor:
        """The vectors of passages (K, D), as a store has them."""
        return self.document.embed([f"{title}\n{text}" if title else text for title, text in passages or NO_PASSAGE])

    @torch.no_grad()
    def write(
        self, question: str, passages: Sequence[tuple[str, str]], documents: Tensor | None = None
    ) -> list[WrittenText]:
        """Answers to a question, likeliest first; texts that are the same are one."""
        self.model.eval()
        vectors = self.documents(passages) if documents is None else documents
        asked = self.model.query([question])[0]  # (D,)
        scores = SHARP * vectors.to(asked.device) @ asked  # (K,)
        found: dict[str, WrittenText] = {}
        for one in write(self.model.head, self.prompts(question, passages), scores, self.settings):
            text = self.model.head.tokenizer.decode(torch.tensor(one.pieces, dtype=torch.int32).numpy()).strip()
            found.setdefault(text, WrittenText(text, one.score, one.weights))
        return list(found.values())


def texts_of(passages: Sequence[Passage]) -> list[tuple[str, str]]:
    """Passages as (title, text)."""
    return [(passage.title, passage.text) for passage in passages]

"""Training a retriever: documents in, the folder of an encoder out, which `factpin index --vectors FOLDER` takes.

    ict     a sentence finds the passage that it was taken from, among those of its batch
    realm   a name is blanked out, and its sentence finds the passages that help to fill it in. Start from ict: from an
            encoder that retrieves nothing, nothing is learned

With realm, an epoch is as long as the vectors of the passages are kept: `refresh` steps. If the reader has a lesson, it
comes before the first of them, and its steps are not among those of the epochs.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
from torch import Tensor

from factpin.answers.embedding import TextEmbedder
from factpin.answers.realm import (
    Blank,
    BlankReader,
    IctBatch,
    PoolPassage,
    RealmBatch,
    RealmModel,
    blank_inputs,
    blanks_of,
    ict_pairs,
    nearest,
    pool_of,
    utilities,
)
from factpin.documents import Document, Span
from factpin.errors import BadInput
from factpin.models.part_folder import part_settings
from factpin.models.settings import write_settings
from factpin.tokens import Tokenizer
from factpin.tokens.batches import shuffled_batches
from factpin.tokens.pieces import Ints
from factpin.training.config import TrainConfig
from factpin.training.loop import BatchOrder
from factpin.training.part_run import PartRun, SavedPart, column_of, open_encoder
from factpin.training.retriever_options import RETRIEVER, RetrieverOptions

METRICS = (
    "recall",
    "utility",
)  # dev sentences whose passage, without them, is among the best five; what retrieval adds
DEPTH = 5
MOST_BLANKS = 100  # of dev, for the utility
READER_RATE = 2e-4  # of the reader, unless another is chosen: it is an encoder too


def mask_of(tokenizer: Tokenizer) -> int:
    """The number of the mask of a vocabulary."""
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    found = [number for name in ("[MASK]", "<mask>") if (number := library.token_to_id(name)) is not None]
    if not found:
        raise BadInput("This vocabulary has no mask, which realm blanks names out with. Take another encoder, or ict.")
    return int(found[0])


class RetrieverJob:
    """Sentences with their passages, or blanks with a pool of passages; and a dev set."""

    def __init__(
        self,
        model: RealmModel,
        training: Sequence[Document],
        dev: Sequence[Document],
        options: RetrieverOptions,
        seed: int,
    ) -> None:
        self.model, self.options, self.seed = model, options, seed
        self.retriever = model.retriever
        self.pool, self.dev_pool = (pool_of(part, options.passage_size) for part in (training, dev))
        self.pairs, self.dev_pairs = ict_pairs(self.pool), ict_pairs(self.dev_pool)
        self.reader = model.head.tokenizer if isinstance(model.head, BlankReader) else model.retriever.tokenizer
        self.mask = mask_of(self.reader) if options.objective == "realm" else 0
        self.lesson = False
        self.blanks, self.dev_blanks = (self._blanks(part) for part in (training, dev))
        self.owners = np.array([passage.document for passage in self.pool], np.int64)
        self.vectors, self.embedded = torch.zeros(0, 0), -1
        examples = self.blanks if options.objective == "realm" else self.pairs
        if training and not examples:
            raise BadInput("No document has a mention in a sentence that fits, to blank out. Annotate the documents: "
                           "factpin extract." if options.objective == "realm" else
                           "No passage has two sentences; ict takes one out of the others.")  # fmt: skip
        if options.objective == "realm" and training and len(set(self.owners.tolist())) < 2:
            raise BadInput("realm looks a name up in other documents, so it needs two documents or more with text.")
        self.lengths = [options.max_length] * len(examples)
        self.terms = None

    def _blanks(self, documents: Sequence[Document]) -> list[Blank]:
        if self.options.objective != "realm":
            return []
        return [blank for blank in blanks_of(documents) if self.inputs(blank, [""]) is not None]

    def inputs(self, blank: Blank, passages: Sequence[str]) -> Any:
        return blank_inputs(self.reader, blank, passages, self.mask, self.options.max_length)

    def batch(self, examples: Sequence[int]) -> IctBatch | RealmBatch:
        """Sentences and their passages."""
        chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
        if self.options.objective == "realm":
            blanks = [self.blanks[i] for i in examples]
            return self.lesson_batch(blanks, chance) if self.lesson else self.realm_batch(blanks)
        chosen = [self.pairs[i] for i in examples]
        sentences, passages = [], []
        for number, span in chosen:
            passage = self.pool[number]
            taken = chance.random() < self.options.removed
            sentences.append(passage.text[span.start : span.end])
            passages.append(passage.shown_without(span) if taken else passage.shown)
        return IctBatch(tuple(sentences), tuple(passages), tuple(number for number, _ in chosen))

    def realm_batch(self, blanks: Sequence[Blank], vectors: Tensor | None = None) -> RealmBatch:
        """Blanks with the best passages of other documents. vectors: of all passages; unless given, the last ones."""
        if vectors is None and not len(self.vectors):
            self.refresh(0)
        vectors = self.vectors if vectors is None else vectors
        sentences = self.masked(blanks)
        k = self.options.k - self.options.null
        found = nearest(self.retriever.embed(sentences), vectors, self.owners, [b.document for b in blanks], k)
        null = [""] if self.options.null else []
        texts = [[*null, *(self.pool[i].shown for i in row)] for row in found]
        return self.beside(blanks, texts)

    def lesson_batch(self, blanks: Sequence[Blank], chance: np.random.Generator) -> RealmBatch:
        """Blanks with no passage, and with one of another document that states the name, drawn by chance."""
        texts = []
        for blank in blanks:
            stating = [self.pool[i].shown for i in self.stating(blank)]
            texts.append(["", stating[int(chance.integers(len(stating)))] if stating else ""])
        return replace(self.beside(blanks, texts), lesson=True)

    def stating(self, blank: Blank) -> list[int]:
        """The passages of other documents that state what is blanked out."""
        return [i for i, p in enumerate(self.pool) if p.document != blank.document and blank.name in p.shown]

    def masked(self, blanks: Sequence[Blank]) -> list[str]:
        """The sentences that are asked."""
        token = self.reader.token(self.mask)
        return [blank.masked(token) for blank in blanks]

    def beside(self, blanks: Sequence[Blank], texts: Sequence[Sequence[str]]) -> RealmBatch:
        """Blanks beside passages; where there are fewer than for others, beside nothing, which is not scored."""
        K = max(map(len, texts))
        rows = [(*row, *[""] * (K - len(row))) for row in texts]
        found = torch.tensor([[k < len(row) for k in range(K)] for row in texts])
        inputs = [self.inputs(blank, row) for blank, row in zip(blanks, rows, strict=True)]
        pairs, places, pieces = zip(*inputs, strict=True)
        return RealmBatch(tuple(self.masked(blanks)), tuple(rows), tuple(pair for some in pairs for pair in some),
                          places, pieces, found)  # fmt: skip

    def pool_vectors(self) -> Tensor:
        """The vectors of all passages, by the retriever as it is now (N, D)."""
        return self.retriever.embed([passage.shown for passage in self.pool])

    def refresh(self, epoch: int) -> None:
        """Embed all passages anew."""
        self.vectors, self.embedded = self.pool_vectors(), epoch

    def steps(self, epochs: int, size: int) -> int:
        """The steps of so many epochs, and those of the lesson."""
        return self.options.lesson + epochs * (self.options.refresh or len(self._shuffled(0, size)))

    def _shuffled(self, epoch: int, size: int) -> BatchOrder:
        return shuffled_batches(self.lengths, size=size, seed=self.seed, epoch=epoch)

    def order(self, epoch: int, size: int) -> BatchOrder:
        """The steps until the next refresh; passages are embedded before them. The first may be those of a lesson."""
        batches = self._shuffled(epoch, size)
        self.lesson = epoch == 0 and self.options.lesson > 0
        if self.lesson:
            return [batches[at % len(batches)] for at in range(self.options.lesson)]
        if self.embedded < 0 or (self.options.refresh and not self.options.frozen and epoch != self.embedded):
            self.refresh(epoch)
        steps = self.options.refresh or len(batches)
        return [batches[at % len(batches)] for at in range(steps)]

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        """How often a dev sentence finds its passage; with realm, what retrieval adds to dev blanks too."""
        found: dict[str, float] = {}
        if self.dev_pairs:
            found["recall"] = recall_of(self.retriever, self.dev_pool, self.dev_pairs)
        if self.dev_blanks and self.options.null:
            blanks = [
                Blank(-1, b.sentence, b.span) for b in self.dev_blanks[:MOST_BLANKS]
            ]  # of no document in the pool
            vectors = self.pool_vectors()  # those that are kept are as old as the last refresh
            each = [utilities(*self.model.log_p(self.realm_batch(blanks[i : i + 8], vectors)), self.options.marginal)
                    for i in range(0, len(blanks), 8)]  # fmt: skip
            found["utility"] = float(torch.cat(each).mean())
        return found

    def columns(self) -> list[Ints]:
        """All that it learns from."""
        return [column_of(passage.shown) for passage in self.pool]


def recall_of(embedder: TextEmbedder, pool: Sequence[PoolPassage], pairs: Sequence[tuple[int, Span]]) -> float:
    """The share of (passage, a sentence of it) whose passage, without the sentence, is among the best five for it."""
    vectors = embedder.embed([passage.shown for passage in pool])  # (N, D)
    queries = embedder.embed([pool[n].text[span.start : span.end] for n, span in pairs])  # (B, D)
    others = embedder.embed([pool[n].shown_without(span) for n, span in pairs])  # (B, D)
    own = torch.tensor([n for n, _ in pairs], device=queries.device)[:, None]
    scores = (queries @ vectors.T).scatter(1, own, (queries * others).sum(-1, keepdim=True))  # (B, N)
    best = scores.topk(min(DEPTH, len(pool)), dim=1).indices  # (B, DEPTH)
    return float((best == own).any(-1).float().mean())


def start_retriever(options: RetrieverOptions, seed: int) -> RealmModel:
    """A retriever on a pretrained encoder, and what reads beside it."""
    embedder = TextEmbedder(*open_encoder(options.encoder, seed), options.max_length)
    realm = options.objective == "realm"
    reader = BlankReader(*open_encoder(options.reader or options.encoder, seed)) if realm else None
    return RealmModel(embedder, reader, frozen=options.frozen, marginal=options.marginal)


def prepare_retriever(
    training: Sequence[Document], dev: Sequence[Document], options: RetrieverOptions, how: TrainConfig
) -> PartRun:
    """A retriever on a pretrained encoder, ready to learn; it is saved as an encoder."""
    model = start_retriever(options, how.seed)
    job = RetrieverJob(model, training, dev, options, how.seed)
    how = replace(how, head_learning_rate=how.head_learning_rate or READER_RATE)

    def save(folder: Path) -> SavedPart:
        own = {"objective": options.objective}
        settings = part_settings(RETRIEVER, ("passage",), "mean", options, own, max_length=model.retriever.longest)
        folder.mkdir(parents=True, exist_ok=True)
        model.retriever.encoder.save(folder)
        write_settings(settings, folder)
        return SavedPart(settings)

    size, realm = how.texts * how.accumulation, options.objective == "realm"
    noted = {"passages": len(job.pool), "examples": len(job.lengths)}
    counts = {"train": len(training), "dev": len(dev), "noted": noted}
    return PartRun(RETRIEVER, job, options, how, METRICS, counts, save, job.columns, resumable=not realm,
                   order=(lambda epoch: job.order(epoch, size)) if realm else None,
                   steps=(lambda epochs: job.steps(epochs, size)) if realm else None)  # fmt: skip

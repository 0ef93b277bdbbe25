"""Training a FactAsker (Facts as Experts) on the facts of a store: `factpin pretrain --objective fae --db kb.db`.

fact      the row that is asked for, or the null fact where that row is hidden
answer    the entity that was left out, from the facts and the text
context   the same from the text alone
linking   the entity of every name that can refer to the head of the fact, among all entities; its weights are not kept,
          because the entities of a store change, and names are linked by its priors when it is asked

dev      rows that are never learned from: their texts are asked with their facts in the memory
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from factpin.encoders import Encoder, resolve
from factpin.errors import BadInput
from factpin.knowledge.asker import (
    BLANK,
    SIZE,
    BlankBatch,
    BlankText,
    FactAsker,
    MemoryReader,
    blank_text,
    collate_blanks,
)
from factpin.knowledge.entity_memory import ends_of, linking_loss
from factpin.knowledge.fact_memory import NO_FACT, answer_loss, fact_loss
from factpin.knowledge.mentions import FIRST, UNKNOWN, NameBatch
from factpin.knowledge.tables import read_facts, store_digest
from factpin.memory import Store
from factpin.models.memory_folder import MEMORY, memory_settings
from factpin.models.part_folder import save_part
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints
from factpin.training.config import TrainConfig
from factpin.training.fact_clozes import FactCloze, clozes
from factpin.training.knowledge_options import KnowledgeOptions
from factpin.training.part_run import PartRun, SavedPart, mean

BESIDE = 0.2  # how much the last two losses count: no answer is read off what they teach
METRICS = ("accuracy",)  # of rows that were never learned from
Lesson = tuple[BlankBatch, Tensor, Tensor, Tensor]


class AskerModel(FactAsker):
    """A FactAsker with its losses, as the loop trains it."""

    def __init__(self, encoder: Encoder, size: int = SIZE) -> None:
        super().__init__(encoder, size)
        self.head["link"] = nn.Linear(2 * encoder.width, size)

    def kept(self) -> FactAsker:
        """The model without what only training needs."""
        asker = FactAsker(self.encoder, self.codes.embedding_dim)
        asker.head = nn.ModuleDict({name: part for name, part in self.head.items() if name != "link"})
        return asker

    def loss(self, example: Lesson) -> Tensor:
        """The sum of all losses."""
        batch, hide, rows, tails = example
        hidden = self.encoder(batch.ids, batch.mask).hidden
        reading = self.look_up(hidden, batch, hide)
        beside = answer_loss(reading.context, tails) + linking_loss(self.links(hidden, batch.mentions), batch.mentions)
        return fact_loss(reading, rows) + answer_loss(reading.answers, tails) + BESIDE * beside

    def links(self, hidden: Tensor, mentions: NameBatch) -> Tensor:
        """The score of every entity for every name (m, rows); NULL and MASK cannot be meant."""
        scores: Tensor = self.head["link"](ends_of(hidden, mentions)) @ self.codes.weight.T
        return torch.cat([scores.new_full((len(scores), FIRST), float("-inf")), scores[:, FIRST:]], dim=1)


class AskerJob:
    """The texts of a store's facts."""

    def __init__(self, model: AskerModel, tokenizer: Tokenizer, store: Store, options: KnowledgeOptions) -> None:
        self.model, self.tokenizer, self.options = model, tokenizer, options
        table, self.leaks = model.table, 0  # sentences that name their answer by another name; they are left out
        self.taught: list[tuple[BlankText, FactCloze]] = []
        self.dev: list[tuple[BlankText, FactCloze]] = []
        for one in clozes(table):
            names = store.names_in(one.text)
            framed = blank_text(one.text, one.blank, names, table, tokenizer, options.length)
            if framed is not None and BLANK not in one.text and shows(framed, one.tail):
                self.leaks += 1
            elif framed is not None and framed.mentions:
                known = with_entities(framed, table.rows[one.row].head)
                (self.dev if self._held(one.row) else self.taught).append((known, one))
        if not self.taught:
            raise BadInput("The store has no facts to learn from. Fill it with `factpin index`, and see `store facts`.")
        self.held = torch.tensor([self._held(row) for row in range(len(table.rows))])  # no text sees these
        self.lengths = [len(framed.ids) for framed, _ in self.taught]
        self.terms = None

    def _held(self, row: int) -> bool:
        key = self.model.table.rows[row].facts[0]
        return int(sha256(key.encode()).hexdigest()[:8], 16) < self.options.heldout * 2**32

    def batch(self, examples: Sequence[int]) -> Lesson:
        """Texts side by side, the facts that each does not see, and what is right."""
        chosen = [self.taught[i] for i in examples]
        chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
        hide = (
            torch.from_numpy(chance.random((len(chosen), len(self.model.table.rows))) < self.options.hide) | self.held
        )
        rows = torch.tensor([one.row for _, one in chosen])
        unseen = hide[torch.arange(len(chosen)), rows]
        tails = torch.tensor([one.tail for _, one in chosen])
        texts = collate_blanks([framed for framed, _ in chosen], self.tokenizer.pad_id)
        return texts, hide, torch.where(unseen, NO_FACT, rows + 1), tails

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        """How often the right row is the first, for rows that were never learned from."""
        self.model.eval()
        right: list[float] = []
        for at in range(0, len(self.dev), 32):
            some = self.dev[at : at + 32]
            reading = self.model(collate_blanks([framed for framed, _ in some], self.tokenizer.pad_id))
            best = reading.facts.argmax(-1).tolist()
            right += [float(row == one.row + 1) for row, (_, one) in zip(best, some, strict=True)]
        return {"accuracy": mean(right)} if right else {}

    def columns(self) -> list[Ints]:
        """All that it learns from."""
        return [np.array([*framed.ids, framed.blank, one.row, one.tail], np.int32) for framed, one in self.taught]


def shows(text: BlankText, tail: int) -> bool:
    """Whether another name in a text can refer to what was left out."""
    return any(tail in mention.candidates for mention in text.mentions)


def with_entities(text: BlankText, head: int) -> BlankText:
    """A text in which names that can refer to the head of its fact do."""
    return replace(text, mentions=tuple(replace(m, entity=head if head in m.candidates else UNKNOWN)
                                        for m in text.mentions))  # fmt: skip


def prepare_asker(store: Store, options: KnowledgeOptions, how: TrainConfig) -> PartRun:
    """A model over the facts of a store, ready to learn."""
    torch.manual_seed(how.seed)
    source = resolve(options.encoder)
    tokenizer = Tokenizer.load(source)
    model = AskerModel(Encoder.load(source), options.size)
    model.know(read_facts(store), tokenizer)
    job = AskerJob(model, tokenizer, store, options)

    def save(folder: Path) -> SavedPart:
        settings = memory_settings(options.size, store_digest(store), options)
        save_part(folder, settings, MemoryReader(model.kept(), tokenizer))
        return SavedPart(settings, longer="a longer question gets no answer")

    counts = {"train": len(job.taught), "dev": len(job.dev), "facts": len(model.table.facts),
              "noted": {"sentences_left_out_because_they_name_their_answer": job.leaks}}  # fmt: skip

    return PartRun(MEMORY, job, options, how, METRICS, counts, save, job.columns)

"""Training on long texts with classes, or with labelled pieces. The judge has no labels: interventions make them.

A block is relevant at first if BM25 finds it best for the name of the class (of pieces: for the block to label). From
the second epoch on, texts are read as in use, and once more without each block: a block without which the loss rises
becomes more relevant, a useless one less. Every text gives two windows a step: relevant blocks among others, which are
labelled, and consecutive ones, which are judged.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from factpin.answers.cogltx import TextBlock, consecutive, first_relevance, fitting, revise
from factpin.answers.cogltx_judge import BlockWindow, collate_targets, collate_windows
from factpin.answers.cogltx_long import (
    NO_LABEL,
    OUTSIDE,
    LongBatch,
    LongLabeller,
    LongModel,
    LongSettings,
    first_piece,
    piece_labels,
    without_block,
)
from factpin.documents import Document, Span
from factpin.errors import BadInput
from factpin.models.classify_folder import labeller_settings
from factpin.models.part_folder import save_part
from factpin.tokens.batches import shuffled_batches
from factpin.tokens.pieces import Ints
from factpin.training.classify_options import CLASSIFY, ClassifyOptions
from factpin.training.config import TrainConfig
from factpin.training.judge_options import parse_keep
from factpin.training.loop import BatchOrder
from factpin.training.part_run import PartRun, SavedPart, mean, open_encoder

METRICS = ("accuracy", "macro_f1")
FREE = 1  # epochs before the first interventions: the reader knows nothing yet


@dataclass(eq=False)
class LongExample:
    """A query, the blocks of its text, its gold, and how relevant each block is so far."""

    query: Ints
    blocks: tuple[TextBlock, ...]
    gold: tuple[int, ...]  # one class, or a label for each piece of the query
    relevance: list[int]
    kept: list[int] = field(default_factory=list)  # what was read when it was last read as in use

    @property
    def lengths(self) -> list[int]:
        """Pieces of every block with its separator."""
        return [len(block.ids) + 1 for block in self.blocks]


def label_of(doc: Document) -> str:
    """The class of a text: `label` in its meta."""
    label = doc.meta.get("label")
    if not isinstance(label, str) or not label:
        raise BadInput(f'{doc.id} has no class: expected meta.label, a text, as in {{"meta": {{"label": "sport"}}}}.')
    return label


def examples_of(doc: Document, labeller: LongLabeller, first_labels: str = "none") -> list[LongExample]:
    """A text as one example, or one for each of its blocks."""
    labels, blocks = labeller.settings.labels, tuple(labeller.cut(doc.text))
    texts = [doc.text[block.span.start : block.span.end] for block in blocks]
    nothing = [0] * len(blocks)
    if labeller.settings.unit == "text":
        known = first_relevance(label_of(doc), texts) if first_labels == "bm25" else nothing
        return [LongExample(np.zeros(0, np.int32), blocks, (labels.index(label_of(doc)),), known)]
    spans = [(Span(m.start, m.end), m.type) for m in doc.mentions]
    found = []
    for number, block in enumerate(blocks):
        others, rest = blocks[:number] + blocks[number + 1 :], texts[:number] + texts[number + 1 :]
        known = first_relevance(texts[number], rest) if first_labels == "bm25" else nothing[1:]
        gold = tuple(labels.index(label) for label in piece_labels(block, spans))
        found.append(LongExample(block.ids, others, gold, known))
    return found


def labels_of(documents: Sequence[Document], unit: str) -> tuple[str, ...]:
    """All labels, in order."""
    if unit == "text":
        return tuple(sorted({label_of(doc) for doc in documents}))
    return (OUTSIDE, *sorted({m.type for doc in documents for m in doc.mentions}))


class ClassifyJob:
    """The examples of a set of texts, and its dev set."""

    def __init__(
        self,
        labeller: LongLabeller,
        training: Sequence[Document],
        dev: Sequence[Document],
        options: ClassifyOptions,
        seed: int,
    ) -> None:
        self.labeller, self.model, self.options, self.seed = labeller, labeller.model, options, seed
        recalls = options.long == "memrecall"
        known = options.first_labels if recalls else "none"
        self.taught = [one for doc in training for one in examples_of(doc, labeller, known)]
        self.dev = [one for doc in dev for one in examples_of(doc, labeller)]
        self.lengths = [min(options.max_length, sum(one.lengths) + len(one.query) + 2) for one in self.taught]
        self.terms = None
        self.long = [i for i, one in enumerate(self.taught) if recalls and sum(one.lengths) > self._room(one)]
        self.tried = Counter[str]()

    def _room(self, one: LongExample) -> int:
        return self.labeller.room(one.query)

    def batch(self, examples: Sequence[int]) -> LongBatch:
        """A window of each example to label; of those that do not fit, another one to judge."""
        chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
        read, judged, relevant = list[BlockWindow](), list[BlockWindow](), list[list[bool]]()
        chosen = [self.taught[i] for i in examples]
        for number, one in zip(examples, chosen, strict=True):
            read.append(self.labeller.assemble(one.query, one.blocks, self._chosen(one, chance)))
            if number in self.long and any(r >= 1 for r in one.relevance):
                shown = self._neighbours(one, chance)
                judged.append(self.labeller.assemble(one.query, one.blocks, shown))
                relevant.append([one.relevance[i] >= 1 for i in shown])
        pad = self.labeller.tokenizer.pad_id
        pairs = collate_windows(read, pad)
        gold = self._gold(chosen, read)
        if not judged:
            return LongBatch(pairs, gold)
        return LongBatch(pairs, gold, collate_windows(judged, pad), collate_targets(judged, relevant))

    def _gold(self, chosen: Sequence[LongExample], windows: Sequence[BlockWindow]) -> Tensor:
        if self.labeller.settings.unit == "text":
            return torch.tensor([one.gold[0] for one in chosen])
        rows = []
        for one, window in zip(chosen, windows, strict=True):
            row = torch.full((len(window.pair.ids),), NO_LABEL)
            first = first_piece(window, one.query)
            row[first : first + len(one.gold)] = torch.tensor(one.gold)
            rows.append(row)
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=NO_LABEL)

    def _chosen(self, one: LongExample, chance: np.random.Generator) -> list[int]:
        """Blocks to label a text by: all; as the baseline reads it; relevant ones first, or what was kept last."""
        lengths, room = one.lengths, self._room(one)
        if sum(lengths) <= room or self.options.long in ("head", "ends"):
            return self.labeller.windows(one.query, one.blocks)[0]
        if self.options.long == "windows":
            return self._neighbours(one, chance)
        if one.kept and chance.random() < 0.5:
            return one.kept
        order = sorted(chance.permutation(len(lengths)), key=lambda i: one.relevance[i] < 1)
        return fitting(order, lengths, room)

    def _neighbours(self, one: LongExample, chance: np.random.Generator) -> list[int]:
        return consecutive(one.lengths, self._room(one), int(chance.integers(len(one.blocks))))

    def order(self, epoch: int, size: int) -> BatchOrder:
        """The batches of an epoch, shuffled; interventions come before."""
        if epoch >= FREE and self.long and self.options.interventions:
            self.intervene(epoch)
        return shuffled_batches(self.lengths, size=size, seed=self.seed, epoch=epoch)

    @torch.no_grad()
    def intervene(self, epoch: int) -> None:
        """Read some texts as in use, then without each block; change the relevance of their blocks."""
        was = self.model.training
        self.model.eval()
        chance = np.random.default_rng([self.seed, epoch])
        for i in chance.permutation(self.long)[: self.options.interventions]:
            one = self.taught[int(i)]
            one.kept = self.labeller.windows(one.query, one.blocks)[0]
            for number, change in zip(one.kept, self.changes(one, one.kept), strict=True):
                before = one.relevance[number]
                one.relevance[number] = revise(before, change)
                self.tried["raised" if one.relevance[number] > before else
                           "lowered" if one.relevance[number] < before else "same"] += 1  # fmt: skip
        self.model.train(was)

    def changes(self, one: LongExample, kept: Sequence[int]) -> list[float]:
        """How much the loss rises without each of the blocks that are read."""
        window = self.labeller.assemble(one.query, one.blocks, kept)
        many = 1 + len(kept)
        pairs = collate_windows([window] * many, self.labeller.tokenizer.pad_id)
        for row, place in enumerate(window.places, start=1):
            pairs = without_block(pairs, row, place)
        losses = self.model.losses(pairs, self._gold([one] * many, [window] * many)).tolist()
        return [loss - losses[0] for loss in losses[1:]]

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        """The share of right classes (or labels of pieces), and the mean F1 over the labels."""
        if not self.dev:
            return {}
        pairs = [pair for one in self.dev for pair in zip(one.gold, self.predict(one), strict=True)]
        f1 = [_f1(pairs, label) for label in sorted({gold for gold, _ in pairs})]
        return {"accuracy": mean([float(gold == found) for gold, found in pairs]), "macro_f1": mean(f1)}

    def predict(self, one: LongExample) -> list[int]:
        """The class of an example, or the labels of its pieces."""
        self.model.eval()
        if self.labeller.settings.unit == "text":
            return [int(self.labeller.read(one.query, one.blocks).scores.argmax())]
        return self.labeller.label_pieces(one.query, one.blocks)

    def columns(self) -> list[Ints]:
        """All that it learns from."""
        return [np.array([*o.query, *(i for b in o.blocks for i in b.ids), *o.gold], np.int32) for o in self.taught]


def _f1(pairs: Sequence[tuple[int, int]], label: int) -> float:
    right = sum(gold == found == label for gold, found in pairs)
    return 2 * right / max(1, sum(gold == label for gold, _ in pairs) + sum(found == label for _, found in pairs))


def start_labeller(options: ClassifyOptions, labels: tuple[str, ...], seed: int) -> LongLabeller:
    """A labeller with fresh heads on a pretrained encoder."""
    encoder, tokenizer = open_encoder(options.encoder, seed)
    capacity = min(options.max_length, encoder.max_length or options.max_length)
    chosen = LongSettings(labels, options.unit, options.long, capacity, options.block_size, parse_keep(options.keep))
    model = LongModel(encoder, len(labels), options.unit, options.dropout)
    return LongLabeller(model, tokenizer, chosen)


def prepare_classify(
    training: Sequence[Document], dev: Sequence[Document], options: ClassifyOptions, how: TrainConfig
) -> PartRun:
    """A labeller on a pretrained encoder, ready to learn."""
    labeller = start_labeller(options, labels_of([*training, *dev], options.unit), how.seed)
    job = ClassifyJob(labeller, training, dev, options, how.seed)

    def save(folder: Path) -> SavedPart:
        settings = labeller_settings(labeller.settings, options)
        save_part(folder, settings, labeller)
        return SavedPart(settings)

    size = how.texts * how.accumulation
    learns = bool(job.long) and options.interventions > 0
    counts = {"train": len(training), "dev": len(dev), "noted": {"not_fitting": len(job.long)}}
    return PartRun(CLASSIFY, job, options, how, METRICS, counts, save, job.columns, resumable=not learns,
                   order=lambda epoch: job.order(epoch, size),
                   found=lambda: {"interventions": dict(job.tried)})  # fmt: skip

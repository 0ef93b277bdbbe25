"""Training a judge: questions with their contexts in, a model folder out.

A block is relevant if it holds a part of a supporting sentence or of a gold answer. Every question gives two examples
an epoch, drawn anew: consecutive blocks, as in the competition, and all relevant blocks among others, as in rehearsal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from factpin.answers.cogltx import TextBlock, Windows, consecutive, cut_blocks, fitting, mem_recall
from factpin.answers.cogltx_judge import (
    Judge,
    JudgeModel,
    JudgeSettings,
    assemble,
    collate_targets,
    collate_windows,
    room_beside,
)
from factpin.answers.pair_reader import PairBatch
from factpin.documents import Question, Span
from factpin.errors import BadInput
from factpin.models.judge_folder import JUDGE, judge_settings
from factpin.models.part_folder import save_part
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints
from factpin.training.config import TrainConfig
from factpin.training.judge_options import JudgeOptions, parse_keep
from factpin.training.part_run import PartRun, SavedPart, mean, open_encoder

RECALL = ("recall", "all")  # of the relevant blocks that are kept; questions of which all are
RANKED = ("auc",)  # how often a relevant block is scored above another one of its question


@dataclass(frozen=True, eq=False)
class JudgedQuestion:
    """A question, the blocks of its contexts, and which of them are relevant."""

    query: Ints
    blocks: tuple[TextBlock, ...]
    relevant: tuple[bool, ...]
    room: int

    @property
    def lengths(self) -> list[int]:
        """Pieces of every block with its separator."""
        return [len(block.ids) + 1 for block in self.blocks]

    @property
    def is_of_use(self) -> bool:
        """Whether a block is relevant, and whether any block fits beside the question."""
        return any(self.relevant) and max(self.lengths) <= self.room

    @property
    def fits(self) -> bool:
        """Whether all blocks are read at once, so that none is left out."""
        return sum(self.lengths) <= self.room


def gold_spans(question: Question) -> list[tuple[int, Span]]:
    """The supporting sentences and the gold answers of a question, each in its context."""
    support = [(context, Span(*question.context[context].sentences[s])) for context, s in question.support]
    return [*support, *question.spans]


def judged_question(question: Question, tokenizer: Tokenizer, settings: JudgeSettings) -> JudgedQuestion:
    """A question as a judge learns from it."""
    blocks = cut_blocks([doc.text for doc in question.context], tokenizer, settings.size)
    gold = gold_spans(question)
    relevant = tuple(
        any(b.document == c and s.start < b.span.end and b.span.start < s.end for c, s in gold) for b in blocks
    )
    query = tokenizer.encode(question.text).ids
    return JudgedQuestion(query, tuple(blocks), relevant, room_beside(tokenizer, query, settings.capacity))


class JudgeJob:
    """The blocks of a set of questions, and its dev set."""

    def __init__(self, judge: Judge, training: Sequence[Question], dev: Sequence[Question]) -> None:
        self.judge, self.model = judge, judge.model
        self.taught, self.dev = (
            [one for q in part if (one := judged_question(q, judge.tokenizer, judge.settings)).is_of_use]
            for part in (training, dev)
        )
        if training and not self.taught:
            raise BadInput("No question has support or a gold span in its context and leaves room for its blocks; a "
                           "judge learns from these.")  # fmt: skip
        self.metrics = metrics_of(self.dev)
        if dev and not self.metrics:
            raise BadInput(
                "The dev set cannot judge a judge: expected questions with support or a gold span in their contexts, "
                "and blocks without. Add such questions, or make blocks smaller (--block-size)."
            )
        self.untaught = len(training) - len(self.taught)
        self.lengths = [min(judge.settings.capacity, sum(q.lengths) + len(q.query)) for q in self.taught]
        self.terms = None

    def batch(self, examples: Sequence[int]) -> tuple[PairBatch, Tensor]:
        """Two windows of each question, and the targets of their tokens."""
        chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
        windows, relevant = [], []
        for question in (self.taught[i] for i in examples):
            for numbers in judged_windows(question, chance):
                blocks = [question.blocks[i] for i in numbers]
                windows.append(assemble(self.judge.tokenizer, question.query, blocks))
                relevant.append([question.relevant[i] for i in numbers])
        return collate_windows(windows, self.judge.tokenizer.pad_id), collate_targets(windows, relevant)

    def evaluate(self) -> dict[str, float]:
        """How well blocks are ranked; of questions whose blocks do not all fit, how many MemRecall keeps."""
        shares, ranked = list[float](), list[float]()
        for question in self.dev:
            kept, scores = self._judged(question)
            gold = {i for i, relevant in enumerate(question.relevant) if relevant}
            if not question.fits:
                shares.append(len(gold & set(kept)) / len(gold))
            if len(gold) < len(question.blocks):
                ranked.append(area(scores, question.relevant))
        found = {"recall": mean(shares), "all": mean([float(s == 1.0) for s in shares])} if shares else {}
        return {**found, "auc": mean(ranked)} if ranked else found

    def _judged(self, question: JudgedQuestion) -> tuple[Sequence[int], Sequence[float]]:
        """The blocks that are kept, and the score of every block in the first competition."""

        def score(windows: Windows) -> list[list[float]]:
            return self.judge.score(question.query, question.blocks, windows)

        if question.fits:
            every = range(len(question.blocks))
            return every, score([every])[0]
        found = mem_recall(question.lengths, question.room, score, self.judge.settings.keep)
        return found.kept, found.steps[0].scores

    def columns(self) -> list[Ints]:
        """All that it learns from."""
        return [np.array([*q.query, *(i for b in q.blocks for i in b.ids), *q.relevant], np.int32) for q in self.taught]


def metrics_of(dev: Sequence[JudgedQuestion]) -> tuple[str, ...]:
    """What these questions can measure, the default first."""
    long = any(not question.fits for question in dev)
    mixed = any(not all(question.relevant) for question in dev)
    return (*(RECALL if long else ()), *(RANKED if mixed else ()))


def area(scores: Sequence[float], relevant: Sequence[bool]) -> float:
    """The area under the ROC curve: the share of pairs in which the relevant block has more; equal scores are half."""
    s, is_relevant = np.array(scores, np.float64), np.array(relevant, np.bool_)
    apart = s[is_relevant][:, None] - s[~is_relevant][None, :]  # (R, I)
    return float(np.mean((apart > 0) + 0.5 * (apart == 0)))


def judged_windows(question: JudgedQuestion, chance: np.random.Generator) -> tuple[list[int], list[int]]:
    """Neighbouring blocks from a random one on, and the relevant blocks among random others; as many as fit."""
    lengths, relevant = question.lengths, question.relevant
    first = int(chance.integers(len(lengths)))
    order = sorted(chance.permutation(len(lengths)), key=lambda i: not relevant[i])
    return consecutive(lengths, question.room, first), fitting(order, lengths, question.room)


def start_judge(options: JudgeOptions, seed: int) -> Judge:
    """A judge with a fresh head on a pretrained encoder."""
    encoder, tokenizer = open_encoder(options.encoder, seed)
    capacity = min(options.max_length, encoder.max_length or options.max_length)
    chosen = JudgeSettings(capacity, options.block_size, parse_keep(options.keep))
    return Judge(JudgeModel(encoder, options.dropout), tokenizer, chosen)


def prepare_judge(
    training: Sequence[Question], dev: Sequence[Question], options: JudgeOptions, how: TrainConfig
) -> PartRun:
    """A judge on a pretrained encoder, ready to learn."""
    judge = start_judge(options, how.seed)
    job = JudgeJob(judge, training, dev)

    def save(folder: Path) -> SavedPart:
        settings = judge_settings(judge.settings, options)
        save_part(folder, settings, judge)
        return SavedPart(settings)

    counts = {"train": len(training), "dev": len(job.dev), "noted": {"not_taught": job.untaught}}
    return PartRun(JUDGE, job, options, how, job.metrics or (*RECALL, *RANKED), counts, save, job.columns)

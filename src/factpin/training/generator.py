"""Training a generator: questions with their contexts in, a folder that writes answers out (RAG).

All contexts are one pool of passages. Every question is asked in it once, by words, and its answer is learned from the
best k passages, whichever these are: there is no label for the right one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from factpin.answers.embedding import TextEmbedder
from factpin.answers.rag import RagSettings
from factpin.answers.rag_writer import NO_PASSAGE, AnswerWriter, RagBatch, RagModel, WrittenText
from factpin.documents import Question
from factpin.documents.keys import text_key
from factpin.encoders.generator import EncoderDecoder
from factpin.errors import BadInput
from factpin.memory import Source, open_store
from factpin.memory.search import Search
from factpin.models.generator_folder import save_writer, writer_settings
from factpin.scoring.answers import AnswerScores, Reply, figures, score_answers
from factpin.tokens.pieces import Ints
from factpin.training.config import TrainConfig
from factpin.training.generator_options import GENERATOR, GeneratorOptions
from factpin.training.hops import title_of
from factpin.training.part_fit import fit_answers
from factpin.training.part_run import PartRun, SavedPart, column_of, open_encoder

METRICS = ("f1", "em")
NOT_FITTED = ("The scores of this model are not calibrated: there was no dev set with right and wrong answers. None is "
              "above 0.5, so `factpin ask` abstains unless `--min-score` is lower.")  # fmt: skip
RATE = 3e-4  # of the generator, unless another is chosen: ten times that of the encoder is too much for a decoder


@dataclass(frozen=True, eq=False)
class AskedQuestion:
    """A question with its best passages, (title, text) each, and their vectors (K, D)."""

    question: Question
    passages: tuple[tuple[str, str], ...]
    documents: Tensor

    def gold(self) -> list[bool]:
        """Which of the passages hold an answer."""
        answers = [answer.lower() for answer in self.question.answers]
        return [any(answer in text.lower() for answer in answers) for _, text in self.passages]


def retrieve_passages(questions: Sequence[Question], pool: Sequence[Question], k: int) -> list[list[tuple[str, str]]]:
    """The best k passages of each question among the contexts of all questions of a pool, by words."""
    if k == 0:
        return [[] for _ in questions]
    with open_store("memory:", create=True) as store, store.together():
        docs = {text_key(doc.text): doc for question in pool for doc in question.context if doc.text.strip()}
        for key, doc in docs.items():
            store.put(replace(doc, id=key), Source(key, title_of(doc)))
        search, found = Search(store), []
        for question in questions:
            hits = store.passages([hit.passage for hit in search(question.text, k, by="words")])
            found.append([(passage.title, passage.text) for passage in hits])
        return found


def asked_questions(
    writer: AnswerWriter, questions: Sequence[Question], pool: Sequence[Question], k: int
) -> list[AskedQuestion]:
    """Questions with their passages and the vectors of these; those that found none are left out."""
    found = retrieve_passages(questions, pool, k)
    asked = [
        (question, tuple(passages) or tuple(NO_PASSAGE))
        for question, passages in zip(questions, found, strict=True)
        if question.answers and (passages or k == 0)
    ]
    rows = {passage: row for row, passage in enumerate(dict.fromkeys(p for _, passages in asked for p in passages))}
    vectors = writer.documents(list(rows))  # every passage once, however many questions found it
    return [AskedQuestion(question, passages, vectors[[rows[p] for p in passages]]) for question, passages in asked]


class GeneratorJob:
    """Questions with their passages, and a dev set."""

    def __init__(
        self, writer: AnswerWriter, training: Sequence[Question], dev: Sequence[Question], options: GeneratorOptions
    ) -> None:
        self.writer, self.model, self.options = writer, writer.model, options
        pool = [*training, *dev]
        found, self.dev = (asked_questions(writer, part, pool, options.k) for part in (training, dev))
        self.asked = [one for one in found if len(self.answer(one.question.answers[0])) <= options.longest]
        self.noted = {"not_taught": len(training) - len(found), "answers_too_long": len(found) - len(self.asked)}
        if training and not self.asked:
            raise BadInput(f"No question has a context with text and an answer of at most {options.longest - 1} "
                           f"pieces (--longest); a generator learns from these.")  # fmt: skip
        self.lengths = [options.max_length * max(1, len(one.passages)) for one in self.asked]
        self.terms = None

    def batch(self, examples: Sequence[int]) -> RagBatch:
        """Questions side by side; one with fewer passages than others has its last one more than once, unscored."""
        chosen = [self.asked[i] for i in examples]
        K = max(len(one.documents) for one in chosen)
        rows = [[min(k, len(one.documents) - 1) for k in range(K)] for one in chosen]
        prompts = [self.writer.prompts(one.question.text, one.passages) for one in chosen]
        return RagBatch(
            tuple(one.question.text for one in chosen),
            tuple(mine[k] for mine, row in zip(prompts, rows, strict=True) for k in row),
            torch.stack([one.documents[row] for one, row in zip(chosen, rows, strict=True)]),
            torch.tensor([[k < len(one.documents) for k in range(K)] for one in chosen]),
            tuple(self.answer(one.question.answers[0]) for one in chosen),
        )

    def answer(self, text: str) -> Ints:
        """The pieces of an answer with their end."""
        return np.append(self.model.head.tokenizer.encode(text).ids, self.model.head.end).astype(np.int32)

    def evaluate(self) -> dict[str, float]:
        """em and f1 on dev."""
        return figures(judge_written(self.dev, written(self.writer, self.dev))) if self.dev else {}

    def columns(self) -> list[Ints]:
        """All that it learns from."""
        return [column_of(f"{one.question.text}\n{one.question.answers[0]}\n{one.passages}") for one in self.asked]


def written(writer: AnswerWriter, asked: Sequence[AskedQuestion]) -> list[WrittenText | None]:
    """The likeliest answer to each question."""
    found = [writer.write(one.question.text, one.passages, one.documents) for one in asked]
    return [answers[0] if answers else None for answers in found]


def judge_written(asked: Sequence[AskedQuestion], best: Sequence[WrittenText | None]) -> AnswerScores:
    """The scores of written answers."""
    replies = {one.question.id: Reply(found.text if found else "") for one, found in zip(asked, best, strict=True)}
    return score_answers([one.question for one in asked], replies)


def start_writer(options: GeneratorOptions, seed: int) -> AnswerWriter:
    """A writer from a pretrained encoder and a pretrained encoder-decoder."""
    if not options.generator:
        raise BadInput("--generator is missing: name the folder of an encoder-decoder such as T5 or BART.")
    query, document = (TextEmbedder(*open_encoder(options.encoder, seed)) for _ in range(2))
    model = RagModel(query, EncoderDecoder.load(options.generator), options.marginal)
    settings = RagSettings(options.k, options.max_length, options.longest, options.beams, options.decode)
    return AnswerWriter(model, document.requires_grad_(False), settings)


def prepare_generator(
    training: Sequence[Question], dev: Sequence[Question], options: GeneratorOptions, how: TrainConfig
) -> PartRun:
    """A query encoder and a generator, ready to learn; their scale is fitted on dev before they are saved."""
    writer = start_writer(options, how.seed)
    job = GeneratorJob(writer, training, dev, options)

    def save(folder: Path) -> SavedPart:
        before = writer.settings
        if job.dev:
            best = written(writer, job.dev)
            writer.settings = fit_answers(before, best, judge_written(job.dev, best), options.precision)
        settings = writer_settings(writer.settings, options.marginal, options)
        save_writer(folder, settings, writer)
        return SavedPart(settings, remark=NOT_FITTED if writer.settings is before else "")

    how = replace(how, head_learning_rate=how.head_learning_rate or RATE)
    counts = {"train": len(training), "dev": len(job.dev), "noted": job.noted}
    return PartRun(GENERATOR, job, options, how, METRICS, counts, save, job.columns)

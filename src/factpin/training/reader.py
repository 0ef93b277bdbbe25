"""Training a reader: questions with their contexts in, a model folder out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import orjson
import torch

from factpin.answers.pair_reader import PairBatch, PassagePairs, PassagePieces, collate_pairs
from factpin.answers.reader import YES_NO, Reader, ReaderSettings
from factpin.answers.reader_model import ReaderModel
from factpin.documents import Document, Question, question_to_json
from factpin.encoders import Encoder, resolve
from factpin.errors import BadInput, pick
from factpin.heads.cells import Cells
from factpin.heads.inherit import inherit
from factpin.language.identify import family
from factpin.models.reader_folder import LABELS, READER_HEADS, build_head, save_reader
from factpin.models.settings import Settings, read_settings
from factpin.models.shipped import READER as TASK
from factpin.models.shipped import find_model
from factpin.scoring import calibration
from factpin.scoring.answers import figures, score_answers
from factpin.scoring.risk import precision_at
from factpin.tokens import Tokenizer
from factpin.tokens.pairs import FramedPair
from factpin.tokens.pieces import Ints
from factpin.training.advice import inherited
from factpin.training.config import TrainConfig
from factpin.training.initial import InitialModel, open_initial
from factpin.training.part_run import PartRun, SavedPart, column_of
from factpin.training.reader_fit import (
    best_readings,
    fitted,
    held_out_error,
    judge,
    probabilities,
    raw_outcomes,
    to_fit_on,
)
from factpin.training.reader_long import recalled_questions
from factpin.training.reader_options import ReaderOptions
from factpin.training.run import SHORT

METRICS = ("f1", "em")
CHOICES = {"zh": ("是", "否")}  # by language; others have yes and no


class ReaderJob:
    """The training pairs of a set of questions, and its dev set."""

    def __init__(
        self,
        reader: Reader[ReaderModel],
        training: Sequence[Question],
        dev: Sequence[Question],
        config: ReaderOptions,
        seed: int,
    ) -> None:
        self.reader, self.model, self.dev = reader, reader.model, dev
        self.pairs: list[
            tuple[FramedPair, tuple[tuple[int, int], ...]]
        ] = []  # a pair, and (first, last) of its answers
        self.noted: Counter[str] = Counter()
        self._cuts: dict[str, PassagePieces] = {}
        for number, question in enumerate(training):
            chance = np.random.default_rng([seed, number])
            self._add(question, config, chance)
            for other in chance.permutation(len(training))[: config.strangers]:
                self._add_stranger(question, training[other], chance)
        self._cuts.clear()
        self.lengths = [len(pair.ids) for pair, _ in self.pairs]
        self.terms = None

    def _add(self, question: Question, config: ReaderOptions, chance: np.random.Generator) -> None:
        """The windows with an answer, and some without one."""
        self.noted["questions"] += 1
        empty: list[FramedPair] = []
        before = len(self.pairs)
        for index, doc in enumerate(question.context):
            read = self._read(question, doc)
            for w, pair in enumerate(read.pairs):
                cells = self._cells(question, index, read, w, config.max_span)
                if cells:
                    self.pairs.append((pair, cells))
                elif not _says_it(question, index, read, w):
                    empty.append(pair)
        taught = len(self.pairs) > before
        if question.answerable and not taught:
            self.noted["not_taught"] += 1  # no gold span, or one that is too wide or begins inside a piece
        if taught or not question.answerable:
            kept = min(len(empty), config.empty_windows if taught else max(1, config.empty_windows))
            self.pairs += [(empty[i], ()) for i in sorted(chance.permutation(len(empty))[:kept])]

    def _add_stranger(self, question: Question, other: Question, chance: np.random.Generator) -> None:
        """A window of another question's context, where there is one without an answer to this."""
        known = {doc.id for doc in question.context}
        for doc in other.context[:1]:
            if doc.id not in known and not any(answer in doc.text for answer in question.answers):
                read = self._read(question, doc)
                if read.pairs:
                    self.pairs.append((read.pairs[int(chance.integers(len(read.pairs)))], ()))

    def _read(self, question: Question, doc: Document) -> PassagePairs:
        if doc.id not in self._cuts:
            self._cuts[doc.id] = self.reader.pairs.cut(doc.text)
        return self.reader.pairs.beside(question.text, self._cuts[doc.id])

    def _cells(
        self, question: Question, index: int, read: PassagePairs, window: int, widest: int | None
    ) -> tuple[tuple[int, int], ...]:
        """The (first, last) tokens of the answers in a window."""
        if question.kind == "yes_no" and read.choices and (index in question.gold or len(question.context) == 1):
            return tuple(read.choices[YES_NO.index(answer)] for answer in question.answers if answer in YES_NO)
        spans = [span for context, span in question.spans if context == index]
        found = [cell for span in spans if (cell := read.cell(window, *span)) is not None]
        return tuple(dict.fromkeys(cell for cell in found if widest is None or cell[1] - cell[0] < widest))

    def columns(self) -> list[Ints]:
        """All that it learns from, and what judges it."""
        asked = [column_of(orjson.dumps(question_to_json(question)).decode()) for question in self.dev]
        pairs = (column for pair, cells in self.pairs for column in (pair.ids, np.array(cells, np.int32)))
        return [*pairs, *asked, column_of("\n".join(self.reader.settings.choices))]

    def batch(self, examples: Sequence[int]) -> tuple[PairBatch, Cells]:
        """Pairs side by side, and the cells of their answers."""
        chosen = [self.pairs[i] for i in examples]
        rows = [(row, 0, first, last) for row, (_, cells) in enumerate(chosen) for first, last in cells]
        return collate_pairs([pair for pair, _ in chosen], self.reader.tokenizer.pad_id), Cells.of(rows)

    def evaluate(self) -> dict[str, float]:
        """em and f1 on dev, by the very path that reads."""
        return figures(judge(self.dev, best_readings(self.reader, self.dev))) if self.dev else {}


def _says_it(question: Question, index: int, read: PassagePairs, window: int) -> bool:
    """Whether a window holds an answer, or a part of one, so that it cannot be an example of a window without one."""
    here = read.windows[window]
    spans = [span for context, span in question.spans if context == index]
    text = read.pieces.text[here.start : here.end]
    return any(s < here.end and e > here.start for s, e in spans) or any(answer in text for answer in question.answers)


def start(config: ReaderOptions, training: Sequence[Question], seed: int) -> tuple[Reader[ReaderModel], Settings]:
    """A reader with a fresh head on a pretrained encoder, and the settings of its folder."""
    torch.manual_seed(seed)
    name = config.head.replace("-", "_")
    _, config_type = pick(READER_HEADS, name, kind="head of a reader")
    known = {field.name for field in fields(config_type)}
    head_config = {"labels": LABELS, **{key: value for key, value in asdict(config).items() if key in known}}
    encoder, tokenizer, old = _beginning(config)
    head = build_head(name, head_config, encoder.width)
    if old is not None:
        inherit(head, old.head)
    model = ReaderModel(encoder, head, config.dropout)
    length = min(config.max_length, encoder.max_length or config.max_length)
    before = old.settings.task_config.get("choices", ()) if old is not None else ()  # a reader may know yes and no
    reading = ReaderSettings(max_length=length, overlap=config.overlap, choices=choices_of(training) or tuple(before))
    settings = Settings(
        task=TASK,
        labels=LABELS,
        head=name,
        head_config=head_config,
        encoder=config.encoder if old is None else old.settings.encoder,
        language=config.language or (old.settings.language if old else ""),
        name=config.name,
        finds=config.finds,
        task_config={"strangers": config.strangers > 0, "precision": config.precision},  # how its scores are fitted
    )
    return Reader(model, tokenizer, reading), settings


def _beginning(config: ReaderOptions) -> tuple[Encoder, Tokenizer, InitialModel | None]:
    """The encoder that is named, or that of the initial model: a reader or any other."""
    if not config.initial:
        source = resolve(config.encoder)
        return Encoder.load(source), Tokenizer.load(source), None
    old = open_initial(config.initial)
    if old.encoder.insert is not None:
        raise BadInput(f"{config.initial} has a layer over a store, which a reader cannot use. Take another model.")
    return old.encoder, old.tokenizer, old


def choices_of(questions: Sequence[Question]) -> tuple[str, ...]:
    """Yes and no in the language of most yes_no questions; nothing where there are none."""
    languages = Counter(family(question.language) for question in questions if question.kind == "yes_no")
    return CHOICES.get(languages.most_common(1)[0][0], ("yes", "no")) if languages else ()


def familiar(max_length: int, lengths: Sequence[int]) -> int:
    """Tokens of a pair that is little longer than any in training: in longer ones a reader invents long answers."""
    return min(max_length, max(SHORT, round(1.25 * max(lengths, default=max_length))))


def prepare_reader(
    training: Sequence[Question], dev: Sequence[Question], options: ReaderOptions, how: TrainConfig
) -> PartRun:
    """A reader on a pretrained encoder, ready to learn; its scale is fitted on dev before it is saved."""
    score_answers(dev, {})  # ids that occur twice and questions without gold are refused now, not after an epoch
    if options.long == "memrecall":
        training = recalled_questions(training, options.judge, with_gold=True)
        dev = recalled_questions(dev, options.judge, with_gold=False)
    reader, settings = start(options, training, how.seed)
    job = ReaderJob(reader, training, dev, options, how.seed)
    reader.settings = replace(reader.settings, max_length=familiar(reader.settings.max_length, job.lengths))
    counts = {"train": len(training), "dev": len(dev), "pairs": len(job.pairs), "noted": dict(job.noted)}
    if options.initial:
        old = read_settings(find_model(options.initial))
        counts["initial"] = {"model": options.initial, **inherited(old, settings)}
    return PartRun(TASK, job, options, how, METRICS, counts, partial(finish, reader, settings, dev, options),
                   job.columns)  # fmt: skip


def finish(
    reader: Reader[ReaderModel], settings: Settings, dev: Sequence[Question], config: ReaderOptions, folder: Path
) -> SavedPart:
    """Fit the scale and the least score on dev, score, and write the folder."""
    scores, reliability = dict[str, float](), calibration([])
    if dev:
        fit_on = to_fit_on(dev, strangers=config.strangers > 0)
        best = best_readings(reader, fit_on)
        outcomes = raw_outcomes(fit_on, best)
        reader.settings = fitted(reader.settings, outcomes, config.precision)
        judged = probabilities(reader.settings.scale, outcomes)
        reliability = calibration(judged)
        scores |= figures(judge(dev, best[: len(dev)]))
        scores |= {"ece": reliability.ece, "ece_held_out": held_out_error(fit_on, best)}
        scores |= _withheld(judged, reader.settings.min_score)
    return SavedPart(save_reader(folder, settings, reader), scores, reliability, "Means over questions.")


def _withheld(judged: list[tuple[float, bool]], least: float) -> dict[str, float]:
    """What the least score does: the share of readings that reach it, and how many of these are right."""
    kept = [right for score, right in judged if score >= least]
    half = precision_at(judged, 0.5)
    found = {
        "min_score": least,
        "kept": len(kept) / max(1, len(judged)),
        "precision_kept": sum(kept) / max(1, len(kept)),
    }
    return found if half is None else {**found, "precision_at_half": half}

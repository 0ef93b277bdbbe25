"""Pretraining: a corpus in, an encoder folder out, by the one loop.

    recipe.toml, metrics.jsonl, checkpoints/        as of every run
    start/                                          the encoder that it began with
    config.json, model.safetensors, tokenizer.json  the encoder

What is judged is the loss on held-out documents, hidden in the same way at every evaluation.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.objectives import OBJECTIVES, Text
from factpin.tokens import Tokenizer
from factpin.tokens.lexicon import Lexicon
from factpin.tokens.words import By
from factpin.training.checkpoint import last_path
from factpin.training.config import TrainConfig, to_dict, write_recipe
from factpin.training.corpus import Corpus, Cut, Divide, Packed, Packing, Place
from factpin.training.learner import build_learner
from factpin.training.loop import check_folder, train
from factpin.training.needs import Needs, needs_of
from factpin.training.parallel import World, join_world
from factpin.training.prepare import Beginning, prepare
from factpin.training.pretrain_job import METRIC, PretrainJob, stages_of
from factpin.training.run import digest
from factpin.training.stream import Stream, with_foreign
from factpin.training.vocabulary import Kind, vocabulary_of

HELD_OUT = 256  # texts at most
LEARNING_RATE = 1e-4  # what the command takes; fine-tuning takes less
SAVES, LOOKS = 20, 10  # checkpoints and evaluations of a run, unless told otherwise


@dataclass(frozen=True)
class PretrainConfig:
    """What is pretrained. How it is trained stands in TrainConfig."""

    objective: str  # rows, mixtures or stages of the table; several with commas: one is drawn for each batch
    encoder: str = ""  # a name of the catalogue, a folder, or a hub id
    config: str = ""  # or a config.json of transformers: random weights
    tokenizer: str = ""  # for `config`: a folder; none: one is trained
    vocab_size: int = 8000  # of a tokenizer that is trained
    vocabulary: Kind = "wordpiece"
    lowercase: bool = True
    extend: int = 0  # frequent over-split words that become pieces
    length: int = 128  # cells of a text, special tokens included
    packing: Packing | None = None  # None: inside documents where two parts of a text are asked about
    memory: int = 0  # pieces before a text that rows with a memory remember; encoders of transformers have none
    words: By = "jieba"
    lexicon: str = ""  # phrases and entities, one a line
    divide: Divide = "blank"  # what parts the documents of a text file
    heldout: float = 0.01  # share of the documents that is held out, where no dev corpus is given
    buffer: int = 2048  # texts that are shuffled together

    def __post_init__(self) -> None:
        if not 0 <= self.heldout <= 0.5:
            raise BadInput(f"heldout is {self.heldout}; expected a share from 0 to 0.5.")
        if self.buffer < 1:
            raise BadInput(f"buffer is {self.buffer}; expected 1 or more.")


def pretrain(
    paths: Sequence[Path],
    config: PretrainConfig,
    how: TrainConfig,
    folder: Path,
    *,
    dev: Sequence[Path] = (),
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Pretrain on the files, and write an encoder folder that `factpin train --encoder` takes; gives what was measured.

    Held out are the files of `dev`, or else a share of the documents.
    """
    _refuse(folder, how, resume=resume)
    world = world or join_world()
    stages = stages_of(config.objective)
    rows = tuple(dict.fromkeys(row for stage in stages for row in stage))
    need = needs_of(OBJECTIVES[row] for row in rows)
    corpus = Corpus(paths, divide=config.divide)
    lexicon = _lexicon(config, need, corpus)
    beginning, begun = _beginning(config, need, how.seed), last_path(folder).exists()
    told = world.from_leader(prepare(beginning, corpus, folder / "start", begun=begun) if world.leads else {})
    encoder, tokenizer = _encoder(folder / "start", config.length)
    vocabulary = vocabulary_of(tokenizer)
    model = build_learner({row: OBJECTIVES[row] for row in rows}, encoder, how.seed)

    every = 0 if dev or not config.heldout else max(2, round(1 / config.heldout))
    source = Source(corpus, tokenizer, _cut(config, need), lexicon, rows, every, need.foreign)
    other = replace(source, corpus=Corpus(dev, divide=config.divide)) if dev else source
    marks = (corpus.digest(), other.corpus.digest(), tokenizer.to_json().encode())
    fingerprint = digest((config, how, world.size), [np.frombuffer(mark, np.uint8) for mark in marks])
    check_folder(folder, fingerprint, resume=resume)
    judged = other.judged() if dev or every else []
    steps = how.max_steps or world.from_leader(source.steps(how, world) if world.leads else 0)
    if world.leads:
        named = {"paths": [str(path) for path in paths], "dev": [str(path) for path in dev]}
        write_recipe(folder / "recipe.toml", {"pretrain": to_dict(config), "corpus": named, "train": to_dict(how)})
    stream = Stream(
        partial(source.texts, world=world), size=how.batch_size, buffer=config.buffer, seed=how.seed,
        fits=source.fits, needs_foreign=need.foreign, fingerprint=fingerprint,
        kept=folder / "checkpoints" / f"corpus-{world.rank}.jsonl",
    )  # fmt: skip
    job = PretrainJob(model, stages, stream, vocabulary, judged, how, world, steps)
    outcome = train(job, _inner(how, steps), folder, world, fingerprint=fingerprint, resume=resume, quiet=quiet)
    if world.leads:
        save_into(folder, model.save_encoder)
    pieces = int(world.sum(job.pieces))
    world.close()
    return {"steps": outcome.steps, "best_step": outcome.best_step, "scores": outcome.scores, "pieces": pieces,
            "heldout": len(judged), "vocabulary": told}  # fmt: skip


def _refuse(folder: Path, how: TrainConfig, *, resume: bool) -> None:
    """What is wrong before anything is read."""
    if not resume:
        check_folder(folder, "", resume=False)
    if (folder / "config.json").exists() and not resume:
        raise BadInput(f"{folder} holds an encoder already. Name another folder, or go on with it (--resume).")
    if how.rdrop:
        raise BadInput("R-Drop compares two passes of an extractor; it means nothing here. Leave --rdrop out.")


@dataclass(frozen=True, eq=False)
class Source:
    """A corpus as a run reads it."""

    corpus: Corpus
    tokenizer: Tokenizer
    cut: Cut
    lexicon: Lexicon | None
    rows: tuple[str, ...]
    every: int  # each so-manieth document is held out; 0: none, and all of the corpus is to be judged
    needs_foreign: bool

    def fits(self, text: Text) -> bool:
        return all(OBJECTIVES[row].fits(text) for row in self.rows)

    def held(self, number: int) -> bool:
        return bool(self.every) and number % self.every == self.every - 1

    def texts(self, place: Place, world: World) -> Iterator[Packed]:
        """A process's share: every so-manieth document, without those held out."""
        return self._texts(place, lambda number: number % world.size == world.rank and not self.held(number))

    def judged(self) -> list[Text]:
        """The first held-out texts, or those of a dev corpus, which has nothing else."""
        found = self._texts(Place(), lambda number: not self.every or self.held(number))
        block = list(islice((packed for packed in found if self.fits(packed.text)), HELD_OUT))
        return with_foreign(block, np.random.default_rng(0), needed=self.needs_foreign)

    def steps(self, how: TrainConfig, world: World) -> int:
        """How many steps the epochs are, by going through the share of a process once."""
        count = sum(self.fits(packed.text) for packed in self.texts(Place(), world))
        return max(1, how.epochs * count // (how.batch_size * how.accumulation))

    def _texts(self, place: Place, wanted: Callable[[int], bool]) -> Iterator[Packed]:
        return self.corpus.texts(self.tokenizer, self.cut, lexicon=self.lexicon, start=place, wanted=wanted)


def _encoder(folder: Path, length: int) -> tuple[Encoder, Tokenizer]:
    encoder = Encoder.load(folder)
    if encoder.max_length is not None and length > encoder.max_length:
        raise BadInput(f"length is {length}; this encoder reads at most {encoder.max_length} tokens.")
    return encoder, Tokenizer.load(folder)


def _beginning(config: PretrainConfig, need: Needs, seed: int) -> Beginning:
    return Beginning(config.encoder, config.config, config.tokenizer, config.vocab_size, config.vocabulary,
                     config.lowercase, config.extend, tuple(sorted(need.marks)), seed)  # fmt: skip


def _lexicon(config: PretrainConfig, need: Needs, corpus: Corpus) -> Lexicon | None:
    """The lexicon; refused where phrases or entities are asked for and nothing says what they are."""
    if config.lexicon:
        return Lexicon.load(Path(config.lexicon))
    if need.phrases:
        raise BadInput(f"{config.objective} hides phrases. Name a file with one a line: --lexicon FILE.")
    if need.entities and not any(portion.mentions for portion in islice(corpus.portions(), 1000)):
        raise BadInput(
            f"{config.objective} hides entities, and the corpus has no mentions. Annotate it first (factpin extract "
            "corpus.txt --to jsonl), or name a file with one entity a line: --lexicon FILE."
        )
    return None


def _cut(config: PretrainConfig, need: Needs) -> Cut:
    packing = config.packing or ("document" if need.pair else "full")
    return Cut(config.length, packing, config.words if need.words else None, config.memory)


def _inner(how: TrainConfig, steps: int) -> TrainConfig:
    """The settings as the loop is to see them: one epoch of tickets, one ticket a forward pass."""
    return replace(
        how,
        epochs=1,
        max_steps=None,
        batch_size=1,
        head_learning_rate=how.head_learning_rate or how.learning_rate,
        metric=METRIC,
        save_every=how.save_every or max(1, steps // SAVES),
        evaluate_every=how.evaluate_every or max(1, steps // LOOKS),
    )


def save_into(folder: Path, save: Callable[[Path], None]) -> None:
    """Files that replace those of the folder one by one; config.json, by which it is an encoder's, comes last."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".encoder.") as temporary:
        save(Path(temporary))
        for file in sorted(Path(temporary).iterdir(), key=lambda file: file.name == "config.json"):
            with open(file, "rb") as stream:
                os.fsync(stream.fileno())
            os.replace(file, folder / file.name)

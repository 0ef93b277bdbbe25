"""What a pretraining run starts from: an encoder with all rows that it will need, written once to `start/`.

    encoder given    its weights, and the heads that lie with them; its vocabulary with the marks of the objectives, and
                     with new words by choice
    config given     random weights of that shape; the tokenizer given, or one trained on the corpus
    shape given      the same, the config made for the rows

A resumed run, and every process of a run, reads the folder.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from factpin.encoders import Encoder, resolve
from factpin.errors import BadFile, BadInput
from factpin.files import read_text, write_folder
from factpin.pretraining.config import VOCABULARY, Kind
from factpin.pretraining.corpus import Corpus
from factpin.pretraining.folder import CONFIG, HEAD_WEIGHTS, network_weights, read_json, save_pretrained
from factpin.pretraining.inherited import fresh_bias, heads_in, inherit
from factpin.pretraining.layouts import LAYOUTS
from factpin.pretraining.learner import Learners, build_network
from factpin.pretraining.networks import PAD_SECOND, with_vocabulary
from factpin.pretraining.vocabulary import (
    extended,
    frequent,
    grow,
    grown,
    measure,
    train_tokenizer,
    vocabulary_of,
    with_marks,
)
from factpin.tokens import Tokenizer

MADE = "prepared.json"
WORDS = "encoder.words.weight"  # of a network, among the learner's weights
SAMPLE = 2_000_000  # characters by which a vocabulary is measured before and after


@dataclass(frozen=True)
class StartFolder:
    """What `start/` is made from."""

    encoder: str = ""
    config: str = ""
    shape: str = ""  # the text of a config.json that was made for the rows
    tokenizer: str = ""
    vocab_size: int = VOCABULARY
    kind: Kind = "wordpiece"
    lowercase: bool = True
    extend: int = 0
    marks: tuple[str, ...] = ()
    seed: int = 42

    def __post_init__(self) -> None:
        if [bool(self.encoder), bool(self.config), bool(self.shape)].count(True) != 1:
            raise BadInput(
                "Give one of these: an encoder to continue with (--encoder), or a config (--config) or a shape "
                "(--shape) to start from scratch."
            )
        if self.encoder and self.tokenizer:
            raise BadInput("An encoder has its tokenizer. Leave --tokenizer out, or start from scratch with --config.")
        if self.encoder and self.vocab_size != VOCABULARY:
            raise BadInput(
                "An encoder has its vocabulary. Leave --vocab-size out, or start from scratch with --config."
            )
        if self.extend < 0 or self.vocab_size < 1:
            raise BadInput(f"extend is {self.extend} and vocab_size {self.vocab_size}; expected 0 and 1 or more.")


def prepare(beginning: StartFolder, corpus: Corpus, target: Path, *, begun: bool = False) -> dict[str, Any]:
    """Write `target`, unless it was made from the very same; gives how the vocabulary copes, before and after.

    A run that has `begun` keeps what it began with.
    """
    made_from = f"{beginning} {corpus.digest().hex()} {_shape(beginning.config) if beginning.config else ''}"
    if (target / MADE).is_file():
        made: dict[str, Any] = json.loads((target / MADE).read_text(encoding="utf-8"))
        if made["made_from"] == made_from:
            return made["vocabulary"]
        if begun:
            raise BadFile(
                f"{target}: belongs to another run. Its data or its settings were different. Resume with those it was "
                f"started with (recipe.toml beside it), or start anew in another folder."
            )
        shutil.rmtree(target)
    start, report = _adapted(beginning, corpus) if beginning.encoder else _fresh(beginning, corpus)
    with write_folder(target) as folder:
        start.save(folder)
        record = json.dumps({"made_from": made_from, "vocabulary": report}, ensure_ascii=False, indent=1)
        (folder / MADE).write_text(record, encoding="utf-8")
    return report


@dataclass(frozen=True, eq=False)
class Start:
    """What a run begins with: an encoder of transformers and its heads, or a network of our own."""

    model: Encoder | Learners
    tokenizer: Tokenizer
    heads: Mapping[str, Tensor] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        if isinstance(self.model, Learners):
            save_pretrained(self.model, folder, self.tokenizer)
            return
        self.model.save(folder)
        if self.heads:
            save_file(dict(self.heads), folder / HEAD_WEIGHTS, metadata={"format": "pt"})


def _adapted(beginning: StartFolder, corpus: Corpus) -> tuple[Start, dict[str, Any]]:
    source = resolve(beginning.encoder)
    config, old = read_json(source / CONFIG), Tokenizer.load(source)
    tokenizer, words = with_marks(old, beginning.marks), []
    made_of: dict[int, tuple[int, ...]] = {}
    if beginning.extend:
        words = frequent(tokenizer, (p.text for p in corpus.portions()), beginning.extend)
        tokenizer, made_of = extended(tokenizer, words)
    report = {"size": tokenizer.vocab_size, "added": len(words), "words": words[:20],
              "before": measure(old, sample(corpus)), "after": measure(tokenizer, sample(corpus))}  # fmt: skip
    if config.get("model_type") in LAYOUTS:
        state = network_weights(source, config)
        state = fresh_bias(state, old.vocab_size, tokenizer.vocab_size)
        state[WORDS] = grown(state[WORDS], tokenizer.vocab_size, made_of, beginning.seed)
        model = build_network({}, with_vocabulary(config, vocabulary_of(tokenizer)), beginning.seed)
        inherit(model, state)
        return Start(model, tokenizer), report
    encoder = Encoder.load(source)
    heads = fresh_bias(heads_in(source, encoder), old.vocab_size, tokenizer.vocab_size)
    return Start(grow(encoder, tokenizer, made_of, beginning.seed), tokenizer, heads), report


def _fresh(beginning: StartFolder, corpus: Corpus) -> tuple[Start, dict[str, Any]]:
    if beginning.extend:
        raise BadInput("A tokenizer that is trained on the corpus needs no extension. Leave --extend out.")
    given = described(beginning)
    if beginning.tokenizer:
        tokenizer = Tokenizer.load(resolve(beginning.tokenizer))
    else:
        pad_second = given["model_type"] == PAD_SECOND
        tokenizer = train_tokenizer(lambda: (p.text for p in corpus.portions()), beginning.vocab_size,
                                    beginning.kind, lowercase=beginning.lowercase, pad_second=pad_second)  # fmt: skip
    tokenizer = with_marks(tokenizer, beginning.marks)
    report = {"size": tokenizer.vocab_size, "after": measure(tokenizer, sample(corpus))}
    config = with_vocabulary(given, vocabulary_of(tokenizer), by_shape=bool(beginning.shape))
    if config["model_type"] in LAYOUTS:
        return Start(build_network({}, config, beginning.seed), tokenizer), report
    torch.manual_seed(beginning.seed)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / CONFIG).write_text(json.dumps(config), encoding="utf-8")
        encoder = Encoder.from_config(Path(folder), tokenizer)
    return Start(encoder, tokenizer), report


def described(beginning: StartFolder) -> dict[str, Any]:
    """The config.json that a run begins with, without the numbers of its vocabulary."""
    if beginning.shape:
        made: dict[str, Any] = json.loads(beginning.shape)
        return made
    return read_json(resolve(beginning.encoder) / CONFIG) if beginning.encoder else _shape(beginning.config)


def _shape(config: str) -> dict[str, Any]:
    """The config.json of an architecture that transformers knows; a folder that holds one is as good."""
    path = Path(config) / CONFIG if Path(config).is_dir() else Path(config)
    try:
        shape = json.loads(read_text(path))
    except ValueError as error:
        raise BadFile(f"{path}: not JSON ({error}). Expected the config.json of an encoder.") from None
    if not isinstance(shape, dict) or "model_type" not in shape:
        raise BadFile(f'{path}: expected the config.json of an encoder, such as {{"model_type": "bert", …}}.')
    return shape


def sample(corpus: Corpus) -> Iterator[str]:
    """The texts that the corpus begins with."""
    size = 0
    for portion in corpus.portions():
        yield portion.text
        size += len(portion.text)
        if size > SAMPLE:
            return

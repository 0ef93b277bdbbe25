"""What to pretrain. The comments are the help of `factpin pretrain`. No torch."""

from dataclasses import dataclass
from typing import Literal

from factpin.errors import BadInput
from factpin.tokens.words import By

Divide = Literal["blank", "line", "file"]
Kind = Literal["wordpiece", "bpe"]
Packing = Literal["full", "document", "filled", "apart", "running"]

VOCABULARY = 8000  # pieces of a new tokenizer
LEARNING_RATE = 1e-4  # of the command; fine-tuning takes less


@dataclass(frozen=True)
class PretrainConfig:
    """What is pretrained. How it is trained is in TrainConfig."""

    objective: str  # method, mixture or stages (docs/objectives.md), such as wwm; a,b: one per batch
    encoder: str = ""  # encoder to continue with: a name (`factpin models --encoders`), a folder, or a hub id
    config: str = ""  # or start from scratch with a config.json of transformers
    shape: str = ""  # or start from scratch with layers x width, such as 4x256; the objective decides the architecture
    decoder_layers: int | None = None  # layers of the decoder; default: as many as the encoder has, 2 with --encoder
    beside: str = ""  # other objectives that must be able to use the same vocabulary and texts
    tokenizer: str = ""  # folder of a tokenizer, with --config or --shape; default: train one on the corpus
    vocab_size: int = VOCABULARY  # pieces of a new tokenizer
    vocabulary: Kind = "wordpiece"  # kind of a new tokenizer
    lowercase: bool = True  # lowercase texts, for a new tokenizer
    extend: int = 0  # give this many frequent words of the corpus that are split too much a piece of their own
    length: int = 128  # tokens of a text, special tokens included
    packing: Packing | None = None  # sentences across documents, within one; cut where full, and within one
    memory: int | None = None  # pieces that are remembered, for objectives with a memory
    words: By = "jieba"  # what a Chinese word is
    lexicon: str = ""  # file of phrases and entities, one per line; after a tab: phrase or entity; default: by rules
    divide: Divide = "blank"  # what separates the documents of a text file: a blank line, every line, or nothing
    encoding: str = ""  # encoding of text files; default: utf-8, or what an HTML page declares
    source_format: str = ""  # what the files are: text, markdown, jsonl, html or pdf; default: by their endings
    heldout: float = 0.01  # share of the documents that is held out, without --dev
    buffer: int = 2048  # texts that are shuffled together
    pairs: str = ""  # file of sources and targets, in place of --corpus: tab-separated, or JSONL with source, target
    label_smoothing: float | None = None  # share of the probability given to other words; default: as in the paper

    def __post_init__(self) -> None:
        if not 0 <= self.heldout <= 0.5:
            raise BadInput(f"heldout is {self.heldout}; expected a share from 0 to 0.5.")
        if self.buffer < 1:
            raise BadInput(f"buffer is {self.buffer}; expected 1 or more.")
        if self.decoder_layers is not None and self.decoder_layers < 1:
            raise BadInput(f"decoder_layers is {self.decoder_layers}; expected 1 or more.")
        if self.label_smoothing is not None and not 0 <= self.label_smoothing < 1:
            raise BadInput(f"label_smoothing is {self.label_smoothing}; expected 0 or more and less than 1.")
        if self.memory is not None and self.memory < 0:
            raise BadInput(f"memory is {self.memory}; expected 0 or more.")

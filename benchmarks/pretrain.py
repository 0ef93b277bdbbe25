"""Pretraining of factpin against transformers on the same model: tokens per CPU second, and peak memory.

    python benchmarks/pretrain.py [--corpus FILE] [--size 4x256] [--rounds N] [--packing full] [--bf16] [--no-memory]

trainer  BertForMaskedLM in transformers' own Trainer with DataCollatorForLanguageModeling; where accelerate, which
         Trainer needs, is installed
loop     the same without Trainer: a loop of a few lines around model, collator and AdamW
ours     a loop as short around the stream, the views and the learner of `factpin pretrain --objective palm_cloze` (the
         same cloze)

All learn from the same texts: pieces in a row, cut where a text is full, as transformers' own scripts do, or whole
sentences (--packing full). With --packing apart our documents do not see each other; those of the others do, as Trainer
has no such mask. The texts of trainer and loop are tokenised beforehand, outside the measured time; ours are read,
split and tokenised within it. All have the same optimiser, clipping and dropout. One thread; all in one process,
in turns; process_time. Tokens are the pieces of text in the batches, without padding and special tokens.

Peak memory is VmHWM of a fresh process that runs `pretrain` over a corpus, once and 50 times as long, for the same
number of steps; the model is small, so that the corpus would show. In the peak are gaps between freed blocks that the C
library keeps, more where batches repeat themselves less; so what is held in the end is shown as well, after malloc_trim
has given them back.
"""

import ctypes
import gc
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from factpin.pretraining.config import Packing

TIMES = 50
LENGTH, BATCH = 128, 16
STEPS = 8  # that pass once over the short corpus
MiB = 2**20


def made_corpus(path: Path, characters: int) -> None:
    """Sentences of made words, some frequent and some rare, in documents of a few lines."""
    chance = random.Random(0)
    words = [
        "".join(chr(0x4E00 + chance.randrange(3000)) for _ in range(chance.choice((1, 2, 2, 3)))) for _ in range(4000)
    ]
    weights = [1 / (k + 10) for k in range(len(words))]
    written = 0
    with open(path, "w", encoding="utf-8") as stream:
        while written < characters:
            for _ in range(chance.randint(2, 6)):
                line = "".join(chance.choices(words, weights, k=chance.randint(8, 40))) + "。"
                stream.write(line + "\n")
                written += len(line)
            stream.write("\n")


def shape(width: int, layers: int) -> dict[str, Any]:
    return {"model_type": "bert", "hidden_size": width, "num_hidden_layers": layers,
            "num_attention_heads": max(1, width // 32), "intermediate_size": 4 * width,
            "max_position_embeddings": LENGTH}  # fmt: skip


def ours(start: Path, corpus: Path, packing: Packing, half: bool) -> Callable[[], int]:
    """A function that makes one step and returns its tokens."""
    from factpin.encoders import Encoder
    from factpin.layers.half import half_precision
    from factpin.objectives import OBJECTIVES, collate
    from factpin.pretraining.corpus import Corpus, TextCut
    from factpin.pretraining.learner import build_learner
    from factpin.pretraining.stream import BatchStream
    from factpin.pretraining.vocabulary import vocabulary_of
    from factpin.tokens import Tokenizer

    tokenizer = Tokenizer.load(start)
    vocabulary, files, row = vocabulary_of(tokenizer), Corpus([corpus]), OBJECTIVES["palm_cloze"]
    cut = TextCut(LENGTH, packing, words=None)
    learner = build_learner({"palm_cloze": row}, Encoder.load(start), 0, apart=cut.apart).train()
    optimiser = torch.optim.AdamW(learner.parameters(), lr=1e-4, fused=True)
    stream = BatchStream(
        lambda place: files.texts(tokenizer, cut, start=place), size=BATCH, buffer=BATCH, seed=0,
        fits=lambda text: all(map(row.fits, text.by_document())),
    )  # fmt: skip
    numbers = iter(range(1 << 30))

    def step() -> int:
        drawn = stream.batch(next(numbers))
        views = [row.view(text, vocabulary, seed=0, epoch=drawn.epoch, index=i, apart=cut.apart)
                 for i, text in zip(drawn.numbers, drawn.texts, strict=True)]  # fmt: skip
        optimiser.zero_grad(set_to_none=True)
        with half_precision("cpu", enabled=half):
            loss = learner.loss(("palm_cloze", collate(views, vocabulary.pad)))
        loss.backward()
        nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
        optimiser.step()
        return sum(map(len, drawn.texts))

    return step


class Peer:
    """The model, the texts and the collator of transformers, for the loop and for Trainer alike."""

    def __init__(self, start: Path, corpus: Path, packing: Packing) -> None:
        from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, DataCollatorForLanguageModeling

        tokenizer = AutoTokenizer.from_pretrained(start)
        self.texts = [{"input_ids": [tokenizer.cls_token_id, *pieces, tokenizer.sep_token_id]}
                      for pieces in texts_of(start, corpus, packing)]  # fmt: skip
        self.model = BertForMaskedLM(BertConfig.from_pretrained(start)).train()
        self.collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
        self.tokens = 0  # of the last batch

    def collate(self, chosen: list[dict[str, list[int]]]) -> Any:
        self.tokens = sum(len(text["input_ids"]) - 2 for text in chosen)
        return self.collator(chosen)


def texts_of(start: Path, corpus: Path, packing: Packing) -> list[list[int]]:
    """The very texts of `ours`."""
    from factpin.pretraining.corpus import Corpus, TextCut
    from factpin.tokens import Tokenizer

    cut = TextCut(LENGTH, packing, words=None)
    return [packed.text.ids.tolist() for packed in Corpus([corpus]).texts(Tokenizer.load(start), cut)]


def loop(peer: Peer, half: bool) -> Callable[[], int]:
    """A function that makes one step and returns its tokens."""
    optimiser = torch.optim.AdamW(peer.model.parameters(), lr=1e-4, fused=True)
    going = cycle(peer.texts)

    def step() -> int:
        batch = peer.collate([next(going) for _ in range(BATCH)])
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = peer.model(**batch).loss
        loss.backward()
        nn.utils.clip_grad_norm_(peer.model.parameters(), 1.0)
        optimiser.step()
        return peer.tokens

    return step


def in_turns(sides: dict[str, Callable[[], int]], speeds: dict[str, list[float]]) -> None:
    """One step of each."""
    for name, step in sides.items():
        began = time.process_time()
        tokens = step()
        speeds[name].append(tokens / (time.process_time() - began))


def beside_trainer(peer: Peer, others: Callable[[], None], rounds: int, speeds: list[float], half: bool) -> None:
    """Trainer leads, and after each of its steps the others make theirs; a step of it is all that it does between."""
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Turns(TrainerCallback):
        since = time.process_time()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            speeds.append(peer.tokens / (time.process_time() - self.since))
            others()
            self.since = time.process_time()

    with tempfile.TemporaryDirectory() as folder:
        how = TrainingArguments(
            output_dir=folder, max_steps=rounds, per_device_train_batch_size=BATCH, learning_rate=1e-4,
            optim="adamw_torch_fused", weight_decay=0.01, dataloader_drop_last=True, use_cpu=True,
            save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True, bf16=half,
        )  # fmt: skip
        Trainer(peer.model, how, peer.collate, train_dataset=peer.texts, callbacks=[Turns()]).train()


def throughput(start: Path, corpus: Path, rounds: int, packing: Packing, half: bool) -> dict[str, float]:
    sides = {"ours": ours(start, corpus, packing, half), "loop": loop(Peer(start, corpus, packing), half)}
    speeds: dict[str, list[float]] = {name: [] for name in sides}
    if find_spec("accelerate"):
        speeds["trainer"] = []
        others = partial(in_turns, sides, speeds)
        beside_trainer(Peer(start, corpus, packing), others, rounds + 1, speeds["trainer"], half)
    else:
        for _ in range(rounds + 1):
            in_turns(sides, speeds)
    found = {name: statistics.median(values[1:]) for name, values in speeds.items()}  # the first warms up
    ratios = {f"ours / {name}": found["ours"] / found[name] for name in found if name != "ours"}
    return found | ratios | {"pieces a text": statistics.mean(map(len, texts_of(start, corpus, packing)))}


def beginning(folder: Path, corpus: Path, width: int, layers: int) -> Path:
    from factpin.pretraining.corpus import Corpus
    from factpin.pretraining.prepare import StartFolder, prepare

    (folder / "bert.json").write_text(json.dumps(shape(width, layers)))
    made = StartFolder(config=str(folder / "bert.json"), vocab_size=8000, marks=("mask",))
    prepare(made, Corpus([corpus]), folder / "start")
    return folder / "start"


def peak(start: str, times: int) -> dict[str, float]:
    """MiB of this process, at most and in the end, by a run over a corpus that is so many times as long."""
    from factpin.pretraining.config import PretrainConfig
    from factpin.pretraining.pretrain import pretrain
    from factpin.training.config import TrainConfig

    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        made_corpus(corpus, times * STEPS * BATCH * LENGTH)
        config = PretrainConfig("palm_cloze", start, length=LENGTH, buffer=128)
        steps = STEPS * TIMES
        how = TrainConfig(max_steps=steps, batch_size=BATCH, save_every=STEPS, evaluate_every=steps)
        pretrain([corpus], config, how, Path(folder) / "run", quiet=True)
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(status[line].split()[0]) / 1024 for name, line in (("peak", "VmHWM"), ("held", "VmRSS"))}


@click.command()
@click.option("--corpus", type=click.Path(path_type=Path), help="A text file; made sentences where none is given.")
@click.option("--size", default="4x256", help="Layers x width.")
@click.option("--rounds", default=10)
@click.option("--packing", type=click.Choice(["full", "filled", "apart"]), default="filled", help="As of `pretrain`.")
@click.option("--bf16/--no-bf16", default=False)
@click.option("--memory/--no-memory", default=True)
@click.option("--json", "json_file", type=click.Path(path_type=Path))
@click.option("--peak-of", type=(int, str), hidden=True)
def main(corpus: Path | None, size: str, rounds: int, packing: Packing, bf16: bool, memory: bool,
         json_file: Path | None, peak_of: tuple[int, str] | None) -> None:  # fmt: skip
    torch.set_num_threads(1)
    if peak_of is not None:
        times, start = peak_of
        click.echo(json.dumps(peak(start, times)))
        return
    layers, width = map(int, size.split("x"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if corpus is None:
            corpus = folder / "made.txt"
            made_corpus(corpus, 300_000)
        result: dict[str, Any] = throughput(beginning(folder, corpus, width, layers), corpus, rounds, packing, bf16)
        if memory:
            (folder / "small").mkdir()
            small = beginning(folder / "small", corpus, 32, 1)
            for times in (1, TIMES):
                words = [sys.executable, __file__, "--peak-of", str(times), str(small)]
                told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
                for name, value in json.loads(told.splitlines()[-1]).items():
                    result[f"{name}_MiB_{times}x"] = value
    table = Table("", "", title=f"bert {layers} x {width}, {BATCH} texts of {LENGTH}, one thread", show_header=False)
    for key, value in result.items():
        table.add_row(key, f"{value:,.2f}")
    Console().print(table)
    if json_file:
        json_file.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

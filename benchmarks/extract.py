"""Extraction compared with simpler ways of running the same encoder, and with the token-classification pipeline.

    python benchmarks/extract.py --model FOLDER|NAME [--texts 256] [--rounds 5] [--json FILE]
    python benchmarks/extract.py --encoder ltp-zh          without a model: one is trained for a minute on CLUENER

Texts: sentences of CLUENER, MSRA and WNUT 17 (of WikiGold and WNUT 17 for an English model), drawn so that their
lengths in tokens are log-normal with a median of 52 and a mean of 67, at most 237 or what the model reads at once.
Every side reads a text whole; the last row reads by sentences instead.

Batching: windows that are already cut -> cells, with the same weights; ours is `Extractor.find`. Pipeline: texts ->
mentions, tokenising and decoding included; transformers.pipeline("token-classification", aggregation "simple") gets
the encoder of our model under a linear head of BIO tags. That head is fitted to what our model finds in these texts, so
that both sides have similar mentions to decode; of overlapping mentions it finds only one. It gets the texts as they
come, and sorted by their length in tokens, which leaves little padding; sorting them is not counted. Ratios are to its
best setting in float32.

All rows take turns in one process; figures are medians over the rounds. CPU time (process_time) decides on one thread,
wall time on two, where waiting threads may spin: set OMP_WAIT_POLICY=PASSIVE, or measure on a quiet machine. Memory:
growth of the peak from the loaded model on, each side in a fresh process; read from /proc, so on Linux only.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from transformers import AutoModelForTokenClassification, PreTrainedTokenizerFast, pipeline
from transformers.utils import logging

import factpin
from factpin import formats
from factpin.documents import Document, Span
from factpin.models.extractor import Extractor
from factpin.models.model import torch_model
from factpin.models.onnx.graph import FILES, has_graph
from factpin.models.shipped import find_model
from factpin.tasks.spans import find_spans
from factpin.tasks.spans.task import SPANS, SpanOptions
from factpin.tokens.reading import WindowedDocument, collate
from factpin.training.config import TrainConfig
from factpin.training.run import run_training

CORPORA = {
    "CLUENER": ("cluener/dev.json.xz", "cluener"),
    "MSRA": ("msra/test", "parallel"),
    "WNUT 17": ("wnut17/emerging.test.annotated.xz", "conll"),
}
ENGLISH = {"WikiGold": ("wikigold/wikigold.conll.txt.xz", "conll"), "WNUT 17": CORPORA["WNUT 17"]}
MEDIAN, MEAN, LONGEST = 52, 67, 237  # tokens
FIXED = 16  # texts in a fixed batch
SEED = 0
FITTING = 200  # steps of L-BFGS
Call = Callable[[], int]  # gives how many cells or mentions it found


@dataclass(frozen=True)
class Side:
    name: str
    call: Call


@dataclass(frozen=True)
class Row:
    part: str
    threads: int
    side: str
    cpu_ms: float
    wall_ms: float
    texts_per_second: float
    found: int
    cpu_ratio: float  # how many times faster than the first row of its part
    wall_ratio: float
    bar: str = ""
    reached: bool | None = None


# ---- texts


def choose(data: Path, extractor: Extractor, count: int) -> tuple[list[str], str]:
    """Texts whose lengths follow the log-normal law, and a sentence that says what they are."""
    corpora = ENGLISH if extractor.settings.language == "en" else CORPORA
    pool = [
        (name, doc.text) for name, (path, kind) in corpora.items() for doc in formats.read(data / path, format=kind)
    ]
    chance = np.random.default_rng(SEED)
    pool = [pool[i] for i in chance.permutation(len(pool))]
    frame = extractor.tokenizer.frame_size
    length = np.array([len(p) + frame for p in extractor.tokenizer.encode_batch([text for _, text in pool])])
    spread = (2 * np.log(MEAN / MEDIAN)) ** 0.5
    law = statistics.NormalDist(np.log(MEDIAN), spread)
    longest = min(LONGEST, extractor.settings.max_length)
    wanted = [min(np.exp(law.inv_cdf((i + 0.5) / count)), longest) for i in range(count)]
    free = np.ones(len(pool), np.bool_)
    chosen = []
    for n in wanted:
        nearest = int(np.argmin(np.where(free & (length <= longest), np.abs(length - n), np.inf)))
        free[nearest] = False
        chosen.append(nearest)
    order = chance.permutation(chosen)
    shares = ", ".join(f"{sum(pool[i][0] == name for i in order)} {name}" for name in corpora)
    got = length[order]
    about = f"{count} texts ({shares}); tokens: mean {got.mean():.0f}, median {np.median(got):.0f}, max {got.max()}"
    return [pool[i][1] for i in order], about


def whole(texts: Sequence[str]) -> list[Document]:
    """Documents of one sentence each, so that every side reads the same pieces."""
    return [Document(f"d{i}", text, sentences=(Span(0, len(text)),)) for i, text in enumerate(texts)]


# ---- batching: windows -> cells


def batching(extractor: Extractor, texts: Sequence[str]) -> list[Side]:
    """From the plainest way to ours."""
    reads = [extractor.reader.read(doc) for doc in whole(texts)]
    ids = [read.pieces.ids for read in reads]
    if any(len(read.windows) != 1 for read in reads):
        raise SystemExit("A text does not fit this model's windows. Take a model that reads more.")

    def attention(kind: str, run: Call) -> Call:
        def call() -> int:
            extractor.model.encoder.model.set_attn_implementation(kind)
            try:
                return run()
            finally:
                extractor.model.encoder.model.set_attn_implementation("sdpa")

        return call

    def fixed() -> int:
        cut = extractor.threshold()
        groups = [ids[i : i + FIXED] for i in range(0, len(ids), FIXED)]
        return sum(
            len(find_spans(extractor.model.predict(collate(group, extractor.tokenizer)), cut)) for group in groups
        )

    def ours() -> int:
        return sum(len(found.label) for found in extractor.find(reads))

    return [
        Side(f"eager, fixed {FIXED}", attention("eager", fixed)),
        Side(f"sdpa, fixed {FIXED}", fixed),
        Side("eager, sorted by length", attention("eager", ours)),
        Side("ours: sdpa, sorted by length", ours),
    ]


# ---- the pipeline: texts -> mentions


def tag_names(labels: Sequence[str]) -> list[str]:
    return ["O", *(f"{part}-{label}" for label in labels for part in "BI")]


def tags(read: WindowedDocument, doc: Document, labels: Sequence[str]) -> Tensor:
    """The BIO tag of every piece, longer mentions over shorter ones; a pipeline cannot say nested mentions."""
    tag = torch.zeros(len(read.pieces.ids), dtype=torch.int64)
    for m in sorted(doc.mentions, key=lambda m: m.end - m.start):
        inside = torch.from_numpy((read.pieces.start < m.end) & (read.pieces.end > m.start)).nonzero().flatten()
        tag[inside] = 2 * labels.index(m.type) + 2
        tag[inside[:1]] = 2 * labels.index(m.type) + 1
    return tag


@torch.no_grad()
def fit(extractor: Extractor, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Weight (T, D) and bias (T,) of a linear tagger that repeats what the model finds in the texts."""
    labels, shift = extractor.settings.labels, len(extractor.tokenizer.prefix)
    extractor.model.eval()
    rows, wanted = [], []
    for doc in extractor.annotate(whole(texts)):
        read = extractor.reader.read(doc)
        batch = collate([read.pieces.ids], extractor.tokenizer)
        ids, mask = torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)
        hidden = torch_model(extractor.model).encoder(ids, mask).hidden[0]  # (N, D)
        rows.append(hidden[shift : shift + len(read.pieces.ids)])
        wanted.append(tags(read, doc, labels))
    H, y = torch.cat(rows), torch.cat(wanted)  # (M, D), (M,)
    tagger = nn.Linear(H.shape[1], 2 * len(labels) + 1)
    optimiser = torch.optim.LBFGS(tagger.parameters(), max_iter=FITTING, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(tagger(H), y)
        torch.autograd.backward(loss)
        return loss

    with torch.enable_grad():
        optimiser.step(closure)  # type: ignore[no-untyped-call]
    return tagger.weight, tagger.bias


def save_tagger(extractor: Extractor, texts: Sequence[str], folder: Path) -> None:
    """The encoder's very weights under a token classifier, as transformers loads it."""
    names = tag_names(extractor.settings.labels)
    extractor.model.encoder.save(folder)
    tagger = AutoModelForTokenClassification.from_pretrained(
        folder,
        num_labels=len(names),
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
    )
    weight, bias = fit(extractor, texts)
    tagger.classifier.weight.data.copy_(weight)
    tagger.classifier.bias.data.copy_(bias)
    tagger.save_pretrained(folder)


def load_pipeline(folder: Path) -> Any:
    tagger = AutoModelForTokenClassification.from_pretrained(folder).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    return pipeline("token-classification", tagger, tokenizer=tokenizer, aggregation_strategy="simple", device="cpu")


def piped(pipe: Any, texts: Sequence[str], size: int) -> Call:
    return lambda: sum(len(found) for found in pipe(list(texts), batch_size=size))


def extracted(extractor: Extractor, texts: Sequence[str], *, by_sentence: bool = False) -> Call:
    def call() -> int:
        documents = extractor.extract(texts) if by_sentence else extractor.annotate(whole(texts))
        return sum(len(doc.mentions) for doc in documents)

    return call


def in_bf16(call: Call) -> Call:
    """The same under autocast, as `factpin extract --bf16` runs its encoder."""

    def run() -> int:
        with torch.autocast("cpu", torch.bfloat16):
            return call()

    return run


def end_to_end(extractor: Extractor, pipe: Any, texts: Sequence[str], model: Path) -> list[Side]:
    """The pipeline in several settings, and ours in every runtime and precision that the model has."""
    sizes = [len(pieces) for pieces in extractor.tokenizer.encode_batch(list(texts))]
    in_order = [texts[i] for i in np.argsort(-np.array(sizes), kind="stable")]
    sides = [Side(f"pipeline, batches of {size}", piped(pipe, texts, size)) for size in (FIXED, 1)]
    sides += [Side(f"pipeline, sorted, batches of {size}", piped(pipe, in_order, size)) for size in (8, FIXED)]
    plain = factpin.load(model, runtime="torch")
    plain.settings = extractor.settings
    sides += [
        Side("ours, torch", extracted(plain, texts)),
        Side("pipeline in bf16, sorted", in_bf16(piped(pipe, in_order, FIXED))),
        Side("ours, torch in bf16", extracted(replace(plain, bf16=True), texts)),
    ]
    for precision in [name for name in FILES if has_graph(model, name)]:
        other = factpin.load(model, runtime="onnx", precision=precision)
        other.settings = replace(other.settings, context="sentence")
        sides.append(Side(f"ours, onnx in {precision}", extracted(other, texts)))
    return [*sides, Side("ours, torch, by sentences", extracted(plain, texts, by_sentence=True))]


# ---- measuring


def measure(sides: Sequence[Side], rounds: int) -> list[tuple[float, float, int]]:
    """CPU and wall milliseconds, and what was found; the sides take turns, and the first changes."""
    times: list[list[tuple[float, float]]] = [[] for _ in sides]
    found = [side.call() for side in sides]  # a first round that does not count
    for r in range(rounds):
        for i in [(r + k) % len(sides) for k in range(len(sides))]:
            began = time.process_time(), time.perf_counter()
            sides[i].call()
            times[i].append((time.process_time() - began[0], time.perf_counter() - began[1]))
    return [
        (statistics.median(cpu for cpu, _ in t) * 1e3, statistics.median(wall for _, wall in t) * 1e3, n)
        for t, n in zip(times, found, strict=True)
    ]


def judge(
    part: str, threads: int, sides: Sequence[Side], got: Sequence[tuple[float, float, int]], count: int
) -> list[Row]:
    """Ratios to the first side, or to the pipeline's best one."""
    base = range(4) if part == "pipeline" else range(1)
    cpu, wall = (min(got[i][k] for i in base) for k in range(2))
    fastest = {True: "ours, onnx in float32", False: "ours, torch"}[any("onnx" in side.name for side in sides)]
    wanted = {"batching": ("ours: sdpa, sorted by length", 2.5), "pipeline": (fastest, 1.5)}[part]
    rows = []
    for side, (cpu_ms, wall_ms, found) in zip(sides, got, strict=True):
        row = Row(part, threads, side.name, cpu_ms, wall_ms, count / wall_ms * 1e3, found, cpu / cpu_ms, wall / wall_ms)
        if side.name == wanted[0]:
            ratio = row.cpu_ratio if threads == 1 else row.wall_ratio
            row = replace(row, bar=f">= {wanted[1]:g}x", reached=ratio >= wanted[1])
        rows.append(row)
    return rows


def peak(side: str, model: Path, tagger: Path, texts: Sequence[str]) -> float:
    """Growth of the peak in MiB while one side reads the texts, in this process."""
    torch.set_num_threads(1)
    if side == "ours":
        call = extracted(factpin.load(model, runtime="torch"), texts)
    else:
        call = piped(load_pipeline(tagger), texts, int(side))
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far: loading may have taken more
    before = highest()
    call()
    return highest() - before


def highest() -> float:
    """The peak of this process in MiB. ru_maxrss would not do: it begins with that of the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def peaks(model: Path, tagger: Path, texts: Sequence[str]) -> dict[str, float]:
    names = {f"pipeline, batches of {FIXED}": str(FIXED), "pipeline, batches of 1": "1", "ours, torch": "ours"}
    found = {}
    for name, side in names.items():
        command = [sys.executable, __file__, "--peak", side, "--model", str(model), "--tagger", str(tagger)]
        done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
        found[name] = float(done.stdout)
    return found


# ---- the program


def train_small(encoder: str, data: Path, folder: Path, steps: int) -> None:
    training = list(formats.read(data / "cluener/train.json.xz", format="cluener"))
    how = TrainConfig(max_steps=steps, learning_rate=3e-4, seed=SEED)
    run_training(SPANS, training, [], SpanOptions(encoder, max_length=256), how, folder, quiet=True)


def show(rows: Sequence[Row], memory: dict[str, float]) -> None:
    table = Table(
        "part", "threads", "side", title="medians; ratio: times faster than the first row, or the better pipeline"
    )
    for head in ("CPU ms", "wall ms", "texts/s", "found", "CPU ratio", "wall ratio", "peak MiB", "bar", "reached"):
        table.add_column(head, justify="right")
    for row, after in pairwise([*rows, None]):
        if row is None:
            continue
        mark = {None: "", True: "yes", False: "NO"}[row.reached]
        growth = f"{memory[row.side]:.0f}" if row.side in memory and row.threads == 1 else ""
        table.add_row(
            row.part, str(row.threads), row.side, f"{row.cpu_ms:.0f}", f"{row.wall_ms:.0f}",
            f"{row.texts_per_second:.1f}", f"{row.found:,}", f"{row.cpu_ratio:.2f}", f"{row.wall_ratio:.2f}",
            growth, row.bar, mark, end_section=after is None or (after.part, after.threads) != (row.part, row.threads),
        )  # fmt: skip
    Console(width=170).print(table)


def run(options: argparse.Namespace, scratch: Path) -> None:
    model = None if options.model is None else find_model(str(options.model))
    if model is None:
        model = scratch / "model"
        train_small(options.encoder, options.data, model, options.steps)
    extractor = factpin.load(model, runtime="torch")
    torch_model(extractor.model)  # computed by transformers, as the pipeline is
    extractor.settings = replace(extractor.settings, context="sentence")  # one text, one sentence, one window
    texts, about = choose(options.data, extractor, options.texts)
    save_tagger(extractor, texts, scratch / "tagger")
    memory = {} if options.no_memory else peaks(model, scratch / "tagger", texts)
    pipe = load_pipeline(scratch / "tagger")
    rows: list[Row] = []
    for threads in options.threads:
        torch.set_num_threads(threads)
        os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
        for part, sides in (
            ("batching", batching(extractor, texts)),
            ("pipeline", end_to_end(extractor, pipe, texts, model)),
        ):
            rows += judge(part, threads, sides, measure(sides, options.rounds), len(texts))
    Console().print(f"{extractor.settings.encoder}: {about}")
    show(rows, memory)
    if options.json:
        record = {"encoder": extractor.settings.encoder, "texts": about, "peak_MiB": memory,
                  "rows": [asdict(row) for row in rows]}  # fmt: skip
        options.json.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a trained model folder")
    parser.add_argument("--encoder", default="ltp-zh", help="without --model: what is trained for a minute")
    parser.add_argument("--steps", type=int, default=150, help="without --model: of that training")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    parser.add_argument("--tagger", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    if options.peak:
        print(peak(options.peak, options.model, options.tagger, json.load(sys.stdin)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        run(options, Path(scratch))


if __name__ == "__main__":
    main()

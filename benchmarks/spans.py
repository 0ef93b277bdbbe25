"""Span models of factpin against public PyTorch code of the same papers: F1, time and memory on CLUENER.

    python benchmarks/spans.py --gp PATH --egp PATH [--encoder ltp-zh] [--train 1000] [--epochs 3] [--json FILE]

The paths are checkouts of gaohongkui/GlobalPointer_pytorch (GlobalPointer) and xhw205/Efficient-GlobalPointer-torch
(Efficient GlobalPointer). Both sides start from the same encoder folder and, in the head, from the same function, and
see the same sentences in the same batches, a step of theirs and a step of ours in turn, so that a busy machine slows
both. With --own-batches ours groups sentences of similar length instead, as `factpin train` does.

Theirs, as published: batch maker, model, loss, optimiser with its schedule and clipping, prediction and decoding. Ours
takes the same learning rate at each step for encoder and head, the same weight decay and clipping and no dropout in the
head, using the code of `factpin train`. One difference remains: EGP's BertAdam leaves out the bias correction of
AdamW, so its first steps are up to three times as large; give it some hundred steps before F1 is compared.
--learning-rate and --batch replace the published figures on both sides.

What had to be adapted: functions of a script that trains or loads at import are taken out of its source
by name (`lifted`); a tokenizer gets back `encode_plus`, which transformers 5 dropped; the encoder is opened by
AutoModel, so that it need not be a BertModel; data loaders have no worker processes; EGP's label table, of another
corpus, is replaced by that of CLUENER, and its prediction, which kept a graph, runs under no_grad.

Time is CPU time (process_time). `batch` is text -> tensors, which workers can hide on a machine with many cores; ours
tokenises once, before training, and that is counted there. Memory: growth of the peak from the built model on, each
side in a fresh process (Linux).
"""

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.utils.data import DataLoader
from transformers import AutoModel, BertTokenizerFast
from transformers.utils import logging

from factpin import formats
from factpin.documents import Document, Mention
from factpin.encoders import resolve
from factpin.scoring import align, paired_bootstrap, spans
from factpin.scoring.counts import Rows, total
from factpin.tasks.spans.task import SPANS, SpanOptions, design_head
from factpin.tokens import shuffled_batches
from factpin.training.config import TrainConfig
from factpin.training.job import TaskJob
from factpin.training.optimiser import build_optimiser
from factpin.training.run import build
from heads import module

SIDES = ("theirs", "ours")
HEAD_SIZE = 64  # in both checkouts
PREDICT_BATCH = 16  # gp: config.py, eval_config


@dataclass(frozen=True)
class Plan:
    """What both sides do."""

    folder: Path  # of the encoder
    training: Sequence[Document]
    dev: Sequence[Document]
    batch: int
    epochs: int
    rate: float
    seed: int
    own_batches: bool = False

    @property
    def labels(self) -> list[str]:
        return sorted({m.type for doc in self.training for m in doc.mentions})

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.training) // self.batch)


class Side(Protocol):
    """One implementation under training."""

    model: Any

    def batch(self, examples: Sequence[int]) -> Any: ...
    def step(self, batch: Any, rate: float) -> None: ...
    def predict(self, documents: Sequence[Document]) -> list[Document]: ...


class Theirs(Side, Protocol):
    """A checkout. Its schedule leads: `rate` is that of a step, known before it; `step` keeps its own."""

    def rate(self, step: int) -> float: ...
    def start(self, ours: nn.Module) -> None: ...  # give its head's weights to ours


@dataclass(frozen=True)
class Peer:
    """The public settings in a checkout."""

    name: str
    head: str  # ours
    make: Callable[[Path, Plan], Theirs]
    batch: int
    rate: float
    how: TrainConfig  # weight decay and clipping, for ours


# ---- theirs


def lifted(root: Path, path: str, names: Sequence[str], given: dict[str, Any]) -> dict[str, Any]:
    """Functions of a script as published, without running the script: `given` are the globals they read."""
    tree = ast.parse((root / path).read_text(encoding="utf-8"))
    chosen: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
    if len(chosen) != len(names):
        raise SystemExit(f"{root / path} should have {', '.join(names)}. Give the path of a full checkout.")
    space = dict(given)
    exec(compile(ast.Module(chosen, type_ignores=[]), str(root / path), "exec"), space)
    return space


def open_encoder(folder: Path) -> tuple[Any, Any]:
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    if not hasattr(tokenizer, "encode_plus"):
        tokenizer.encode_plus = tokenizer.__call__
    return AutoModel.from_pretrained(folder, dtype=torch.float32), tokenizer


def annotated(doc: Document, found: Sequence[tuple[int, int, str]]) -> Document:
    """A document with their spans; those that end before they begin (they touch a special token) are left out."""
    real = sorted({(start, end, label) for start, end, label in found if start < end})
    mentions = [Mention(f"m{i}", s, e, doc.text[s:e], label) for i, (s, e, label) in enumerate(real)]
    return replace(doc, mentions=tuple(mentions), entities=(), facts=(), events=())


class GlobalPointerTheirs:
    """gaohongkui/GlobalPointer_pytorch: train.py, evaluate.py, config.py."""

    restart = 2  # epochs: config.py, rewarm_epoch_num

    def __init__(self, root: Path, plan: Plan) -> None:
        self.plan = plan
        parts = module(root, "models/GlobalPointer.py")
        self.crossentropy = module(root, "common/utils.py").multilabel_categorical_crossentropy
        self.ent2id = {label: i for i, label in enumerate(plan.labels)}
        encoder, self.tokenizer = open_encoder(plan.folder)
        torch.manual_seed(plan.seed)
        self.model = parts.GlobalPointer(encoder, len(self.ent2id), HEAD_SIZE)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=plan.rate)
        self.schedule: Any = None
        self.maker = parts.DataMaker(self.tokenizer)
        self.dataset = parts.MyDataset
        self.items = [self.item(doc) for doc in plan.training]
        self.longest = self.tokens([*plan.training, *plan.dev])
        given = {"np": np, "torch": torch, "device": torch.device("cpu"), "tokenizer": self.tokenizer,
                 "ent2id": self.ent2id}  # fmt: skip
        self.script = lifted(root, "evaluate.py", ["decode_ent", "predict"], given)

    def item(self, doc: Document) -> dict[str, Any]:
        return {"id": doc.id, "text": doc.text, "entity_list": [(m.start, m.end - 1, m.type) for m in doc.mentions]}

    def tokens(self, documents: Sequence[Document]) -> int:
        return max(len(self.tokenizer(doc.text)["input_ids"]) for doc in documents)

    def start(self, ours: Any) -> None:
        ours.qk.load_state_dict(self.model.dense.state_dict())

    def batch(self, examples: Sequence[int]) -> Any:
        return self.maker.generate_batch([self.items[i] for i in examples], self.longest, self.ent2id)

    def rate(self, step: int) -> float:
        if step % self.plan.steps_per_epoch == 0:  # as published: a new schedule in every epoch
            period = self.plan.steps_per_epoch * self.restart
            self.schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(self.optimiser, period, 1)
        return float(self.optimiser.param_groups[0]["lr"])

    def step(self, batch: Any, rate: float) -> None:  # noqa: ARG002
        _, ids, mask, types, y = batch
        self.model.train()
        s = self.model(ids, mask, types)
        B, L = s.shape[:2]
        loss = self.crossentropy(y.reshape(B * L, -1), s.reshape(B * L, -1))
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.schedule.step()

    def predict(self, documents: Sequence[Document]) -> list[Document]:
        longest = self.tokens(documents)

        def collate(items: list[Any]) -> Any:
            return self.maker.generate_batch(items, longest, self.ent2id, data_type="predict")

        loader = DataLoader(self.dataset([self.item(doc) for doc in documents]), PREDICT_BATCH, collate_fn=collate)
        found = self.script["predict"](loader, self.model)
        return [
            annotated(doc, [(s, e, label) for label, texts in result["label"].items()
                            for places in texts.values() for s, e in places])
            for doc, result in zip(documents, found, strict=True)
        ]  # fmt: skip


class EfficientTheirs:
    """xhw205/Efficient-GlobalPointer-torch: train_CME.py, predict_CME.py."""

    clip = 0.25

    def __init__(self, root: Path, plan: Plan) -> None:
        self.plan = plan
        loader: Any = module(root, "utils/data_loader.py")
        numbers = loader.ent2id = {label: i for i, label in enumerate(plan.labels)}
        encoder, self.tokenizer = open_encoder(plan.folder)
        torch.manual_seed(plan.seed)
        self.model = module(root, "models/GlobalPointer.py").EffiGlobalPointer(encoder, len(plan.labels), HEAD_SIZE)
        items = [[doc.text, *((m.start, m.end - 1, numbers[m.type]) for m in doc.mentions)] for doc in plan.training]
        self.data = loader.EntDataset(items, tokenizer=self.tokenizer)
        adam = module(root, "utils/bert_optimization.py").BertAdam
        names = ["set_optimizer", "multilabel_categorical_crossentropy", "loss_fun"]
        self.script = lifted(root, "train_CME.py", names, {"torch": torch, "BertAdam": adam})
        self.optimiser = self.script["set_optimizer"](self.model, train_steps=plan.steps_per_epoch * plan.epochs)
        for group in self.optimiser.param_groups:
            group["lr"] = plan.rate
        given = {"np": np, "torch": torch, "device": torch.device("cpu"), "model": self.model, "max_len": 256,
                 "id2ent": dict(enumerate(plan.labels))}  # fmt: skip
        self.predictor = lifted(root, "predict_CME.py", ["NER_RELATION"], given)["NER_RELATION"]

    def start(self, ours: Any) -> None:
        """The same function: theirs interleaves q with k and ends with starts, and halves the terms."""
        first, second = self.model.dense_1, self.model.dense_2
        with torch.no_grad():
            ours.qk.weight.copy_(torch.cat((first.weight[::2], first.weight[1::2])))
            ours.qk.bias.copy_(torch.cat((first.bias[::2], first.bias[1::2])))
            ours.bias.weight.copy_(torch.cat((second.weight[1::2], second.weight[::2])) / 2)
            ours.bias.bias.copy_(torch.cat((second.bias[1::2], second.bias[::2])) / 2)

    def batch(self, examples: Sequence[int]) -> Any:
        return self.data.collate([self.data[i] for i in examples])

    def rate(self, step: int) -> float:
        return float(self.plan.rate * self.optimiser.param_groups[0]["schedule"].get_lr(step))

    def step(self, batch: Any, rate: float) -> None:  # noqa: ARG002
        _, ids, mask, types, y = batch
        self.model.train()
        loss = self.script["loss_fun"](self.model(ids, mask, types), y)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=self.clip)
        self.optimiser.step()

    @torch.no_grad()
    def predict(self, documents: Sequence[Document]) -> list[Document]:
        self.model.eval()
        found = [self.predictor(doc.text, self.tokenizer, self.model)["entities"] for doc in documents]
        return [
            annotated(doc, [(e["start_idx"], e["end_idx"] + 1, e["type"]) for e in entities])
            for doc, entities in zip(documents, found, strict=True)
        ]


PEERS = {
    "egp": Peer("Efficient GlobalPointer", "efficient_global_pointer", EfficientTheirs, 16, 2e-5,
                TrainConfig(weight_decay=0.01, clip=0.25)),
    "gp": Peer("GlobalPointer", "global_pointer", GlobalPointerTheirs, 64, 2e-5, TrainConfig(weight_decay=0, clip=0)),
}  # fmt: skip


# ---- ours


class Ours:
    """The parts that `factpin train` runs, with the rates of the other side."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        config = SpanOptions(
            str(plan.folder), peer.head, head_size=HEAD_SIZE, bias="hidden", context="window", dropout=0.0
        )
        torch.manual_seed(plan.seed)
        self.extractor = build(SPANS, config, design_head(config, tuple(plan.labels)))
        self.model: Any = self.extractor.model
        began = time.process_time()
        self.job = TaskJob(self.extractor, plan.training, [], config)
        self.preparing = time.process_time() - began
        if len(self.job.windows) != len(plan.training):
            raise SystemExit("A text does not fit one window of this encoder. Take one that reads more tokens.")
        how = replace(peer.how, learning_rate=plan.rate, head_learning_rate=plan.rate)
        self.clip = how.clip
        self.optimiser = build_optimiser(self.model.encoder, self.model.head, how)

    def batch(self, examples: Sequence[int]) -> Any:
        return self.job.batch(examples)

    def step(self, batch: Any, rate: float) -> None:
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(self.model.loss(batch))
        if self.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()

    def predict(self, documents: Sequence[Document]) -> list[Document]:
        return list(self.extractor.annotate(documents))


# ---- measuring


@dataclass
class Took:
    """What one side took with one seed, in CPU seconds, and what it got right on dev, a row a document."""

    batch: float = 0.0
    step: list[float] = field(default_factory=list)
    predict: list[float] = field(default_factory=list)
    rows: Rows = field(default_factory=lambda: np.zeros((0, 4)))


def order(plan: Plan, epoch: int) -> list[list[int]]:
    """Batches of an epoch, in an order by chance."""
    chosen = np.random.default_rng([plan.seed, epoch]).permutation(len(plan.training)).tolist()
    return [chosen[i : i + plan.batch] for i in range(0, len(chosen), plan.batch)]


def one_step(side: Side, examples: Sequence[int], rate: float, took: Took) -> None:
    began = time.process_time()
    batch = side.batch(examples)
    made = time.process_time()
    side.step(batch, rate)
    took.batch += made - began
    took.step.append(time.process_time() - made)


def predict(side: Side, dev: Sequence[Document], took: Took) -> None:
    bare = [replace(doc, mentions=()) for doc in dev]
    began = time.process_time()
    found = side.predict(bare)
    took.predict.append(time.process_time() - began)
    took.rows = spans.score(align(found, dev).pairs).rows["strict"]


def duel(peer: Peer, root: Path, plan: Plan, rounds: int, scratch: Path) -> tuple[Took, Took]:
    """Train both in turns, keep their weights, let both predict dev."""
    theirs, ours = peer.make(root, plan), Ours(peer, plan)
    theirs.start(ours.model.head)
    took = Took(), Took(batch=ours.preparing)
    step = 0
    for epoch in range(plan.epochs):
        shared = order(plan, epoch)
        own = shared
        if plan.own_batches:
            own = shuffled_batches(ours.job.lengths, size=plan.batch, seed=plan.seed, epoch=epoch)
        for a, b in zip(shared, own, strict=True):
            rate = theirs.rate(step)
            torch.manual_seed(plan.seed * 1_000_003 + step)
            one_step(theirs, a, rate, took[0])
            torch.manual_seed(plan.seed * 1_000_003 + step)
            one_step(ours, b, rate, took[1])
            step += 1
    for model, name in zip((theirs.model, ours.model), SIDES, strict=True):
        torch.save(model.state_dict(), scratch / f"{name}.pt")
    for _ in range(rounds):
        predict(theirs, plan.dev, took[0])
        predict(ours, plan.dev, took[1])
    return took


def highest() -> float:
    """The peak of this process in MiB. ru_maxrss would not do: it begins with that of the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def peak(what: str, peer: Peer, root: Path, plan: Plan) -> float:
    """Growth of the peak in MiB over three steps, or over predicting dev when trained, of one side in this process."""
    who, weights = what.split(":", 1)
    side: Any = peer.make(root, plan) if who == "theirs" else Ours(peer, plan)
    if weights:
        side.model.load_state_dict(torch.load(weights))
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far: loading may have taken more
    before = highest()
    if weights:
        side.predict([replace(doc, mentions=()) for doc in plan.dev])
    else:
        for step, examples in enumerate(order(plan, 0)[:3]):
            rate = side.rate(step) if who == "theirs" else plan.rate
            side.step(side.batch(examples), rate)
    return highest() - before


def peak_apart(what: str, name: str, options: argparse.Namespace, seed: int) -> float:
    command = [sys.executable, __file__, "--peak", f"{name}:{what}", f"--{name}", str(getattr(options, name)),
               "--encoder", options.encoder, "--data", str(options.data), "--train", str(options.train),
               "--dev", str(options.dev), "--epochs", str(options.epochs), "--seeds", str(seed)]  # fmt: skip
    for option, value in (("--batch", options.batch), ("--learning-rate", options.learning_rate)):
        command += [option, str(value)] if value else []
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


# ---- the program


@dataclass(frozen=True)
class Row:
    """One side over all seeds."""

    f1: float  # mean
    f1_range: tuple[float, float]
    found: float  # spans, mean
    step_ms: float  # mean
    batch_s: float  # of all steps
    train_s: float  # steps and batches
    predict_ms: float  # a text
    train_MiB: float | None
    predict_MiB: float | None


@dataclass(frozen=True)
class Duel:
    """Ratios say how many times faster ours is."""

    peer: str
    settings: str
    theirs: Row
    ours: Row
    step_ratio: float
    train_ratio: float
    predict_ratio: float
    f1_difference: float
    p_value: float


def make_plan(peer: Peer, options: argparse.Namespace, seed: int) -> Plan:
    def read(part: str, count: int) -> list[Document]:
        return list(islice(formats.read(options.data / f"cluener/{part}.json.xz", format="cluener"), count))

    return Plan(
        resolve(options.encoder), read("train", options.train), read("dev", options.dev), options.batch or peer.batch,
        options.epochs, options.learning_rate or peer.rate, seed, options.own_batches,
    )  # fmt: skip


def compare(name: str, options: argparse.Namespace) -> Duel:
    """All seeds of one peer."""
    peer, root = PEERS[name], getattr(options, name)
    plans = [make_plan(peer, options, seed) for seed in options.seeds]
    plan = plans[0]
    memory: list[list[float | None]] = [[None, None], [None, None]]
    runs: list[tuple[Took, Took]] = []
    for each in plans:
        with tempfile.TemporaryDirectory() as scratch:
            runs.append(duel(peer, root, each, options.rounds, Path(scratch)))
            if each is plan and not options.no_memory:
                for growth, who in zip(memory, SIDES, strict=True):
                    tasks = f"{who}:", f"{who}:{scratch}/{who}.pt"
                    growth[:] = [peak_apart(task, name, options, each.seed) for task in tasks]
    a, b = (summary([run[i] for run in runs], len(plan.dev), memory[i]) for i in range(2))
    test = paired_bootstrap(*(np.sum([run[i].rows for run in runs], axis=0) for i in (1, 0)), samples=2000, seed=0)
    grouping = "ours by length" if plan.own_batches else "the same for both"
    settings = (
        f"{options.encoder}, {len(plan.training)} sentences x {plan.epochs} epochs, batches of {plan.batch} "
        f"({grouping}), rate {plan.rate:g}, {len(plan.dev)} dev, seeds {options.seeds}, {options.threads} thread(s)"
    )
    ratios = a.step_ms / b.step_ms, a.train_s / b.train_s, a.predict_ms / b.predict_ms
    return Duel(peer.name, settings, a, b, *ratios, test.difference, test.p_value)


def summary(runs: Sequence[Took], texts: int, memory: Sequence[float | None]) -> Row:
    f1 = [total(run.rows).f1 for run in runs]
    steps = [t for run in runs for t in run.step]
    batches = sum(run.batch for run in runs)
    return Row(
        statistics.mean(f1), (min(f1), max(f1)), statistics.mean(total(run.rows).predicted for run in runs),
        statistics.mean(steps) * 1e3, batches, sum(steps) + batches,
        statistics.median(t for run in runs for t in run.predict) / texts * 1e3, *memory,
    )  # fmt: skip


def show(duels: Sequence[Duel]) -> None:
    table = Table("", "side", title="CPU time; F1: strict, on dev after the last epoch; MiB: growth of the peak")
    heads = "F1", "range", "found", "ms a step", "batches s", "train s", "predict ms a text", "train MiB", "predict MiB"
    for head in heads:
        table.add_column(head, justify="right")

    def MiB(x: float | None) -> str:
        return "-" if x is None else f"{x:.0f}"

    for duel in duels:
        for side, row in zip(SIDES, (duel.theirs, duel.ours), strict=True):
            table.add_row(
                duel.peer, side, f"{100 * row.f1:.2f}", " to ".join(f"{100 * x:.2f}" for x in row.f1_range),
                f"{row.found:.0f}", f"{row.step_ms:.1f}", f"{row.batch_s:.2f}", f"{row.train_s:.1f}",
                f"{row.predict_ms:.2f}", MiB(row.train_MiB), MiB(row.predict_MiB),
            )  # fmt: skip
        table.add_row(
            "", "ours against theirs", f"{100 * duel.f1_difference:+.2f}", f"p = {duel.p_value:.3f}", "",
            f"{duel.step_ratio:.2f}x", "", f"{duel.train_ratio:.2f}x", f"{duel.predict_ratio:.2f}x", end_section=True,
        )  # fmt: skip
    console = Console(width=160)
    for duel in duels:
        console.print(f"{duel.peer}: {duel.settings}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gp", type=Path, help="checkout of gaohongkui/GlobalPointer_pytorch")
    parser.add_argument("--egp", type=Path, help="checkout of xhw205/Efficient-GlobalPointer-torch")
    parser.add_argument(
        "--encoder", default="ltp-zh", help="a name of the catalogue, or a folder with a BERT tokenizer"
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--train", type=int, default=1000, help="first N sentences")
    parser.add_argument("--dev", type=int, default=400, help="first N sentences")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, help="instead of the published 64 (gp) and 16 (egp)")
    parser.add_argument("--learning-rate", type=float, help="instead of the published 2e-5")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=3, help="of predicting dev")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--own-batches", action="store_true", help="ours groups sentences of like length")
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    warnings.filterwarnings("ignore", message="This overload of")  # BertAdam calls torch in an old way
    chosen = [name for name in PEERS if getattr(options, name)]
    if not chosen:
        parser.error("nothing to compare with: give --gp or --egp, the path of a checkout")
    for name in chosen:
        setattr(options, name, getattr(options, name).resolve())
    if options.peak:
        name, what = options.peak.split(":", 1)
        print(peak(what, PEERS[name], getattr(options, name), make_plan(PEERS[name], options, options.seeds[0])))
        return
    duels = [compare(name, options) for name in chosen]
    show(duels)
    if options.json:
        options.json.write_text(json.dumps([asdict(duel) for duel in duels], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

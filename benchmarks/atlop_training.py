"""Document relations of factpin against the public ATLOP, both trained here: F1, time of a step and of prediction.

    python benchmarks/atlop_training.py --atlop PATH [--corpus cdr] [--encoder minilm-en] [--epochs 30] [--json FILE]
    python benchmarks/atlop_training.py --atlop PATH --limit 30 --judge 30 --epochs 2         a trial run of two minutes

PATH is a checkout of wzhouad/ATLOP. Both sides start from the same encoder folder and the same head weights, and see
the same documents in the same batches, a step of theirs and a step of ours in turn, so that a busy machine slows both.
Documents are written in the format of their reader (.data for CDR, JSON for Re-DocRED), and both read these files.
factpin's scorer evaluates what both find after the last epoch; no epoch is selected. Learning rates, warm-up,
clipping, batch size and the most relations of a pair are those of their scripts (run_cdr.sh, run_bert.sh).

    cdr        train -> test, without the hypernym filter; the pairs of both sides are all (chemical, disease)
    redocred   dev -> test (its training split was not available); all ordered pairs on both sides

Theirs, as published: reader, model, windows, loss, collating, prediction. What had to be adapted: functions are taken
out of scripts that load at import (`lifted`); opt_einsum, where absent, is torch.einsum; a tokenizer gets back
`build_inputs_with_special_tokens`, which transformers 5 dropped; the encoder is asked for eager attention, the only one
that gives weights, and its outputs are cut to vectors and attention, which theirs takes to be the last of them (in
transformers 5 an empty one follows); AdamW of transformers is gone, so both sides have the same AdamW of torch (fused,
their epsilon, no weight decay); no apex: all in float32.

Remaining differences: in training, theirs multiplies attention after dropout, ours without. Their reader of CDR takes
the entity on the left as the head, so it learns some pairs reversed; ours asks for (chemical, disease). A
document of more than 512 tokens is read by theirs in its first and last 512, ours in windows that share 128; beyond
1,024 theirs cuts it off. Mentions that begin at one word share a marker there in DocRED, here each has its own; in CDR
a mention that begins with another one is read at the first of their markers there. How many documents have the same
pieces and the same places of mentions is printed.

Time is CPU time (process_time). `prepare` is text -> features of all training documents, once; prediction includes it.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field, replace
from io import StringIO
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from atlop import copy_weights, modules
from rich.console import Console
from rich.table import Table
from spans import lifted
from torch import nn
from torch.utils.data import DataLoader
from transformers import AutoConfig, AutoModel, BertTokenizerFast
from transformers.utils import logging

from factpin import formats
from factpin.documents import Document, Fact
from factpin.encoders import resolve
from factpin.models.extractor import meta_without_annotation
from factpin.scoring import align, document_relations, paired_bootstrap
from factpin.scoring.counts import Rows, total
from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
from factpin.training.config import TrainConfig
from factpin.training.job import TaskJob
from factpin.training.optimiser import build_optimiser
from factpin.training.run import start

SIDES = ("theirs", "ours")
HEAD_RATE, WARMUP, CLIP, EPSILON, BATCH = 1e-4, 0.06, 1.0, 1e-6, 4  # train.py, train_bio.py and scripts/
LONGEST = 1024  # train.py, max_seq_length


@dataclass(frozen=True)
class Corpus:
    """A corpus, how their reader takes it, and what their scripts say of it."""

    training: str
    judged: str
    format: str
    reader: str  # in prepro.py
    rate: float
    top_k: int
    test_batch: int
    types: bool  # ours asks pairs by their types: theirs has these alone in its files


CORPORA = {
    "cdr": Corpus("cdr/atlop/train.data.xz", "cdr/atlop/test.data.xz", "atlop", "read_cdr", 2e-5, 1, 4, True),
    "redocred": Corpus("redocred/dev_revised.json.xz", "redocred/test_revised.json.xz", "docred", "read_docred", 5e-5,
                       4, 8, False),
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What both sides do."""

    corpus: Corpus
    folder: Path  # of the encoder
    training: Sequence[Document]
    judged: Sequence[Document]
    files: tuple[Path, Path]  # training and judged documents in their shape
    epochs: int
    batch: int
    rate: float
    seed: int

    @property
    def relations(self) -> list[str]:
        return sorted({fact.relation for doc in self.training for fact in doc.facts})

    @property
    def steps(self) -> int:
        return self.epochs * (len(self.training) // self.batch)  # as published, the last batch of few is dropped

    def rate_at(self, step: int) -> float:
        """Share of the rates at a step: up in the warm-up, then down to 0 (get_linear_schedule_with_warmup)."""
        warmup = int(self.steps * WARMUP)
        return step / max(1, warmup) if step < warmup else (self.steps - step) / max(1, self.steps - warmup)


# ---- theirs


class WithAttention(nn.Module):
    """An encoder that gives vectors and the attention of all layers, as it did when theirs was written."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: Any, attention_mask: Any, output_attentions: bool) -> tuple[Any, Any]:
        output = self.encoder(input_ids, attention_mask, output_attentions=output_attentions)
        return output.last_hidden_state, output.attentions


class Theirs:
    """wzhouad/ATLOP: prepro.py, model.py, utils.py, train.py, evaluation.py."""

    def __init__(self, root: Path, plan: Plan) -> None:
        self.plan, corpus = plan, plan.corpus
        self.tokenizer = BertTokenizerFast.from_pretrained(plan.folder)
        if not hasattr(self.tokenizer, "build_inputs_with_special_tokens"):
            cls, sep = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
            self.tokenizer.build_inputs_with_special_tokens = lambda ids: [cls, *ids, sep]
        numbers = {name: i for i, name in enumerate(["Na", *plan.relations])}
        given = {"tqdm": lambda items, **_: items, "json": json, "docred_rel2id": numbers,
                 "cdr_rel2id": {f"1:{'NR' if i == 0 else name}:2": i for name, i in numbers.items()}}  # fmt: skip
        self.read = lifted(root, "prepro.py", ["chunks", corpus.reader], given)[corpus.reader]
        self.collate = lifted(root, "utils.py", ["collate_fn"], {"torch": torch})["collate_fn"]
        told = lifted(root, "evaluation.py", ["to_official"],
                      {"np": np, "id2rel": {i: name for name, i in numbers.items()}})  # fmt: skip
        given = {"np": np, "torch": torch, "DataLoader": DataLoader, "collate_fn": self.collate, **told}
        self.report = lifted(root, "train.py", ["report"], given)["report"]
        began = time.process_time()
        self.features = self.features_of(plan.files[0])
        self.preparing = time.process_time() - began
        self.by_title = {feature["title"]: feature for feature in self.features}
        self.model = self.build(root)
        self.optimiser = self.adam()

    def features_of(self, path: Path) -> list[dict[str, Any]]:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            return self.read(str(path), self.tokenizer, max_seq_length=LONGEST)

    def build(self, root: Path) -> Any:
        config = AutoConfig.from_pretrained(self.plan.folder, num_labels=1 + len(self.plan.relations))
        if config.model_type != "bert":
            raise SystemExit(f"A BERT was expected, {self.plan.folder} is a {config.model_type}. Their windows frame "
                             f"texts as BERT does.")  # fmt: skip
        encoder = AutoModel.from_pretrained(
            self.plan.folder, config=config, dtype=torch.float32, attn_implementation="eager"
        )
        config.cls_token_id, config.sep_token_id = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        config.transformer_type = "bert"
        torch.manual_seed(self.plan.seed)
        return modules(root)[0].DocREModel(config, WithAttention(encoder), num_labels=self.plan.corpus.top_k)

    def adam(self) -> torch.optim.AdamW:
        new = [p for name, p in self.model.named_parameters() if "extractor" in name or "bilinear" in name]
        own = {id(p) for p in new}
        old = [p for p in self.model.parameters() if id(p) not in own]
        groups = [{"params": old, "lr": self.plan.rate}, {"params": new, "lr": HEAD_RATE}]
        return torch.optim.AdamW(groups, eps=EPSILON, weight_decay=0.0, fused=True)

    def step(self, documents: Sequence[Document]) -> None:
        ids, mask, labels, places, pairs = self.collate([self.by_title[doc.id] for doc in documents])
        self.model.train()
        loss, *_ = self.model(input_ids=ids, attention_mask=mask, labels=labels, entity_pos=places, hts=pairs)
        one_step(self.model, self.optimiser, loss)

    def predict(self, documents: Sequence[Document], path: Path) -> list[Document]:
        args = SimpleNamespace(test_batch_size=self.plan.corpus.test_batch, device="cpu")
        found: dict[str, list[tuple[int, int, str]]] = {}
        for answer in self.report(args, self.model, self.features_of(path)):
            found.setdefault(answer["title"], []).append((answer["h_idx"], answer["t_idx"], answer["r"]))
        names = entities_of(path, self.plan.corpus.format)
        return [answered(doc, found.get(doc.id, []), names(doc)) for doc in documents]


Pair = tuple[int, int]


def entities_of(path: Path, format: str) -> Callable[[Document], Callable[[Pair], Pair]]:
    """Their pair of entities -> that of the document. Their numbers in DocRED are ours.

    Their reader of CDR counts entities as it meets them and takes the left one as the head, so that facts
    whose disease comes first are turned round: here they are turned back.
    """
    if format != "atlop":
        return lambda _: lambda pair: pair
    tables: dict[str, dict[Pair, Pair]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.rstrip().split("\t")
        ours: dict[str, int] = {}
        theirs: dict[str, int] = {}
        table = tables.setdefault(cells[0], {})
        for i in range(2, len(cells), 17):
            one, two = cells[i + 5], cells[i + 11]
            head, tail = (one, two) if cells[i + 1] == "L2R" else (two, one)
            pair = tuple(ours.setdefault(concept, len(ours)) for concept in (one, two))
            if cells[i] != "not_include":
                table[tuple(theirs.setdefault(concept, len(theirs)) for concept in (head, tail))] = pair
    return lambda doc: tables[doc.id].__getitem__


def answered(doc: Document, found: Sequence[tuple[int, int, str]], pair_of: Callable[[Pair], Pair]) -> Document:
    facts = []
    for h, t, relation in found:
        head, tail = pair_of((h, t))
        facts.append(Fact(doc.entities[head].id, relation, doc.entities[tail].id))
    return replace(doc, facts=tuple(facts))


# ---- ours


class Ours:
    """The parts that `factpin train` runs, with the rates of the other side."""

    def __init__(self, plan: Plan) -> None:
        config = RelationOptions(str(plan.folder), top_k=plan.corpus.top_k, types=plan.corpus.types, dropout=0.0)
        self.extractor = start(DOCUMENT_RELATIONS, config, plan.training, plan.seed)
        self.model: Any = self.extractor.model
        began = time.process_time()
        self.job = TaskJob(self.extractor, plan.training, [], config)
        self.preparing = time.process_time() - began
        if len(self.job.documents) != len(plan.training):
            raise SystemExit("Some documents have no pair of entities: leave them out of the comparison.")
        self.number = {doc.id: i for i, doc in enumerate(plan.training)}
        how = TrainConfig(learning_rate=plan.rate, head_learning_rate=HEAD_RATE, weight_decay=0.0, clip=CLIP)
        self.optimiser = build_optimiser(self.model.encoder, self.model.head, how)
        for group in self.optimiser.param_groups:
            group["eps"] = EPSILON

    def step(self, documents: Sequence[Document]) -> None:
        batch = self.job.batch([self.number[doc.id] for doc in documents])
        self.model.train()
        one_step(self.model, self.optimiser, self.model.loss(batch))

    def predict(self, documents: Sequence[Document], path: Path) -> list[Document]:  # noqa: ARG002
        return list(self.extractor.annotate(documents))


def one_step(model: nn.Module, optimiser: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimiser.zero_grad(set_to_none=True)
    torch.autograd.backward(loss)
    nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimiser.step()


# ---- measuring


@dataclass
class Took:
    """What one side took with one seed, in CPU seconds, and what it got right, a row a document."""

    prepare: float
    step: list[float] = field(default_factory=list)
    predict: list[float] = field(default_factory=list)
    rows: Rows = field(default_factory=lambda: np.zeros((0, 4)))


@dataclass(frozen=True)
class Alike:
    """Whether both sides read the same."""

    documents: int
    same_pieces: int  # documents
    same_places: int  # of the opening markers
    same_pairs: int
    cut: int  # longer than theirs reads


def batches(plan: Plan) -> Iterator[list[Document]]:
    """Of all epochs, in an order by chance."""
    for epoch in range(plan.epochs):
        order = np.random.default_rng([plan.seed, epoch]).permutation(len(plan.training)).tolist()
        for i in range(0, len(order) - plan.batch + 1, plan.batch):
            yield [plan.training[k] for k in order[i : i + plan.batch]]


def duel(root: Path, plan: Plan, rounds: int) -> tuple[Took, Took, Alike]:
    """Train both in turns, let both predict."""
    sides: tuple[Theirs, Ours] = Theirs(root, plan), Ours(plan)
    copy_weights(sides[0].model, sides[1].model.head)
    took = Took(sides[0].preparing), Took(sides[1].preparing)
    bases = [[group["lr"] for group in side.optimiser.param_groups] for side in sides]
    for step, documents in enumerate(batches(plan)):
        for side, base, own in zip(sides, bases, took, strict=True):
            for group, rate in zip(side.optimiser.param_groups, base, strict=True):
                group["lr"] = rate * plan.rate_at(step)
            torch.manual_seed(plan.seed * 1_000_003 + step)
            began = time.process_time()
            side.step(documents)
            own.step.append(time.process_time() - began)
        if sys.stderr.isatty():
            print(f"\rstep {step + 1} of {plan.steps}", end="", file=sys.stderr)
    bare = [replace(doc, facts=()) for doc in plan.judged]
    for _ in range(rounds):
        for side, own in zip(sides, took, strict=True):
            began = time.process_time()
            found = side.predict(bare, plan.files[1])
            own.predict.append(time.process_time() - began)
            own.rows = document_relations.score(align(found, plan.judged).pairs).rows["strict"]
    return *took, alike(*sides)


def alike(theirs: Theirs, ours: Ours) -> Alike:
    pieces = places = pairs = cut = 0
    for doc, (y, _) in zip(theirs.plan.training, ours.job.documents, strict=True):
        feature = theirs.by_title[doc.id]
        ids = feature["input_ids"][1:-1]
        pieces += ids == y.pieces.ids.tolist()
        cut += len(y.pieces) > LONGEST - 2
        places += sorted(at for entity in feature["entity_pos"] for at, _ in entity) == sorted(y.place.tolist())
        pairs += len(feature["hts"]) == len(y.head)
    return Alike(len(theirs.plan.training), pieces, places, pairs, cut)


# ---- the program


@dataclass(frozen=True)
class Row:
    """One side over all seeds."""

    f1: float  # mean
    f1_range: tuple[float, float]
    precision: float
    recall: float
    prepare_s: float
    step_ms: float  # mean
    predict_ms: float  # a document


@dataclass(frozen=True)
class Duel:
    """Ratios say how many times faster ours is."""

    settings: str
    theirs: Row
    ours: Row
    step_ratio: float
    predict_ratio: float
    f1_difference: float
    f1_interval: tuple[float, float]
    p_value: float
    alike: Alike


def make_plan(options: argparse.Namespace, seed: int, scratch: Path) -> Plan:
    corpus = CORPORA[options.corpus]
    parts, files = [], []
    for name, source, count in (("training", corpus.training, options.limit), ("judged", corpus.judged, options.judge)):
        documents = formats.read(options.data / source, format=corpus.format)
        path = scratch / f"{name}{formats.FORMATS[corpus.format].ENDING}"
        kept = islice((doc for doc in documents if len(doc.entities) > 1), count)
        formats.write(kept, path, format=corpus.format)
        parts.append(list(formats.read(path, format=corpus.format)))
        files.append(path)
    if corpus.format == "docred":  # their reader has no number for relations that training does not have
        bare = (replace(doc, facts=(), meta=meta_without_annotation(doc)) for doc in parts[1])
        formats.write(bare, files[1], format=corpus.format)
    rate = options.learning_rate or corpus.rate
    return Plan(corpus, resolve(options.encoder), parts[0], parts[1], (files[0], files[1]), options.epochs,
                options.batch, rate, seed)  # fmt: skip


def compare(options: argparse.Namespace) -> Duel:
    """All seeds."""
    with tempfile.TemporaryDirectory() as scratch:
        plans = [make_plan(options, seed, Path(scratch)) for seed in options.seeds]
        runs = [duel(options.atlop, plan, options.rounds) for plan in plans]
    plan = plans[0]
    a, b = (summary([run[i] for run in runs], len(plan.judged)) for i in range(2))
    test = paired_bootstrap(*(np.sum([run[i].rows for run in runs], axis=0) for i in (1, 0)), samples=2000, seed=0)
    settings = (
        f"{options.corpus}, {options.encoder}, {len(plan.training)} documents x {plan.epochs} epochs, batches of "
        f"{plan.batch}, rates {plan.rate:g} and {HEAD_RATE:g}, {len(plan.judged)} judged, seeds {options.seeds}, "
        f"{options.threads} thread(s)"
    )
    ratios = a.step_ms / b.step_ms, a.predict_ms / b.predict_ms
    return Duel(settings, a, b, *ratios, test.difference, test.interval, test.p_value, runs[0][2])


def summary(runs: Sequence[Took], documents: int) -> Row:
    counts = [total(run.rows) for run in runs]
    f1 = [c.f1 for c in counts]
    return Row(
        statistics.mean(f1), (min(f1), max(f1)), statistics.mean(c.precision for c in counts),
        statistics.mean(c.recall for c in counts), statistics.mean(run.prepare for run in runs),
        statistics.mean(t for run in runs for t in run.step) * 1e3,
        statistics.median(t for run in runs for t in run.predict) / documents * 1e3,
    )  # fmt: skip


def show(duel: Duel) -> None:
    table = Table("side", title="CPU time; F1 between gold entities after the last epoch")
    for head in ("F1", "range", "precision", "recall", "prepare s", "ms a step", "predict ms a document"):
        table.add_column(head, justify="right")
    for side, row in zip(SIDES, (duel.theirs, duel.ours), strict=True):
        low, high = row.f1_range
        table.add_row(side, f"{100 * row.f1:.2f}", f"{100 * low:.2f} to {100 * high:.2f}", f"{100 * row.precision:.2f}",
                      f"{100 * row.recall:.2f}", f"{row.prepare_s:.2f}", f"{row.step_ms:.0f}",
                      f"{row.predict_ms:.1f}")  # fmt: skip
    low, high = duel.f1_interval
    table.add_row(
        "ours against theirs", f"{100 * duel.f1_difference:+.2f}", f"{100 * low:+.2f} to {100 * high:+.2f}",
        f"p = {duel.p_value:.3f}", "", "", f"{duel.step_ratio:.2f}x", f"{duel.predict_ratio:.2f}x",
    )  # fmt: skip
    console = Console(width=140)
    console.print(duel.settings)
    same = duel.alike
    console.print(f"of {same.documents} training documents both sides have the same pieces in {same.same_pieces}, the "
                  f"same places of mentions in {same.same_places}, as many pairs in {same.same_pairs}; theirs cuts "
                  f"{same.cut} off")  # fmt: skip
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atlop", type=Path, required=True, help="checkout of wzhouad/ATLOP")
    parser.add_argument("--corpus", choices=CORPORA, default="cdr")
    parser.add_argument("--encoder", default="minilm-en", help="a name of the catalogue, or a folder with a BERT")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--limit", type=int, help="first N training documents")
    parser.add_argument("--judge", type=int, help="first N judged documents")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--learning-rate", type=float, help="of the encoder, instead of the published one")
    parser.add_argument("--seeds", type=int, nargs="+", default=[66])
    parser.add_argument("--rounds", type=int, default=1, help="of predicting")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    options.atlop = options.atlop.resolve()
    found = compare(options)
    show(found)
    if options.json:
        options.json.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Span heads of factpin against the public code of the same mathematics: time, memory, and whether the bar is reached.

    python benchmarks/heads.py --gp PATH --egp PATH --gplinker PATH [--quick] [--json FILE]

The paths are checkouts of gaohongkui/GlobalPointer_pytorch, xhw205/Efficient-GlobalPointer-torch and
xhw205/GPLinker_torch (its sparse loss; without it the dense loss of --gp is taken). pytorch-crf comes from pip. Without
a path, only factpin is measured.

One thread; both sides in one process, in turns; median of process_time. Peak memory is the growth of VmHWM over the
state just before the call, each side in a fresh process. Encoders are stubs that return fixed vectors of width 768, and
the vectors take a gradient, as those of an encoder do.
"""

import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import click
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from factpin.heads import Cells
from factpin.heads.efficient_global_pointer import EfficientGlobalPointer, EfficientGlobalPointerConfig
from factpin.heads.global_pointer import GlobalPointer, GlobalPointerConfig
from factpin.layers.crf import TagRules, log_partition, path_score
from factpin.tasks.spans import find_spans
from factpin.tasks.spans.chain import ChainRules, best_path

WIDTH = 768
MiB = 2**20
Call = Callable[[], float]
Sides = tuple[Call | None, Call]  # theirs, ours
Output = namedtuple("Output", "last_hidden_state")  # read by name in one checkout and by index in the other


@dataclass(frozen=True)
class Peers:
    gp: Path | None
    egp: Path | None
    gplinker: Path | None


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[Peers], Sides]
    faster: float | None = None  # the bar: at least so many times faster
    smaller: float | None = None  # the bar: at most 1 / smaller of the memory
    within: float | None = None  # the bar: at most so many MiB
    slow: bool = False  # theirs needs several seconds a call
    memory: bool = True
    same: bool = True  # both sides compute the same number; a band leaves cells out


@dataclass(frozen=True)
class Row:
    case: str
    theirs_ms: float | None
    ours_ms: float
    ratio: float | None
    theirs_MiB: float | None
    ours_MiB: float | None
    memory_ratio: float | None
    bar: str
    reached: bool | None
    same_value: bool | None


class Stub(nn.Module):
    """An encoder that has already run."""

    def __init__(self, H: Tensor) -> None:
        super().__init__()
        self.H = H
        self.config = SimpleNamespace(hidden_size=WIDTH)

    def forward(self, *_: Tensor) -> Output:
        return Output(self.H)


def module(root: Path, path: str) -> ModuleType:
    """A file of a checkout as a module; its own imports are looked up from the checkout's root."""
    spec = importlib.util.spec_from_file_location(f"peer_{root.name}_{Path(path).stem}", root / path)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"{root} has no {path}. Give the path of a full checkout.")
    loaded = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(root))
    try:
        spec.loader.exec_module(loaded)
    finally:
        sys.path.remove(str(root))
    return loaded


def names(count: int) -> tuple[str, ...]:
    return tuple(f"label{n}" for n in range(count))


def random_spans(lengths: list[int], labels: int, count: int, *, first: int, widest: int) -> Cells:
    rows = set()
    for text, length in enumerate(lengths):
        start = torch.randint(first, length, (count,))
        end = (start + torch.randint(0, widest, (count,))).clamp_max(length - 1)
        label = torch.randint(0, labels, (count,))
        rows |= {(text, *row) for row in torch.stack((label, start, end), 1).tolist()}
    return Cells.of(sorted(rows))


def step(model: nn.Module, H: Tensor, loss: Callable[[], Tensor]) -> Call:
    """Forward and backward from the vectors on; gives the loss."""

    def run() -> float:
        model.zero_grad()
        H.grad = None
        value = loss()
        torch.autograd.backward(value)
        return value.item()

    return run


def egp(B: int, N: int, R: int) -> Callable[[Peers], Sides]:
    def make(peers: Peers) -> Sides:
        torch.manual_seed(0)
        H = torch.randn(B, N, WIDTH, requires_grad=True)
        real = torch.ones(B, N, dtype=torch.bool)
        real[:, 0] = False  # the public sparse loss spends cell (0, 0)
        gold = random_spans([N] * B, R, 20, first=1, widest=12)
        ours = EfficientGlobalPointer(EfficientGlobalPointerConfig(names(R), bias="hidden"), WIDTH)
        own = step(ours, H, lambda: ours.loss(ours(H, real), gold))
        if peers.egp is None or not (peers.gplinker or peers.gp):
            return None, own
        theirs = module(peers.egp, "models/GlobalPointer.py").EffiGlobalPointer(Stub(H), R, 64)
        with (
            torch.no_grad()
        ):  # the same function: theirs interleaves q with k and ends with starts, and halves the terms
            ours.qk.weight.copy_(torch.cat((theirs.dense_1.weight[::2], theirs.dense_1.weight[1::2])))
            ours.qk.bias.copy_(torch.cat((theirs.dense_1.bias[::2], theirs.dense_1.bias[1::2])))
            ours.bias.weight.copy_(torch.cat((theirs.dense_2.weight[1::2], theirs.dense_2.weight[::2])) / 2)
            ours.bias.bias.copy_(torch.cat((theirs.dense_2.bias[1::2], theirs.dense_2.bias[::2])) / 2)
        loss = egp_loss(peers, gold, (B, R, N))
        mask = real.long()
        return step(theirs, H, lambda: loss(theirs(mask, mask, mask))), own

    return make


def egp_loss(peers: Peers, gold: Cells, shape: tuple[int, int, int]) -> Callable[[Tensor], Tensor]:
    B, R, N = shape
    if peers.gplinker:
        sparse = module(peers.gplinker, "nets/gpNet.py").sparse_multilabel_categorical_crossentropy
        counts: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for b, r, i, j in gold.rows():
            counts.setdefault((b, r), []).append((i, j))
        most = max(len(cells) for cells in counts.values())
        y = torch.zeros(B, R, most, 2, dtype=torch.int64)
        for (b, r), cells in counts.items():
            y[b, r, : len(cells)] = torch.tensor(cells)
        return lambda s: sparse(y_true=y, y_pred=s, mask_zero=True) / (B * R)
    if peers.gp is None:
        raise click.UsageError("Give --gplinker or --gp: the loss of the EGP checkout is in a script that trains.")
    dense = module(peers.gp, "common/utils.py").multilabel_categorical_crossentropy
    y = dense_labels(gold, (B, R, N))
    return lambda s: dense(y.view(B * R, -1), s.reshape(B * R, -1))


def dense_labels(gold: Cells, shape: tuple[int, int, int]) -> Tensor:
    B, R, N = shape
    y = torch.zeros(B, R, N, N, dtype=torch.int64)
    y[gold.batch, gold.label, gold.start, gold.end] = 1
    return y


def lengths_of(B: int, N: int) -> tuple[list[int], Tensor]:
    """Lengths from N / 3 to N, and the mask."""
    lengths = torch.linspace(N / 3, N, B).round().long()
    return lengths.tolist(), torch.arange(N) < lengths[:, None]


def gp(B: int, N: int, *, decode: bool = False) -> Callable[[Peers], Sides]:
    def make(peers: Peers) -> Sides:
        torch.manual_seed(0)
        labels = 10
        H = torch.randn(B, N, WIDTH, requires_grad=True)
        lengths, real = lengths_of(B, N)
        gold = random_spans(lengths, labels, 20, first=0, widest=12)
        ours = GlobalPointer(GlobalPointerConfig(names(labels)), WIDTH)
        theirs = None
        if peers.gp is not None:
            theirs = module(peers.gp, "models/GlobalPointer.py").GlobalPointer(Stub(H), labels, 64)
            ours.qk.load_state_dict(theirs.dense.state_dict())
        mask = real.long()
        if decode:
            found = torch.no_grad()(lambda: float(len(find_spans(ours.to_arrays(ours(H, real)), 0.0))))
            return None if theirs is None else torch.no_grad()(lambda: scan(theirs(mask, mask, mask))), found
        own = step(ours, H, lambda: ours.loss(ours(H, real), gold))
        if theirs is None or peers.gp is None:
            return None, own
        loss = module(peers.gp, "common/utils.py").multilabel_categorical_crossentropy
        y = dense_labels(gold, (B, labels, N)).view(B * labels, -1)
        return step(theirs, H, lambda: loss(y, theirs(mask, mask, mask).reshape(B * labels, -1))), own

    return make


def band(B: int, N: int) -> Callable[[Peers], Sides]:
    """Our own full form on one side, spans of at most 16 tokens on the other."""

    def make(_: Peers) -> Sides:
        torch.manual_seed(0)
        H = torch.randn(B, N, WIDTH, requires_grad=True)
        lengths, real = lengths_of(B, N)
        gold = random_spans(lengths, 10, 20, first=0, widest=12)
        every, narrow = (GlobalPointer(GlobalPointerConfig(names(10), max_span=w), WIDTH) for w in (None, 16))
        return step(every, H, lambda: every.loss(every(H, real), gold)), step(
            narrow, H, lambda: narrow.loss(narrow(H, real), gold)
        )

    return make


def scan(s: Tensor) -> float:
    """Every cell above 0, as a list: what a caller of the dense scores writes."""
    return float(len(list(zip(*(s.numpy() > 0).nonzero(), strict=True))))


def crf(what: str) -> Callable[[Peers], Sides]:
    def make(_: Peers) -> Sides:
        torch.manual_seed(0)
        B, N, T = 16, 128, 41
        lengths, mask = lengths_of(B, N)
        if what == "full":
            lengths, mask = [N] * B, torch.ones(B, N, dtype=torch.bool)
        length = torch.tensor(lengths)
        e = torch.randn(B, N, T, requires_grad=True)
        path = torch.randint(0, T, (B, N))
        peer = None
        if importlib.util.find_spec("torchcrf"):
            peer = importlib.import_module("torchcrf").CRF(T, batch_first=True)
            parts = (peer.transitions, peer.start_transitions, peer.end_transitions)
        else:
            parts = (torch.rand(T, T) - 0.5, torch.rand(T) - 0.5, torch.rand(T) - 0.5)
        holder = nn.ParameterList(p.detach().clone() for p in parts)
        rules = TagRules(*holder)
        if what == "best path":

            def decode() -> float:
                arrays = ChainRules(*(part.detach().numpy() for part in holder))
                found = best_path(e.detach().numpy(), arrays, length.numpy()).tolist()
                return checksum([tags[:n] for tags, n in zip(found, lengths, strict=True)])

            return None if peer is None else lambda: checksum(peer.decode(e, mask=mask)), decode
        own = step(
            holder, e, lambda: (log_partition(e, rules, length) - path_score(e, rules, length, path)).mean().float()
        )
        return None if peer is None else step(peer, e, lambda: -peer(e, path, mask=mask, reduction="mean")), own

    return make


def checksum(paths: list[list[int]]) -> float:
    return float(hash(tuple(map(tuple, paths))) % 2**40)


CASES = [
    Case("EGP loss+grad (8, 256, 50)", egp(8, 256, 50), faster=30, smaller=10),
    Case("EGP loss+grad (4, 512, 200)", egp(4, 512, 200), faster=150, smaller=40, slow=True),
    Case("EGP loss+grad (1, 1024, 1000)", lambda _: egp(1, 1024, 1000)(Peers(None, None, None)), within=200),
    Case("GP loss+grad (16, 128)", gp(16, 128), faster=1.8, smaller=2),
    Case("GP loss+grad (8, 256)", gp(8, 256), faster=3, smaller=6),
    Case("GP loss+grad (4, 512)", gp(4, 512), faster=7, smaller=5),
    Case("GP band 16 against all (16, 128)", band(16, 128), faster=1.0, memory=False, same=False),
    Case("GP band 16 against all (8, 256)", band(8, 256), faster=1.0, memory=False, same=False),
    Case("GP band 16 against all (4, 512)", band(4, 512), faster=1.0, memory=False, same=False),
    Case("GP scores+hits (16, 128)", gp(16, 128, decode=True), memory=False),
    Case("GP scores+hits (4, 512)", gp(4, 512, decode=True), memory=False),
    Case("CRF loss+grad (16, 128, 41) mixed", crf("mixed"), faster=6, memory=False),
    Case("CRF loss+grad (16, 128, 41) full", crf("full"), faster=6, memory=False),
    Case("CRF best path (16, 128, 41)", crf("best path"), faster=4, memory=False),
]


def clock(call: Call) -> tuple[float, float]:
    began = time.process_time()
    value = call()
    return (time.process_time() - began) * 1e3, value


def measure(case: Case, peers: Peers, *, quick: bool) -> tuple[float | None, float, bool | None]:
    """Milliseconds of both sides, and whether they gave the same value."""
    theirs, ours = case.make(peers)
    rounds = (1 if case.slow else 3) if quick else 5
    clock(ours)
    times: tuple[list[float], list[float]] = ([], [])
    same = None
    for _ in range(rounds):
        ms, value = clock(ours)
        times[1].append(ms)
        if theirs is not None:
            ms, other = clock(theirs)
            times[0].append(ms)
            same = abs(value - other) <= 1e-4 * abs(other) if case.same else None
    return statistics.median(times[0]) if times[0] else None, statistics.median(times[1]), same


def peak_kib() -> int:
    """The peak of this process. ru_maxrss would not do: it begins with that of the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def peak(index: int, side: int, peers: Peers) -> float | None:
    """Growth of the peak (VmHWM) in MiB during the first call, in this process."""
    call = CASES[index].make(peers if side == 0 else Peers(None, None, None))[side]  # ours without theirs in memory
    if call is None:
        return None
    before = peak_kib()
    call()
    return (peak_kib() - before) * 1024 / MiB


def peak_apart(index: int, side: int, peers: Peers) -> float | None:
    command = [sys.executable, __file__, "--peak", f"{index}:{side}"]
    for option, path in (("--gp", peers.gp), ("--egp", peers.egp), ("--gplinker", peers.gplinker)):
        command += [option, str(path)] if path else []
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def judge(
    case: Case, ms: tuple[float | None, float], memory: tuple[float | None, float | None], same: bool | None
) -> Row:
    ratio = ms[0] / ms[1] if ms[0] is not None else None
    memory_ratio = memory[0] / max(memory[1], 1.0) if memory[0] is not None and memory[1] is not None else None
    bars = [
        (f">= {case.faster:g}x", ratio, case.faster) if case.faster else None,
        (f"memory <= 1/{case.smaller:g}", memory_ratio, case.smaller) if case.smaller else None,
        (f"<= {case.within:g} MiB", None if memory[1] is None else -memory[1], -case.within) if case.within else None,
    ]
    known = [bar for bar in bars if bar]
    reached = all(got >= wanted for _, got, wanted in known if got is not None)
    judged = bool(known) and all(got is not None for _, got, _ in known)
    words = ", ".join(text for text, _, _ in known) or "-"
    return Row(case.name, *ms, ratio, *memory, memory_ratio, words, reached if judged else None, same)


def show(rows: list[Row]) -> None:
    def number(x: float | None, form: str) -> str:
        return "-" if x is None else format(x, form)

    def mark(x: bool | None) -> str:
        return "-" if x is None else "yes" if x else "NO"

    table = Table(title="one thread, median CPU time; memory: peak above the state before the call")
    for head in (
        "case",
        "theirs ms",
        "ours ms",
        "ratio",
        "theirs MiB",
        "ours MiB",
        "memory ratio",
        "bar",
        "reached",
        "same value",
    ):
        table.add_column(head, justify="left" if head in ("case", "bar") else "right")
    for row in rows:
        memory = "-" if row.memory_ratio is None else f"1/{row.memory_ratio:.1f}"
        table.add_row(
            row.case,
            *(number(x, ".1f") for x in (row.theirs_ms, row.ours_ms, row.ratio)),
            *(number(x, ".0f") for x in (row.theirs_MiB, row.ours_MiB)),
            memory,
            row.bar,
            *(mark(x) for x in (row.reached, row.same_value)),
        )
    Console(width=200).print(table)


@click.command()
@click.option(
    "--gp", type=click.Path(exists=True, path_type=Path), help="Checkout of gaohongkui/GlobalPointer_pytorch."
)
@click.option("--egp", type=click.Path(exists=True, path_type=Path), help="Of xhw205/Efficient-GlobalPointer-torch.")
@click.option("--gplinker", type=click.Path(exists=True, path_type=Path), help="Of xhw205/GPLinker_torch.")
@click.option("--quick", is_flag=True, help="3 rounds, and 1 where theirs needs seconds; otherwise 5.")
@click.option("--only", default="", help="Cases whose name contains this.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write the rows here as well.")
@click.option("--peak", "one", default="", hidden=True)
def main(
    gp: Path | None, egp: Path | None, gplinker: Path | None, quick: bool, only: str, target: Path | None, one: str
) -> None:
    torch.set_num_threads(1)
    peers = Peers(*(path and path.resolve() for path in (gp, egp, gplinker)))
    if one:
        index, side = (int(part) for part in one.split(":"))
        click.echo(json.dumps(peak(index, side, peers)))
        return
    chosen = [(index, case) for index, case in enumerate(CASES) if only in case.name]
    # a process starts with the peak of the one that started it, so memory comes first, while this one is small
    memory = {
        index: (peak_apart(index, 0, peers), peak_apart(index, 1, peers)) for index, case in chosen if case.memory
    }
    rows = []
    for index, case in chosen:
        theirs, ours, same = measure(case, peers, quick=quick)
        rows.append(judge(case, (theirs, ours), memory.get(index, (None, None)), same))
    show(rows)
    if target:
        target.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

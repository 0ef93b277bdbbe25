"""The ATLOP head of factpin against the public code: time, memory, and whether the bar is reached.

    python benchmarks/atlop.py --atlop PATH [--rounds 5] [--only "E=20"] [--large] [--json FILE]

PATH is a checkout of wzhouad/ATLOP; without it only factpin is measured. If opt_einsum is missing, torch.einsum takes
its place.

One thread; both sides in one process, in turns; median of process_time. Peak memory is the growth of VmHWM during the
first call, each side in a fresh process. The encoder is stubbed on both sides: fixed vectors of width 768 and the last
layer's attention (12, N, N), both with a gradient; ours takes the rows of the mentions from that attention first, as
theirs does. All ordered pairs, 96 relations and the threshold. The public conversion of logits to labels is left out.
"""

import ctypes
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import click
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from factpin.heads.atlop import Atlop, AtlopConfig, AtlopGold, AtlopScores, PairQuery
from factpin.layers.threshold_loss import adaptive_threshold_loss

WIDTH, HEADS, RELATIONS = 768, 12, 96
MiB = 2**20
Call = Callable[[], float]
Sides = tuple[Call | None, Call]  # theirs, ours


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[Path | None], Sides]
    faster: float | None = None  # the bar: at least so many times faster
    smaller: float | None = None  # the bar: at most 1 / smaller of the memory
    within: float | None = None  # the bar: at most so many MiB
    slower: float | None = None  # the bar: at most so many milliseconds slower
    large: bool = False  # theirs needs half a minute and 7 GB
    memory: bool = True


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


def modules(root: Path) -> tuple[ModuleType, ModuleType]:
    """model.py and losses.py of the checkout; their imports are looked up there."""
    if "opt_einsum" not in sys.modules and importlib.util.find_spec("opt_einsum") is None:
        stand_in = ModuleType("opt_einsum")
        stand_in.contract = torch.einsum  # type: ignore[attr-defined]
        sys.modules["opt_einsum"] = stand_in
    sys.path.insert(0, str(root))
    try:
        return importlib.import_module("model"), importlib.import_module("losses")
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{root} is no full checkout of wzhouad/ATLOP ({error}).") from None
    finally:
        sys.path.remove(str(root))


@dataclass(frozen=True)
class World:
    """One document: vectors, attention, mentions of entities, all ordered pairs and their labels."""

    H: Tensor  # (N, D)
    attention: Tensor  # (heads, N, N)
    places: list[list[int]]  # tokens of each entity's mentions
    pairs: Tensor  # (P, 2)
    y: Tensor  # (P, 1 + R) as published: column 0 where there is no relation

    @staticmethod
    def of(E: int, N: int, *, attend: bool) -> "World":
        torch.manual_seed(0)
        chance = np.random.default_rng(0)
        attention = torch.randn(HEADS, N, N).softmax(dim=2)
        places = [chance.choice(N - 2, int(chance.integers(1, 4)), replace=False).tolist() for _ in range(E)]
        pairs = (1 - torch.eye(E)).nonzero()
        return World(
            torch.randn(N, WIDTH).requires_grad_(), attention.requires_grad_(attend), places, pairs, labels(len(pairs))
        )


def labels(P: int) -> Tensor:
    """3 % of the pairs are related."""
    y = torch.zeros(P, 1 + RELATIONS)
    related = torch.randperm(P)[: max(1, P * 3 // 100)]
    y[related, torch.randint(1, 1 + RELATIONS, (len(related),))] = 1.0
    y[:, 0] = (y.sum(dim=1) == 0).float()
    return y


def theirs_on(world: World, root: Path) -> torch.nn.Module:
    """The public model with its encoder and its label rule replaced."""
    config = SimpleNamespace(hidden_size=WIDTH, num_labels=1 + RELATIONS, transformer_type="bert")
    model = modules(root)[0].DocREModel(config, None)
    model.encode = lambda *_: (world.H[None], world.attention[None])
    model.loss_fnt.get_label = lambda logits, **_: logits
    return model


def ours_on(world: World) -> tuple[Atlop, Callable[[], AtlopScores], AtlopGold]:
    head = Atlop(AtlopConfig(tuple(f"r{r}" for r in range(RELATIONS))), WIDTH)
    entity = torch.tensor([e for e, own in enumerate(world.places) for _ in own])
    place = torch.tensor([at + 1 for own in world.places for at in own])  # theirs counts off [CLS]
    nowhere = torch.full((len(world.H),), -1)
    asked = PairQuery(place, entity, len(world.places), *world.pairs.unbind(1), nowhere, 0)
    pair, relation = world.y[:, 1:].nonzero().unbind(1)
    none = torch.zeros(0, dtype=torch.int64)

    def scores() -> AtlopScores:
        return head(world.H, world.attention[:, place].transpose(0, 1), asked)

    return head, scores, AtlopGold(pair, relation, none, none)


def copy_weights(theirs: torch.nn.Module, ours: Atlop) -> None:
    for name, other in (("head", "head_extractor"), ("tail", "tail_extractor"), ("bilinear", "bilinear")):
        getattr(ours, name).load_state_dict(getattr(theirs, other).state_dict())


def head_case(E: int, N: int, *, train: bool = True, attend: bool = True) -> Callable[[Path | None], Sides]:
    def make(root: Path | None) -> Sides:
        world = World.of(E, N, attend=attend and train)
        head, scores, gold = ours_on(world)
        theirs = None if root is None else theirs_on(world, root)
        if theirs is not None:
            copy_weights(theirs, head)
        hts = [world.pairs.tolist()]
        positions = [[[(at, at + 1) for at in own] for own in world.places]]
        y = [world.y.numpy()]

        def backward(model: torch.nn.Module, loss: Tensor) -> float:
            model.zero_grad()
            world.H.grad = world.attention.grad = None
            torch.autograd.backward(loss)
            return loss.item()

        if not train:
            own = torch.no_grad()(lambda: scores().s.norm().item())
            if theirs is None:
                return None, own
            return torch.no_grad()(lambda: theirs(entity_pos=positions, hts=hts)[0].norm().item()), own

        def step() -> float:
            return backward(head, head.loss([scores()], [gold]))

        if theirs is None:
            return None, step
        return lambda: backward(theirs, theirs(entity_pos=positions, hts=hts, labels=y)[0]), step

    return make


def loss_case(P: int) -> Callable[[Path | None], Sides]:
    def make(root: Path | None) -> Sides:
        torch.manual_seed(0)
        s = torch.randn(P, 1 + RELATIONS, requires_grad=True)
        y = labels(P)
        holds = y[:, 1:].bool()

        def backward(loss: Tensor) -> float:
            s.grad = None
            torch.autograd.backward(loss)
            return loss.item()

        def own() -> float:
            return backward(adaptive_threshold_loss(s, holds))

        if root is None:
            return None, own
        public = modules(root)[1].ATLoss()
        return lambda: backward(public(s, y)), own

    return make


CASES = [
    Case("E=20 N=512 loss+grad", head_case(20, 512), faster=2.5, smaller=2.5),
    Case("E=20 N=512 forward", head_case(20, 512, train=False), faster=1.5),
    Case("E=42 N=1024 loss+grad", head_case(42, 1024), faster=6, smaller=6),
    Case("E=42 N=1024 loss+grad, attention fixed", head_case(42, 1024, attend=False), faster=2),
    Case("E=42 N=1024 forward", head_case(42, 1024, train=False), faster=1.5),
    Case("E=100 N=1024 loss+grad", head_case(100, 1024), faster=4, smaller=15, large=True),
    Case("E=300 N=1024 loss+grad", lambda _: head_case(300, 1024)(None), within=1229, large=True),
    Case("threshold loss P=400", loss_case(400), slower=0.5, memory=False),
    Case("threshold loss P=10000", loss_case(10_000), faster=1.5, memory=False),
]


def clock(call: Call) -> tuple[float, float]:
    began = time.process_time()
    value = call()
    return (time.process_time() - began) * 1e3, value


def measure(case: Case, root: Path | None, rounds: int) -> tuple[float | None, float, bool | None]:
    """Milliseconds of both sides, and whether they gave the same value."""
    theirs, ours = case.make(root)
    clock(ours)
    times: tuple[list[float], list[float]] = ([], [])
    same = None
    for _ in range(rounds):
        ms, value = clock(ours)
        times[1].append(ms)
        if theirs is not None:
            ms, other = clock(theirs)
            times[0].append(ms)
            same = abs(value - other) <= 1e-4 * abs(other)
    return statistics.median(times[0]) if times[0] else None, statistics.median(times[1]), same


def peak_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def forget_setup() -> None:
    """Give memory that set-up freed back and start the peak anew, where the system can: a call must not hide in it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak(index: int, side: int, root: Path | None) -> float | None:
    """Growth of the peak in MiB during the first call, in this process."""
    call = CASES[index].make(root if side == 0 else None)[side]  # ours without theirs in memory
    if call is None:
        return None
    forget_setup()
    before = peak_kib()
    call()
    return (peak_kib() - before) * 1024 / MiB


def peak_apart(index: int, side: int, root: Path | None) -> float | None:
    command = [sys.executable, __file__, "--peak", f"{index}:{side}", *(["--atlop", str(root)] if root else [])]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def judge(
    case: Case, ms: tuple[float | None, float], memory: tuple[float | None, float | None], same: bool | None
) -> Row:
    theirs, ours = ms
    ratio = None if theirs is None else theirs / ours
    memory_ratio = memory[0] / max(memory[1], 1.0) if memory[0] is not None and memory[1] is not None else None
    bars = [
        (f">= {case.faster:g}x", ratio, case.faster) if case.faster else None,
        (f"memory <= 1/{case.smaller:g}", memory_ratio, case.smaller) if case.smaller else None,
        (f"<= {case.within:g} MiB", None if memory[1] is None else -memory[1], -case.within) if case.within else None,
        (f"<= {case.slower:g} ms slower", None if theirs is None else theirs - ours, -case.slower)
        if case.slower
        else None,
    ]
    known = [bar for bar in bars if bar]
    judged = all(got is not None for _, got, _ in known)
    reached = all(got >= wanted for _, got, wanted in known if got is not None) if judged else None
    words = ", ".join(text for text, _, _ in known)
    return Row(case.name, theirs, ours, ratio, *memory, memory_ratio, words, reached, same)


def show(rows: list[Row]) -> None:
    def number(x: float | None, form: str) -> str:
        return "-" if x is None else format(x, form)

    def mark(x: bool | None) -> str:
        return "-" if x is None else "yes" if x else "NO"

    heads = [
        "case",
        "theirs ms",
        "ours ms",
        "ratio",
        "theirs MiB",
        "ours MiB",
        "memory ratio",
        "bar",
        "reached",
        "same",
    ]
    table = Table(title="one thread, median CPU time; memory: peak above the state before the call")
    for head in heads:
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
@click.option("--atlop", type=click.Path(exists=True, path_type=Path), help="Checkout of wzhouad/ATLOP.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--only", default="", help="Cases whose name contains this.")
@click.option("--large", is_flag=True, help="Also 100 entities (theirs: half a minute a round, 7 GB) and 300.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write the rows here as well.")
@click.option("--peak", "one", default="", hidden=True)
def main(atlop: Path | None, rounds: int, only: str, large: bool, target: Path | None, one: str) -> None:
    torch.set_num_threads(1)
    root = atlop and atlop.resolve()
    if one:
        index, side = (int(part) for part in one.split(":"))
        click.echo(json.dumps(peak(index, side, root)))
        return
    chosen = [(i, case) for i, case in enumerate(CASES) if only in case.name and (large or not case.large)]
    # a process starts with the peak of the one that started it, so memory comes first, while this one is small
    memory = {i: (peak_apart(i, 0, root), peak_apart(i, 1, root)) for i, case in chosen if case.memory}
    rows = []
    for i, case in chosen:
        theirs, ours, same = measure(case, root, rounds)
        rows.append(judge(case, (theirs, ours), memory.get(i, (None, None)), same))
    show(rows)
    if target:
        target.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

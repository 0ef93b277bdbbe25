"""GPLinker of factpin against its dense form and against public code: time, memory, and whether the bar is reached.

    python benchmarks/triples.py [--gplinker PATH] [--quick] [--only TEXT] [--json FILE] [--plot FILE.svg] [--values]

PATH is a checkout of xhw205/GPLinker_torch. "dense" is the same head with all (B, R, N, N) scores held: the value
must be equal. "published loss" gives these dense scores to their sparse loss (which sums over texts and relations, so
that values differ); "published heads" is all theirs, relations scored by plain GlobalPointer with 2 * 64 vectors for
each, a costlier model: it has no bar. Finding triples is compared with a scan of the dense scores by loops over pairs
of spans, as in predict.py of that checkout (a script that runs when imported, so the loops are repeated here). Both
sides begin with vectors ("q, k"), or with A, u, v and the scores of spans, as the bar was measured; "all scores"
gives theirs the dense scores for free.

Measured as in heads.py. --plot draws the cost of a training step against the number of relations, 1 to 1000. --values
needs PATH and times nothing: it shows the published sparse loss beside ours and the definition in float64, as one gold
link grows surer.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from factpin.heads.cells import Cells
from factpin.heads.efficient_global_pointer import (
    EfficientGlobalPointer,
    EfficientGlobalPointerConfig,
    EfficientGlobalPointerScores,
)
from factpin.heads.global_pointer import GlobalPointerScores
from factpin.heads.gplinker import GPLinker, GPLinkerConfig, GPLinkerScores, TripleCells
from factpin.layers.multilabel_loss import multilabel_loss
from factpin.tasks.spans.cells import SpanCells
from factpin.tasks.triples import find_triples
from factpin.tasks.triples.join import SpanCandidates, join
from heads import WIDTH, Call, Case, MiB, Peers, Sides, Stub, clock, judge, measure, module, names, peak_kib, show, step

FACTS = 10  # gold triples of a text
SIZE = 64
RELATIONS = (1, 3, 10, 30, 100, 300, 1000)
DENSE_UP_TO = 100  # relations; beyond, the dense form needs gigabytes


def build(R: int) -> GPLinker:
    return GPLinker(GPLinkerConfig(names(R), bias="hidden"), WIDTH)


def inputs(B: int, N: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    real = torch.ones(B, N, dtype=torch.bool)
    real[:, 0] = False  # the public sparse loss spends cell (0, 0)
    return torch.randn(B, N, WIDTH, requires_grad=True), real


def random_gold(B: int, N: int, R: int) -> TripleCells:
    spans: list[tuple[int, int, int, int]] = []
    triples: list[tuple[int, int, int]] = []
    for text in range(B):
        for _ in range(FACTS):
            first = torch.randint(1, N - 8, (2,)).tolist()
            wide = torch.randint(0, 8, (2,)).tolist()
            triples.append((int(torch.randint(0, R, ())), len(spans), len(spans) + 1))
            spans += [(text, role, first[role], first[role] + wide[role]) for role in (0, 1)]
    return TripleCells.of(spans, triples)


def labels(gold: TripleCells) -> list[list[tuple[int, int, int, int]]]:
    """Gold cells (batch, class or relation, token, token) of spans, heads and tails."""
    links = [(b, r, s, o) for b, r, s, o in gold.rows()]
    heads = [(b, r, s[1], o[1]) for b, r, s, o in links]
    tails = [(b, r, s[2], o[2]) for b, r, s, o in links]
    return [sorted(set(cells)) for cells in (gold.spans.rows(), heads, tails)]


def training(B: int, N: int, R: int, against: str) -> Callable[[Peers], Sides]:
    def make(peers: Peers) -> Sides:
        H, real = inputs(B, N)
        gold = random_gold(B, N, R)
        ours = build(R)
        own = step(ours, H, lambda: ours.loss(ours(H, real), gold))
        if against == "dense":
            return step(ours, H, lambda: dense_loss(ours.dense(ours(H, real)), gold)), own
        if against == "loss":
            theirs = None if peers.gplinker is None else published_loss(peers.gplinker, gold, (2, R, R))
            return theirs and step(ours, H, lambda: theirs(ours.dense(ours(H, real)))), own
        return (
            None if against == "nothing" or peers.gplinker is None else public(peers.gplinker, H, real, gold, R)
        ), own

    return make


def dense_loss(scores: tuple[Tensor, Tensor, Tensor], gold: TripleCells) -> Tensor:
    total = torch.zeros(())
    for s, cells in zip(scores, labels(gold), strict=True):
        y = torch.zeros(s.shape, dtype=torch.bool)
        y[tuple(torch.tensor(cells).T)] = True
        total = total + multilabel_loss(s.flatten(2), y.flatten(2)).sum(1).mean()
    return total / 3


def published_loss(root: Path, gold: TripleCells, counts: Sequence[int]) -> Callable[[Sequence[Tensor]], Tensor]:
    """Their sparse loss of dense scores."""
    loss = module(root, "nets/gpNet.py").sparse_multilabel_categorical_crossentropy
    B = int(gold.spans.batch.max()) + 1
    tables = [padded(cells, B, count) for cells, count in zip(labels(gold), counts, strict=True)]

    def of(scores: Sequence[Tensor]) -> Tensor:
        values = [
            loss(y_true=y, y_pred=s.clamp_min(-1e12), mask_zero=True) for s, y in zip(scores, tables, strict=True)
        ]
        return torch.stack(values).sum() / 3

    return of


def public(root: Path, H: Tensor, real: Tensor, gold: TripleCells, R: int) -> Call:
    """Three pointers and their sparse loss, as main.py of the checkout puts them together."""
    net = module(root, "nets/gpNet.py")
    B = H.shape[0]
    plain = [net.RawGlobalPointer(WIDTH, R, SIZE, RoPE=False, tril_mask=False) for _ in range(2)]
    parts = nn.ModuleList([net.RawGlobalPointer(WIDTH, 2, SIZE), *plain])
    tables = [padded(cells, B, count) for cells, count in zip(labels(gold), (2, R, R), strict=True)]
    mask = real.long()

    def loss() -> Tensor:
        out = Stub(H)()
        values = [
            net.sparse_multilabel_categorical_crossentropy(y_true=y, y_pred=part(out, mask), mask_zero=True)
            for part, y in zip(parts, tables, strict=True)
        ]
        return torch.stack(values).sum() / 3

    return step(parts, H, loss)


def padded(cells: list[tuple[int, int, int, int]], B: int, count: int) -> Tensor:
    """The cells of each class side by side, (0, 0) where there are no more: (B, count, most, 2)."""
    lists: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for b, c, i, j in cells:
        lists.setdefault((b, c), []).append((i, j))
    y = torch.zeros(B, count, max(map(len, lists.values())), 2, dtype=torch.int64)
    for (b, c), own in lists.items():
        y[b, c, : len(own)] = torch.tensor(own)
    return y


def sparse_scores(B: int, N: int, R: int, spans: int = 6) -> GPLinkerScores:
    """What a trained model gives: a few spans of each role and a few links are high, all else lies far below 0."""
    torch.manual_seed(0)
    real = torch.ones(B, N, dtype=torch.bool)
    q, k = torch.randn(B, N, 2, SIZE) * 0.1, torch.randn(B, N, 2, SIZE) * 0.1
    q[..., -1], k[..., -1] = 3.5, -3.5  # every cell about -12
    first = torch.stack([torch.randperm(N - 8)[: 2 * spans].view(2, spans) for _ in range(B)])  # (B, 2, spans)
    last = first + torch.randint(0, 8, first.shape)
    for b in range(B):
        for role in (0, 1):
            at = torch.arange(spans)
            q[b, first[b, role], role, at], k[b, last[b, role], role, at] = 5.0, 5.0
    links = []
    relation = torch.randint(0, R, (B, spans))
    for token in (first, last):
        parts = [torch.randn(B, N, SIZE) * 0.1 for _ in range(2)]
        u, v = torch.randn(B, R, N) - 6, torch.randn(B, R, N) - 6
        for b in range(B):
            u[b, relation[b], token[b, 0]] = v[b, relation[b], token[b, 1]] = 5.0
        links.append(EfficientGlobalPointerScores(*parts, u, v, real))
    return GPLinkerScores(GlobalPointerScores(torch.stack((q, k), dim=3), real), *links)


def untrained_scores(B: int, N: int, R: int) -> GPLinkerScores:
    torch.manual_seed(0)
    real = torch.ones(B, N, dtype=torch.bool)
    q, k = torch.randn(B, N, 2, SIZE) / SIZE**0.5, torch.randn(B, N, 2, SIZE)
    links = [
        EfficientGlobalPointerScores(
            torch.randn(B, N, SIZE) / SIZE**0.5, torch.randn(B, N, SIZE), *torch.randn(2, B, R, N).unbind(), real
        )
        for _ in range(2)
    ]
    return GPLinkerScores(GlobalPointerScores(torch.stack((q, k), dim=3), real), *links)


def finding(
    B: int, N: int, R: int, scores_of: Callable[[int, int, int], GPLinkerScores], start: str
) -> Callable[[Peers], Sides]:
    """start: from the vectors q and k; from A, u, v and the scores of spans; or, for the loops, from all scores."""

    def make(_: Peers) -> Sides:
        scores, head = scores_of(B, N, R), build(R)
        spans = head.spans.dense(scores.spans)
        arrays, pairs = head.to_arrays(scores), [x.q @ x.k.mT for x in (scores.heads, scores.tails)]
        terms = [(A, x.u, x.v) for A, x in zip(pairs, (scores.heads, scores.tails), strict=True)]
        held = head.dense(scores) if start == "all scores" else None

        if start == "q, k":  # once, outside the clock: not the number alone is the same
            with torch.no_grad():
                found = find_triples(arrays, 0.0, max_spans=None, max_triples=None).rows()
                told = {(b, s[1], s[2], r, o[1], o[2]) for b, r, s, o in found}
                if told != {(b, *triple) for b, text in enumerate(scan(head.dense(scores))) for triple in text}:
                    raise SystemExit(f"({B}, {N}, {R}): the triples are not those of the scan.")

        def ours() -> float:
            if start == "q, k":
                return float(len(find_triples(head.to_arrays(scores), 0.0, max_spans=None, max_triples=None)))
            table = spans.numpy()
            batch, label, i, j = np.nonzero(table > 0)
            cells = SpanCells(batch, label, i, j, table[batch, label, i, j])
            candidates = SpanCandidates(cells, *(np.flatnonzero(label == role) for role in (0, 1)))
            return float(len(join(candidates, arrays.heads, arrays.tails, np.zeros(R, np.float32))[0]))

        def theirs() -> float:
            if start == "q, k":
                return size(scan(head.dense(scores)))
            dense = held or (spans, *(A[:, None] + v[:, :, None, :] + u[:, :, :, None] for A, u, v in terms))
            return size(scan(dense))

        return torch.no_grad()(theirs), torch.no_grad()(ours)

    return make


def scan(scores: tuple[Tensor, Tensor, Tensor]) -> list[set[tuple[int, int, int, int, int]]]:
    """Every pair of spans and both sets of relations, text by text."""
    found = []
    for spans, heads, tails in zip(*(s.numpy() for s in scores), strict=True):
        roles: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        for role, i, j in zip(*(spans > 0).nonzero(), strict=True):
            roles[role].append((i, j))
        triples = set()
        for i, j in roles[0]:
            for x, y in roles[1]:
                begin = (heads[:, i, x] > 0).nonzero()[0]
                end = (tails[:, j, y] > 0).nonzero()[0]
                triples |= {(i, j, r, x, y) for r in set(begin) & set(end)}
        found.append(triples)
    return found


def size(found: list[set[tuple[int, int, int, int, int]]]) -> float:
    return float(sum(map(len, found)))


def cases() -> list[Case]:
    found = []
    for (B, N, R), faster, smaller in (((8, 256, 50), 30, 10), ((4, 512, 200), 150, 40)):
        name = f"loss+grad ({B}, {N}, {R})"
        found.append(Case(f"{name} vs dense", training(B, N, R, "dense"), slow=True))
        peer = training(B, N, R, "loss")
        found.append(Case(f"{name} vs published loss", peer, faster=faster, smaller=smaller, slow=True, same=False))
        found.append(Case(f"{name} vs published heads", training(B, N, R, "public"), slow=True, same=False))
    found.append(Case("loss+grad (1, 1024, 1000)", training(1, 1024, 1000, "nothing"), within=200))
    sparse = (((8, 128, 50), 30), ((4, 256, 50), None), ((2, 512, 200), 300))
    untrained = (((1, 32, 50), 15), ((1, 48, 50), 15))
    for kind, scores_of, sizes in (("sparse", sparse_scores, sparse), ("untrained", untrained_scores, untrained)):
        for size, faster in sizes:
            for start, bar in (("A, u, v", faster), ("q, k", None), ("all scores", 1 if kind == "sparse" else None)):
                name = f"triples {kind} {size} from {start}"
                found.append(Case(name, finding(*size, scores_of, start), faster=bar, memory=False))
    return found


CASES = cases()


def peak(index: int, side: int, peers: Peers) -> float | None:
    """Growth of the peak (VmHWM) in MiB during the first call, in this process."""
    call = CASES[index].make(peers if side == 0 else Peers(None, None, None))[side]
    if call is None:
        return None
    before = peak_kib()
    call()
    return (peak_kib() - before) * 1024 / MiB


def peak_apart(index: int, side: int, gplinker: Path | None) -> float | None:
    command = [sys.executable, __file__, "--peak", f"{index}:{side}"]
    command += ["--gplinker", str(gplinker)] if gplinker else []
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def plot(target: Path) -> None:
    """Milliseconds of a training step at (4, 128, R), on two logarithmic axes."""
    try:
        import matplotlib
    except ImportError:
        raise click.UsageError("--plot needs matplotlib: pip install matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines: dict[str, list[tuple[int, float]]] = {"factpin": [], "dense": []}
    for R in RELATIONS:
        dense, ours = training(4, 128, R, "dense")(Peers(None, None, None))
        for name, call in (("factpin", ours), ("dense", dense)):
            if call is not None and (name == "factpin" or R <= DENSE_UP_TO):
                call()
                lines[name].append((R, min(clock(call)[0] for _ in range(3))))
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, points in lines.items():
        axes.loglog(*zip(*points, strict=True), marker="o", label=name)
    axes.set(xlabel="relations", ylabel="ms a training step, (4, 128, R), one thread")
    axes.legend()
    figure.savefig(target, bbox_inches="tight")
    click.echo(json.dumps(lines))


def values(root: Path) -> None:
    """One relation, 32 tokens, one gold link: its score grows, the other links stay at about -6."""
    sparse = module(root, "nets/gpNet.py").sparse_multilabel_categorical_crossentropy
    torch.manual_seed(0)
    N, i, j = 32, 5, 9
    real = torch.ones(1, N, dtype=torch.bool)
    real[:, 0] = False  # the published loss spends cell (0, 0)
    none = torch.zeros(1, N, 1)
    head = EfficientGlobalPointer(EfficientGlobalPointerConfig(("r",), rope=False), WIDTH)
    table = Table("score of the gold link", "definition, float64", "ours", "published", "published: gradient, others")
    for score in (-6.0, 0.0, 5.0, 10.0, 15.0, 20.0, 40.0, 1e3):
        s = (torch.randn(N, N) - 6.0).masked_fill(~torch.ones(N, N).triu().bool() | ~real.mT | ~real, -1e12)
        s[i, j] = score
        y = torch.zeros(N, N, dtype=torch.bool)
        y[i, j] = True
        truth = multilabel_loss(s.double().flatten(), y.flatten())
        factored = EfficientGlobalPointerScores(s[None].clamp_min(-1e4), torch.eye(N)[None], none.mT, none.mT, real)
        ours = head.loss(factored, Cells.of([(0, 0, i, j)]))
        leaf = s[None, None].clone().requires_grad_()
        theirs = sparse(y_true=torch.tensor([[[[i, j]]]]), y_pred=leaf, mask_zero=True)
        theirs.backward()
        others = float(leaf.grad[0, 0][~y].sum()) if leaf.grad is not None else 0.0
        table.add_row(
            f"{score:g}", f"{truth.item():.6f}", f"{ours.item():.6f}", f"{theirs.item():.6f}", f"{others:.4g}"
        )
    Console().print(table)


@click.command()
@click.option("--gplinker", type=click.Path(exists=True, path_type=Path), help="Checkout of xhw205/GPLinker_torch.")
@click.option("--quick", is_flag=True, help="3 rounds, and 1 where theirs needs seconds; otherwise 5.")
@click.option("--only", default="", help="Cases whose name contains this.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write the rows here as well.")
@click.option(
    "--plot", "picture", type=click.Path(path_type=Path), help="Draw the cost against relations, nothing else."
)
@click.option("--values", "by_value", is_flag=True, help="Show the values of the losses, nothing else.")
@click.option("--peak", "one", default="", hidden=True)
def main(
    gplinker: Path | None, quick: bool, only: str, target: Path | None, picture: Path | None, by_value: bool, one: str
) -> None:
    torch.set_num_threads(1)
    peers = Peers(None, None, gplinker and gplinker.resolve())
    if one:
        index, side = (int(part) for part in one.split(":"))
        click.echo(json.dumps(peak(index, side, peers)))
        return
    if by_value:
        if peers.gplinker is None:
            raise click.UsageError("--values needs --gplinker PATH.")
        values(peers.gplinker)
        return
    if picture:
        plot(picture)
        return
    chosen = [(index, case) for index, case in enumerate(CASES) if only in case.name]
    # a process starts with the peak of the one that started it, so memory comes first, while this one is small
    memory = {
        index: (peak_apart(index, 0, peers.gplinker), peak_apart(index, 1, peers.gplinker))
        for index, case in chosen
        if case.memory
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

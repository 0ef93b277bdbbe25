"""CogQA: the network over the graph is its equations, the loop ends, and the graph shows what a passage alone does not.

graph   two answers are reached by two branches, and what tells them apart is said only in the passage before: the whole
        loop with the graph network, without its edges, and without hops
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from factpin.answers.cogqa import Findings, FoundSpan, GraphNode, ReadNodes, grow
from factpin.answers.cogqa_systems import System2, adjacency
from factpin.documents import Passage, Span
from factpin.documents.keys import passage_key
from proofs import school
from proofs.compare import Compared, Proof
from proofs.experiment import Bar, Experiment, Figures

SYSTEM = "cogqa"
WIDTH, MARKS = 16, 4  # of meanings; different marks that a question may ask for


def equations() -> Iterator[Compared]:
    """The scores of random graphs, by loops over nodes and edges."""
    for seed in range(5):
        torch.manual_seed(seed)
        chance = np.random.default_rng(seed)
        n, system = int(chance.integers(2, 8)), System2(6).double().eval()
        edges = [(i, j) for i in range(n) for j in range(n) if i != j and chance.random() < 0.4]
        x = torch.randn(n, 6, dtype=torch.float64)
        slow = x
        for _ in range(2):
            rows = []
            for j in range(n):
                weights = [2.0 * (i == j) + ((i, j) in edges) for i in range(n)]
                mixed = torch.stack([w * _bend(slow[i] @ system.others) for i, w in enumerate(weights)]).sum(0) / sum(
                    weights
                )
                rows.append(_bend(slow[j] @ system.own + mixed))
            slow = torch.stack(rows)
        gap = (system(x, edges) - system.score(slow).squeeze(-1)).abs().max()
        yield Compared(f"scores of graph {seed}", float(gap.detach()), 0.0, 1e-9)
        yield Compared("columns", float((adjacency(n, edges).sum(0) - 1).abs().max()), 0.0, 1e-6)


def _bend(x: Tensor) -> Tensor:
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def loop() -> Iterator[Compared]:
    """Random worlds: every visit but the first has a new clue, and no pair of nodes is connected twice."""
    visits, twice, silent = 0, 0, 0
    for seed in range(200):
        chance = np.random.default_rng(seed)
        names = [f"N{i}x" for i in range(10)]
        pages = {name: page(name, " ".join(names)) for name in names}
        hops = {name: chance.choice(names, 3, replace=False).tolist() for name in names}
        answers = {name: [names[int(chance.integers(10))]] for name in names if chance.random() < 0.3}
        graph = grow([pages[n] for n in names[:2]], table_reader(hops, answers), partial(_at, pages), 4)
        visits += sum(n.visits > 1 + len(n.clues) + graph.forced for n in graph.nodes)
        twice += len(graph.edges) - len({(e.source, e.target) for e in graph.edges})
        silent += not any(node.answers for node in graph.nodes)
    yield Compared("visits without a new clue", visits, 0)
    yield Compared("edges twice", twice, 0)
    yield Compared("graphs without an answer", silent, 0)


def _at(pages: dict[str, Passage], name: str) -> list[Passage]:
    return [pages[name]] if name in pages else []


def page(title: str, text: str) -> Passage:
    """A passage that is its own document."""
    return Passage(passage_key(title, 0, len(text)), title, 0, len(text), text, title)


def table_reader(hops: dict[str, list[str]], answers: dict[str, list[str]]) -> ReadNodes:
    """A System 1 by tables: what each passage names."""

    def read(nodes: Sequence[GraphNode], forced: bool) -> list[Findings]:
        found = []
        for node in nodes:
            text = node.passage.text if node.passage else ""
            said = answers.get(node.name, [])
            if forced and not said:
                said = [text.split()[0]]
            spans = [tuple(_named(text, name) for name in some) for some in (hops.get(node.name, []), said)]
            found.append(Findings(spans[0], spans[1], 0.0 if said else 1.0))
        return found

    return read


def _named(text: str, name: str) -> FoundSpan:
    at = text.index(name)
    return FoundSpan(Span(at, at + len(name)), Span(0, len(text)), name, 1.0)


PROOFS = (
    Proof(SYSTEM, "graph network", "loops over nodes and edges", equations),
    Proof(SYSTEM, "frontier loop", "200 random worlds", loop),
)


def draw(chance: np.random.Generator) -> tuple[int, list[int], int]:
    """The mark that is asked for, the marks of both branches, and the branch that has it."""
    marks = chance.choice(MARKS, size=2, replace=False).tolist()
    right = int(chance.integers(2))
    return marks[right], marks, right


def world(asked: int, marks: list[int], *, hops: bool) -> tuple[Tensor, list[tuple[int, int]], list[int]]:
    """The graph that grows from a root with two branches: meanings (N, D), edges, and the nodes that answer."""
    pages = {"Root": page("Root", "Root names Left0x and Right0x.")}
    for side, mark in zip(("Left", "Right"), marks, strict=True):
        pages[f"{side}0x"] = page(f"{side}0x", f"{side}0x has the mark {mark} and names {side}1x.")
        pages[f"{side}1x"] = page(f"{side}1x", f"{side}1x answers {side}2x.")
    named = {"Root": ["Left0x", "Right0x"], "Left0x": ["Left1x"], "Right0x": ["Right1x"]} if hops else {}
    answers = {f"{side}1x": [f"{side}2x"] for side in ("Left", "Right")}
    graph = grow([pages["Root"]], table_reader(named, answers), partial(_at, pages))
    rows = torch.zeros(len(graph.nodes), WIDTH)
    for node in graph.nodes:
        rows[node.number, 0] = 1.0
        for side, mark in zip(("Left", "Right"), marks, strict=True):
            if node.name == f"{side}0x":  # what is asked for is next to the mark only in this passage
                rows[node.number, 1 + mark], rows[node.number, 1 + MARKS + asked] = 1.0, 1.0
                rows[node.number, 1 + 2 * MARKS] = float(mark == asked)
    targets = [n.number for side in ("Left", "Right") for n in graph.nodes if n.name == f"{side}2x" and n.answers]
    return rows, [(edge.source, edge.target) for edge in graph.edges], targets


def run(seed: int, *, edges: bool, hops: bool = True) -> float:
    """The share of held-out questions that are answered rightly."""
    torch.manual_seed(seed)
    model, steps = System2(WIDTH, dropout=0.0), max(1, int(150 * school.SHARE))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(steps if hops else 0):
        loss = torch.zeros(())
        for j in range(8):
            asked, marks, right = draw(np.random.default_rng([seed, step, j]))
            rows, links, targets = world(asked, marks, hops=hops)
            scores = model(rows, links if edges else [])[targets]
            loss = loss + cross_entropy(scores[None], torch.tensor([right]))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    found, many = 0.0, 200
    for j in range(many):
        asked, marks, right = draw(np.random.default_rng([seed, 1 << 20, j]))
        rows, links, targets = world(asked, marks, hops=hops)
        if len(targets) == 2:
            with torch.no_grad():
                scores = model(rows, links if edges else [])[targets]
            found += 0.5 if bool(scores[0] == scores[1]) else float(int(scores.argmax()) == right)
    return found / many


def graph(seed: int) -> Figures:
    """With the graph, without its edges, and with the first node alone."""
    return {"graph": run(seed, edges=True), "no edges": run(seed, edges=False),
            "first node alone": run(seed, edges=True, hops=False)}  # fmt: skip


EXPERIMENTS = {
    "cogqa_graph": Experiment(
        SYSTEM,
        "the graph carries what was said before",
        "Two branches of two hops each; only the first passage of a branch says whether it is the one that is asked "
        "for, and the answers at the ends look the same.",
        "share of right answers",
        graph,
        (
            Bar("graph", least=0.9),
            Bar("no edges", most=0.65),
            Bar("first node alone", most=0.05),
        ),
        "System 1 reads by tables here: this proves the loop and the diffusion, not that an encoder learns to hop.",
    ),
}


def drawn_graph() -> tuple[list[tuple[str, int, int]], list[tuple[int, int]], set[int]]:
    """What the card shows: nodes (name, depth, line), edges, and the nodes that answer."""
    pages = {"film": page("film", "film names star and set."), "star": page("star", "star was born in city."),
             "set": page("set", "set is near city.")}  # fmt: skip
    named, answers = {"film": ["star", "set"]}, {"star": ["city"], "set": ["city"]}
    grown = grow([pages["film"]], table_reader(named, answers), partial(_at, pages))
    depths = {node.number: len(grown.path(node.number)) for node in grown.nodes}
    rows = [
        (n.name, depths[n.number], sum(depths[m.number] == depths[n.number] for m in grown.nodes[: n.number]))
        for n in grown.nodes
    ]
    return rows, [(e.source, e.target) for e in grown.edges], {n.number for n in grown.nodes if n.answers}

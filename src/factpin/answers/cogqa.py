"""CogQA: a question that needs several documents grows a graph of what is named on the way (the cognitive graph).

    node   a passage, or an answer that has none
    edge   x -> y: y is named in a sentence of x, which becomes a clue of y
    loop   the frontier is read, all nodes at once; what they name is linked to passages, which are added and read too.
           A node is read again whenever it gets a new clue; a pair of nodes gives one clue, so the loop ends

If nothing was found that answers, the node that came nearest is read once more and has to answer.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from factpin.documents import Passage, Span
from factpin.documents.keys import fold
from factpin.memory.names import title_key

NEW_NODES = 5  # passages that are added to those that were retrieved
SHOWN = 30  # characters of a passage without a title, in place of its title
MUCH = 0.7  # of a longer name that a shorter one inside it has to be
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """Characters of a document that a passage names as the next hop or as an answer, and the sentence around them."""

    span: Span
    sentence: Span
    text: str
    score: float  # above that of finding nothing


@dataclass(frozen=True, eq=False, slots=True)
class Findings:
    """What was read in a node. gap: how far the best answer is from being found; 0 or less if there is one."""

    hops: tuple[FoundSpan, ...]
    answers: tuple[FoundSpan, ...]
    gap: float
    meaning: Any = None  # of the node, a tensor (D,); this module knows no torch


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A node that names another one."""

    source: int
    target: int
    found: FoundSpan
    clue: str  # the sentence


@dataclass(eq=False)
class GraphNode:
    """A passage or an answer, and the clues that led to it."""

    number: int
    name: str
    passage: Passage | None
    clues: list[str] = field(default_factory=list)
    named: dict[int, FoundSpan] = field(default_factory=dict)  # by the number of the node that names it as the answer
    visits: int = 0
    findings: Findings | None = None

    @property
    def answers(self) -> bool:
        """Whether it may be the answer."""
        return bool(self.named)


@dataclass(eq=False)
class CognitiveGraph:
    """What was read for a question, in the order in which it was found."""

    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[GraphEdge] = field(default_factory=list)
    forced: bool = False  # no node answered by itself
    left_out: set[str] = field(default_factory=set)  # keys of passages that were named when there was no more room

    @property
    def visits(self) -> int:
        """How often a passage was read."""
        return sum(node.visits for node in self.nodes)

    def into(self, number: int) -> list[GraphEdge]:
        """The edges that lead to a node."""
        return [edge for edge in self.edges if edge.target == number]

    def path(self, number: int) -> list[GraphEdge]:
        """The first chain of edges by which a node was reached."""
        found: list[GraphEdge] = []
        seen = {number}
        while edges := [edge for edge in self.into(number) if edge.source not in seen]:
            found.append(edges[0])
            number = edges[0].source
            seen.add(number)
        return found[::-1]


ReadNodes = Callable[[Sequence[GraphNode], bool], Sequence[Findings]]  # (nodes, have they to answer) -> findings
Link = Callable[[str], Sequence[Passage]]  # the passages that a name is the title of


def grow(seeds: Sequence[Passage], read: ReadNodes, link: Link, new: int = NEW_NODES) -> CognitiveGraph:
    """The cognitive graph that grows from retrieved passages."""
    graph = CognitiveGraph()
    for passage in seeds:
        _node(graph, passage.title or _beginning(passage.text), passage)
    frontier = list(graph.nodes)
    while frontier:
        waiting: dict[int, GraphNode] = {}
        for node, findings in zip(frontier, _visit(frontier, read, False), strict=True):
            for named in (*_hops(graph, node, findings, link, len(seeds) + new), *_answers(graph, node, findings)):
                if named.passage is not None:
                    waiting[named.number] = named
        frontier = list(waiting.values())
    readable = [node for node in graph.nodes if node.findings is not None]
    if readable and not any(node.answers for node in graph.nodes):
        nearest = min(readable, key=lambda node: (node.findings.gap if node.findings else 0.0, node.number))
        graph.forced = True
        (findings,) = _visit([nearest], read, True)
        list(_answers(graph, nearest, findings))
    return graph


def _visit(nodes: Sequence[GraphNode], read: ReadNodes, forced: bool) -> Sequence[Findings]:
    found = read(nodes, forced)
    for node, findings in zip(nodes, found, strict=True):
        node.visits += 1
        node.findings = findings
    return found


def _beginning(text: str) -> str:
    """What a passage without a title is called."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN].rstrip()}…"


def _node(graph: CognitiveGraph, name: str, passage: Passage | None) -> GraphNode:
    node = GraphNode(len(graph.nodes), name, passage)
    graph.nodes.append(node)
    return node


def _connect(graph: CognitiveGraph, source: GraphNode, target: GraphNode, found: FoundSpan) -> bool:
    """Whether it is a new edge, which brings a new clue."""
    if source is target or any((e.source, e.target) == (source.number, target.number) for e in graph.edges):
        return False
    clue = found.text
    if source.passage is not None:
        start = source.passage.start
        clue = source.passage.text[found.sentence.start - start : found.sentence.end - start]
    graph.edges.append(GraphEdge(source.number, target.number, found, clue))
    target.clues.append(clue)
    return True


def _hops(graph: CognitiveGraph, node: GraphNode, findings: Findings, link: Link, room: int) -> list[GraphNode]:
    """The nodes that got a new clue from what a node names."""
    named = []
    for hop in findings.hops:
        target = next((other for other in graph.nodes if other.passage and _same(hop.text, other)), None)
        for passage in () if target is not None else link(hop.text)[:1]:
            target = next((o for o in graph.nodes if o.passage and o.passage.id == passage.id), None)
            if target is None and sum(o.passage is not None for o in graph.nodes) < room:
                target = _node(graph, passage.title or hop.text, passage)
            elif target is None:
                graph.left_out.add(passage.id)
        if target is not None and _connect(graph, node, target, hop):
            named.append(target)
    return named


def _answers(graph: CognitiveGraph, node: GraphNode, findings: Findings) -> list[GraphNode]:
    """The nodes that got a new clue since a node names them as answers."""
    named = []
    for answer in findings.answers:
        target = next((other for other in graph.nodes if _same(answer.text, other)), None)
        target = target or _node(graph, answer.text, None)
        target.named.setdefault(node.number, answer)
        if _connect(graph, node, target, answer):
            named.append(target)
    return named


def _same(text: str, node: GraphNode) -> bool:
    """Whether a text is the name of a node, or most of it."""
    one, other = fold(text), title_key(node.name) if node.passage else fold(node.name)
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return bool(short) and f" {short} " in f" {long} " and len(short) >= MUCH * len(long)


def graph_to_json(graph: CognitiveGraph) -> dict[str, Any]:
    """A graph as JSON: nodes with what was read, edges with the sentence that names the target."""
    nodes = [
        {"name": node.name, "document": node.passage.document if node.passage else "", "answers": node.answers,
         "visits": node.visits, "start": node.passage.start if node.passage else None,
         "end": node.passage.end if node.passage else None}
        for node in graph.nodes
    ]  # fmt: skip
    edges = [
        {"source": edge.source, "target": edge.target, "text": edge.found.text, "start": edge.found.span.start,
         "end": edge.found.span.end, "clue": edge.clue}
        for edge in graph.edges
    ]  # fmt: skip
    return {"nodes": nodes, "edges": edges, "forced": graph.forced, "left_out": len(graph.left_out)}


def graph_to_graphml(graph: CognitiveGraph) -> str:
    """A graph as GraphML."""
    keys = (("name", "node"), ("answers", "node"), ("visits", "node"), ("clue", "edge"), ("text", "edge"))
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [f'<key id="{key}" for="{of}" attr.name="{key}" attr.type="string"/>' for key, of in keys]
    lines.append('<graph edgedefault="directed">')
    for node in graph.nodes:
        values = {"name": node.name, "answers": str(node.answers).lower(), "visits": str(node.visits)}
        lines.append(f'<node id="n{node.number}">{_data(values)}</node>')
    for edge in graph.edges:
        ends = f"source={quoteattr(f'n{edge.source}')} target={quoteattr(f'n{edge.target}')}"
        lines.append(f"<edge {ends}>{_data({'clue': edge.clue, 'text': edge.found.text})}</edge>")
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def _data(values: dict[str, str]) -> str:
    clean = {key: escape(_NOT_XML.sub("", value)) for key, value in values.items()}
    return "".join(f'<data key="{key}">{value}</data>' for key, value in clean.items())

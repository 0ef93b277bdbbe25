"""An answer for the terminal: the text with its citations, and a tree of what was looked at and why."""

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from factpin.answers.ask import Trace
from factpin.answers.cogqa import CognitiveGraph
from factpin.documents import Answer, Citation
from factpin.documents.mentions import show_score
from factpin.words import count, share

MOST_CITED = 5
MOST_FACTS = 30


def answer_text(answer: Answer) -> RenderableType:
    """The answer, what proves it, and the notes."""
    lines = []
    if answer.abstained:
        lines.append(Text("no answer", style="yellow"))
    else:
        head = Text(answer.text, style="bold green")
        lines.append(
            head.append(f"  {show_score(answer.score)}, {answer.mode}{', conflict' if answer.conflict else ''}", "dim")
        )
    lines += [_cited(c) for c in answer.citations[:MOST_CITED]]
    if len(answer.path) > 1:
        lines += [Text(f"  {hop.source} – {hop.relation} → {hop.target}", style="dim") for hop in answer.path]
    for other in answer.alternatives:
        lines.append(Text(f"  or: {other.text}" if other.score else "  see:", style="yellow"))
        if other.score:
            lines[-1].append(f"  {show_score(other.score)}", "dim")
        lines += [_cited(c, "    ") for c in other.citations[:1]]
    lines += [Text(f"  {note}", style="dim") for note in answer.notes]
    return Group(*lines)


def _cited(citation: Citation, indent: str = "  ") -> Text:
    text = Text(f"{indent}{citation.uri}:{citation.start}-{citation.end} ", style="cyan")
    return text.append(f"“{citation.quote}”", style="default")


def explanation(searched: Trace) -> Tree:
    """What was searched: names, facts, then passages, each with what was found."""
    answer = searched.answer
    tree = Tree(Text(answer.question, style="bold"))
    if searched.lookup is not None:
        asked = searched.lookup.question
        tree.add(Text(f"asks for: {asked.kind or 'yes or no'} ({asked.language})"))
        names = tree.add(Text(f"names of the store in it: {len(searched.lookup.names)}"))
        for surface, candidates in searched.lookup.names:
            branch = names.add(Text(surface))
            for candidate in candidates:
                entity = candidate.entity
                branch.add(
                    Text(f"{entity.name} ({entity.type or 'no type'}), {share(candidate.prior)} of its mentions")
                )
        facts = tree.add(Text(f"facts looked at: {len(searched.lookup.inspections)}"))
        for look in searched.lookup.inspections[:MOST_FACTS]:
            said = f"{look.head} – {look.relation} → {look.tail} ({look.status}, {look.confidence:.2f})"
            facts.add(Text(said).append(f": {look.why}", style="dim"))
    if searched.retrieval is not None:
        passages = tree.add(Text(f"passages found: {len(searched.retrieval.passages)}, read: {searched.read}"))
        for passage in searched.retrieval.passages:
            passages.add(
                Text(f"{searched.retrieval.uris[passage.document]}:{passage.start}-{passage.end}", style="cyan")
            )
    if searched.graph is not None:
        _add_graph(tree, searched.graph)
    tree.add(Text(f"answer: {answer.text} ({show_score(answer.score)})" if not answer.abstained else "abstains"))
    return tree


def _add_graph(tree: Tree, graph: CognitiveGraph) -> None:
    """What was read, and below each node what it names."""
    said = f"cognitive graph: {count(len(graph.nodes), 'node')}, read {count(graph.visits, 'time')}"
    branch = tree.add(Text(said + (", answer forced" if graph.forced else "")))
    targets = {edge.target for edge in graph.edges}
    shown: set[int] = set()

    def add(below: Tree, number: int, clue: str = "") -> None:
        node = graph.nodes[number]
        again = number in shown
        shown.add(number)
        text = Text(node.name, style="green" if node.answers else "cyan" if node.passage else "default")
        text.append(f"  “{clue.strip()}”" if clue else "", style="dim")
        here = below.add(text.append("  (see above)", style="dim") if again else text)
        for edge in graph.edges if not again else ():
            if edge.source == number:
                add(here, edge.target, edge.clue)

    for node in graph.nodes:
        if node.number not in targets:
            add(branch, node.number)
    for node in graph.nodes:
        if node.number not in shown:
            add(branch, node.number)

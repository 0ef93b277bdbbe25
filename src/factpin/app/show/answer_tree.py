"""An answer for the terminal: the text with its citations, and a tree of what was looked at and why."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from factpin.answers.ask import Trace
from factpin.answers.cogqa import CognitiveGraph
from factpin.answers.parse import parse_question
from factpin.answers.say import say
from factpin.documents import Answer, Citation
from factpin.documents.mentions import show_score
from factpin.words import count, share

MOST_CITED = 5
MOST_FACTS = 30
# answers are in the language of the question, as their notes are
EN = {"none": "no answer", "or": "or: ", "see": "see:", "comma": ", ", "conflict": ", conflict"}
EN |= {"facts": "facts", "extract": "read in a passage", "hops": "over several passages"}
EN |= {"generate": "written by a model", "memory": "facts found by a model"}
ZH = {"none": "没有答案", "or": "或：", "see": "可参看：", "comma": "，", "conflict": "，有矛盾"}
ZH |= {"facts": "来自库中的事实", "extract": "读自原文段落", "hops": "串联多个段落得出"}
ZH |= {"generate": "由模型生成", "memory": "由模型查找事实得出"}


def answer_text(answer: Answer) -> RenderableType:
    """The answer, what proves it, and the notes; for an abstention, first the notes, then what may help."""
    zh = parse_question(answer.question).language == "zh"
    words = ZH if zh else EN
    lines = []
    if answer.abstained:
        lines.append(Text(words["none"], style="yellow"))
    else:
        head = Text(answer.text, style="bold green")
        from_where = words[answer.mode] + (words["conflict"] if answer.conflict else "")
        lines.append(head.append(f"  {show_score(answer.score)}{words['comma']}{from_where}", "dim"))
    lines += [_cited(c) for c in answer.citations[:MOST_CITED]]
    if len(answer.path) > 1:
        lines += [Text(f"  {hop.source} – {hop.relation} → {hop.target}", style="dim") for hop in answer.path]
    passages = [c for other in answer.alternatives if not other.score for c in other.citations[:1]]
    helpful = [c for c in passages if c.quote.strip() not in answer.question]  # a title alone says nothing
    said = answer.notes if helpful or not passages else _nothing_found(answer.notes, "zh" if zh else "en")
    notes = [Text(f"  {note}", style="dim") for note in said]
    others = [*_candidates(answer, words), *_passages(helpful, words)]
    return Group(*lines, *notes, *others) if answer.abstained else Group(*lines, *others, *notes)


def _candidates(answer: Answer, words: Mapping[str, str]) -> Iterator[Text]:
    for other in answer.alternatives:
        if other.score:
            yield Text(f"  {words['or']}{other.text}", style="yellow").append(f"  {show_score(other.score)}", "dim")
            yield from (_cited(c, "    ") for c in other.citations[:1])


def _passages(citations: Sequence[Citation], words: Mapping[str, str]) -> Iterator[Text]:
    if citations:
        yield Text(f"  {words['see']}", style="yellow")
        yield from (_cited(c, "    ") for c in citations)


def _nothing_found(notes: Sequence[str], language: str) -> list[str]:
    """The notes of an answer without passages worth showing."""
    offers = [say(what, language) for what in ("read", "unread")]
    return [say("none", language) if note in offers else note for note in notes]


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

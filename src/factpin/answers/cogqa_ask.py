"""CogQA as a way to answer from a store: passages are retrieved, the graph grows along titles, answers are cited."""

from collections.abc import Sequence
from dataclasses import dataclass

from factpin.answers.cite import shared
from factpin.answers.cogqa import CognitiveGraph, GraphEdge
from factpin.answers.cogqa_hops import FoundAnswer, HopReader
from factpin.answers.passages import Retrieval, retrieve
from factpin.answers.reasoners import ReasonedAnswers
from factpin.documents import Answer, Citation, Hop, Passage, Span
from factpin.documents.answer import cite
from factpin.language.sentences import split_sentences
from factpin.memory import Filter
from factpin.memory.names import title_key
from factpin.memory.search import Search

MOST_SHOWN = 4  # answers that are kept


@dataclass
class HopReasoner:
    """Answers by hops: the mode `hops` of `ask` where there is a model for it."""

    reader: HopReader

    def __call__(self, question: str, search: Search, k: int, filter: Filter) -> ReasonedAnswers:
        """Retrieve, grow, choose and cite."""
        store = search.store
        with store.tables.reading():  # another process may write meanwhile
            seeds = retrieve(question, search, k, filter)
        uris = dict(seeds.uris)

        def link(name: str) -> list[Passage]:
            if not (key := title_key(name)):
                return []
            with store.tables.reading():
                linked = store.passages(store.titled([key], filter).get(key, [])[:1])
                uris.update(store.uris([passage.document for passage in linked]))
            return linked

        graph, found = self.reader.answer(question, seeds.passages, link)
        passages = tuple(node.passage for node in graph.nodes if node.passage is not None)
        answers = [answer for one in found[:MOST_SHOWN] if (answer := self._answer(question, graph, one, uris))]
        retrieval = Retrieval(passages, uris, _hops(graph, uris))
        return ReasonedAnswers(answers, self.reader.settings.min_score, retrieval, graph.visits, graph)

    def _answer(self, question: str, graph: CognitiveGraph, found: FoundAnswer, uris: dict[str, str]) -> Answer | None:
        citations = citations_of(graph, found, uris)
        if not citations:
            return None
        path = tuple(_hop(graph, edge, uris) for edge in graph.path(found.node))
        return Answer(question, found.text, self.reader.settings.scale.probability(found.score), "hops",
                      citations=shared(citations), path=path)  # fmt: skip


def citations_of(graph: CognitiveGraph, found: FoundAnswer, uris: dict[str, str]) -> list[Citation]:
    """Where an answer is named as such; of two nodes that were compared, the first sentence of each."""
    if found.compared is not None:
        nodes = [graph.nodes[number] for number in found.compared]
        return [cite(n.passage, uris[n.passage.document], *_first_sentence(n.passage)) for n in nodes if n.passage]
    cited = []
    for source, span in graph.nodes[found.node].named.items():
        if (passage := graph.nodes[source].passage) is not None:
            cited.append(cite(passage, uris[passage.document], *span.span, sentence=span.sentence))
    return cited


def _first_sentence(passage: Passage) -> Span:
    start, end = next(iter(split_sentences(passage.text)), (0, len(passage.text)))
    return Span(passage.start + start, passage.start + end)


def _hop(graph: CognitiveGraph, edge: GraphEdge, uris: dict[str, str]) -> Hop:
    source = graph.nodes[edge.source]
    passage = source.passage
    if passage is None:
        raise AssertionError("only passages name other nodes")
    uri = uris[passage.document]
    return Hop(source.name, graph.nodes[edge.target].name, cite(passage, uri, *edge.found.span,
                                                                sentence=edge.found.sentence))  # fmt: skip


def _hops(graph: CognitiveGraph, uris: dict[str, str]) -> dict[str, Hop]:
    """The first hop that led to each passage."""
    found: dict[str, Hop] = {}
    for edge in graph.edges:
        target = graph.nodes[edge.target].passage
        if target is not None:
            found.setdefault(target.id, _hop(graph, edge, uris))
    return found


def titles_of(passages: Sequence[Passage]) -> dict[str, list[Passage]]:
    """Passages by the key of their title: a link where there is no store."""
    found: dict[str, list[Passage]] = {}
    for passage in passages:
        if key := title_key(passage.title):
            found.setdefault(key, []).append(passage)
    return found

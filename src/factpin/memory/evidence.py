"""Find the evidence of facts in a document: the spans that support each fact, and the mentions in them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from factpin.documents import Document, Fact, Span

MOST_MENTIONS = 50  # mentions of an entity to consider for the nearest pair


class EvidenceFinder:
    """Finds the evidence of the facts of one document."""

    def __init__(self, doc: Document, sentences: tuple[Span, ...]) -> None:
        self.doc = doc
        self.sentences = sentences
        self.starts = [s.start for s in sentences]
        self.mentions = {m.id: Span(m.start, m.end) for m in doc.mentions}
        self.entities = {e.id: [self.mentions[id] for id in e.mentions] for e in doc.entities}

    def find(self, fact: Fact) -> Iterator[tuple[int, int, Span, Span]]:
        """(start, end, head, tail) of every span that supports a fact: its evidence, or its mentions' sentences."""
        head, tail = self._pair(fact)
        if not fact.evidence:
            for sentence in sorted({self._around(head), self._around(tail)}):
                yield *sentence, head, tail
        for evidence in fact.evidence:
            sentence = self.doc.sentences[evidence.sentence]
            span = sentence
            if evidence.start is not None and evidence.end is not None:
                exact = Span(evidence.start, evidence.end)
                span = exact if sentence.start <= exact.start < exact.end <= sentence.end else sentence
            yield *span, self._inside(fact.head, head, sentence), self._inside(fact.tail, tail, sentence)

    def _pair(self, fact: Fact) -> tuple[Span, Span]:
        """The mentions that a fact refers to, or the nearest pair of mentions of its entities."""
        heads = [self.mentions[fact.head_mention]] if fact.head_mention else self.entities[fact.head][:MOST_MENTIONS]
        tails = [self.mentions[fact.tail_mention]] if fact.tail_mention else self.entities[fact.tail][:MOST_MENTIONS]
        return min(((h, t) for h in heads for t in tails), key=lambda pair: (abs(pair[0][0] - pair[1][0]), pair))

    def _inside(self, entity: str, usual: Span, sentence: Span) -> Span:
        """A mention of the entity inside the sentence, or its usual one."""
        for span in (usual, *self.entities[entity]):
            if sentence.start <= span.start and span.end <= sentence.end:
                return span
        return usual

    def _around(self, span: Span) -> Span:
        """From the start of the sentence in which a mention begins to the end of the one in which it ends."""
        first = bisect_right(self.starts, span.start) - 1
        last = bisect_left(self.starts, span.end) - 1
        start = self.sentences[first].start if first >= 0 and self.sentences[first].end > span.start else span.start
        end = self.sentences[last].end if last >= 0 else span.end
        return Span(start, max(end, span.end))

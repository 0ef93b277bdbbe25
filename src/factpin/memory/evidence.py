"""Where a document says its facts: the stretches of its text that prove each of them, and the mentions inside."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from factpin.documents import Document, Fact, Span

MOST_MENTIONS = 50  # of an entity that are looked at for the nearest pair


class Places:
    """Where a document says its facts."""

    def __init__(self, doc: Document, sentences: tuple[Span, ...]) -> None:
        self.doc = doc
        self.sentences = sentences
        self.starts = [s.start for s in sentences]
        self.mentions = {m.id: Span(m.start, m.end) for m in doc.mentions}
        self.entities = {e.id: [self.mentions[id] for id in e.mentions] for e in doc.entities}

    def of(self, fact: Fact) -> Iterator[tuple[int, int, Span, Span]]:
        """(start, end, head, tail) of every stretch that proves a fact: the sentences it names, or those of its
        mentions."""
        head, tail = self._pair(fact)
        if not fact.evidence:
            for sentence in sorted({self._around(head), self._around(tail)}):
                yield *sentence, head, tail
        for evidence in fact.evidence:
            sentence = self.doc.sentences[evidence.sentence]
            span = sentence
            if evidence.start is not None and evidence.end is not None:
                told = Span(evidence.start, evidence.end)
                span = told if sentence.start <= told.start < told.end <= sentence.end else sentence
            yield *span, self._inside(fact.head, head, sentence), self._inside(fact.tail, tail, sentence)

    def _pair(self, fact: Fact) -> tuple[Span, Span]:
        """The mentions that a fact names, or those of its entities that are nearest to each other."""
        heads = [self.mentions[fact.head_mention]] if fact.head_mention else self.entities[fact.head][:MOST_MENTIONS]
        tails = [self.mentions[fact.tail_mention]] if fact.tail_mention else self.entities[fact.tail][:MOST_MENTIONS]
        return min(((h, t) for h in heads for t in tails), key=lambda pair: (abs(pair[0][0] - pair[1][0]), pair))

    def _inside(self, entity: str, usual: Span, sentence: Span) -> Span:
        """The mention of an entity inside a sentence, or its usual one."""
        for span in (usual, *self.entities[entity]):
            if sentence.start <= span.start and span.end <= sentence.end:
                return span
        return usual

    def _around(self, span: Span) -> Span:
        """From the sentence in which a mention begins to the one in which it ends."""
        first = bisect_right(self.starts, span.start) - 1
        last = bisect_left(self.starts, span.end) - 1
        start = self.sentences[first].start if first >= 0 and self.sentences[first].end > span.start else span.start
        end = self.sentences[last].end if last >= 0 else span.end
        return Span(start, max(end, span.end))

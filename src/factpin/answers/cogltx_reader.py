"""Read whole documents where only passages of them were found: MemRecall keeps the blocks that matter.

Passages of one document are replaced by an excerpt of that document, which the reader reads at once. What it finds are
spans of the document, inside the blocks that were kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from factpin.answers.cogltx_excerpt import Excerpt
from factpin.answers.cogltx_judge import Judge
from factpin.answers.passages import AnswerSpan, PassageReader
from factpin.documents import Passage, Span
from factpin.documents.keys import passage_key


@dataclass
class LongReader:
    """A reader of passages that reads documents longer than a passage by what a judge keeps of them."""

    reader: PassageReader
    judge: Judge
    text_of: Callable[[str], str]  # the text of a document, by its key

    def reads(self, question: str) -> bool:
        """Whether the reader knows the language of a question."""
        return self.reader.reads(question)

    def min_score(self, question: str) -> float:
        """That of the reader."""
        return self.reader.min_score(question)

    def read(self, question: str, passages: Sequence[Passage]) -> list[AnswerSpan]:
        """The answers in the documents of these passages."""
        whole: list[Passage] = []
        found: list[AnswerSpan] = []
        by_document: dict[str, list[Passage]] = {}
        for passage in passages:
            by_document.setdefault(passage.document, []).append(passage)
        for document, mine in by_document.items():
            text = self.text_of(document)
            if all(not text[: p.start].strip() and not text[p.end :].strip() for p in mine):
                whole += mine  # the passage is all there is
            else:
                found += self._recalled(question, document, text, mine[0].title)
        return [*found, *(self.reader.read(question, whole) if whole else ())]

    def _recalled(self, question: str, document: str, text: str, title: str) -> list[AnswerSpan]:
        """The answers in what is kept of a document, each in the part that it is in."""
        kept = self.judge.recall(question, [text]).excerpt
        size = len(kept.text)
        shown = Passage(passage_key(document, 0, size), document, 0, size, kept.text, title)
        found = []
        for reading in self.reader.read(question, [shown]):
            place = _first_part(kept) if reading.choice else kept.locate(*reading.span)
            if place is not None:  # it does not run from one part into another
                part = _part_of(kept, place[1])
                passage = Passage(passage_key(document, *part), document, *part, text[part.start : part.end], title)
                found.append(AnswerSpan(passage, place[1], reading.score, reading.choice))
        return found


def _first_part(kept: Excerpt) -> tuple[int, Span]:
    return kept.parts[0].document, kept.parts[0].span


def _part_of(kept: Excerpt, span: Span) -> Span:
    return next(p.span for p in kept.parts if p.span.start <= span.start and span.end <= p.span.end)

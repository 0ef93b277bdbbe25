"""Read whole documents where only passages of them were found: MemRecall keeps the blocks that matter.

Passages of one document are replaced by an excerpt of that document, which the reader reads at once. What it finds are
spans of the document, inside the blocks that were kept. Whether it is about the question, the whole excerpt says.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from factpin.answers.cogltx_excerpt import Excerpt
from factpin.answers.cogltx_judge import Judge
from factpin.answers.passages import AnswerSpan, PassageReader, closest
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
        """The answers in what is kept of a document, each in the part that it is in; yes and no in the closest part."""
        kept = self.judge.recall(question, [text]).excerpt
        if not kept.parts:
            return []
        parts = [_passage(document, part.span, text[part.span.start : part.span.end], title) for part in kept.parts]
        found = []
        for reading in self.reader.read(question, [_passage(document, Span(0, len(kept.text)), kept.text, title)]):
            place = closest(question, parts) if reading.choice else _part_with(kept, parts, reading.span)
            if place is not None:  # it does not run from one part into another
                found.append(AnswerSpan(*place, reading.score, reading.choice, kept.text))
        return found


def _passage(document: str, span: Span, text: str, title: str) -> Passage:
    return Passage(passage_key(document, *span), document, *span, text, title)


def _part_with(kept: Excerpt, parts: Sequence[Passage], span: Span) -> tuple[Passage, Span] | None:
    """The part that some characters of an excerpt are in, and where they are in the document."""
    place = kept.locate(*span)
    if place is None:
        return None
    _, found = place
    return next(part for part in parts if part.start <= found.start and found.end <= part.end), found

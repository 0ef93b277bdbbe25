"""RAG as a way to answer from a store: a written answer, marked as generated, with the spans that support it best."""

import re
from dataclasses import dataclass, replace

from factpin.answers.cite import shared
from factpin.answers.passages import retrieve
from factpin.answers.rag_writer import AnswerWriter, WrittenText, texts_of
from factpin.answers.reasoners import ReasonedAnswers
from factpin.documents import Answer, Citation, Passage, Span
from factpin.documents.answer import cite
from factpin.language.sentences import split_sentences
from factpin.memory import Filter
from factpin.memory.search import Search
from factpin.memory.terms import CJK, query_terms, terms

MOST_SHOWN = 4  # answers that are kept
LEAST_WEIGHT = 0.02  # passages that add less are not cited
_LETTER = rf"[^\W{CJK}]"  # or digit; words of Chinese are not parted by space


@dataclass
class RagReasoner:
    """Answers that are written: the mode `generate` of `ask`."""

    writer: AnswerWriter

    def __call__(self, question: str, search: Search, k: int, filter: Filter) -> ReasonedAnswers:
        """Retrieve, write and cite. Of k passages, as many are read as the writer learned with.

        A writer that learned with none reads none: the best passage then only shows what it says about the answer.
        """
        with search.store.tables.reading():  # another process may write meanwhile
            found = retrieve(question, search, min(k, max(1, self.writer.settings.k)), filter)
        if not found.passages:
            return ReasonedAnswers([], self.writer.settings.min_score, found, 0)
        texts = texts_of(found.passages) if self.writer.settings.k else []
        written = [one for one in self.writer.write(question, texts) if one.text]
        answers = [self._answer(question, one, found.passages, found.uris) for one in written[:MOST_SHOWN]]
        return ReasonedAnswers(answers, self.writer.settings.min_score, found, len(texts))

    def _answer(self, question: str, one: WrittenText, passages: tuple[Passage, ...], uris: dict[str, str]) -> Answer:
        score = self.writer.settings.scale.probability(one.score)
        citations = [
            replace(supporting(question, one.text, passage, uris[passage.document]), weight=weight)
            for passage, weight in zip(passages, one.weights, strict=True)
            if weight >= LEAST_WEIGHT
        ]
        return Answer(question, one.text, score, "generate", generated=True, citations=shared(citations))


def supporting(question: str, answer: str, passage: Passage, uri: str) -> Citation:
    """The answer in a passage, if it is there word for word; else the sentence nearest to question and answer."""
    sentences = [Span(*span) for span in split_sentences(passage.text)] or [Span(0, len(passage.text))]
    shift, words = passage.start, _whole_words(answer)
    found = re.search(words, passage.text) or re.search(words, passage.text, re.IGNORECASE)
    if found is not None:
        start, end = found.span()
        around = next((s for s in sentences if s.start <= start and end <= s.end), None)
        sentence = Span(around.start + shift, around.end + shift) if around else None
        return cite(passage, uri, start + shift, end + shift, sentence=sentence)
    wanted = {*query_terms(question), *terms(answer)}
    best = max(sentences, key=lambda s: (len(wanted & set(terms(passage.text[s.start : s.end]))), -s.start))
    return cite(passage, uri, best.start + shift, best.end + shift)


def _whole_words(text: str) -> str:
    """A pattern for a text that does not begin or end inside a word."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, text) else ""
    after = rf"(?!{_LETTER})" if re.match(_LETTER, text[-1:]) else ""
    return f"{before}{re.escape(text)}{after}"

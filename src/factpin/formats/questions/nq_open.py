"""Natural Questions for open-domain answering: {"question", "answer": [text]}, with or without passages.

Passages are in "ctxs": [{"title", "text", "hasanswer", "isgold"}]; the answers are then often in "answers". They are
searched for in the passages marked as gold, if there are any, otherwise in those marked as having an answer.
"""

from collections.abc import Iterator
from typing import Any

from factpin.documents import Document, Question, Span
from factpin.documents.fields import as_dict, as_strings, each, get_list, get_str
from factpin.formats._guess import Head
from factpin.formats._reading import ReadContext
from factpin.formats.questions._answers import Site, unique
from factpin.formats.questions._records import context, list_or_lines
from factpin.language.identify import find_language


def read(reading: ReadContext) -> Iterator[Question]:
    """Read every question, with its passages if there are any."""
    return list_or_lines(reading, lambda record, line: _parse(reading, record, line))


def fits(head: Head) -> bool:
    """Whether a line is a question with a list of answers, and no context except `ctxs`."""
    record: Any = head.record
    if not isinstance(record, dict) or "context" in record or "id" in record and "kind" in record:
        return False
    return "question" in record and any(isinstance(record.get(key), list) for key in ("answer", "answers"))


def _parse(reading: ReadContext, record: Any, line: int) -> Question:
    record = as_dict(record, "")
    id = str(record.get("id", reading.default_id(line)))
    given = record.get("answers", record.get("answer", []))
    answers = unique([text for text in as_strings([given] if isinstance(given, str) else given, "answers") if text])
    text = get_str(record, "question")
    language = find_language(text)
    passages = each(get_list(record, "ctxs", default=[]), "ctxs", lambda p, _: as_dict(p, ""))
    documents = tuple(each(passages, "ctxs", lambda p, _: _document(p, language)))
    return Question(
        id=id,
        text=text,
        language=language,
        answers=answers,
        context=documents,
        spans=_spans(answers, documents, _gold(passages), Site(reading, line, id)),
    )


def _document(passage: dict[str, Any], language: str | None) -> Document:
    return context(get_str(passage, "text"), get_str(passage, "title", default=""), language)


def _gold(passages: list[dict[str, Any]]) -> list[int]:
    """The passages to search: those marked as gold, else those marked as having an answer, else all."""
    for mark in ("isgold", "hasanswer", "has_answer"):
        marked = [i for i, passage in enumerate(passages) if passage.get(mark)]
        if marked:
            return marked
    return list(range(len(passages)))


def _spans(
    answers: tuple[str, ...], documents: tuple[Document, ...], places: list[int], site: Site
) -> tuple[tuple[int, Span], ...]:
    found = dict[tuple[int, Span], None]()
    for index in places:
        for answer in answers:
            spans = site.search(documents[index].text, answer)
            found.update({(index, span): None for span in site.chosen(spans, answer)})
    if answers and documents and not found:
        site.note("answer_not_found", f"{answers[0]!r} is in no passage")
    return tuple(found)

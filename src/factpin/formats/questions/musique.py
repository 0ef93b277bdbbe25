"""MuSiQue: a question about twenty paragraphs, some of them marked as supporting, with its sub-questions.

{"id", "question", "answer", "answer_aliases", "answerable", "paragraphs": [{"idx", "title", "paragraph_text",
"is_supporting"}], "question_decomposition": [{"question", "answer", "paragraph_support_idx"}]}

Support is marked per paragraph, so every paragraph is read as one sentence. The answer is searched for in the paragraph
of the last sub-question, then in the other supporting ones. Sub-questions become steps (sub-question, "", answer).
"""

from collections.abc import Iterator
from typing import Any

from factpin.documents import Document, Question, Span
from factpin.documents.fields import as_dict, as_strings, each, get_list, get_str, wrong
from factpin.formats._guess import Head
from factpin.formats._reading import ReadContext
from factpin.formats.questions._answers import Site, unique
from factpin.formats.questions._records import context, list_or_lines
from factpin.language.identify import find_language

KNOWN = {"id", "question", "answer", "answer_aliases", "answerable", "paragraphs", "question_decomposition"}


def read(reading: ReadContext) -> Iterator[Question]:
    """Read every question with its paragraphs."""
    return list_or_lines(reading, lambda record, line: _parse(reading, record, line))


def fits(head: Head) -> bool:
    """Whether there are paragraphs marked as supporting, or a decomposition."""
    record: Any = head.record
    return isinstance(record, dict) and {"question", "paragraphs"} <= record.keys() and "qas" not in record


def _parse(reading: ReadContext, record: Any, line: int) -> Question:
    record = as_dict(record, "")
    id = get_str(record, "id", default=reading.default_id(line))
    paragraphs = each(get_list(record, "paragraphs"), "paragraphs", lambda p, _: as_dict(p, ""))
    text = get_str(record, "question")
    language = find_language(text)
    documents = tuple(each(paragraphs, "paragraphs", lambda p, _: _document(p, language)))
    support = [i for i, p in enumerate(paragraphs) if p.get("is_supporting")]
    steps = each(get_list(record, "question_decomposition", default=[]), "question_decomposition", _step)
    answerable = bool(record.get("answerable", True))
    aliases = as_strings(record.get("answer_aliases") or [], "answer_aliases")
    answers = unique([text for text in (get_str(record, "answer", default=""), *aliases) if text])
    last = [i for i, p in enumerate(paragraphs) if steps and p.get("idx") == steps[-1][1]]
    spans = _spans(answers, documents, [*last, *support], Site(reading, line, id)) if answerable else ()
    return Question(
        id=id,
        text=text,
        language=language,
        answers=answers if answerable else (),
        answerable=answerable,
        context=documents,
        spans=spans,
        support=tuple((i, 0) for i in support),
        steps=tuple(step for step, _ in steps),
        meta={key: value for key, value in record.items() if key not in KNOWN},
    )


def _document(paragraph: dict[str, Any], language: str | None) -> Document:
    text = get_str(paragraph, "paragraph_text")
    if not text.strip():
        raise wrong(text, "paragraph_text", "a text")
    return context(text, get_str(paragraph, "title", default=""), language, [Span(0, len(text))])


def _step(value: Any, index: int) -> tuple[tuple[str, str, str], Any]:
    """A sub-question as a step, and the paragraph that answers it."""
    value = as_dict(value, "")
    return (get_str(value, "question"), "", get_str(value, "answer", default="")), value.get("paragraph_support_idx")


def _spans(
    answers: tuple[str, ...], documents: tuple[Document, ...], places: list[int], site: Site
) -> tuple[tuple[int, Span], ...]:
    """The first answer in the first of these paragraphs that has one."""
    for index in dict.fromkeys(places):
        for answer in answers:
            found = site.search(documents[index].text, answer)
            if found:
                return tuple((index, span) for span in site.chosen(found, answer))
    if answers:
        site.note("answer_not_found", f"{answers[0]!r} is in no supporting paragraph")
    return ()

"""SQuAD 1 and 2, and other sets in this form: CMRC2018, DRCD, XQuAD, DuReader, CAIL 2019.

{"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "answers": [{"text", "answer_start"}]}]}]}]}

Three variants are read too: CMRC2018's list of {"context_text", "qas": [{"query_id", "query_text",
"answers": [text]}]}, rows {"id", "context", "question", "answers": {"text": […], "answer_start": […]}} as a JSON list
or one per line, and CAIL's "is_impossible" as a string.

A question is unanswerable if the file says so, or if all its answers are empty. If a question that is marked as
impossible has answers, they are used (noted as impossible_with_answers). The answers YES and NO without an offset make
it a yes_no question. A question without text is left out (empty_question).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from factpin.documents import Document, Question
from factpin.documents.fields import as_dict, as_list, as_str, get_list, get_str, path, wrong
from factpin.errors import BadDocument, BadFile
from factpin.formats._guess import Head
from factpin.formats._reading import ReadContext
from factpin.formats.questions._answers import Site, is_yes_no, unique
from factpin.formats.questions._records import context, first_character, list_or_lines, questions, whole
from factpin.language.identify import find_language
from factpin.words import count

KNOWN = {"id", "query_id", "question", "query_text", "answers", "is_impossible", "context", "title",
         "plausible_answers"}  # fmt: skip


def read(reading: ReadContext) -> Iterator[Question]:
    """Read every question with its paragraph."""
    first = first_character(reading)
    if first == "{" and not _is_row(next((line for _, line in reading.lines() if line.strip()), "")):
        return questions(reading, _pairs(reading, _decoded(reading)), lambda pair, n: _question(reading, n, *pair))
    if first == "[":
        decoded = _decoded(reading)
        if decoded and isinstance(decoded[0], dict) and "qas" in decoded[0]:
            return questions(reading, _pairs(reading, decoded), lambda pair, n: _question(reading, n, *pair))
    return list_or_lines(reading, lambda row, line: _row(reading, row, line))


def fits(head: Head) -> bool:
    """Whether there are paragraphs with questions, or rows with a question, a context and answers."""
    if isinstance(head.record, dict) and {"question", "context", "answers"} <= head.record.keys():
        return isinstance(head.record["context"], str)
    start = "\n".join(head.lines).lstrip()
    return start[:1] in ("{", "[") and '"qas"' in start and ('"context"' in start or '"context_text"' in start)


def _is_row(line: str) -> bool:
    """Whether a line is a complete object with a question."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(record, dict) and "question" in record


def _decoded(reading: ReadContext) -> list[Any]:
    """The articles of a file. In CMRC2018's variant, an article is one paragraph."""
    try:
        value = orjson.loads(whole(reading))
    except orjson.JSONDecodeError as error:
        raise BadFile(f"{reading.path}: not JSON ({error}). Repair the file.") from None
    articles = value.get("data") if isinstance(value, dict) else value
    if not isinstance(articles, list):
        raise BadFile(
            f'{reading.path}: expected {{"data": [...]}} or a list of paragraphs. Name another format with --from.'
        )
    return articles


def _pairs(reading: ReadContext, articles: list[Any]) -> Iterator[tuple[int, Any]]:
    """(number of the question, (paragraph, question)). A paragraph that cannot be read is one bad record."""
    number = 0
    for a, article in enumerate(articles):
        try:
            article = as_dict(article, f"data[{a}]")
            paragraphs = get_list(article, "paragraphs", f"data[{a}]") if "paragraphs" in article else [article]
        except BadDocument as problem:
            yield number + 1, reading.bad_record(problem, number + 1)
            continue
        for p, paragraph in enumerate(paragraphs):
            where = f"data[{a}].paragraphs[{p}]"
            for pair in _asked(reading, article, paragraph, where, number + 1):
                number += 1
                yield number, pair


def _asked(reading: ReadContext, article: dict[str, Any], paragraph: Any, where: str, number: int) -> Iterator[Any]:
    """The questions of a paragraph, each with the paragraph as a document."""
    try:
        paragraph = as_dict(paragraph, where)
        key = "context" if "context" in paragraph else "context_text"
        title = paragraph.get("title") or article.get("title") or ""
        text = get_str(paragraph, key, where)
        document = context(text, as_str(title, path(where, "title")), find_language(text))
        asked = get_list(paragraph, "qas", where)
    except BadDocument as problem:
        yield reading.bad_record(problem, number)
        return
    for q, qa in enumerate(asked):
        place = f"{where}.qas[{q}]"
        if not isinstance(qa, dict):
            yield reading.bad_record(wrong(qa, place, "a question"), number + q)
        elif qa.get("question", qa.get("query_text")) == "":
            reading.note(
                "empty_question", number + q, str(qa.get("id", "")), "the question has no text; it is left out"
            )
        else:
            yield document, qa, place


def _row(reading: ReadContext, row: Any, line: int) -> Question:
    """A question with its context in one flat record."""
    row = as_dict(row, "")
    text, title = get_str(row, "context"), as_str(row.get("title") or "", "title")
    return _question(reading, line, context(text, title, find_language(text)), row, "")


def _question(reading: ReadContext, number: int, document: Document, qa: dict[str, Any], where: str) -> Question:
    id = str(qa.get("id", qa.get("query_id", reading.default_id(number))))
    site = Site(reading, number, id)
    text = get_str(qa, "question" if "question" in qa else "query_text", where)
    given = _given(qa, where)
    said = [answer for answer in given if answer.text]
    impossible = str(qa.get("is_impossible", False)).lower() == "true"
    if said and len(said) < len(given):
        site.note("empty_answer", "one of several answers is empty; it is left out")
    if impossible and said:
        site.note("impossible_with_answers", "marked as impossible, but it has answers; they are used")
    pinned = [answer for answer in said if not answer.is_yes_no]
    spans = [(0, span) for answer in pinned for span in site.place(document.text, answer.text, answer.at)]
    return Question(
        id=id,
        text=text,
        language=find_language(text) or document.language,
        answers=unique([answer.text.lower() if answer.is_yes_no else answer.text for answer in said]),
        kind="yes_no" if len(pinned) < len(said) / 2 else "",
        answerable=bool(said) or not (impossible or given),
        context=(document,),
        spans=tuple(dict.fromkeys(spans)),
        meta={key: value for key, value in qa.items() if key not in KNOWN},
    )


class _Answer(NamedTuple):
    """An answer in a file: its text, which may be empty, and its offset."""

    text: str
    at: int | None

    @property
    def is_yes_no(self) -> bool:
        """Whether it is yes or no, without an offset."""
        return (self.at is None or self.at < 0) and is_yes_no(self.text)


def _given(qa: dict[str, Any], where: str) -> list[_Answer]:
    """Every answer, including empty ones."""
    answers, where = qa.get("answers") or [], path(where, "answers")
    if isinstance(answers, dict):
        texts = get_list(answers, "text", where)
        starts = get_list(answers, "answer_start", where, default=[None] * len(texts))
        if len(starts) != len(texts):
            raise wrong(starts, path(where, "answer_start"), f"{count(len(texts), 'offset')}, one for each text")
        return [_Answer(as_str(t, where), _offset(s, where)) for t, s in zip(texts, starts, strict=True)]
    return [_answer(answer, where) for answer in as_list(answers, where)]


def _answer(value: Any, where: str) -> _Answer:
    if isinstance(value, str):
        return _Answer(value, None)
    value = as_dict(value, where)
    return _Answer(get_str(value, "text", where), _offset(value.get("answer_start"), where))


def _offset(value: Any, where: str) -> int | None:
    if value is None or type(value) is int:
        return value
    raise wrong(value, path(where, "answer_start"), "a whole number")

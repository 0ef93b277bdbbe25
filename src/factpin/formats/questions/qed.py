"""QED: Natural Questions with the paragraph, the span of the answer, and what the words of the question refer to.

{"example_id", "question_text", "title_text", "paragraph_text", "answer_spans": [[start, end]], "answer_text": [text],
"sentence_starts": [start], "annotation": […], "answer_type"}

If the text of an answer differs from the text at its span, the span is used (noted as answer_text_differs). Several
spans are the parts of one answer, and each part counts.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from factpin.documents import Question, Span
from factpin.documents.fields import as_dict, as_int, as_list, as_strings, get_list, get_str, wrong
from factpin.formats._guess import Head
from factpin.formats._reading import ReadContext
from factpin.formats.questions._answers import Site, unique
from factpin.formats.questions._records import context, list_or_lines
from factpin.language.identify import find_language
from factpin.words import count


def read(reading: ReadContext) -> Iterator[Question]:
    """Read every question with its paragraph."""
    return list_or_lines(reading, lambda record, line: _parse(reading, record, line))


def fits(head: Head) -> bool:
    """Whether a line has the text of a question and the text of a paragraph."""
    record: Any = head.record
    return isinstance(record, dict) and {"question_text", "paragraph_text"} <= record.keys()


def _parse(reading: ReadContext, record: Any, line: int) -> Question:
    record = as_dict(record, "")
    id = str(record.get("example_id", reading.default_id(line)))
    site = Site(reading, line, id)
    text, question = get_str(record, "paragraph_text"), get_str(record, "question_text")
    sentences = _sentences(
        text, [as_int(s, "sentence_starts") for s in get_list(record, "sentence_starts", default=[])]
    )
    rows = [as_list(row, "answer_spans") for row in get_list(record, "answer_spans")]
    given = as_strings(record.get("answer_text") or [], "answer_text")
    spans = _spans(rows, given, text, site)
    language = find_language(question)
    document = context(text, get_str(record, "title_text", default=""), language, sentences)
    proving = {document.sentence_of(start) for start, _ in spans}
    meta = {"type": record.get("answer_type", ""), "annotation": _annotation(record.get("annotation") or [])}
    return Question(
        id=id,
        text=question,
        language=language,
        answers=unique([text[start:end] for start, end in spans]),
        context=(document,),
        spans=tuple((0, span) for span in dict.fromkeys(spans)),
        support=tuple((0, sentence) for sentence in sorted(s for s in proving if s is not None)),
        meta={key: value for key, value in meta.items() if value},
    )


def _spans(rows: list[list[Any]], given: list[str], text: str, site: Site) -> list[Span]:
    """The stated spans; an answer whose span is [-1, -1] is searched for."""
    spans = list[Span]()
    for i, row in enumerate(rows):
        if row == [-1, -1] and i < len(given):
            if given[i]:
                spans += site.place(text, given[i])
            else:
                site.note("empty_answer", f"answer {i} has neither a text nor a span")
            continue
        span = _span(row, f"answer_spans[{i}]", len(text))
        if i < len(given) and given[i] != text[span.start : span.end]:
            site.note("answer_text_differs", f"{given[i]!r} is not the text at {span.start}:{span.end}")
        spans.append(span)
    return spans


def _span(row: list[Any], where: str, size: int) -> Span:
    values = [as_int(value, where) for value in row]
    if len(values) != 2 or not 0 <= values[0] < values[1] <= size:
        raise wrong(row, where, f"a span inside the paragraph, which has {count(size, 'character')}")
    return Span(values[0], values[1])


def _sentences(text: str, starts: Sequence[int]) -> list[Span]:
    """Sentences from their starts, without the whitespace between them."""
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        part = text[start:end]
        if part.strip():
            first = start + len(part) - len(part.lstrip())
            found.append(Span(first, first + len(part.strip())))
    return found


def _annotation(value: Any) -> Any:
    """The list of references, which may also be given as a Python literal in a string."""
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        raise wrong(value, "annotation", "a list") from None

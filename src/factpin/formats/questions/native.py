"""The native format of questions: one per line, as defined in documents/question.py. Nothing is lost."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Question, question_from_json, question_to_json
from factpin.formats._guess import Head
from factpin.formats._reading import ReadContext
from factpin.formats._writing import write_json_lines
from factpin.formats.questions._records import list_or_lines


def read(reading: ReadContext) -> Iterator[Question]:
    """Read one question per line. The id of a line without one is its number."""
    return list_or_lines(reading, lambda record, line: question_from_json(record, reading.default_id(line)))


def write(questions: Iterable[Question], path: Path) -> None:
    """Write one line per question."""
    write_json_lines(path, map(question_to_json, questions))


def fits(head: Head) -> bool:
    """Whether a line is a question with an id whose contexts, if any, are documents."""
    record: Any = head.record
    if not isinstance(record, dict) or not {"id", "question"} <= record.keys() or "answer" in record:
        return False
    context = record.get("context", [])
    documents = isinstance(context, list) and all(isinstance(doc, dict) and "text" in doc for doc in context)
    return documents and not {"paragraphs", "ctxs", "qas", "supporting_facts"} & record.keys()

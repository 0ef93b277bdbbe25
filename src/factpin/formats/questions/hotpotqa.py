"""HotpotQA: a question about paragraphs, which are lists of sentences, with the sentences that support the answer.

{"_id", "question", "answer", "type", "level",
 "supporting_facts": [[title, sentence]], "context": [[title, [sentence]]]}

Files are one JSON list, like the official ones, or have one object per line. The columns {"title": […],
"sentences": […]} and {"title": […], "sent_id": […]} are read too. The answer has no offset: it is searched for in the
supporting sentences, then in their paragraphs. Supporting facts that are not in the context are noted as
support_not_found.
"""

from collections.abc import Iterator
from typing import Any

from factpin.documents import Question
from factpin.formats._guess import Head
from factpin.formats._reading import ReadContext
from factpin.formats.questions._paragraphs import parse
from factpin.formats.questions._records import list_or_lines


def read(reading: ReadContext) -> Iterator[Question]:
    """Read every question with its paragraphs."""
    return list_or_lines(reading, lambda record, line: parse(reading, record, line))


def fits(head: Head) -> bool:
    """Whether there are supporting facts, but no triples as evidence."""
    record: Any = head.record
    return isinstance(record, dict) and {"supporting_facts", "context"} <= record.keys() and "evidences" not in record

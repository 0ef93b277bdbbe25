"""2WikiMultihopQA: HotpotQA's form with the reasoning as triples, "evidences": [[subject, relation, object]].

The triples become the steps of the question. Wikidata ids are kept in its meta.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from factpin.documents import Question
from factpin.documents.fields import as_dict, as_strings, get_list, wrong
from factpin.formats._guess import Head
from factpin.formats._reading import ReadContext
from factpin.formats.questions._paragraphs import parse
from factpin.formats.questions._records import list_or_lines


def read(reading: ReadContext) -> Iterator[Question]:
    """Read every question with its paragraphs and triples."""
    return list_or_lines(reading, lambda record, line: _parse(reading, record, line))


def fits(head: Head) -> bool:
    """Whether there are supporting facts, and triples as evidence."""
    record: Any = head.record
    return isinstance(record, dict) and {"supporting_facts", "context", "evidences"} <= record.keys()


def _parse(reading: ReadContext, record: Any, line: int) -> Question:
    steps = []
    for i, row in enumerate(get_list(as_dict(record, ""), "evidences", default=[])):
        parts = as_strings(row, f"evidences[{i}]")
        if len(parts) != 3:
            raise wrong(row, f"evidences[{i}]", "a subject, a relation and an object")
        steps.append((parts[0], parts[1], parts[2]))
    return replace(parse(reading, record, line), steps=tuple(steps))

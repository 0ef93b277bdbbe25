"""The native format: one document per line, as defined in documents/native.py. Ends are exclusive; nothing is lost."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from factpin.documents import Document, from_json, to_json
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._writing import FEATURES, losses, write_json_lines

HOLDS = frozenset(FEATURES)
ENDING = ".jsonl"


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per line. The id of a line without one is its number."""
    return reading.json_lines(lambda record, line: from_json(record, reading.default_id(line)))


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document."""
    write_json_lines(path, map(to_json, documents))


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count nothing: this format holds everything."""
    return losses(doc, HOLDS)


def fits(head: Head) -> bool:
    """Whether a line has a text, and its mentions, if any, have start, end and text."""
    record = head.record
    if not isinstance(record, dict) or not isinstance(record.get("text"), str) or head.is_list:
        return False
    mentions = record.get("mentions")
    if isinstance(mentions, list) and mentions:
        return isinstance(mentions[0], dict) and {"start", "end", "text"} <= mentions[0].keys()
    foreign = {"label", "labels", "spo_list", "triple_list", "entities", "ents", "spans", "tokens", "result_list",
               "prompt", "content", "event_list", "result"}  # fmt: skip
    return not foreign & record.keys()

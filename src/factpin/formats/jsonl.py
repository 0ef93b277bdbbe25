"""The native format: one document a line, as documents/native.py spells it. Ends are exclusive. Holds everything."""

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
    """Every line's document; a line without an id is named by its number."""
    return reading.json_lines(lambda record, line: from_json(record, reading.default_id(line)))


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """One line a document."""
    write_json_lines(path, map(to_json, documents))


def lost(doc: Document, options: Options) -> Counter[str]:
    """Nothing, ever."""
    return losses(doc, HOLDS)


def fits(head: Head) -> bool:
    """A line with a text whose mentions, if any, carry start, end and text."""
    record = head.record
    if not isinstance(record, dict) or not isinstance(record.get("text"), str) or head.is_list:
        return False
    mentions = record.get("mentions")
    if isinstance(mentions, list) and mentions:
        return isinstance(mentions[0], dict) and {"start", "end", "text"} <= mentions[0].keys()
    foreign = {"label", "labels", "spo_list", "triple_list", "entities", "ents", "spans", "tokens", "result_list",
               "prompt", "content", "event_list", "result"}  # fmt: skip
    return not foreign & record.keys()

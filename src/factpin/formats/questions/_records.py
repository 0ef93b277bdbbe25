"""Loops over the records of a file of questions, and the contexts in them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, cast

from factpin import files
from factpin.documents import Document, Question, Span
from factpin.formats._reading import ReadContext

Parse = Callable[[Any, int], Question]


def questions(reading: ReadContext, records: Iterable[tuple[int, Any]], parse: Parse) -> Iterator[Question]:
    """parse(record, line) for every (line, record). A bad record is an error, or skipped if the options say so."""
    return cast(Iterator[Question], reading.each(records, cast(Callable[[Any, int], Document], parse)))


def list_or_lines(reading: ReadContext, parse: Parse) -> Iterator[Question]:
    """The questions of a file with one JSON list, or with one JSON object per line."""
    in_list = str(reading.path) != "-" and first_character(reading) == "["  # standard input cannot be read twice
    loop = reading.json_items if in_list else reading.json_lines
    return cast(Iterator[Question], loop(cast(Callable[[Any, int], Document], parse)))


def first_character(reading: ReadContext) -> str:
    """The first character of a file that is not whitespace, "" if there is none."""
    lines = (line for _, line in reading.lines())
    return next(chain.from_iterable(line.lstrip("\ufeff \t\r") for line in lines), "")


def whole(reading: ReadContext) -> str:
    """The whole text of a file."""
    return files.read_text(reading.path, reading.options.encoding)


def context(text: str, title: str, language: str | None, sentences: Sequence[Span] = ()) -> Document:
    """A document whose id is made of title and text, so that a passage has the same id in all questions and files."""
    digest = blake2b(f"{title}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    meta = {"title": title} if title else {}
    return Document(digest, text, language=language, sentences=tuple(sentences), meta=meta)


def join_sentences(sentences: Sequence[str]) -> tuple[str, list[Span], list[int | None]]:
    """The text of a list of sentences, their spans without outer whitespace, and the index of the span of each.

    A space is put between two sentences without one. A sentence without text has no span.
    """
    text, spans, places = "", list[Span](), list[int | None]()
    for sentence in sentences:
        if text and sentence.strip() and not text[-1].isspace() and not sentence[0].isspace():
            text += " "
        start = len(text) + len(sentence) - len(sentence.lstrip())
        text += sentence
        if sentence.strip():
            places.append(len(spans))
            spans.append(Span(start, start + len(sentence.strip())))
        else:
            places.append(None)
    return text, spans, places

"""Loops over the records of a file of questions, and the contexts that records bring."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, cast

from factpin import files
from factpin.documents import Document, Question, Span
from factpin.formats._reading import ReadContext

Parse = Callable[[Any, int], Question]


def questions(reading: ReadContext, records: Iterable[tuple[int, Any]], parse: Parse) -> Iterator[Question]:
    """parse(record, line) of every (line, record); a bad record is an error, or set aside by choice."""
    return cast(Iterator[Question], reading.each(records, cast(Callable[[Any, int], Document], parse)))


def list_or_lines(reading: ReadContext, parse: Parse) -> Iterator[Question]:
    """The questions of a file that is one JSON list, or that has one JSON object in every line."""
    in_list = str(reading.path) != "-" and first_character(reading) == "["  # standard input cannot be read twice
    loop = reading.json_items if in_list else reading.json_lines
    return cast(Iterator[Question], loop(cast(Callable[[Any, int], Document], parse)))


def first_character(reading: ReadContext) -> str:
    """The first character of a file that is no blank, "" where there is none."""
    lines = (line for _, line in reading.lines())
    return next(chain.from_iterable(line.lstrip("\ufeff \t\r") for line in lines), "")


def whole(reading: ReadContext) -> str:
    """The whole text of a file."""
    return files.read_text(reading.path, reading.options.encoding)


def context(text: str, title: str, language: str | None, sentences: Sequence[Span] = ()) -> Document:
    """A document whose id follows from title and text: the same passage has one id in all questions and files."""
    digest = blake2b(f"{title}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    meta = {"title": title} if title else {}
    return Document(digest, text, language=language, sentences=tuple(sentences), meta=meta)


def join_sentences(sentences: Sequence[str]) -> tuple[str, list[Span], list[int | None]]:
    """The text of a list of sentences, their spans without outer blanks, and the span that each has become.

    A blank is put between two sentences that have none. A sentence without text has no span.
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

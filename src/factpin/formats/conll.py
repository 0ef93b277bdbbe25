"""CoNLL: one token per line with its tags, a blank line between sentences. Positions count tokens.

    token [further columns] tag [tag …]        columns separated by tabs, or by spaces if a sentence has no tab

- Tag columns are all columns after the token if they all look like tags (GermEval: outer, inner), otherwise only the
  last one (CoNLL-2003: POS and chunk are kept in meta["columns"]). A first line such as
  "# global.columns = FORM MISC TAG TAG" states it explicitly. It is written when the reader could not guess.
- BIO, BIOES and BMES are recognised. Ill-formed tags are read as conlleval reads them, with a note.
- A line -DOCSTART- begins a document, which ends before the next one. Before the first, each sentence is a document.
- Lines "# …" before a sentence are kept in meta["comments"].
- Overlapping mentions are written into a second, third … tag column.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from factpin import files
from factpin.documents import Document
from factpin.errors import BadRecord
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._tagged import TaggedDocument, mentions_of, tagged
from factpin.formats._tags import Scheme, TagSpan, decode, encode, is_tag, layers
from factpin.formats._words import join, sentence_spans, token_meta
from factpin.formats._writing import dump, losses
from factpin.words import count

HOLDS = frozenset({"sentences", "mentions", "types", "overlaps", "same spans"})
ENDING = ".conll"
START = "-DOCSTART-"
EMPTY = "_"  # fills a column that other documents of the file have
LOOK_AHEAD = 100  # sentences that are read to find out what the columns mean
BLANKS = " \t"
BAD_TOKEN = re.compile(rf"[\t\n]|^{START}$")
BAD_CELL = re.compile(r"[\t\n\ud800-\udfff]")
BAD_TYPE = re.compile(rf"{BAD_CELL.pattern}|[ \r]\Z")
BAD_COMMENT = re.compile(rf"{BAD_TYPE.pattern}|^global\.columns = FORM")
COMMENT = re.compile(f"#(?:[{BLANKS}]|$)")
HEADER = re.compile(r"# global\.columns = FORM((?: MISC)*)((?: TAG)*) *")

Line = tuple[int, str]  # number, text


@dataclass
class Columns:
    """What the columns of a file mean: `width` of them, tags from column `tags_from` on."""

    width: int
    tags_from: int
    stated: bool = False  # by a first line
    scheme: Scheme = field(default_factory=Scheme)


@dataclass
class SentenceRows:
    """The comments and the rows of one block of lines."""

    comments: list[str]
    rows: list[Line]
    by_tabs: bool


def read(reading: ReadContext) -> Iterator[Document]:
    """Read every document in order. Its id is its number."""
    blocks = _blocks(reading.lines())
    first = list(islice(blocks, LOOK_AHEAD))
    layout = _layout(first)
    groups = _groups(reading, layout, chain(first, blocks))
    numbered = ((group[0].rows[0][0], (number, group)) for number, group in enumerate(groups, start=1))
    yield from reading.each(numbered, lambda item, _: _document(reading, layout, item[1], item[0]))


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    block: list[Line] = []
    for number, line in lines:
        line = line.rstrip(BLANKS)
        if block and (not line or re.split(f"[{BLANKS}]", line, maxsplit=1)[0] == START):
            yield block
            block = []
        if line:
            block.append((number, line))
    if block:
        yield block


def _cells(line: str, by_tabs: bool) -> list[str]:
    return line.split("\t") if by_tabs else re.split(f"[{BLANKS}]+", line.lstrip(BLANKS))


def _by_tabs(block: list[Line]) -> bool:
    rows = [line for _, line in block if not line.startswith("#")] or [line for _, line in block]
    return any("\t" in line for line in rows)


def _layout(blocks: list[list[Line]]) -> Columns:
    header = HEADER.fullmatch(blocks[0][0][1]) if blocks else None
    if header:
        middle, tags = header[1].count("MISC"), header[2].count("TAG")
        return Columns(1 + middle + tags, 1 + middle, stated=True)
    rows = _rows(blocks)
    widths = Counter(len(row) for row in rows if row[0] != START)
    if not widths:
        return Columns(2, 1)
    width = widths.most_common(1)[0][0]
    columns = list(zip(*(row for row in rows if len(row) == width), strict=True))[1:]
    all_tags = all(is_tag(cell) for column in columns for cell in column)
    layout = Columns(width, 1 if all_tags else width - 1)
    for column in columns[layout.tags_from - 1 :]:
        layout.scheme.learn(column)
    return layout


def _rows(blocks: list[list[Line]]) -> list[list[str]]:
    """The cells of all lines that are not comments, or of all lines if there are only comments."""
    cells = [_cells(line, _by_tabs(block)) for block in blocks for _, line in block if not COMMENT.match(line)]
    return cells or [_cells(line, _by_tabs(block)) for block in blocks for _, line in block]


def _sentence(block: list[Line], layout: Columns) -> SentenceRows:
    by_tabs = _by_tabs(block)
    comments: list[str] = []
    for i, (_, line) in enumerate(block):
        if not COMMENT.match(line) or _is_row(_cells(line, by_tabs), layout):
            return SentenceRows(comments, block[i:], by_tabs)
        comments.append(line[2:].replace("\t", " "))
    return SentenceRows(comments, [], by_tabs)


def _is_row(cells: list[str], layout: Columns) -> bool:
    return len(cells) == layout.width and all(map(is_tag, cells[layout.tags_from :]))


def _groups(reading: ReadContext, layout: Columns, blocks: Iterator[list[Line]]) -> Iterator[list[SentenceRows]]:
    """The sentences of every document."""
    group: list[SentenceRows] = []
    comments: list[str] = []  # of blocks that have nothing else
    started = 0  # the line of the last -DOCSTART-
    if layout.stated:
        first = next(blocks)[1:]
        blocks = chain([first] if first else [], blocks)
    for block in blocks:
        sentence = _sentence(block, layout)
        sentence.comments = comments = [*comments, *sentence.comments]
        if sentence.rows and _cells(sentence.rows[0][1], sentence.by_tabs)[0] == START:
            if group:
                yield group
            elif started:
                reading.note("empty_document", started, "", f"no sentence follows {START}; it was skipped")
            group, started = [], sentence.rows.pop(0)[0]
        if sentence.rows:
            group.append(sentence)
            comments = []
            if not started:
                yield group
                group = []
    if group:
        yield group
    elif started:
        reading.note("empty_document", started, "", f"no sentence follows {START}; it was skipped")
    if comments:
        reading.note(
            "comment_without_sentence", 0, "", f"{count(len(comments), 'comment')} at the end of the file left out"
        )


def _document(reading: ReadContext, layout: Columns, group: list[SentenceRows], number: int) -> Document:
    id = reading.default_id(number)
    tokens: list[str] = []
    columns: list[list[str]] = [[] for _ in range(layout.tags_from - 1)]
    spans: list[TagSpan] = []
    for sentence in group:
        at = len(tokens)
        rows = [_row(reading, layout, line, sentence.by_tabs) for line in sentence.rows]
        cells = list(zip(*rows, strict=True))
        tokens += cells[0]
        for column, more in zip(columns, cells[1:], strict=False):
            column += more
        for tags in cells[layout.tags_from :]:
            found, faults = _decoded(layout.scheme, tags)
            spans += [TagSpan(at + span.first, at + span.end, span.type) for span in found]
            for index, fault in faults:
                reading.note("ill_formed_tag", sentence.rows[index][0], id, f"{fault}; read as conlleval does")
    text, places = join(tokens)
    while columns and set(columns[-1]) == {EMPTY}:
        columns.pop()
    meta: dict[str, Any] = token_meta(text, places)
    if columns:
        meta["columns"] = columns
    comments = [comment for sentence in group for comment in sentence.comments]
    if comments:
        meta["comments"] = comments
    sentences = sentence_spans(places, [len(sentence.rows) for sentence in group])
    return Document(
        id=id,
        text=text,
        sentences=tuple(span for span in sentences if span is not None),
        mentions=mentions_of(spans, text, places),
        meta=meta,
    )


def _decoded(scheme: Scheme, tags: tuple[str, ...]) -> tuple[list[TagSpan], list[tuple[int, str]]]:
    scheme.learn(tags)
    return decode(tags, scheme)


def _row(reading: ReadContext, layout: Columns, line: Line, by_tabs: bool) -> list[str]:
    number, text = line
    cells = _cells(text, by_tabs)
    problem = kind = ""
    if len(cells) != layout.width:
        parted = "tabs" if by_tabs else "blanks"
        problem = f"expected {count(layout.width, 'column')}, got {len(cells)} ({text[:40]!r}, separated by {parted})"
        kind = "wrong_columns"
    elif not cells[0]:
        problem, kind = f"the first column, the token, is empty ({text[:40]!r})", "empty_token"
    elif not all(map(is_tag, cells[layout.tags_from :])):
        wrong = next(cell for cell in cells[layout.tags_from :] if not is_tag(cell))
        problem, kind = f"expected a tag such as O, B-PER or I-PER, got {wrong[:40]!r}", "unknown_tag"
    if problem:
        raise BadRecord(f"{problem}. Correct the line.", file=str(reading.path), line=number, kind=kind)
    return cells


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write in two passes: all documents go to a temporary file first, to find out how many columns are needed."""
    middle, tags, several, unclear = 0, 1, False, False
    with tempfile.TemporaryFile() as spool:
        for doc in documents:
            plan = tagged(doc, BAD_TOKEN, BAD_TYPE, several=True)
            if not plan.tokens:
                continue
            columns, comments = _kept(doc, plan)
            parts = [[list(span) for span in layer] for layer in layers(plan.spans)]
            if not spool.tell():
                unclear = bool(columns) and all(is_tag(cell) for column in columns for cell in column)
            middle, tags = max(middle, len(columns)), max(tags, len(parts))
            several = several or len(plan.sizes) > 1
            spool.write(dump([plan.tokens, plan.sizes, parts, columns, comments]) + b"\n")
        spool.seek(0)
        with files.write_bytes(path) as stream:
            if middle and (unclear or tags > 1):
                stream.write(f"# global.columns = FORM{' MISC' * middle}{' TAG' * tags}\n".encode())
            for line in spool:
                if several:
                    stream.write(("\t".join([START] + ["-X-"] * middle + ["O"] * tags) + "\n\n").encode())
                _write_document(stream, orjson.loads(line), middle, tags, options)


def _write_document(stream: BinaryIO, record: list[Any], middle: int, tags: int, options: Options) -> None:
    tokens, sizes, parts, columns, comments = record
    cells = [tokens, *columns, *[[EMPTY] * len(tokens)] * (middle - len(columns))]
    for i in range(tags):
        spans = [TagSpan(*span) for span in parts[i]] if i < len(parts) else []
        cells.append(encode(spans, len(tokens), options.scheme))
    rows = ["\t".join(row) for row in zip(*cells, strict=True)]
    lines = [f"# {comment}" for comment in comments]
    at = 0
    for size in sizes:
        lines += [*rows[at : at + size], ""]
        at += size
    text = "\n".join(lines) + "\n"
    # a byte order mark at the beginning of a file would not be read as text
    stream.write(("\n" + text if text.startswith("\ufeff") else text).encode())


def _kept(doc: Document, plan: TaggedDocument) -> tuple[list[list[str]], list[str]]:
    """The further columns and the comments in the document's meta that can be written."""
    columns: list[list[str]] = []
    if not plan.lost["tokens"] and _are_columns(doc.meta.get("columns"), len(plan.tokens)):
        columns = doc.meta["columns"]
    comments: list[str] = doc.meta["comments"] if _are_comments(doc.meta.get("comments")) else []
    return columns, comments


def _are_columns(value: Any, size: int) -> bool:
    """Whether it is a list of columns with one cell per token, and the last column is not just a filler."""
    if not isinstance(value, list) or not value or not all(isinstance(column, list) for column in value):
        return False
    cells = [cell for column in value for cell in column]
    if not all(isinstance(cell, str) and not BAD_CELL.search(cell) for cell in cells):
        return False
    return all(len(column) == size for column in value) and set(value[-1]) != {EMPTY}


def _are_comments(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(comment, str) and not BAD_COMMENT.search(comment) for comment in value)


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what columns of tags cannot hold. Of the meta they hold only tokens, columns and comments."""
    plan = tagged(doc, BAD_TOKEN, BAD_TYPE, several=True)
    missing = losses(doc, HOLDS | {"meta"}) + plan.lost
    columns, comments = _kept(doc, plan)
    kept = bool(columns) + bool(comments) + ("tokens" in doc.meta and not plan.lost["tokens"])
    if len(doc.meta) > kept:
        missing["meta"] = len(doc.meta) - kept
    return missing


def fits(head: Head) -> bool:
    """Whether all lines have the same number of columns, at least two, and the last ones are tags."""
    if head.is_folder or head.record is not None:
        return False
    blocks = list(_blocks(enumerate((line.removesuffix("\r") for line in head.lines[:100]), start=1)))
    rows = [row for row in _rows(blocks) if row[0] != START]
    if not rows or len(rows[0]) < 2 or (len(rows) < 2 and not any("\t" in line for line in head.lines)):
        return False
    return all(len(row) == len(rows[0]) and row[0] and is_tag(row[-1]) for row in rows)

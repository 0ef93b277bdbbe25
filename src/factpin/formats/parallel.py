"""Two parallel files in one folder (MSRA): sentences.txt has the tokens of a line, tags.txt its tags.

Tokens (in Chinese, characters) and tags are separated by spaces; a line is a document of one sentence. BIO, BIOES and
BMES are recognised. Chinese characters are joined without spaces. The path is the folder or its sentences.txt; either
file may be compressed (.xz, .gz, .zst).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path

from factpin import files
from factpin.documents import Document
from factpin.errors import BadFile, BadRecord
from factpin.formats._folders import BOM, new_folder
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._tagged import mentions_of, tagged
from factpin.formats._tags import Scheme, decode, encode, is_tag, layers
from factpin.formats._words import join, sentence_spans, token_meta
from factpin.formats._writing import losses
from factpin.words import count

HOLDS = frozenset({"mentions", "types"})
ENDING = ""
SENTENCES, TAGS = "sentences.txt", "tags.txt"
BAD_TOKEN = re.compile(r"[ \t\n]|\r\Z")
BAD_TYPE = re.compile(r"[ \t\n\ud800-\udfff]|\r\Z")
LOOK_AHEAD = 100  # lines of tags that are read to recognise the scheme

Pair = tuple[str | None, str | None]  # a line of each file; None after the end of one


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per line; its id is the folder and the line number. Lines empty in both are skipped."""
    folder = reading.path if reading.path.is_dir() else reading.path.parent
    sentences, tags = _file(folder, SENTENCES), _file(folder, TAGS)
    encoding = reading.options.encoding
    scheme = Scheme()
    for _, line in islice(files.lines(tags, encoding), LOOK_AHEAD):
        scheme.learn(line.split())
    both = zip_longest(files.lines(sentences, encoding), files.lines(tags, encoding))
    pairs = ((number, (a[1] if a else None, b[1] if b else None)) for number, (a, b) in enumerate(both, start=1))
    filled = ((number, pair) for number, pair in pairs if pair[0] is None or pair[1] is None or any(map(_words, pair)))
    yield from reading.each(filled, lambda pair, line: _document(reading, folder, scheme, pair, line))


def _file(folder: Path, name: str) -> Path:
    for ending in ("", *files.PACKED):
        if (folder / (name + ending)).exists():
            return folder / (name + ending)
    raise BadFile(
        f"{folder / name}: there is no such file; expected {SENTENCES} and {TAGS} in one folder. Give that folder."
    )


def _words(line: str | None) -> list[str]:
    return [word for word in re.split("[ \t]+", line or "") if word]


def _document(reading: ReadContext, folder: Path, scheme: Scheme, pair: Pair, line: int) -> Document:
    id = f"{folder.resolve().name}-{line}"
    tokens, tags = _words(pair[0]), _words(pair[1])
    _check(folder, pair, tokens, tags, line)
    scheme.learn(tags)
    spans, faults = decode(tags, scheme)
    for _, fault in faults:
        reading.note("ill_formed_tag", line, id, f"{fault}; read as conlleval does")
    text, places = join(tokens)
    return Document(
        id=id,
        text=text,
        sentences=tuple(span for span in sentence_spans(places, [len(tokens)]) if span is not None),
        mentions=mentions_of(spans, text, places),
        meta=token_meta(text, places),
    )


def _check(folder: Path, pair: Pair, tokens: list[str], tags: list[str], line: int) -> None:
    for text, name, other in ((pair[0], SENTENCES, TAGS), (pair[1], TAGS, SENTENCES)):
        if text is None:
            raise BadRecord(f"the file ends before this line, but {other} has more. Complete it; the lines must match.",
                            file=str(folder / name), line=line, kind="missing_line")  # fmt: skip
    for tag in tags:
        if not is_tag(tag):
            raise BadRecord(f"expected a tag such as O, B-PER or I-PER, got {tag[:40]!r}. Correct the line.",
                            file=str(folder / TAGS), line=line, kind="unknown_tag")  # fmt: skip
    if len(tokens) != len(tags):
        raise BadRecord(
            f"{count(len(tokens), 'token')}, but {count(len(tags), 'tag')} in {TAGS}; expected equal numbers. Correct "
            f"one of the lines.",
            file=str(folder / SENTENCES),
            line=line,
            kind="wrong_columns",
        )


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write a new folder with both files. Of overlapping mentions, the first and longest are written."""
    with (
        new_folder(path) as folder,
        files.write_bytes(folder / SENTENCES) as sentences,
        files.write_bytes(folder / TAGS) as tags,
    ):
        for doc in documents:
            plan = tagged(doc, BAD_TOKEN, BAD_TYPE, several=False)
            if not plan.tokens:
                continue
            line = " ".join(plan.tokens) + "\n"
            if line.startswith(BOM):  # at the beginning of a file it would not be read as text
                sentences.write(b"\n")
                tags.write(b"\n")
            spans = layers(plan.spans)[:1]
            sentences.write(line.encode())
            tags.write((" ".join(encode(spans[0] if spans else [], len(plan.tokens), options.scheme)) + "\n").encode())


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what one sequence of tags cannot hold."""
    plan = tagged(doc, BAD_TOKEN, BAD_TYPE, several=False)
    missing = losses(doc, HOLDS | {"meta", "overlaps"}) + plan.lost
    overlaps = sum(map(len, layers(plan.spans)[1:]))
    if overlaps:
        missing["overlaps"] = overlaps
    kept = "tokens" in doc.meta and not plan.lost["tokens"]
    if len(doc.meta) > kept:
        missing["meta"] = len(doc.meta) - kept
    return missing


def fits(head: Head) -> bool:
    """Whether it is a folder with both files, or its sentences file."""
    if head.is_folder:
        names = {files.plain_name(Path(name)) for name in head.lines}
    elif head.name == SENTENCES:
        names = {files.plain_name(file) for file in head.path.parent.iterdir()}
    else:
        return False
    return {SENTENCES, TAGS} <= names

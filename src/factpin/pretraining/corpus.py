"""A corpus as texts to pretrain on: files come in, texts of at most `cells` cells go out; memory does not grow.

    files -> portions of documents -> sentences, words, pieces -> packed texts

    full       whole sentences in a row, over the borders of documents, which are marked (RoBERTa's FULL-SENTENCES)
    document   the same inside one document: what is asked about two parts of a text needs that
    filled     pieces in a row, over the borders of documents; a sentence is cut where a text is full, so that short
               texts carry almost no padding
    apart      the same, for views in which documents do not see each other: each is framed and counted as a text
    running    the same inside one document: texts follow one another, for what remembers the text before
    cells      pieces, one special token in front, one behind each document, three at least; apart: three a document

A sentence that is longer than a text is cut. `before` are the pieces of the same document in front of a text.
Every text knows where the next one begins, in documents and pieces: reading can start there, and nothing before is cut
into pieces again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from factpin import files
from factpin.errors import BadInput
from factpin.extraction.inputs import Input, find_inputs
from factpin.extraction.read import read_input
from factpin.language.sentences import split_sentences
from factpin.layers.masks import Ints
from factpin.objectives.text import Text, join, nothing, text_of
from factpin.pretraining.config import Divide, Packing
from factpin.pretraining.known import Units
from factpin.tokens import Tokenizer
from factpin.tokens.words import By, word_spans

LONG = 1 << 16  # characters of a text file that are taken together
HEAD = 1 << 20  # bytes of a file that its digest reads
FRAME = 3  # special tokens around a text of one document: [CLS] A [SEP] B [SEP]
LEAST = 8  # pieces for which another document is begun in a text, where documents are apart


@dataclass(frozen=True)
class Portion:
    """Part of a document. A long text file is one document in many portions."""

    document: int  # its number in the corpus
    text: str
    mentions: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a text begins: so many pieces into a document."""

    document: int = 0
    pieces: int = 0


@dataclass(frozen=True, eq=False)
class PackedTexts:
    """Texts that fill a row, and where each begins."""

    text: Text
    documents: frozenset[int]
    next: Place  # where the next text begins
    left_out: int = 0  # documents that were taken out of the text, because they are too short to ask something


@dataclass(frozen=True)
class TextCut:
    """How documents become texts."""

    cells: int
    packing: Packing = "full"
    words: By | None = "jieba"  # None: no objective asks for words
    memory: int = 0  # pieces in `before`
    again: bool = False  # running: the second half of a text is the first half of the next (XLNet)

    @property
    def apart(self) -> bool:
        """Whether the documents of a text do not see each other."""
        return self.packing == "apart"

    def __post_init__(self) -> None:
        if self.cells < FRAME + 2:
            raise BadInput(f"A text has {FRAME + 2} cells or more, special tokens included, not {self.cells}.")


TABLES = ("csv", "tsv")  # have no column of texts that is known


class Corpus:
    """Texts to pretrain on, read from files as they are needed."""

    def __init__(
        self, paths: Sequence[Path], *, divide: Divide = "blank", encoding: str | None = None, format: str | None = None
    ) -> None:
        """`divide` says what parts the documents of a text file: a blank line, every line, or nothing."""
        if any(str(path) == "-" for path in paths):
            raise BadInput("A corpus is read several times, which standard input cannot be. Write it to a file first.")
        found, self.passed = find_inputs([Path(path) for path in paths], format)
        self.inputs = [source for source in found if source.kind not in TABLES]
        self.passed.update(source.path.suffix for source in found if source.kind in TABLES)
        if not self.inputs:
            others = ", ".join(sorted(self.passed)) or "nothing"
            raise BadInput(f"The corpus has no file that can be read; there is: {others}. Name text or JSONL files.")
        self.divide, self.encoding = divide, encoding

    def digest(self) -> bytes:
        """A mark of the files: their sizes, and what they begin with."""
        mark = blake2b(digest_size=16)
        for source in self.inputs:
            with open(source.path, "rb") as stream:
                mark.update(str(source.path.stat().st_size).encode() + stream.read(HEAD))
        return mark.digest()

    def portions(self) -> Iterator[Portion]:
        """All of it, in the order of the files; documents without text have no number."""
        number = 0
        for source in self.inputs:
            for text, mentions, ends in self._file(source):
                if text:
                    yield Portion(number, text, mentions)
                number += ends

    def _file(self, source: Input) -> Iterator[tuple[str, tuple[tuple[int, int], ...], bool]]:
        """(text, mentions, whether the document ends here), without documents that have no text."""
        if source.kind in ("text", "markdown"):
            for text, ends in _divided(source.path, self.divide, self.encoding or "utf-8"):
                yield text, (), ends
            return
        for doc in read_input(source, self.encoding):
            if doc.text.strip():
                yield doc.text, tuple((m.start, m.end) for m in doc.mentions), True

    def texts(
        self,
        tokenizer: Tokenizer,
        cut: TextCut,
        *,
        known: Units | None = None,
        start: Place | None = None,
        wanted: Callable[[int], bool] = lambda _: True,
    ) -> Iterator[PackedTexts]:
        """The packed texts of the wanted documents, from a place on."""
        start = start or Place()
        chosen = (p for p in self.portions() if p.document >= start.document and wanted(p.document))
        return packed(chosen, tokenizer, cut, known, start)


def _divided(path: Path, divide: Divide, encoding: str) -> Iterator[tuple[str, bool]]:
    """(text, whether a document ends behind it); an empty text only ends one that began before."""
    held: list[str] = []
    size, begun = 0, False
    for _, line in files.lines(path, encoding):
        ends = divide == "line" or (divide == "blank" and not line.strip())
        held.append(line)
        size += len(line) + 1
        if not ends and size < LONG:
            continue
        text = "\n".join(held)
        held, size = [], 0
        if text.strip():
            yield text, ends
            begun = not ends
        elif ends and begun:
            yield "", True
            begun = False
    text = "\n".join(held)
    if text.strip() or begun:
        yield text if text.strip() else "", True


def packed(
    portions: Iterable[Portion],
    tokenizer: Tokenizer,
    cut: TextCut,
    known: Units | None = None,
    start: Place | None = None,
) -> Iterator[PackedTexts]:
    """The texts of portions in a row, from a place on."""
    documents = ((portion.document, text_of_portion(portion, tokenizer, cut, known)) for portion in portions)
    return _pack(documents, cut, start or Place())


def text_of_portion(portion: Portion, tokenizer: Tokenizer, cut: TextCut, known: Units | None) -> Text:
    """Sentences, words, phrases, entities and pieces of a portion. Entities are its mentions, else those known."""
    text = portion.text
    sentences = split_sentences(text)
    pieces = tokenizer.encode_sentences(text, sentences)
    if not len(pieces):
        return Text(nothing(), nothing(), nothing())
    phrases, entities = known.find(text) if known is not None else (None, None)
    return text_of(
        pieces,
        sentences,
        word_spans(text, cut.words) if cut.words else (),
        phrases=phrases,
        entities=portion.mentions or entities or (),
    )


class _Row:
    """The text that is being filled."""

    def __init__(self) -> None:
        self.parts: list[Text] = []
        self.documents: list[int] = []
        self.before: Ints = nothing()
        self.used = 0  # pieces

    def room(self, cut: TextCut, document: int) -> int:
        """How many pieces of a document can still go in."""
        begins = document not in self.documents[-1:]
        count = len(self.documents) + begins
        room = cut.cells - self.used - (FRAME * count if cut.apart else max(FRAME, 1 + count))
        return 0 if cut.apart and begins and self.parts and room < LEAST else room

    def add(self, document: int, part: Text, before: Ints) -> None:
        if not self.parts:
            self.before = before
        if self.documents[-1:] == [document]:
            self.parts[-1] = join([self.parts[-1], part])
        else:
            self.parts.append(part)
            self.documents.append(document)
        self.used += len(part)

    def packed(self, next: Place) -> PackedTexts:
        marked = [replace(part, documents=np.zeros(len(part), np.int64)) for part in self.parts]
        return PackedTexts(replace(join(marked), before=self.before), frozenset(self.documents), next)


def _pack(documents: Iterator[tuple[int, Text]], cut: TextCut, start: Place) -> Iterator[PackedTexts]:
    row, base, last = _Row(), 0, -1
    history = nothing()  # the pieces of this document before the present portion
    for number, text in documents:
        if number != last:
            base, history = 0, nothing()
            if cut.packing in ("document", "running") and row.parts:
                yield row.packed(Place(number))
                row = _Row()
        last = number
        at = min(len(text), max(0, start.pieces - base)) if number == start.document else 0
        while at < len(text):
            room = row.room(cut, number)
            anywhere = cut.packing in ("filled", "apart", "running")
            stop = min(len(text), at + room) if anywhere else _stop(text, at, room)
            if stop <= at and row.parts:
                yield row.packed(Place(number, base + at))
                row = _Row()
                continue
            if stop <= at:
                stop = min(len(text), at + room)
            row.add(number, text.part(at, stop), _tail(history, text.ids[:at], cut.memory))
            at = stop
            if at < len(text):
                at = max(0, at - (row.used - row.used // 2)) if cut.again else at
                yield row.packed(Place(number, base + at))
                row = _Row()
        history = _tail(history, text.ids, cut.memory)
        base += len(text)
    if row.parts:
        yield row.packed(Place(last, base))


def _stop(text: Text, at: int, room: int) -> int:
    """The end of the last sentence that fits into the room, or `at`."""
    k = int(np.searchsorted(text.ends, at + room, side="right")) - 1
    return max(at, int(text.ends[k])) if k >= 0 else at


def _tail(before: Ints, ids: Ints, count: int) -> Ints:
    return np.concatenate([before, ids[-count:]])[-count:] if count else nothing()

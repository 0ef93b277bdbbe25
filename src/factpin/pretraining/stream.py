"""The batches of one process, pass after pass over its share of a corpus, without end; any of them can be gone to.

    block    `buffer` texts in a row, in an order that (seed, epoch, block) decides; texts of like length share a batch
    mark     where a block begins, in batches and in the corpus
    foreign  where it is needed, every text gets one of another document: of its block, or else of the pass's reserve

A run is a function of the batch's number, so a resumed run asks for the batch after its last one. The marks make that
quick: reading starts at the last one before it. They are kept in a file, and are lost without harm. Texts that are
passed over are counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from factpin.errors import BadInput
from factpin.files import byte_lines
from factpin.objectives.text import Chance, Text
from factpin.pretraining.corpus import PackedTexts, Place

LIKE = 16  # batches whose texts are sorted by length together
TRIES = 20  # draws of a foreign text from the block before the reserve is asked
LAYOUT = 2  # of the file of marks

Texts = Callable[[Place], Iterator[PackedTexts]]
Reserve = Callable[[int], Sequence[PackedTexts]]  # of a pass


@dataclass(frozen=True)
class StreamCounts:
    """What has come by, of all passes."""

    texts: int = 0  # learned from
    pieces: int = 0
    unfit: int = 0  # passed over, texts or documents of one: fewer pieces or sentences than the objective asks for
    alone: int = 0  # passed over: no other document was there to set against them


@dataclass(frozen=True)
class Mark:
    """A place in a stream, to resume from."""

    batch: int = 0  # batches before this block, of all passes
    epoch: int = 0
    text: int = 0  # texts of this pass before this block
    document: int = 0
    into: int = 0  # pieces of the document before this block
    seen: StreamCounts = StreamCounts()  # before this block


@dataclass(frozen=True, eq=False)
class DrawnBatch:
    """One batch. `numbers` count the texts of the pass in the order of the corpus."""

    batch: int
    epoch: int
    numbers: tuple[int, ...]
    texts: tuple[Text, ...]
    seen: StreamCounts  # up to this batch; what is passed over, up to the end of its block


class BatchStream:
    """The batches of one process."""

    def __init__(
        self,
        texts: Texts,
        *,
        size: int,
        buffer: int,
        seed: int,
        fits: Callable[[Text], bool] = lambda _: True,
        needs_foreign: bool = False,
        reserve: Reserve = lambda _: (),
        kept: Path | None = None,
        fingerprint: str = "",
        lanes: bool = False,
    ) -> None:
        """`lanes`: row b of every batch goes on where row b of the last one ended, as long as a block has texts.

        `texts(place)` reads the corpus from a place on; `reserve(epoch)` has texts of documents all over it."""
        self.texts, self.size, self.seed, self.fits, self.needs_foreign = texts, size, seed, fits, needs_foreign
        self.lanes = lanes
        self.reserve = lru_cache(maxsize=1)(reserve)
        self.buffer = max(1, buffer // size) * size  # whole batches
        self.marks = _Marks(kept, fingerprint)
        self._going: Iterator[DrawnBatch] | None = None
        self._next = 0
        self._recent: dict[int, DrawnBatch] = {}

    def batch(self, number: int, *, again: int = 1) -> DrawnBatch:
        """Batch `number`; the last `again` ones are at hand, another one is gone to."""
        if number not in self._recent:
            if self._going is None or number != self._next:
                self._going = self._from(number)
            self._recent[number] = next(self._going)
            self._next = number + 1
            for old in list(self._recent)[:-again]:
                del self._recent[old]
        return self._recent[number]

    def _from(self, number: int) -> Iterator[DrawnBatch]:
        return (drawn for drawn in self._batches(self.marks.before(number)) if drawn.batch >= number)

    def _batches(self, mark: Mark) -> Iterator[DrawnBatch]:
        for begin, block, chance in self._blocks(mark):
            seen = begin.seen
            order = in_lanes(len(block), self.size) if self.lanes else mixed(list(map(len, block)), self.size, chance)
            for k, rows in enumerate(order):
                texts = tuple(block[i] for i in rows)
                seen = replace(seen, texts=seen.texts + len(texts), pieces=seen.pieces + sum(map(len, texts)))
                yield DrawnBatch(begin.batch + k, begin.epoch, tuple(begin.text + i for i in rows), texts, seen)

    def _blocks(self, mark: Mark) -> Iterator[tuple[Mark, list[Text], Chance]]:
        """Pass after pass; what a block's shuffling is drawn from comes with it."""
        while True:
            begin, going = mark, self.texts(Place(mark.document, mark.into))
            while True:
                block, unfit = self._block(going)
                seen = replace(mark.seen, unfit=mark.seen.unfit + unfit)
                if not block:
                    break
                chance = np.random.default_rng([self.seed, mark.epoch, mark.text])
                texts = with_foreign(
                    block, chance, needed=self.needs_foreign, reserve=partial(self.reserve, mark.epoch)
                )
                seen = replace(seen, alone=seen.alone + len(block) - len(texts))
                self.marks.keep(mark)
                yield replace(mark, seen=seen), texts, chance
                mark = Mark(
                    batch=mark.batch + -(-len(texts) // self.size),
                    epoch=mark.epoch,
                    text=mark.text + len(block),
                    document=block[-1].next.document,
                    into=block[-1].next.pieces,
                    seen=replace(seen, texts=seen.texts + len(texts), pieces=seen.pieces + sum(map(len, texts))),
                )
            if mark.batch == begin.batch and not begin.text:
                raise BadInput(
                    "No text of the corpus fits: all are too short for the objective, or it needs a second document "
                    "and there is only one. Take longer texts (--length), divide the corpus differently (--divide), or "
                    "choose another objective."
                )
            mark = Mark(mark.batch, mark.epoch + 1, seen=seen)

    def _block(self, going: Iterator[PackedTexts]) -> tuple[list[PackedTexts], int]:
        """The next texts that fit, and how many came between that do not."""
        block: list[PackedTexts] = []
        unfit = 0
        for one in going:
            if not self.fits(one.text):
                unfit += 1
                continue
            unfit += one.left_out
            block.append(one)
            if len(block) == self.buffer:
                break
        return block, unfit


def mixed(lengths: Sequence[int], size: int, chance: Chance) -> list[list[int]]:
    """Every index once: shuffled, sorted by length among LIKE batches, and the batches shuffled."""
    order = chance.permutation(len(lengths))
    found: list[list[int]] = []
    for at in range(0, len(order), LIKE * size):
        like = sorted(order[at : at + LIKE * size].tolist(), key=lambda i: -lengths[i])
        found += [like[k : k + size] for k in range(0, len(like), size)]
    return [found[i] for i in chance.permutation(len(found))]


def in_lanes(count: int, size: int) -> list[list[int]]:
    """Every index once: `size` runs of neighbours side by side; a run that is shorter comes last."""
    long = -(-count // size)
    return [list(range(k, count, long)) for k in range(long)]


def with_foreign(
    block: Sequence[PackedTexts], chance: Chance, *, needed: bool, reserve: Callable[[], Sequence[PackedTexts]] = tuple
) -> list[Text]:
    """Every text with another one that shares no document with it; where one is needed and none found, no text."""
    found = []
    far: Sequence[PackedTexts] | None = None
    apart: dict[frozenset[int], list[Text]] = {}  # documents -> what of the reserve shares none with them
    for one in block:
        draws = (block[i] for i in chance.integers(len(block), size=TRIES).tolist())
        other = next((draw.text for draw in draws if not draw.documents & one.documents), None)
        if other is None and needed:
            far = reserve() if far is None else far
            if one.documents not in apart:
                apart[one.documents] = [some.text for some in far if not some.documents & one.documents]
            texts = apart[one.documents]
            other = texts[int(chance.integers(len(texts)))] if texts else None
        if other is not None or not needed:
            found.append(replace(one.text, foreign=other))
    return found


class _Marks:
    """The marks of a run in a file of one line each; a file of another run is begun anew. Without a file, the first."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        self.path, self.last = path, Mark()
        if path is None:
            return
        head = {"fingerprint": fingerprint, "layout": LAYOUT}
        if path.exists() and next(_records(path), None) == head:
            *_, self.last = self._all()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(head) + b"\n")

    def before(self, batch: int) -> Mark:
        """The last known mark that is not behind a batch."""
        return max((mark for mark in self._all() if mark.batch <= batch), key=lambda mark: mark.batch)

    def keep(self, mark: Mark) -> None:
        if self.path is None or mark.batch <= self.last.batch:
            return
        self.last = mark
        with open(self.path, "ab") as stream:
            stream.write(orjson.dumps(asdict(mark)) + b"\n")

    def _all(self) -> Iterator[Mark]:
        yield Mark()
        if self.path is not None:
            for record in islice(_records(self.path), 1, None):
                yield Mark(**{**record, "seen": StreamCounts(**record["seen"])})


def _records(path: Path) -> Iterator[Any]:
    """The lines of the file, without those that a crash cut off."""
    for _, _, line in byte_lines(path):
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError:
            continue

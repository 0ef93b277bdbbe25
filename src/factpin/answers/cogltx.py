"""CogLTX: read a long text with a model that reads little, by keeping the blocks that matter (MemRecall).

    query   what the text is read for: a question, nothing (classes), or a block whose pieces are labelled
    blocks  the text in parts of at most `size` pieces, cut where sentences end
    judge   scores blocks that it reads side by side, behind the query: windows of block numbers -> scores

    for every step:
        competition   memory z and as many other blocks as fit, in as many windows as it takes: every block is scored
        filling       z gets the best blocks, in the order of the text, as long as they fit
        rehearsal     z is scored by itself, and only the best `keep` stay; after the last step all of z stays

Public code writes the steps as times="3,5", where the last number has no effect; here that is keep=(3,). It fills z up
to the first block that does not fit, and so does this.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from factpin.documents import Span
from factpin.errors import BadInput
from factpin.memory import bm25
from factpin.memory.passages import PassageSettings, cut
from factpin.memory.terms import query_terms, terms
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints
from factpin.words import count

SIZE = 63  # pieces of a block; with its separator, eight blocks make 512
KEEP = (3,)
CAPACITY = 512
NEAR = 0.15  # blocks whose BM25 score is this close to the best one are taken for relevant at first
UP, DOWN = 0.2, 0.05  # change of the loss without a block from which it counts as needed, and up to which as useless
LOWEST, HIGHEST = -1, 2  # of the relevance of a block; from 1 on it is a positive example for the judge

Windows = Sequence[Sequence[int]]
JudgeBlocks = Callable[[Windows], Sequence[Sequence[float]]]


@dataclass(frozen=True, eq=False, slots=True)
class TextBlock:
    """Characters of a document that are kept or dropped together."""

    document: int  # index among the documents that are read together
    span: Span
    ids: Ints
    starts: Ints  # the characters of the document under each piece
    ends: Ints


def cut_blocks(texts: Sequence[str], tokenizer: Tokenizer, size: int = SIZE) -> list[TextBlock]:
    """The blocks of documents, in order. Every character but white space is in exactly one.

    A document of whose characters none has a piece, such as one of control characters, has no block.
    """
    return [b for number, text in enumerate(texts) for b in _with_pieces(_blocks(number, text, tokenizer, size))]


def _blocks(number: int, text: str, tokenizer: Tokenizer, size: int) -> Iterator[TextBlock]:
    spans = cut(text, PassageSettings(size))
    pieces = tokenizer.encode_batch([text[start:end] for start, end in spans])
    for (start, _), part in zip(spans, pieces, strict=True):
        for first, last in _even(len(part), size):
            a, b = _characters(part.start, part.end, first, last, len(part.text))
            at = (part.start[first:last] + start, part.end[first:last] + start)
            if a < b:
                yield TextBlock(number, Span(start + a, start + b), part.ids[first:last], *at)


def _with_pieces(blocks: Iterable[TextBlock]) -> list[TextBlock]:
    """Blocks without pieces cannot be judged: they are added to the block before, the first ones to the block after."""
    found: list[TextBlock] = []
    start: int | None = None  # of the text, if it begins with characters that have no pieces
    for block in blocks:
        if len(block.ids):
            found.append(block if start is None else replace(block, span=Span(start, block.span.end)))
            start = None
        elif found:
            found[-1] = replace(found[-1], span=Span(found[-1].span.start, block.span.end))
        elif start is None:
            start = block.span.start
    return found


def _even(count: int, size: int) -> list[tuple[int, int]]:
    """Parts of equal length, none longer than the size."""
    many = max(1, -(-count // size))
    length = max(1, -(-count // many))
    return [(at, min(count, at + length)) for at in range(0, max(1, count), length)]


def _characters(start: Ints, end: Ints, first: int, last: int, whole: int) -> tuple[int, int]:
    """The characters of some pieces, with those that no piece covers up to the next part."""
    low = 0 if first == 0 else max(int(start[first]), int(end[first - 1]))
    return low, whole if last >= len(start) else max(int(start[last]), int(end[last - 1]))


@dataclass(frozen=True, slots=True)
class RecallStep:
    """A step of MemRecall: the score of every block in the competition, what filled z, and what stayed."""

    scores: tuple[float, ...]
    filled: tuple[int, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """The numbers of the blocks that were kept, in the order of the text, and how they were found."""

    kept: tuple[int, ...]
    steps: tuple[RecallStep, ...] = ()


def mem_recall(lengths: Sequence[int], room: int, judge: JudgeBlocks, keep: Sequence[int] = KEEP) -> Recall:
    """The blocks to read. lengths: pieces of each block with its separator; room: how many fit beside the query.

    Where all blocks fit, all are kept, and nothing is judged.
    """
    longest = max(lengths, default=0)
    if any(count < 1 for count in keep):
        raise BadInput(f"keep is {tuple(keep)}; expected 1 or more blocks after every rehearsal.")
    if sum(lengths) <= room:
        return Recall(tuple(range(len(lengths))))
    if longest > room:
        raise BadInput(f"A block of {count(longest, 'piece')} does not fit beside the query, which leaves "
                       f"{max(0, room)}. Shorten the query, make blocks smaller, or read more at once.")  # fmt: skip
    z: tuple[int, ...] = ()
    steps: list[RecallStep] = []
    for few in (*keep, None):
        scores = _compete(lengths, room, judge, z)
        filled = _fill(lengths, room, scores, z)
        z = filled if few is None else _rehearse(lengths, room - longest, judge, filled, few)
        steps.append(RecallStep(tuple(scores), filled, z))
    return Recall(z, tuple(steps))


def pack(lengths: Sequence[int], room: int, z: Sequence[int]) -> list[list[int]]:
    """Windows of consecutive blocks, each together with z; every block that is not in z is in exactly one."""
    left = room - sum(lengths[i] for i in z)
    windows: list[list[int]] = []
    used = room + 1
    for i in range(len(lengths)):
        if i in z:
            continue
        if used + lengths[i] > left:
            windows.append([])
            used = 0
        windows[-1].append(i)
        used += lengths[i]
    return [sorted((*z, *window)) for window in windows]


def consecutive(lengths: Sequence[int], room: int, first: int) -> list[int]:
    """As many neighbouring blocks as fit, from one on."""
    found = []
    for i in range(first, len(lengths)):
        room -= lengths[i]
        if room < 0:
            break
        found.append(i)
    return found


def fitting(order: Sequence[int], lengths: Sequence[int], room: int) -> list[int]:
    """As many blocks as fit, tried in an order; in the order of the text."""
    found = []
    for i in order:
        if lengths[i] <= room:
            room -= lengths[i]
            found.append(int(i))
    return sorted(found)


def _compete(lengths: Sequence[int], room: int, judge: JudgeBlocks, z: Sequence[int]) -> list[float]:
    """The score of every block; of a block in z, the mean over all windows."""
    windows = pack(lengths, room, z)
    total, seen = [0.0] * len(lengths), [0] * len(lengths)
    for window, scores in zip(windows, judge(windows), strict=True):
        for i, score in zip(window, scores, strict=True):
            total[i] += score
            seen[i] += 1
    return [score / max(1, count) for score, count in zip(total, seen, strict=True)]


def _fill(lengths: Sequence[int], room: int, scores: Sequence[float], z: Sequence[int]) -> tuple[int, ...]:
    filled, used = list(z), sum(lengths[i] for i in z)
    for i in sorted(set(range(len(lengths))) - set(z), key=lambda i: (-scores[i], i)):
        used += lengths[i]
        if used > room:
            break
        filled.append(i)
    return tuple(sorted(filled))


def _rehearse(
    lengths: Sequence[int], room: int, judge: JudgeBlocks, filled: Sequence[int], count: int
) -> tuple[int, ...]:
    """The best blocks of z; so few that another block fits beside them."""
    (scores,) = judge([filled])
    ranked = [i for _, i in sorted(zip(scores, filled, strict=True), key=lambda pair: (-pair[0], pair[1]))][:count]
    while sum(lengths[i] for i in ranked) > room:
        ranked.pop()
    return tuple(sorted(ranked))


def first_relevance(query: str, texts: Sequence[str]) -> list[int]:
    """1 for the blocks that BM25 finds best for a query, and for those nearly as good; 0 for all others.

    The query of a text to classify is the name of its class.
    """
    wanted, counts = query_terms(query), [Counter(terms(text)) for text in texts]
    sizes = [sum(count.values()) for count in counts]
    average = max(1.0, sum(sizes) / max(1, len(sizes)))
    weights = {term: bm25.idf(len(texts), sum(term in count for count in counts)) for term in wanted}
    scores = [
        sum(bm25.part(weights[term], count[term], size, average) for term in wanted if term in count)
        for count, size in zip(counts, sizes, strict=True)
    ]
    best = max(scores, default=0.0)
    return [int(best > 0 and 1 - score / best < NEAR) for score in scores]


def revise(relevance: int, change: float, up: float = UP, down: float = DOWN) -> int:
    """The relevance of a block after an intervention. change: loss without the block - loss with it.

    Public code has down = -0.05, and so lowers a block only if the loss is better without it. A useless block, which
    changes nothing, would stay; here it is lowered.
    """
    if down >= up:
        raise BadInput(f"up is {up} and down is {down}; expected down below up.")
    step = 1 if change >= up else -1 if change <= down else 0
    return max(LOWEST, min(HIGHEST, relevance + step))

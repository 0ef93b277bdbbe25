"""Join spans to triples: which (subject, relation, object) hold, without a (B, R, N, N) array.

    s         q[b, i] . k[b, j] + v[b, r, j] + u[b, r, i], added in this order
    heads     s at (subject's first token, object's first token)
    tails     s at (subject's last token, object's last token)

    score of a triple = min(subject, object, heads, tails); it is found where its score is above the cut of its relation

Texts with few pairs are joined together: every pair of spans is scored for every relation. In a text with more pairs
than BLOCK holds, pairs are first sorted out by bits: a bit tells for a pair of tokens whether a relation is above its
cut, and `and` of the bits at both ends of two spans tells whether any relation can hold between them. Both ways give
the same triples in the same order: by text, subject, object, relation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Bools, Floats32, Ints
from factpin.tasks.spans.cells import SpanCells
from factpin.tasks.spans.scores import FactoredScores

BLOCK = 1 << 19  # scores held at once
MANY = 4  # scores for each u of the batch from which it pays to turn u and v round in memory
WORD = 64  # bits of a word
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Triples:
    """Triples as indices of spans, with their scores."""

    relation: Ints  # (T,)
    subject: Ints  # (T,) index of a span
    object: Ints  # (T,) index of a span
    score: Floats32  # (T,)

    def __len__(self) -> int:
        return len(self.relation)

    def take(self, index: Bools | Ints) -> "Triples":
        """Some of the triples."""
        return Triples(self.relation[index], self.subject[index], self.object[index], self.score[index])

    @staticmethod
    def chain(parts: "Sequence[Triples]") -> "Triples":
        """All parts, one after the other; there may be none."""
        if len(parts) == 1:
            return parts[0]
        none, no_score = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        return Triples(
            np.concatenate([part.relation for part in parts] or none),
            np.concatenate([part.subject for part in parts] or none),
            np.concatenate([part.object for part in parts] or none),
            np.concatenate([part.score for part in parts] or no_score),
        )


@dataclass(frozen=True)
class SpanCandidates:
    """Spans that may be joined; `subjects` and `objects` are indices of spans, in the order of the texts."""

    cells: SpanCells  # (P,)
    subjects: Ints  # (S,)
    objects: Ints  # (O,)


def join(
    spans: SpanCandidates,
    heads: FactoredScores,
    tails: FactoredScores,
    cut: Floats32,
    *,
    allowed: Bools | None = None,
    most: int | None = None,
) -> tuple[Triples, Bools]:
    """The triples above the cut, and for each text (B,) whether there were more than the `most` best that are kept.

    cut (R,); allowed (R, C, C), True where a relation may join a subject and an object of these classes.
    """
    B, R, _ = heads.u.shape
    truncated = np.zeros(B, np.bool_)
    batch = spans.cells.batch
    subjects, objects = (np.bincount(batch[index], minlength=B) for index in (spans.subjects, spans.objects))
    costs = (subjects * objects * R).tolist()
    turned = sum(costs) > MANY * heads.u.size
    work = _Join(spans, _Links(heads, turned), _Links(tails, turned), cut, allowed)
    parts: list[Triples] = []
    for first, last in _groups(costs):
        kept = [_Best(most) for _ in range(first, last)]
        if sum(costs[first:last]) > BLOCK:
            for found in work.by_bits(first):
                kept[0].add(found)
        else:
            found = work.by_pairs(first, last, objects)
            text = batch[found.subject]
            if most is None or len(found) <= most or np.bincount(text).max() <= most:
                parts.append(found)
                continue
            for at, best in enumerate(kept):
                best.add(found.take(text == first + at))
        for at, best in enumerate(kept):
            parts += best.parts
            truncated[first + at] = best.truncated
    return Triples.chain(parts), truncated


def _groups(costs: list[int]) -> Iterator[tuple[int, int]]:
    """Runs first:last of texts that fit into one block, without texts that cost nothing at their ends; a text that
    does not fit is a separate run."""
    first, last, total = 0, 0, 0
    for text, cost in enumerate(costs):
        if not cost:
            continue
        if total and total + cost > BLOCK:
            yield first, last
            total = 0
        if not total:
            first = text
        last, total = text + 1, total + cost
    if total:
        yield first, last


class _Best:
    """The `most` best triples of a text; of equal scores the earlier stays, so blocks change nothing."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.parts: list[Triples] = []
        self.floor: float | None = None  # what a later triple must exceed
        self.truncated = False

    def add(self, found: Triples) -> None:
        if self.floor is not None:
            found = found.take(found.score > np.float32(self.floor))
        self.parts.append(found)
        if self.most is None or sum(len(part) for part in self.parts) <= self.most:
            return
        whole = Triples.chain(self.parts)
        best = np.argsort(-whole.score, kind="stable")[: self.most]
        self.parts = [whole.take(np.sort(best))]
        self.floor = float(self.parts[0].score.min(initial=np.inf))
        self.truncated = True


class _Links:
    """Factored scores of pairs of tokens."""

    def __init__(self, scores: FactoredScores, turned: bool) -> None:
        """turned: the terms of a token side by side in memory, which pays for many pairs."""
        self.q, self.k, self.turned = scores.q, scores.k, turned
        u, v = scores.u.transpose(0, 2, 1), scores.v.transpose(0, 2, 1)  # 2 x (B, N, R)
        self.u, self.v = (np.ascontiguousarray(u), np.ascontiguousarray(v)) if turned else (u, v)

    def rows(self, batch: Ints, i: Ints, j: Ints) -> Floats32:
        """Scores of m pairs for every relation (m, R)."""
        A = np.einsum("md,md->m", self.q[batch, i], self.k[batch, j])
        s, u = self._of_tokens(self.v, batch, j), self._of_tokens(self.u, batch, i)  # 2 x (m, R)
        s += A[:, None]
        s += u
        return s

    def _of_tokens(self, x: Floats32, batch: Ints, i: Ints) -> Floats32:
        """x (B, N, R) at m tokens (m, R)."""
        if not self.turned:
            return x[batch, i]
        B, N, R = x.shape
        return x.reshape(B * N, R).take(batch * N + i, axis=0)


@dataclass(frozen=True)
class _Join:
    spans: SpanCandidates
    heads: _Links
    tails: _Links
    cut: Floats32
    allowed: Bools | None

    def by_pairs(self, first: int, last: int, objects: Ints) -> Triples:
        """All pairs of spans of the texts first:last, flat."""
        batch = self.spans.cells.batch
        own = self.spans.subjects
        own = own[(batch[own] >= first) & (batch[own] < last)]  # (S',)
        many = objects[batch[own]]  # (S',) of its text
        begin = (objects.cumsum() - objects)[batch[own]]  # (S',) where the objects of its text begin
        subject = own.repeat(many)  # (P,)
        at = np.arange(len(subject)) + (begin - (many.cumsum() - many)).repeat(many)
        return self._standing(subject, self.spans.objects[at])

    def by_bits(self, text: int) -> Iterator[Triples]:
        """The pairs of spans of one text between which a relation can hold, a block of them at a time."""
        cells = self.spans.cells
        subjects, objects = (x[cells.batch[x] == text] for x in (self.spans.subjects, self.spans.objects))
        heads, head_row, head_column = self._words(self.heads, text, cells.start[subjects], cells.start[objects])
        tails, tail_row, tail_column = self._words(self.tails, text, cells.end[subjects], cells.end[objects])

        rows = _any(heads, (1, 2))[head_row] & _any(tails, (1, 2))[tail_row]  # (S,)
        columns = _any(heads, (0, 2))[head_column] & _any(tails, (0, 2))[tail_column]  # (O,)
        subjects, head_row, tail_row = subjects[rows], head_row[rows], tail_row[rows]
        objects, head_column, tail_column = objects[columns], head_column[columns], tail_column[columns]

        size = max(1, BLOCK // max(1, len(objects) * heads.shape[2]))
        for at in range(0, len(subjects), size):
            block = slice(at, at + size)
            word = heads[head_row[block]][:, head_column]
            word &= tails[tail_row[block]][:, tail_column]  # (block, O, W)
            subject, object_ = np.nonzero(_any(word, (2,)))
            few = max(1, BLOCK // len(self.cut))
            for low in range(0, len(subject), few):
                pair = slice(low, low + few)
                yield self._standing(subjects[block][subject[pair]], objects[object_[pair]])

    def _words(self, links: _Links, text: int, i: Ints, j: Ints) -> tuple[Words, Ints, Ints]:
        """Words (I, J, W) over the distinct tokens of i and j, and the row and the column of each span."""
        i, row = np.unique(i, return_inverse=True)
        j, column = np.unique(j, return_inverse=True)
        A = links.q[text, i] @ links.k[text, j].T  # (I, J)
        return pack(A, links.u[text, i], links.v[text, j], self.cut), row, column

    def _standing(self, subject: Ints, object_: Ints) -> Triples:
        """The triples above the cut among pairs of spans (P,); tails are scored only where a head is above its cut."""
        cells = self.spans.cells
        batch = cells.batch[subject]
        head = self.heads.rows(batch, cells.start[subject], cells.start[object_])  # (P, R)
        alive = np.flatnonzero((head > self.cut).any(axis=1))  # (M,)
        if len(alive) < len(subject):
            batch, subject, object_, head = batch[alive], subject[alive], object_[alive], head[alive]
        s = self.tails.rows(batch, cells.end[subject], cells.end[object_])  # (M, R)
        np.minimum(s, head, out=s)
        np.minimum(s, np.minimum(cells.score[subject], cells.score[object_])[:, None], out=s)
        hit = s > self.cut
        if self.allowed is not None:
            hit &= self.allowed[:, cells.label[subject], cells.label[object_]].T
        at = np.flatnonzero(hit)
        pair, relation = np.divmod(at, len(self.cut))
        return Triples(relation, subject[pair], object_[pair], s.ravel()[at])


def pack(A: Floats32, u: Floats32, v: Floats32, cut: Floats32) -> Words:
    """Words (I, J, W) whose bits say which relations are above cut (R,); A (I, J), u (I, R), v (J, R).

    Rounding is monotone: a cell that its largest u and v do not lift has no bit.
    """
    R = len(cut)
    W = -(-R // WORD)
    words = np.zeros((*A.shape, W), np.uint64)
    bound = A + v.max(axis=1)
    bound += u.max(axis=1)[:, None]
    cells = np.nonzero(bound > cut.min())
    size = max(1, BLOCK // (W * WORD))
    for at in range(0, len(cells[0]), size):
        i, j = cells[0][at : at + size], cells[1][at : at + size]
        s = A[i, j][:, None] + v[j]  # (m, R)
        s += u[i]
        bits = np.packbits(s > cut, axis=1)  # (m, bytes)
        words[i, j] = np.pad(bits, ((0, 0), (0, W * WORD // 8 - bits.shape[1]))).view(np.uint64)
    return words


def _any(words: Words, axes: tuple[int, ...]) -> Bools:
    """Whether any bit is set along these axes."""
    return np.asarray(np.bitwise_or.reduce(words, axis=axes) > 0)

"""Spans, and spans to triples: which (subject, relation, object) stand, without a (B, R, N, N) tensor.

    A, u, v   factored scores of pairs of tokens: A (B, N, N), u and v (B, R, N)
    s         A[b, i, j] + v[b, r, j] + u[b, r, i], added in this order, so that a score is that of the dense form
    heads     s at (subject's first token, object's first token)
    tails     s at (subject's last token, object's last token)

    score of a triple = min(subject, object, heads, tails); it stands where its score is above its relation's threshold

Texts with few pairs are joined together: every pair of spans is scored for every relation. In a text with more pairs
than BLOCK holds, pairs are first sorted out by bits: a word tells for a pair of tokens which of BITS relations are
above the threshold, and `and` of the words at both ends of two spans tells whether any relation can hold between them,
BITS at a time. Both ways give the same triples in the same order: by text, subject, object, relation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from factpin.layers.places import Places, pieces

BLOCK = 1 << 19  # scores held at once
ROWS = 128  # rows of spans scored at once: more rows waste cells under the diagonal
BITS = 62  # relations in a word: no shift touches the sign
MANY = 4  # scores for each u of the batch from which it pays to turn u and v round in memory


def span_hits(
    q: Tensor, k: Tensor, real: Tensor, max_span: int | None, threshold: float
) -> Iterator[tuple[Places, Tensor]]:
    """The places and scores of the spans above the threshold, some rows at a time; q and k (B, N, C, d).

    What `tiled_hits` finds, for a batch at once: C is small here, and cells that do not exist are left out of the hits.
    """
    B, N, C, _ = q.shape
    left, right = q.transpose(1, 2), k.permute(0, 2, 3, 1)  # (B, C, N, d), (B, C, d, N)
    rows = min(ROWS, max(1, BLOCK // max(1, B * C * N)))
    for top in range(0, N, rows):
        s = left[:, :, top : top + rows] @ right[..., top:]  # (B, C, rows, N - top)
        batch, label, i, j = (s > threshold).nonzero().unbind(1)
        exists = (i <= j) & real[batch, i + top] & real[batch, j + top]
        if max_span is not None:
            exists &= j - i < max_span
        batch, label, i, j = (x[exists] for x in (batch, label, i, j))
        yield Places(batch, label, i + top, j + top), s[batch, label, i, j]


@dataclass(frozen=True)
class Links:
    """Factored scores of pairs of tokens."""

    A: Tensor  # (B, N, N)
    u: Tensor  # (B, R, N), at the subject's token
    v: Tensor  # (B, R, N), at the object's token

    def rows(self, batch: Tensor, i: Tensor, j: Tensor) -> Tensor:
        """Scores of m pairs for every relation (m, R)."""
        return (self.A[batch, i, j][:, None] + _of_tokens(self.v, batch, j)).add_(_of_tokens(self.u, batch, i))

    def by_token(self) -> "Links":
        """The same numbers, with the relations of a token side by side in memory: for many rows."""
        return Links(self.A, self.u.mT.contiguous().mT, self.v.mT.contiguous().mT)


def _of_tokens(x: Tensor, batch: Tensor, i: Tensor) -> Tensor:
    """x (B, R, N) at m tokens (m, R)."""
    rows = x.mT  # (B, N, R)
    if rows.is_contiguous():
        return rows.flatten(0, 1).index_select(0, batch * rows.shape[1] + i)
    return rows[batch, i]


@dataclass(frozen=True)
class Candidates:
    """Spans that may be joined; `subjects` and `objects` are indices of spans, in the order of the texts."""

    place: Places  # (P,) each
    score: Tensor  # (P,)
    subjects: Tensor  # (S,)
    objects: Tensor  # (O,)


@dataclass(frozen=True)
class Triples:
    """Triples as indices of spans, with their scores."""

    relation: Tensor  # (T,)
    subject: Tensor  # (T,) index of a span
    object: Tensor  # (T,) index of a span
    score: Tensor  # (T,)

    def take(self, index: Tensor) -> "Triples":
        return Triples(self.relation[index], self.subject[index], self.object[index], self.score[index])

    @staticmethod
    def chain(parts: "Sequence[Triples]") -> "Triples":
        """All parts, one after the other; there is at least one."""
        return Triples(
            torch.cat([part.relation for part in parts]),
            torch.cat([part.subject for part in parts]),
            torch.cat([part.object for part in parts]),
            torch.cat([part.score for part in parts]),
        )


def join(
    spans: Candidates,
    heads: Links,
    tails: Links,
    threshold: Tensor,
    *,
    allowed: Tensor | None = None,
    most: int | None = None,
) -> tuple[Triples, Tensor]:
    """The triples that stand, and for each text (B,) whether more stood than the `most` best that are kept.

    threshold (R,); allowed (R, C, C), True where a relation may join a subject and an object of these classes.
    """
    B, R = heads.u.shape[:2]
    none = torch.zeros(0, dtype=torch.int64, device=threshold.device)
    parts = [Triples(none, none, none, spans.score[:0])]
    truncated = torch.zeros(B, dtype=torch.bool)
    subjects, objects = (_counts(spans.place.batch[index], B) for index in (spans.subjects, spans.objects))
    costs = [s * o * R for s, o in zip(subjects, objects, strict=True)]
    if sum(costs) > MANY * heads.u.numel():
        heads, tails = heads.by_token(), tails.by_token()
    work = _Join(spans, heads, tails, threshold, allowed)
    for first, last in _groups(costs):
        kept = [_Best(most) for _ in range(first, last)]
        if sum(costs[first:last]) > BLOCK:
            for found in work.by_bits(first):
                kept[0].add(found)
        elif sum(costs[first:last]):
            found = work.by_pairs(range(first, last), objects)
            text = spans.place.batch[found.subject]
            if most is None or max(_counts(text, B)) <= most:
                parts.append(found)
                continue
            for at, best in enumerate(kept):
                best.add(found.take(text == first + at))
        for at, best in enumerate(kept):
            parts += best.parts
            truncated[first + at] = best.truncated
    return Triples.chain(parts), truncated.to(threshold.device)


def _counts(batch: Tensor, B: int) -> list[int]:
    return [int(count) for count in torch.bincount(batch, minlength=B).tolist()]


def _groups(costs: list[int]) -> Iterator[tuple[int, int]]:
    """Runs first:last of texts that fit into one block; a text that does not fit is a run of its own."""
    first, total = 0, 0
    for text, cost in enumerate(costs):
        if text > first and total + cost > BLOCK:
            yield first, text
            first, total = text, 0
        total += cost
    if costs:
        yield first, len(costs)


class _Best:
    """The `most` best triples of a text; of equal scores the earlier stays, so blocks change nothing."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.parts: list[Triples] = []
        self.floor: Tensor | None = None  # what a later triple must exceed
        self.truncated = False

    def add(self, found: Triples) -> None:
        if self.floor is not None:
            found = found.take(found.score > self.floor)
        self.parts.append(found)
        if self.most is None or sum(part.score.numel() for part in self.parts) <= self.most:
            return
        whole = Triples.chain(self.parts)
        best = whole.score.argsort(descending=True, stable=True)[: self.most]
        self.parts = [whole.take(best.sort().values)]
        self.floor = self.parts[0].score.amin() if self.most else whole.score.new_tensor(torch.inf)
        self.truncated = True


@dataclass(frozen=True)
class _Join:
    spans: Candidates
    heads: Links
    tails: Links
    threshold: Tensor
    allowed: Tensor | None

    def by_pairs(self, texts: range, objects: list[int]) -> Triples:
        """All pairs of spans of some texts, flat."""
        batch = self.spans.place.batch
        own = self.spans.subjects
        own = own[(batch[own] >= texts.start) & (batch[own] < texts.stop)]  # (S',)
        count = torch.tensor(objects, device=own.device)  # (B,)
        begin = count.cumsum(0) - count  # where the objects of a text begin
        many = count[batch[own]]  # (S',)
        subject = own.repeat_interleave(many)  # (P,)
        at = torch.arange(subject.numel(), device=own.device) - (many.cumsum(0) - many).repeat_interleave(many)
        return self._standing(subject, self.spans.objects[begin[batch[subject]] + at])

    def by_bits(self, text: int) -> Iterator[Triples]:
        """The pairs of spans of one text between which a relation can hold, a block of them at a time."""
        place = self.spans.place
        subjects, objects = (x[place.batch[x] == text] for x in (self.spans.subjects, self.spans.objects))
        heads, head_row, head_column = self._words(self.heads, text, place.start[subjects], place.start[objects])
        tails, tail_row, tail_column = self._words(self.tails, text, place.end[subjects], place.end[objects])

        rows = heads.any(dim=2).any(dim=1)[head_row] & tails.any(dim=2).any(dim=1)[tail_row]  # (S,)
        columns = heads.any(dim=2).any(dim=0)[head_column] & tails.any(dim=2).any(dim=0)[tail_column]  # (O,)
        subjects, head_row, tail_row = subjects[rows], head_row[rows], tail_row[rows]
        objects, head_column, tail_column = objects[columns], head_column[columns], tail_column[columns]

        size = BLOCK // max(1, objects.numel() * heads.shape[2])
        for block in pieces(torch.arange(subjects.numel(), device=subjects.device), size):
            word = heads[head_row[block]][:, head_column] & tails[tail_row[block]][:, tail_column]  # (block, O, W)
            for pair in pieces(word.any(dim=2).nonzero(), BLOCK // self.threshold.numel()):
                yield self._standing(subjects[block[pair[:, 0]]], objects[pair[:, 1]])

    def _words(self, links: Links, text: int, i: Tensor, j: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Words (I, J, W) over the distinct tokens of i and j, and the row and the column of each span."""
        i, row = torch.unique(i, return_inverse=True)
        j, column = torch.unique(j, return_inverse=True)
        part = Links(links.A[text][i][:, j], links.u[text][:, i], links.v[text][:, j])
        return pack(part, self.threshold), row, column

    def _standing(self, subject: Tensor, object_: Tensor) -> Triples:
        """Of pairs of spans (P,), the triples that stand; tails are scored only where a head is above its threshold."""
        place, score = self.spans.place, self.spans.score
        batch = place.batch[subject]
        head = self.heads.rows(batch, place.start[subject], place.start[object_])  # (P, R)
        alive = (head > self.threshold).any(dim=1).nonzero().squeeze(1)  # (M,)
        if alive.numel() < subject.numel():
            batch, subject, object_, head = batch[alive], subject[alive], object_[alive], head[alive]
        s = self.tails.rows(batch, place.end[subject], place.end[object_])  # (M, R)
        s = torch.minimum(s, head, out=s)
        s = torch.minimum(s, score[subject].minimum(score[object_])[:, None], out=s)
        hit = s > self.threshold
        if self.allowed is not None:
            hit &= self.allowed.permute(1, 2, 0)[place.label[subject], place.label[object_]]
        pair, relation = hit.nonzero().unbind(1)
        return Triples(relation, subject[pair], object_[pair], s[pair, relation])


def pack(links: Links, threshold: Tensor) -> Tensor:
    """Words (I, J, W): bit r % BITS of word r // BITS is set where the score of r is above threshold (R,).

    A (I, J), u (R, I), v (R, J). Rounding is monotone: a cell that its largest u and v do not lift has no bit.
    """
    A, u, v = links.A, links.u.mT.contiguous(), links.v.mT.contiguous()  # u (I, R), v (J, R)
    R = threshold.numel()
    W = -(-R // BITS)
    bit = torch.ones((), dtype=torch.int64, device=A.device) << torch.arange(BITS, device=A.device)
    words = torch.zeros(*A.shape, W, dtype=torch.int64, device=A.device)
    bound = (A + v.amax(dim=1)).add_(u.amax(dim=1)[:, None])
    for cells in pieces((bound > threshold.amin()).nonzero(), BLOCK // (W * BITS)):
        i, j = cells.unbind(1)
        hit = (A[i, j][:, None] + v[j]).add_(u[i]) > threshold  # (m, R)
        words[i, j] = (pad(hit, (0, W * BITS - R)).view(-1, W, BITS) * bit).sum(dim=-1)
    return words

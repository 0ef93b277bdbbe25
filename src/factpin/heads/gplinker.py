"""GPLinker: spans that are subjects or objects, and the relations that link their first and their last tokens.

    H       token vectors                               (B, N, D)
    real    True at text                                (B, N)
    spans   GlobalPointer over C classes                (B, C, N, N)   > 0: tokens i..j are a subject or an object
    heads   Efficient GlobalPointer over R relations    (B, R, N, N)   > 0: i and j begin a subject and its object
    tails   the same for last tokens                    (B, R, N, N)   > 0: i and j end a subject and its object

    (s, r, o) holds where spans, spans, heads and tails at its tokens are all above the threshold; its score is the
    least of the four. The loss of a text is the sum over all classes and relations of their multi-label losses, / 3.

A class is (role, entity type): first every type of subjects, then every type of objects. Without types there is one of
each. `heads` and `tails` have no triangle, since a subject may follow its object; only `spans` rotates, unless `rope`.
Where a text is annotated for some relations only (gold.known), links of the others have no negatives; spans always
have, or classes that few texts annotate would accept every span.
Each class and relation weighs the same: a mean of three means would give two classes of spans the weight of all
relations, and on WebNLG with its 171 relations the first epoch then ends at F1 6 instead of 34.
Differs from xhw205/GPLinker_torch (nets/gpNet.py, predict.py): relations are scored by Efficient GlobalPointer, special
tokens are masked and not counted off by position, and scores are never held for all (relation, token, token).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from factpin.errors import BadInput
from factpin.heads.cells import Cells, known_only, known_rows
from factpin.heads.efficient_global_pointer import (
    EfficientGlobalPointer,
    EfficientGlobalPointerConfig,
    EfficientGlobalPointerScores,
)
from factpin.heads.global_pointer import GlobalPointer, GlobalPointerConfig, GlobalPointerScores
from factpin.heads.inherit import Names
from factpin.layers.agreement import yes_no_apart
from factpin.layers.exact import exact
from factpin.layers.factored import factored_negatives
from factpin.layers.multilabel_loss import positive_loss
from factpin.layers.places import CellIndices, pieces
from factpin.tasks.triples.find import TripleScores
from factpin.tasks.triples.targets import Targets

BLOCK = 1 << 22  # scores compared at once by `apart`


@dataclass(frozen=True)
class GPLinkerConfig:
    """Settings of GPLinker."""

    relations: tuple[str, ...]
    subjects: tuple[str, ...] = ("",)  # entity types of subjects; one empty type: spans have no types
    objects: tuple[str, ...] = ("",)
    head_size: int = 64
    rope: bool = False  # of heads and tails; spans are always rotated
    max_span: int | None = None  # tokens of the widest span; None: any
    bias: Literal["qk", "hidden"] = "qk"


@dataclass(frozen=True)
class GPLinkerScores:
    """Scores of a batch: spans, and links at first and at last tokens."""

    spans: GlobalPointerScores
    heads: EfficientGlobalPointerScores
    tails: EfficientGlobalPointerScores


@dataclass(frozen=True)
class TripleCells:
    """Gold spans, and gold triples that name their subject and object as indices of these spans."""

    spans: Cells  # the label is the class
    relation: Tensor  # (T,) int64
    subject: Tensor  # (T,) int64, index into spans
    object: Tensor  # (T,) int64, index into spans
    known: Tensor | None = None  # (B, R) bool: False where a relation is not annotated; None: all are

    def __post_init__(self) -> None:
        columns = [self.relation, self.subject, self.object]
        shapes = [tuple(column.shape) for column in columns]
        if len(set(shapes)) != 1 or len(shapes[0]) != 1:
            raise BadInput(f"Triples are columns of one length, got the shapes {shapes}. Give one entry a triple.")

    @staticmethod
    def of(spans: Sequence[tuple[int, int, int, int]], triples: Sequence[tuple[int, int, int]]) -> "TripleCells":
        """Gold from spans (batch, class, first, last) and triples (relation, index of subject, index of object)."""
        table = torch.tensor(triples, dtype=torch.int64).view(-1, 3)
        return TripleCells(Cells.of(spans), *table.unbind(1))

    def rows(self) -> list[tuple[int, int, tuple[int, int, int], tuple[int, int, int]]]:
        """The triples as (batch, relation, subject, object), both spans as (class, first, last), in their order."""
        spans = self.spans.rows()
        table = torch.stack((self.relation, self.subject, self.object), dim=1).tolist()
        return [(spans[s][0], r, spans[s][1:], spans[o][1:]) for r, s, o in table]

    def to(self, device: torch.device) -> "TripleCells":
        """The same cells on another device."""
        return TripleCells(
            self.spans.to(device),
            self.relation.to(device),
            self.subject.to(device),
            self.object.to(device),
            None if self.known is None else self.known.to(device),
        )

    def __len__(self) -> int:
        return self.relation.shape[0]


class GPLinker(nn.Module):
    """The head that finds subjects and objects and links them by relations."""

    default_threshold: ClassVar[float] = 0.0

    def __init__(self, config: GPLinkerConfig, width: int) -> None:
        super().__init__()
        self.config = config
        classes = (*(f"subject {t}" for t in config.subjects), *(f"object {t}" for t in config.objects))
        self.spans = GlobalPointer(GlobalPointerConfig(classes, config.head_size, max_span=config.max_span), width)
        links = EfficientGlobalPointerConfig(config.relations, config.head_size, config.rope, bias=config.bias)
        self.heads = EfficientGlobalPointer(links, width)
        self.tails = EfficientGlobalPointer(links, width)

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """Which label each row of a weight belongs to (heads/inherit.py)."""
        spans = {f"spans.{name}": rows for name, rows in self.spans.named_rows().items()}
        links = {
            f"{part}.{name}": rows for name, rows in self.heads.named_rows().items() for part in ("heads", "tails")
        }
        return spans | links

    def gold(self, targets: Sequence[Targets], shift: int) -> TripleCells:
        """The targets of a batch of windows; `shift` special tokens precede the text of each."""
        return gold_of(targets, shift)

    def forward(self, H: Tensor, real: Tensor) -> GPLinkerScores:
        """H (B, N, D), real (B, N) -> scores of spans, heads and tails."""
        return GPLinkerScores(self.spans(H, real), self.heads(H, real), self.tails(H, real))

    def loss(self, scores: GPLinkerScores, gold: TripleCells) -> Tensor:
        """The mean over texts of the sum over classes and relations, / 3."""
        gold = gold.to(scores.spans.real.device)
        spans = self.spans.loss(scores.spans, gold.spans)  # refuses spans that cannot be
        self._check(gold)
        heads = _link_loss(scores.heads, _links_of(gold, gold.spans.start, scores.heads), gold.known)
        tails = _link_loss(scores.tails, _links_of(gold, gold.spans.end, scores.tails), gold.known)
        return self._sum(spans, heads, tails)

    def _sum(self, spans: Tensor, heads: Tensor, tails: Tensor) -> Tensor:
        """The sum over all classes, / 3, from the mean over the classes of spans and those over relations."""
        return (len(self.spans.config.labels) * spans + len(self.config.relations) * (heads + tails)) / 3

    def dense(self, scores: GPLinkerScores) -> tuple[Tensor, Tensor, Tensor]:
        """All scores of spans (B, C, N, N), heads and tails (B, R, N, N), -inf where there is no cell."""
        parts = (scores.heads, scores.tails)
        heads, tails = (_pairs(x)[:, None] + x.v[:, :, None, :] + x.u[:, :, :, None] for x in parts)
        return self.spans.dense(scores.spans), heads, tails

    def apart(self, a: GPLinkerScores, b: GPLinkerScores) -> Tensor:
        """How far two passes under dropout disagree, for R-Drop; a block of relations at a time."""
        spans = self.spans.apart(a.spans, b.spans)
        return self._sum(spans, _links_apart(a.heads, b.heads), _links_apart(a.tails, b.tails))

    def to_arrays(self, scores: GPLinkerScores) -> TripleScores:
        """What finding reads."""
        heads, tails = self.heads.to_arrays(scores.heads), self.tails.to_arrays(scores.tails)
        return TripleScores(self.spans.to_arrays(scores.spans), heads, tails, len(self.config.subjects))

    def _check(self, gold: TripleCells) -> None:
        R, S, P = len(self.config.relations), len(self.config.subjects), len(gold.spans)
        good = (gold.relation >= 0) & (gold.relation < R)
        for span in (gold.subject, gold.object):
            good &= (span >= 0) & (span < P)
        if P and bool(good.all()):
            label, batch = gold.spans.label, gold.spans.batch
            good &= (label[gold.subject] < S) & (label[gold.object] >= S) & (batch[gold.subject] == batch[gold.object])
        if not bool(good.all()):
            at = int((~good).nonzero()[0])
            triple = tuple(int(column[at]) for column in (gold.relation, gold.subject, gold.object))
            raise BadInput(
                f"The gold triple {at} is (relation, subject, object) = {triple}: expected a relation < {R}, and a "
                f"subject and an object among the {P} spans, of one text, the subject of a class < {S} and the object "
                f"of another. Check how it was built."
            )


def gold_of(targets: Sequence[Targets], shift: int) -> TripleCells:
    """The targets of the windows of a batch; `shift` special tokens precede the text of each."""
    spans: list[tuple[int, int, int, int]] = []
    triples: list[tuple[int, int, int]] = []
    for row, y in enumerate(targets):
        at = len(spans)
        spans += [
            (row, int(c), int(i) + shift, int(j) + shift) for c, i, j in zip(y.label, y.first, y.last, strict=True)
        ]
        links = zip(y.relation, y.subject, y.object, strict=True)
        triples += [(int(r), int(s) + at, int(o) + at) for r, s, o in links]
    gold = TripleCells.of(spans, triples)
    return replace(gold, known=known_rows([y.known for y in targets]))


def _pairs(scores: EfficientGlobalPointerScores) -> Tensor:
    """A (B, N, N), -inf where a token is not real; no triangle."""
    with exact(scores.q):
        A = scores.q @ scores.k.mT
    return A.masked_fill(~(scores.real[:, :, None] & scores.real[:, None, :]), -torch.inf)


def _links_of(gold: TripleCells, token: Tensor, scores: EfficientGlobalPointerScores) -> CellIndices:
    """The cells (batch, relation, subject's token, object's token), each once; token (P,) is one end of each span."""
    _, R, N = scores.u.shape
    group = gold.spans.batch[gold.subject] * R + gold.relation
    key = torch.unique((group * N + token[gold.subject]) * N + token[gold.object])
    return CellIndices(key // (R * N * N), key // (N * N) % R, key // N % N, key % N)


def _link_loss(scores: EfficientGlobalPointerScores, y: CellIndices, known: Tensor | None) -> Tensor:
    u, v = scores.u, scores.v
    B, R, _ = u.shape
    with exact(u):
        A = _pairs(scores)  # (B, N, N)
        neg = known_only(factored_negatives(A, u, v, y), known)  # (B, R)
        s = A[y.batch, y.start, y.end] + v[y.batch, y.label, y.end] + u[y.batch, y.label, y.start]  # (P,)
        return (neg.flatten() + positive_loss(s, y.batch * R + y.label, B * R)).mean()


def _links_apart(a: EfficientGlobalPointerScores, b: EfficientGlobalPointerScores) -> Tensor:
    B, R, N = a.u.shape
    A, B_ = _pairs(a), _pairs(b)

    def block(A: Tensor, u: Tensor, v: Tensor, other: Tensor, x: Tensor, y: Tensor) -> Tensor:
        s = A[:, None] + v[:, :, None, :] + u[:, :, :, None]
        return yes_no_apart(s, other[:, None] + y[:, :, None, :] + x[:, :, :, None]) * u.shape[1]

    parts = []
    for r in pieces(torch.arange(R, device=A.device), BLOCK // (B * N * N)):
        tensors = (A, a.u[:, r], a.v[:, r], B_, b.u[:, r], b.v[:, r])
        parts.append(checkpoint(block, *tensors, use_reentrant=False))  # made again for the gradient, never all held
    return torch.stack(parts).sum() / R

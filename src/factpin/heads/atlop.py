"""ATLOP: which relations hold between two entities of a document, with a separate threshold for each pair.

    H        token vectors of one document                          (N, D)
    A        last layer's attention of the opening markers          (M, heads, N), or of each window apart
    e        entities: log-sum-exp of H at their opening markers    (E, D)
    a        entities: mean of A over their mentions                (E, heads, N)
    q        where both entities of a pair look: a_h * a_t, mean over heads, divided by its sum               (U, N)
    c        context of a pair: sum over tokens of q H              (U, D)
    z_h      tanh(W_h [e_h; c]),  z_t = tanh(W_t [e_t; c])          (P, Z)     in K groups of G
    s        sum over k of z_h[k]^T W[r, k] z_t[k] + b[r]           (P, 1 + R) column 0 is the threshold TH

    loss = L1 + L2 of layers.threshold_loss;  (h, r, t) holds where s[r] > s[TH], at most the top_k best of a pair

Evidence (DREEAM): q summed over the tokens of a sentence, as a share of all sentences, says which sentences a pair
looks at; where they are annotated, KL(annotated || looked at) joins the loss with the weight `evidence`.

With the soft labels of a teacher, the loss is (1 - weight) of the above and `weight` of theirs.

[e; c] is split: W_h e once for each entity, W_h c and W_t c once for each unordered pair. Differs from wzhouad/ATLOP
(model.py): attention comes as rows of mentions, in training too without dropout; pairs are scored in blocks; the caller
leaves out entities that were not read. From DREEAM: shares are of sentences only, so attention to special tokens does
not count against any sentence, and the sentence with the greatest share is always evidence.

At first c is nearly the same for all pairs of a document, and half of the input of z. Starting without it
(context_start = 0) helps where entities alone say much, and hurts where the context decides (recipes/README.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from factpin.errors import BadInput
from factpin.heads.arrays import floats, indices
from factpin.heads.inherit import Names
from factpin.layers.agreement import yes_no_apart
from factpin.layers.entity_pooling import log_sum_exp
from factpin.layers.exact import exact
from factpin.layers.localized_context import localized_context, products, sentence_shares, unordered
from factpin.layers.pair_bilinear import PairIndices, pair_bilinear
from factpin.layers.threshold_loss import adaptive_threshold_loss, global_threshold_loss, margins, taught_loss
from factpin.layers.window_attention import WindowAttention
from factpin.tasks.document_relations.find import EVIDENCE_SHARE, RelationScores, SentenceShares
from factpin.tasks.document_relations.targets import Targets
from factpin.tasks.examples import DocumentExample

FLOOR = 1e-12  # the least share whose logarithm is taken
BLOCK = 1 << 22  # numbers in the contexts of pairs that are scored together, where no gradient is asked for

Attention = Tensor | WindowAttention  # (M, heads, N), or the rows of each window


@dataclass(frozen=True)
class AtlopConfig:
    """Settings of ATLOP."""

    relations: tuple[str, ...]
    size: int = 768  # Z, width of a pair's two views
    group: int = 64  # G, width of a group; divides size
    context: bool = True  # False: the ablation without localized context
    context_start: float = 1.0  # times the first weights of what reads the context; published 1; 0: not read at first
    threshold: Literal["adaptive", "global"] = "adaptive"  # global: the ablation, one threshold for all pairs
    top_k: int = 4  # relations of one pair; published 4 for DocRED, 1 for CDR
    evidence: float = 0.0  # weight of the evidence loss; published 0.1
    evidence_share: float = EVIDENCE_SHARE  # a sentence with a greater share is evidence

    def __post_init__(self) -> None:
        if self.group < 1 or self.size % self.group:
            raise BadInput(
                f"The size {self.size} cannot be cut into groups of {self.group}. Give a group that divides it."
            )
        if self.threshold not in ("adaptive", "global"):
            raise BadInput(f"The threshold {self.threshold!r} is unknown. Known: adaptive, global.")
        if self.top_k < 1:
            raise BadInput(f"top_k, the most relations of one pair, is {self.top_k}: expected at least 1.")
        if not 0 <= self.context_start <= 1:
            raise BadInput(f"context_start is {self.context_start}: expected a factor from 0 to 1.")
        if self.evidence and not self.context:
            raise BadInput("Evidence needs the localized context: give context=True, or evidence=0.")


@dataclass(frozen=True)
class PairQuery:
    """The mentions and pairs to score in one document, in tokens."""

    place: Tensor  # (M,) token of each mention's opening marker
    entity: Tensor  # (M,) entity of each mention
    entities: int  # E
    head: Tensor  # (P,) entity
    tail: Tensor  # (P,) entity
    sentence: Tensor  # (N,) of each token, -1 outside
    sentences: int  # S; 0: no evidence

    def to(self, device: torch.device) -> "PairQuery":
        """The same query on another device."""
        place, entity, sentence = (x.to(device) for x in (self.place, self.entity, self.sentence))
        return PairQuery(
            place, entity, self.entities, self.head.to(device), self.tail.to(device), sentence, self.sentences
        )


@dataclass(frozen=True)
class AtlopScores:
    """Scores of the pairs of one document."""

    s: Tensor  # (P, 1 + R), or (P, R) with a global threshold
    head: Tensor  # (P,)
    tail: Tensor  # (P,)
    share: Tensor | None = (
        None  # (U, S) of each sentence in what a pair looks at; sparse where no gradient is asked for
    )
    context: Tensor | None = None  # (P,) the row of `share` that is a pair's


@dataclass(frozen=True)
class TeacherLabels:
    """Soft labels of the pairs of one document, from a teacher."""

    margins: Tensor  # (P, R)
    weight: float  # in the loss; labels and evidence have the rest
    temperature: float


@dataclass(frozen=True)
class AtlopGold:
    """Labels and evidence of the pairs of one document."""

    pair: Tensor  # (F,)
    relation: Tensor  # (F,)
    proof_pair: Tensor  # (V,)
    proof: Tensor  # (V,) sentence
    teaching: TeacherLabels | None = None  # of all documents of a batch, or of none


class Atlop(nn.Module):
    """The head that scores the relations of pairs of entities."""

    attends: ClassVar[bool] = True  # needs the attention of the pieces at `targets.place`
    default_threshold: ClassVar[float] = 0.0

    def __init__(self, config: AtlopConfig, width: int) -> None:
        super().__init__()
        self.config = config
        self.width = width
        both = 2 * width if config.context else width
        self.head = nn.Linear(both, config.size)
        self.tail = nn.Linear(both, config.size)
        classes = len(config.relations) + (config.threshold == "adaptive")
        self.bilinear = nn.Linear(config.size * config.group, classes)
        with torch.no_grad():
            self.head.weight[:, width:] *= config.context_start
            self.tail.weight[:, width:] *= config.context_start

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """Which label each row of a weight belongs to (heads/inherit.py)."""
        adaptive = self.config.threshold == "adaptive"
        rows = ("", *self.config.relations) if adaptive else self.config.relations  # the threshold class comes first
        return {"bilinear.weight": (rows,), "bilinear.bias": (rows,)}

    def gold(self, targets: Sequence[Targets], shift: int) -> list[AtlopGold]:  # noqa: ARG002
        """The labels and evidence of a batch of documents."""
        return [gold_of(y) for y in targets]

    def score_documents(
        self, H: Sequence[Tensor], A: Sequence[Attention | None], documents: Sequence[DocumentExample]
    ) -> list[AtlopScores]:
        """H (N, D) and attention of each document -> its scores."""
        queries = [query_of(doc.targets, doc.layout.prefix, doc.layout.suffix) for doc in documents]
        return [self(h, a, one) for h, a, one in zip(H, A, queries, strict=True)]

    def forward(self, H: Tensor, A: Attention | None, query: PairQuery) -> AtlopScores:
        """H (N, D), attention, which the ablation without context does not read -> s (P, 1 + R)."""
        query = query.to(H.device)
        attention = WindowAttention.whole(A) if isinstance(A, Tensor) else A
        self._check(H, attention, query)
        D, dtype = self.width, self.bilinear.weight.dtype
        with exact(H):
            H = H.to(dtype)
            e = log_sum_exp(H.index_select(0, query.place), query.entity, query.entities)  # (E, D)
            z_h = F.linear(e, self.head.weight[:, :D], self.head.bias)  # (E, Z)
            z_t = F.linear(e, self.tail.weight[:, :D], self.tail.bias)
            low, high, which = unordered(query.head, query.tail, query.entities)
            pairs, W, b = PairIndices(query.head, query.tail, which), self.bilinear.weight, self.bilinear.bias
            if not self.config.context or attention is None:
                return AtlopScores(pair_bilinear(z_h, z_t, None, pairs, W, b), query.head, query.tail)
            a = replace(attention, rows=attention.rows.to(dtype)).mean(query.entity, query.entities)
            if torch.is_grad_enabled():
                s = pair_bilinear(z_h, z_t, self._contexts(H, a, low, high), pairs, W, b)
            else:
                s = self._score_blocks(H, a, (low, high), pairs, (z_h, z_t))
            share = _shares(a, query, low, high)
        return AtlopScores(s, query.head, query.tail, share, None if share is None else which)

    def loss(self, scores: Sequence[AtlopScores], gold: Sequence[AtlopGold]) -> Tensor:
        """The mean over all pairs of these documents, and the mean over those with evidence."""
        s = torch.cat([x.s for x in scores])  # (P, 1 + R)
        y = torch.cat([self._labels(x, g) for x, g in zip(scores, gold, strict=True)])  # (P, R)
        loss = adaptive_threshold_loss(s, y) if self.config.threshold == "adaptive" else global_threshold_loss(s, y)
        if self.config.evidence:
            loss = loss + self.config.evidence * evidence_loss(scores, gold)
        taught = [g.teaching for g in gold if g.teaching is not None]
        if not taught:
            return loss
        m, t = torch.cat([self.margins(x) for x in scores]), torch.cat([x.margins for x in taught])  # 2 x (P, R)
        soft = taught_loss(m, t, taught[0].temperature)
        return (1 - taught[0].weight) * loss + taught[0].weight * soft

    def margins(self, scores: AtlopScores) -> Tensor:
        """How far every relation is above its threshold (P, R); a global one is 0 until it is fitted."""
        return margins(scores.s) if self.config.threshold == "adaptive" else scores.s.float()

    def only(self, scores: AtlopScores, fits: Tensor) -> AtlopScores:
        """The scores with -inf where a relation does not fit its pair, fits (P, R): it takes no place among top_k."""
        held = F.pad(fits, (1, 0), value=True) if self.config.threshold == "adaptive" else fits
        return replace(scores, s=scores.s.masked_fill(~held.to(scores.s.device), -torch.inf))

    def apart(self, a: Sequence[AtlopScores], b: Sequence[AtlopScores]) -> Tensor:
        """How far two passes under dropout disagree, for R-Drop: the sum over relations, mean over pairs."""
        one, two = (torch.cat([self.margins(x) for x in scores]) for scores in (a, b))  # 2 x (P, R)
        return yes_no_apart(one[None, None], two[None, None]) / max(1, len(one))

    def to_arrays(self, scores: AtlopScores) -> RelationScores:
        """What finding reads."""
        return RelationScores(
            floats(scores.s),
            indices(scores.head),
            indices(scores.tail),
            None if scores.share is None else _sparse(scores.share),
            None if scores.context is None else indices(scores.context),
            adaptive=self.config.threshold == "adaptive",
            top_k=self.config.top_k,
            evidence_share=self.config.evidence_share,
        )

    def _contexts(self, H: Tensor, a: WindowAttention, low: Tensor, high: Tensor) -> Tensor:
        """W_h c and W_t c (U, 2 Z) of unordered pairs."""
        N, D = H.shape
        W = torch.cat((self.head.weight[:, D:], self.tail.weight[:, D:]))  # (2 Z, D)
        U, Z2 = len(low), len(W)
        tokens = U * N if len(a.start) == 1 else products(a, low, high)
        small = torch.is_grad_enabled() or N * Z2 <= BLOCK
        if small and N * D * Z2 + tokens * Z2 < tokens * D + U * D * Z2:  # fewer products: project, then pool
            return localized_context(a, F.linear(H, W), low, high)  # (U, 2 Z)
        return F.linear(localized_context(a, H, low, high), W)

    def _score_blocks(
        self,
        H: Tensor,
        a: WindowAttention,
        unordered: tuple[Tensor, Tensor],
        pairs: PairIndices,
        views: tuple[Tensor, Tensor],
    ) -> Tensor:
        """s (P, 1 + R), with the contexts of a block of pairs at a time."""
        W, b, U = self.bilinear.weight, self.bilinear.bias, len(unordered[0])
        s = b.repeat(len(pairs.head), 1)
        size = max(1, BLOCK // (2 * self.config.size))
        for at in range(0, U, size):
            context = self._contexts(H, a, *(side[at : at + size] for side in unordered))
            mine = ((pairs.context >= at) & (pairs.context < at + size)).nonzero().squeeze(1)
            some = PairIndices(pairs.head[mine], pairs.tail[mine], pairs.context[mine] - at)
            s[mine] = pair_bilinear(*views, context, some, W, b)
        return s

    def _labels(self, scores: AtlopScores, gold: AtlopGold) -> Tensor:
        P, R = len(scores.s), len(self.config.relations)
        pair, relation = gold.pair.to(scores.s.device), gold.relation.to(scores.s.device)
        bad = (pair < 0) | (pair >= P) | (relation < 0) | (relation >= R)
        if bool(bad.any()):
            at = int(bad.nonzero()[0])
            raise BadInput(
                f"The gold label {at} is (pair, relation) = ({int(pair[at])}, {int(relation[at])}): expected a pair "
                f"< {P} and a relation < {R}. Check how it was built."
            )
        y = torch.zeros(P, R, dtype=torch.bool, device=scores.s.device)
        y[pair, relation] = True
        return y

    def _check(self, H: Tensor, A: WindowAttention | None, query: PairQuery) -> None:
        M, N = len(query.place), H.shape[0]
        if self.config.context and (A is None or A.owners != M or A.tokens != N):
            given = "none" if A is None else f"{A.owners} rows over {A.tokens} tokens"
            raise BadInput(
                f"Expected attention ({M}, heads, {N}), a row for each mention over all tokens, got {given}. Ask the "
                f"encoder for the rows of the opening markers and merge its windows."
            )
        if H.shape[1:] != (self.width,) or query.sentence.shape != (N,):
            raise BadInput(
                f"Expected vectors (N, {self.width}) and the sentence of each of the N tokens, got the shapes "
                f"{tuple(H.shape)} and {tuple(query.sentence.shape)}."
            )


def _shares(a: WindowAttention, query: PairQuery, low: Tensor, high: Tensor) -> Tensor | None:
    """The share of each sentence in what the pairs look at (U, S); sums to 1, or to 0."""
    if not query.sentences:
        return None
    if not torch.is_grad_enabled():
        return sentence_shares(a, query.sentence, query.sentences, low, high)
    marks = F.one_hot(query.sentence + 1, query.sentences + 1)[:, 1:].to(a.rows.dtype)  # (N, S)
    share = localized_context(a, marks, low, high)  # (U, S)
    total = share.sum(dim=1, keepdim=True)
    return share / total.masked_fill(total == 0, 1.0)


def _sparse(share: Tensor) -> SentenceShares:
    """The shares above 0, by pair and sentence."""
    found = (share if share.is_sparse else share.detach().to_sparse()).coalesce()
    row, sentence = found.indices()
    return SentenceShares(indices(row), indices(sentence), floats(found.values()))


def evidence_loss(scores: Sequence[AtlopScores], gold: Sequence[AtlopGold]) -> Tensor:
    """KL(annotated || looked at) over sentences, the mean over pairs with evidence; 0 where there are none.

    All annotated sentences of a pair weigh the same; one that no window shows to both entities cannot be looked at, and
    is left out.
    """
    total, count = scores[0].s.new_zeros(()), 0
    for x, g in zip(scores, gold, strict=True):
        if x.share is None or x.context is None:
            continue
        pair, sentence = g.proof_pair.to(x.s.device), g.proof.to(x.s.device)
        p = x.share[x.context[pair], sentence]  # (V,)
        seen = p.detach() > 0
        p = p[seen]
        _, row, proofs = torch.unique(pair[seen], return_inverse=True, return_counts=True)  # (V,), (Q,)
        y = 1.0 / proofs.to(p.dtype)[row]  # (V,)
        total = total + (y * (y.log() - p.clamp_min(FLOOR).log())).sum()
        count += len(proofs)
    return total / max(1, count)


def query_of(targets: Targets, prefix: int, suffix: int) -> PairQuery:
    """The targets of a document in tokens; `prefix` and `suffix` special tokens surround its pieces."""
    place, entity, head, tail = (
        torch.from_numpy(x) for x in (targets.place + prefix, targets.entity, targets.head, targets.tail)
    )
    sentence = np.pad(targets.sentence, (prefix, suffix), constant_values=-1)
    return PairQuery(place, entity, targets.entities, head, tail, torch.from_numpy(sentence), targets.sentences)


def gold_of(targets: Targets) -> AtlopGold:
    """The gold of one document as tensors."""
    pair, relation, proof_pair, proof = (
        torch.from_numpy(x) for x in (targets.pair, targets.relation, targets.proof_pair, targets.proof)
    )
    return AtlopGold(pair, relation, proof_pair, proof)

"""Marginals over retrieved documents: what REALM and RAG add up, and which document an answer comes from.

    doc  log p(z | x) of the K documents that were retrieved            (B, K)   sums to 1 over these K
    y    log p(y_t | x, z, y_<t) of an answer's T pieces, 0 at padding  (B, K, T)

    sequence   log p(y | x)   = log sum_z p(z | x) prod_t p(y_t | x, z, y_<t)     one document explains the answer
    token      log p(y_t | x) = log sum_z p(z | x) p(y_t | x, z, y_<t)            every piece may have its own
    posterior  p(z | x, y) ∝ p(z | x) p(y | x, z)                                 how much each document is worth
    utility    log p(y | x) - log p(y | x, null document)                         what retrieval adds

For answers of one piece, sequence and token are the same. The gradient of `sequence` for the score of a document is
posterior - prior: a document gains if it predicts the answer better than the mixture does.
"""

import torch
from torch import Tensor

from factpin.errors import BadInput


def prior(scores: Tensor) -> Tensor:
    """log p(z | x) (B, K) from the scores of the retrieved documents."""
    return scores.log_softmax(dim=-1)


def sequence(doc: Tensor, y: Tensor) -> Tensor:
    """log p(y | x) (B,), with one document for the whole answer."""
    _check(doc, y)
    return torch.logsumexp(doc + y.sum(dim=-1), dim=-1)


def token(doc: Tensor, y: Tensor) -> Tensor:
    """log p(y_t | x) (B, T), with a document for every piece; 0 at padding."""
    _check(doc, y)
    return torch.logsumexp(doc[..., None] + y, dim=-2)


def posterior(doc: Tensor, y: Tensor) -> Tensor:
    """p(z | x, y) (B, K): the citation weights of an answer."""
    _check(doc, y)
    return (doc + y.sum(dim=-1)).softmax(dim=-1)


def token_posterior(doc: Tensor, y: Tensor) -> Tensor:
    """p(z | x, y_t) (B, K, T): the citation weights of every piece."""
    _check(doc, y)
    return (doc[..., None] + y).softmax(dim=-2)


def utility(doc: Tensor, y: Tensor, null: int = 0) -> Tensor:
    """How much more likely an answer is with retrieval than with the null document alone (B,), in nats."""
    return sequence(doc, y) - y[..., null, :].sum(dim=-1)


def thorough(doc: Tensor, answers: Tensor) -> Tensor:
    """log p(y | x) (H,) of candidate answers whose log p(y | x, z) (K, H) is known for every document."""
    return torch.logsumexp(doc[:, None] + answers, dim=0)


def fast(doc: Tensor, answers: Tensor, found: Tensor) -> Tensor:
    """The same, as if a document gave nothing to answers that its own beam did not find. found: (K, H) bool."""
    return thorough(doc, answers.masked_fill(~found, -torch.inf))


def _check(doc: Tensor, y: Tensor) -> None:
    if doc.shape != y.shape[:-1]:
        raise BadInput(
            f"Documents have shape {tuple(doc.shape)}, pieces {tuple(y.shape)}; expected (…, K) and (…, K, T)."
        )

"""RAG: an answer is written from several passages, and how much each of them adds to it is its citation weight.

    prompt   title / passage // question                       one for each of the K passages
    doc      log p(z | x), softmax over the K passages of SHARP * cos(query(x), document(z))       (B, K)
    y        log p(y_t | x, z, y_<t) of the generator          (B, K, T)

    sequence   one passage explains the whole answer           coherent; beams for each passage, then scored together
    token      every piece may come from another passage       combines passages; one beam over the mixture
    thorough   every candidate is scored with every passage    fast: only with those whose own beam found it

Only the query encoder and the generator learn; the vectors of documents stay as they are, and so does the store. The
published system has un-normalised inner products of DPR; the vectors here have unit length, and SHARP is their scale.
A class is an answer of one piece: there sequence and token are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from factpin.answers.beam import Prefix, beam_search
from factpin.answers.marginal import fast, posterior, prior, sequence, thorough, token, token_posterior
from factpin.tasks.scale import Scale
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints

Marginal = Literal["sequence", "token"]
Decode = Literal["token", "thorough", "fast"]
DECODES: tuple[Decode, ...] = ("token", "thorough", "fast")


class Writes(Protocol):
    """What writes answers: `encoders.generator.EncoderDecoder`, or a table in a test."""

    end: int

    def encode(self, prompts: Sequence[Ints]) -> tuple[Tensor, Tensor]: ...
    def log_p(self, states: Tensor, mask: Tensor, said: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class RagSettings:
    """How much is read and written, and how an answer is searched."""

    k: int = 5  # passages
    max_length: int = 192  # tokens of a prompt
    longest: int = 16  # pieces of an answer
    beams: int = 3
    decode: Decode = "thorough"
    scale: Scale = field(default_factory=Scale)
    min_score: float = 0.5


@dataclass(frozen=True, eq=False)
class WrittenAnswer:
    """Pieces without their end, log p(y | x), and what each passage adds (K,)."""

    pieces: Prefix
    score: float
    weights: tuple[float, ...]


def prompt_ids(tokenizer: Tokenizer, question: str, title: str, text: str, longest: int) -> Ints:
    """A framed prompt; a passage that is too long is cut, a question never is."""
    body, asked = tokenizer.encode_batch([f"{title} / {text}" if title else text, f" // {question}"])
    room = max(0, longest - tokenizer.frame_size - len(asked))
    return tokenizer.frame(np.concatenate([body.ids[:room], asked.ids]))[0]


def answer_log_p(generator: Writes, states: Tensor, mask: Tensor, said: Tensor, real: Tensor) -> Tensor:
    """log p (R, T) of the pieces of answers, 0 at padding. said, real: (R, T)."""
    logs = generator.log_p(states, mask, said)  # (R, T, V)
    return logs.gather(-1, said[..., None]).squeeze(-1).masked_fill(~real, 0.0)


def rag_loss(doc: Tensor, y: Tensor, real: Tensor, marginal: Marginal) -> Tensor:
    """-log p(y | x) a piece, the mean over answers. doc (B, K) scores, y (B, K, T), real (B, T)."""
    logs = prior(doc)
    total = sequence(logs, y) if marginal == "sequence" else (token(logs, y) * real).sum(-1)
    return -(total / real.sum(-1).clamp(min=1)).mean()


@torch.no_grad()
def write(generator: Writes, prompts: Sequence[Ints], scores: Tensor, settings: RagSettings) -> list[WrittenAnswer]:
    """Answers from the passages of prompts, likeliest first. scores: of the passages (K,)."""
    doc = prior(scores)
    states, mask = generator.encode(prompts)
    if settings.decode == "token":
        return _by_token(generator, states, mask, doc, settings)
    found = [
        beam_search(partial(_next, generator, states[k], mask[k]), settings.beams, generator.end, settings.longest)
        for k in range(len(prompts))
    ]
    own = [{one.pieces for one in beam} for beam in found]
    candidates = sorted(set().union(*own))
    if settings.decode == "fast":
        known = {(k, one.pieces): one.score for k, beam in enumerate(found) for one in beam}
        table = doc.new_tensor([[known.get((k, c), 0.0) for c in candidates] for k in range(len(own))])
        there = torch.tensor([[c in mine for c in candidates] for mine in own], device=doc.device)
        scored, each = fast(doc, table, there), table.masked_fill(~there, -torch.inf)
    else:
        each = torch.stack([score_answer(generator, states, mask, c).sum(-1) for c in candidates], dim=1)  # (K, H)
        scored = thorough(doc, each)
    weights = (doc[:, None] + each).softmax(dim=0)  # (K, H)
    written = [
        WrittenAnswer(_open(c, generator.end), float(scored[h]), tuple(weights[:, h].tolist()))
        for h, c in enumerate(candidates)
    ]
    return sorted(written, key=lambda one: (-one.score, one.pieces))


def score_answer(generator: Writes, states: Tensor, mask: Tensor, pieces: Prefix) -> Tensor:
    """log p (K, T) of the pieces of one answer under every passage."""
    said = torch.tensor([pieces] * len(states), device=states.device)
    return answer_log_p(generator, states, mask, said, torch.ones_like(said, dtype=torch.bool))


def _by_token(
    generator: Writes, states: Tensor, mask: Tensor, doc: Tensor, settings: RagSettings
) -> list[WrittenAnswer]:
    """One beam over the mixture of all passages."""
    K = len(states)

    def mixed(prefixes: Sequence[Prefix]) -> Tensor:
        P = len(prefixes)
        every = [prefix for prefix in prefixes for _ in range(K)]
        rows = _next(generator, states.repeat(P, 1, 1), mask.repeat(P, 1), every)  # (P * K, V)
        return torch.logsumexp(doc[None, :, None] + rows.view(P, K, -1), dim=1)

    written = []
    for one in beam_search(mixed, settings.beams, generator.end, settings.longest):
        y = score_answer(generator, states, mask, one.pieces)[None]
        weights = token_posterior(doc[None], y)[0].mean(-1)
        written.append(WrittenAnswer(_open(one.pieces, generator.end), one.score, tuple(weights.tolist())))
    return written


def _next(generator: Writes, states: Tensor, mask: Tensor, prefixes: Sequence[Prefix]) -> Tensor:
    """log p (P, V) of what follows each prefix. All prefixes have one length."""
    states, mask = (x.expand(len(prefixes), *x.shape) if x.dim() == n else x for x, n in ((states, 2), (mask, 1)))
    said = torch.tensor([(*prefix, 0) for prefix in prefixes], device=states.device)  # the last one is not read
    return generator.log_p(states, mask, said)[:, -1]


def _open(pieces: Prefix, end: int) -> Prefix:
    return pieces[:-1] if pieces and pieces[-1] == end else pieces


def answer_weights(doc: Tensor, y: Tensor, marginal: Marginal) -> Tensor:
    """How much each passage adds to given answers (B, K)."""
    return posterior(doc, y) if marginal == "sequence" else token_posterior(doc, y).mean(-1)

"""Spans of a chain of tags: those of the best path, with the log-odds that the text has them."""

import numpy as np

from factpin.arrays import Floats, Floats32, Ints
from factpin.tasks.spans.cells import SpanCells
from factpin.tasks.spans.chain import ChainRules, ChainWeights, best_path, run_chains
from factpin.tasks.spans.scores import TagScores
from factpin.tasks.spans.tags import Tags


def find_tags(scores: TagScores, cut: Floats32) -> SpanCells:
    """The spans of the best path of every text whose score is above cut (L,).

    The score is log(p / (1 - p)) of the exact probability p that the text has this very span with this label.
    """
    texts = np.flatnonzero(scores.real.any(axis=1))
    if not len(texts):
        return SpanCells.chain([])
    real, rules = scores.real[texts], ChainRules(scores.transitions, scores.start, scores.end)
    length = np.count_nonzero(real, axis=1)  # (B,)
    token = (~real).argsort(axis=1, kind="stable")[:, : length.max()]  # (B, n) which token a step is
    e = scores.emissions[texts[:, None], token]  # (B, n, T)
    path = best_path(e, rules, length)
    row, label, start, end = scores.tags.spans(path, length)
    some, row = np.unique(row, return_inverse=True)  # texts that have a span
    if not len(some):
        return SpanCells.chain([])
    e, path, length, token, texts = e[some], path[some], length[some], token[some], texts[some]
    n = length.max()
    score = _log_odds(e[:, :n], rules, length, path[:, :n], scores.tags, (row, label, start, end))
    cells = SpanCells(texts[row], label, token[row, start], token[row, end], score.astype(np.float32))
    return cells.take(score > cut[label]).sorted()


def _log_odds(
    e: Floats32, rules: ChainRules, length: Ints, path: Ints, tags: Tags, spans: tuple[Ints, Ints, Ints, Ints]
) -> Floats:
    """log(p / (1 - p)) of spans of the path: p = P(first tag) * product of P(next tag | tag)."""
    row, label, start, end = spans
    chains = run_chains(e, rules, length)
    step = np.arange(path.shape[1] - 1)
    text = np.arange(len(path))[:, None]
    follow = chains.follow(text, step, path[:, :-1], path[:, 1:])  # (B, n - 1)
    follow[step + 1 >= length[:, None]] = 0.0
    until = np.pad(follow.cumsum(axis=1), ((0, 0), (1, 0)))  # (B, n)
    with np.errstate(divide="ignore"):
        log_p = np.log(chains.marginal[row, start, path[row, start]]) + until[row, end] - until[row, start]
    if tags.scheme == "bio":  # the tags say where a span begins; that it ends here is up to the next tag
        log_p += _ends(chains, length, path, tags, spans)
    log_p = np.minimum(log_p, -np.finfo(np.float64).eps)  # keeps the odds of a certain span finite
    return log_p - np.log(-np.expm1(log_p))


def _ends(chains: ChainWeights, length: Ints, path: Ints, tags: Tags, spans: tuple[Ints, Ints, Ints, Ints]) -> Floats:
    """The log probability that no tag I follows the spans, in the scheme "bio"."""
    row, label, _, end = spans
    inside = 1 + label * len(tags.letters) + tags.letters.index("I")
    more = end + 1 < length[row]  # at the end of a text nothing follows
    log_p = np.zeros(len(row))
    longer = np.exp(chains.follow(row[more], end[more], path[row[more], end[more]], inside[more]))
    log_p[more] = np.log1p(-np.minimum(longer, 1.0))
    return log_p

"""Generation: pieces are said one after the other; one function for every row that can say something.

    prompt    what has been said -> the view in which the network says the next piece, at the last cell of a stream
    score     Σ log p of the pieces and the end
    rating    score / ((5 + n) / 6)^α        n pieces, the end among them; what a beam goes by

    beam      the `beams` best beginnings go on; one beam takes the likeliest piece each time (greedy)
    sample    drawn from the likeliest `top_k`, and of these from the least set that has `top_p` of the probability

A prompt's view is the view of training, cut off where the next piece is asked for: UniLM reads a mask at the end, GLM
the blank's position and the count within it, MASS the positions of its run, BART its two first tokens. The network
reads the whole view for every piece, so nothing is kept that a later piece could change; an encoder is read once.

A prompt that asks nothing, or that the learner cannot read, is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from factpin.encoders.own.parts import DecoderLayer
from factpin.errors import BadInput
from factpin.layers.masks import Ints, causal, full, prefix
from factpin.objectives.collate import collate
from factpin.objectives.losses import Learner
from factpin.objectives.tape import Tape, mark
from factpin.objectives.text import Vocabulary, nothing
from factpin.objectives.view import Stream, View, encoder, stream

FIVE = 5  # of the length penalty, as in the Transformer's beam search


@dataclass(frozen=True)
class Prompt:
    view: Callable[[Ints], View]
    stream: str  # its last cell says the next piece
    never: frozenset[int]  # ids that are not said
    end: int | None = None  # None: nothing closes what is said
    length: int | None = None  # how many pieces are said, where that is known
    rows: tuple[str, ...] = ()  # beginnings of the names of the rows that learn to answer it


@dataclass(frozen=True)
class Search:
    how: Literal["beam", "sample"] = "beam"
    beams: int = 1
    penalty: float = 0.0  # α
    top_k: int = 0  # 0: all
    top_p: float = 1.0
    temperature: float = 1.0
    count: int = 1  # how many are given back
    longest: int = 64
    shortest: int = 0
    repeat: int = 0  # no run of this many pieces stands twice; 0: any

    def __post_init__(self) -> None:
        if self.beams < 1 or self.count < 1 or self.longest < 1 or not 0 < self.top_p <= 1 or self.temperature <= 0:
            raise BadInput(
                "A search needs at least one beam, answer and piece, top_p in (0, 1] and a temperature above 0; "
                f"got beams={self.beams}, count={self.count}, longest={self.longest}, top_p={self.top_p}, "
                f"temperature={self.temperature}."
            )
        if self.how == "beam" and self.count > self.beams:
            raise BadInput(f"{self.beams} beams give at most {self.beams} answers, not {self.count}. Give more beams.")


@dataclass(frozen=True, eq=False)
class Said:
    ids: Ints  # without the end
    score: float
    finished: bool  # the end was said, or the known length reached


Row = tuple[tuple[int, ...], float]  # what has been said, its score


@torch.no_grad()
def generate(
    learner: Learner, prompt: Prompt, vocabulary: Vocabulary, search: Search, *, chance: torch.Generator | None = None
) -> list[Said]:
    """At most `search.count` answers, the best first; samples in the order in which they were drawn."""
    _refuse_without_decoder(learner, prompt)
    _refuse_unlearned(learner, prompt)
    was = learner.training
    learner.eval()
    try:
        speaker = Speaker(learner, prompt, vocabulary, search)
        return speaker.sample(chance) if search.how == "sample" else speaker.beam()
    finally:
        learner.train(was)


def _refuse_without_decoder(learner: Learner, prompt: Prompt) -> None:
    if prompt.stream == "decoder" and not any(isinstance(module, DecoderLayer) for module in learner.modules()):
        raise BadInput(
            "This prompt is answered by a decoder, and this model was pretrained without one. Load a folder that was "
            "pretrained with the objective of the prompt, or give a prompt of an objective that this one learned."
        )


def _refuse_unlearned(learner: Learner, prompt: Prompt) -> None:
    if learner.rows and prompt.rows and not any(row.startswith(prompt.rows) for row in learner.rows):
        raise BadInput(
            f"This prompt is answered by what learned {' or '.join(prompt.rows)}; the model learned "
            f"{', '.join(sorted(learner.rows))}. Load a folder that was pretrained with it, or give another prompt."
        )


class Speaker:
    """One search: what it asks of whom, and what the encoder read."""

    def __init__(self, learner: Learner, prompt: Prompt, vocabulary: Vocabulary, search: Search) -> None:
        self.learner, self.prompt, self.search, self.pad = learner, prompt, search, vocabulary.pad
        self.encoded: Tensor | None = None

    def beam(self) -> list[Said]:
        prompt, search = self.prompt, self.search
        longest = prompt.length or search.longest
        live: list[Row] = [((), 0.0)]
        done: list[Row] = []
        for n in range(longest):
            logs = self._next(live)  # (rows, V)
            if prompt.end is not None:
                ends = logs[:, prompt.end].tolist()
                done += [(said, score + end) for (said, score), end in zip(live, ends, strict=True) if end > -torch.inf]
                done = sorted(done, key=lambda row: -_rating(row[1], len(row[0]) + 1, search))[: search.beams]
                logs[:, prompt.end] = -torch.inf
            so_far = torch.tensor([score for _, score in live], dtype=logs.dtype, device=logs.device)
            scores = (so_far[:, None] + logs).flatten()  # (rows · V,)
            best = scores.topk(min(search.beams, int((scores > -torch.inf).sum())))
            live = [
                ((*live[at // logs.shape[1]][0], at % logs.shape[1]), score)
                for score, at in zip(best.values.tolist(), best.indices.tolist(), strict=True)
            ]
            # a longer row is never likelier; its penalty is at most that of the longest
            if not live or (
                len(done) == search.beams
                and _rating(live[0][1], longest if search.penalty > 0 else n + 2, search)
                <= _rating(done[-1][1], len(done[-1][0]) + 1, search)
            ):
                break
        ended = [Said(np.array(said, np.int64), score, True) for said, score in done]
        cut = [Said(np.array(said, np.int64), score, prompt.end is None) for said, score in live]
        return (ended + cut)[: search.count]

    def sample(self, chance: torch.Generator | None) -> list[Said]:
        prompt, search = self.prompt, self.search
        rows: list[Row] = [((), 0.0)] * search.count
        open_rows = list(range(search.count))
        for _ in range(prompt.length or search.longest):
            if not open_rows:
                break
            logs = self._next([rows[r] for r in open_rows])
            drawn = torch.multinomial(likeliest(logs, search).softmax(dim=-1).cpu(), 1, generator=chance)[:, 0].tolist()
            going = []
            for at, (r, piece) in enumerate(zip(open_rows, drawn, strict=True)):
                said, score = rows[r]
                ended = piece == prompt.end
                rows[r] = (said if ended else (*said, piece), score + float(logs[at, piece]))
                going += [] if ended else [r]
            open_rows = going
        return [
            Said(np.array(said, np.int64), score, prompt.end is None or r not in open_rows)
            for r, (said, score) in enumerate(rows)
        ]

    def _next(self, rows: Sequence[Row]) -> Tensor:
        """log p (rows, V) of the next piece, -inf where it may not be said."""
        prompt, search = self.prompt, self.search
        views = [prompt.view(np.array(said, np.int64)) for said, _ in rows]
        batch = collate(views, self.pad)
        if self.encoded is None and prompt.stream == "decoder":
            self.encoded = self.learner.encoder(batch).hidden["encoder"][:1]  # (1, m, D)
        encoded = None if self.encoded is None else self.encoded.expand(len(rows), -1, -1)
        last = batch.streams[prompt.stream].real.sum(axis=1) - 1
        logs = self.learner.log_p(batch, prompt.stream, last, encoded=encoded)
        never = prompt.never | ({prompt.end} if prompt.end is not None and len(rows[0][0]) < search.shortest else set())
        logs[:, sorted(never)] = -torch.inf
        for r, (said, _) in enumerate(rows):
            logs[r, _repeating(said, search.repeat)] = -torch.inf
        return logs


def likeliest(logs: Tensor, search: Search) -> Tensor:
    """logs (rows, V) -> at the search's temperature, -inf for pieces that may not be drawn."""
    ranked, at = (logs / search.temperature).sort(dim=-1, descending=True)
    if search.top_k:
        ranked[:, search.top_k :] = -torch.inf
    p = ranked.softmax(dim=-1)
    closed = p.cumsum(dim=-1) - p >= search.top_p  # the pieces before it have enough already
    return torch.empty_like(logs).scatter_(-1, at, ranked.masked_fill(closed, -torch.inf))


def _repeating(said: tuple[int, ...], n: int) -> list[int]:
    """The pieces that would end a run of n pieces that stands there already."""
    if n < 1 or len(said) < n:
        return []
    before = said[len(said) - n + 1 :]
    return [said[i + n - 1] for i in range(len(said) - n + 1) if said[i : i + n - 1] == before]


def _rating(score: float, n: int, search: Search) -> float:
    return score / ((FIVE + n) / (FIVE + 1)) ** search.penalty


def gpt(ids: Ints, v: Vocabulary) -> Prompt:
    """Goes on from left to right; nothing ends it but the length."""
    _refuse_empty(ids)

    def view(said: Ints) -> View:
        row = _row(ids, said)
        return _view({"content": stream(row, {"content": causal(len(row))})})

    return Prompt(view, "content", v.specials, rows=("gpt", "transformer_xl"))


def transformer_xl(ids: Ints, before: Ints, v: Vocabulary) -> Prompt:
    """The same behind a memory of the pieces `before`."""
    _refuse_empty(ids)

    def view(said: Ints) -> View:
        row, m = _row(ids, said), len(before)
        kept = stream(_row(before), {}, positions=np.arange(-m, 0))
        sees = {"memory": full(len(row), m), "content": causal(len(row))}
        return _view({"memory": kept, "content": stream(row, sees)})

    return Prompt(view, "content", v.specials, rows=("transformer_xl", "gpt"))


def unilm(ids: Ints, v: Vocabulary, *, segments: tuple[int, int] = (4, 5)) -> Prompt:
    """A second part for a first one: a mask is read behind what has been said, and replaced by what it says."""

    def view(said: Ints) -> View:
        first = len(ids) + 2
        row = _row([v.cls], ids, [v.sep], said, [v.mask])
        of = np.where(np.arange(len(row)) < first, *segments)
        return _view({"content": stream(row, {"content": prefix(len(row), first)}, segments=of)})

    return Prompt(view, "content", v.specials - {v.sep}, v.sep, rows=("unilm_sequence",))


def glm(ids: Ints, blank: int, v: Vocabulary, *, earlier: Sequence[tuple[int, Ints]] = ()) -> Prompt:
    """Fills the blank whose marker is ids[blank]; `earlier` are the blanks filled before it, with their pieces."""
    if blank not in _blanks(ids, v):
        raise BadInput(
            f"A blank is where ids hold the vocabulary's mask, gap or tail: {_blanks(ids, v) or 'nowhere'}; "
            f"got {blank}. Put one of the three there, or name a blank."
        )
    if v.start == v.pad:
        raise BadInput(
            "GLM begins what it fills in with the vocabulary's `start`; this one has none, so that its model never "
            "learned to. Load a folder that was pretrained with glm."
        )

    def view(said: Ints) -> View:
        a = _row([v.cls], ids)
        runs = [*((at, _row([v.start], run)) for at, run in earlier), (blank, _row([v.start], said))]
        row = a
        positions = [np.stack([np.arange(len(a)), np.zeros(len(a), np.int64)], 1)]
        for at, run in runs:
            row = row + run
            positions.append(np.stack([np.full(len(run), at + 1), 1 + np.arange(len(run))], 1))
        sees = {"content": prefix(len(row), len(a))}
        return _view({"content": stream(row, sees, positions=np.concatenate(positions))})

    return Prompt(view, "content", v.specials - {v.end}, v.end, rows=("glm",))


def fill_blanks(learner: Learner, ids: Ints, v: Vocabulary, search: Search) -> list[Ints]:
    """GLM: what stands in each blank of ids, from left to right, the best answer each time."""
    filled: list[tuple[int, Ints]] = []
    for blank in _blanks(ids, v):
        best = generate(learner, glm(ids, blank, v, earlier=filled), v, search)[0]
        filled.append((blank, best.ids))
    return [run for _, run in filled]


def _blanks(ids: Ints, v: Vocabulary) -> list[int]:
    found: list[int] = np.flatnonzero(np.isin(ids, [v.mask, v.gap, v.tail])).tolist()
    return found


def mass(ids: Ints, start: int, end: int, v: Vocabulary) -> Prompt:
    """The pieces of ids[start:end], which are masks for the encoder."""
    if not 0 <= start < end <= len(ids):
        raise BadInput(
            f"MASS says the pieces start:end of {len(ids)}, 0 <= start < end <= {len(ids)}; got {start}:{end}. Name at "
            "least one piece of the text."
        )

    def view(said: Ints) -> View:
        hidden = ids.copy()
        hidden[start:end] = v.mask
        source = encoder(_row([v.cls], hidden, [v.sep]))
        told = _row([v.cls] if start == 0 else ids[start - 1 : start], said)
        positions = start + np.arange(len(told))  # the piece before the run stands at cell `start`
        return _sequence(source, told, positions)

    return Prompt(view, "decoder", v.specials, length=end - start, rows=("mass",))


def t5(ids: Ints, v: Vocabulary) -> Prompt:
    """Says sentinel, blank, sentinel, blank, … for ids with sentinels."""
    if not np.isin(ids, v.sentinels).any():
        has = f"it has {len(v.sentinels)}, from {v.sentinels[0]} on" if v.sentinels else "it has none"
        raise BadInput(
            f"T5 fills blanks, each a sentinel of the vocabulary ({has}); these {len(ids)} ids hold none. Put "
            "vocabulary.sentinels[0] where the first blank is; a model pretrained with t5 has a hundred."
        )
    view = lambda said: _sequence(encoder(_row(ids, [v.end])), _row([v.pad], said))  # noqa: E731
    return Prompt(view, "decoder", v.specials - {v.end, *v.sentinels}, v.end, rows=("t5",))


def bart(ids: Ints, v: Vocabulary) -> Prompt:
    """Restores a spoilt text."""
    view = lambda said: _sequence(encoder(_row([v.cls], ids, [v.sep])), _row([v.sep, v.cls], said))  # noqa: E731
    return Prompt(view, "decoder", v.specials - {v.sep}, v.sep, rows=("bart",))


def pegasus(ids: Ints, v: Vocabulary) -> Prompt:
    """Says the sentences that are gaps in ids."""
    view = lambda said: _sequence(encoder(_row(ids, [v.end])), _row([v.pad], said))  # noqa: E731
    return Prompt(view, "decoder", v.specials - {v.end}, v.end, rows=("pegasus",))


def palm(ids: Ints, v: Vocabulary) -> Prompt:
    """Goes on from ids, which the encoder reads; the plain Transformer does the same."""
    view = lambda said: _sequence(encoder(_row([v.cls], ids, [v.sep])), _row([v.pad], said))  # noqa: E731
    return Prompt(view, "decoder", v.specials - {v.end}, v.end, rows=("palm_continue", "transformer"))


def _refuse_empty(ids: Ints) -> None:
    if not len(ids):
        raise BadInput("A text is continued behind its last piece; got no piece. Give at least one.")


def _sequence(source: Stream, told: Tape, positions: Ints | None = None) -> View:
    sees = {"decoder": causal(len(told)), "encoder": full(len(told), len(source))}
    return _view({"encoder": source, "decoder": stream(told, sees, positions=positions)})


def _row(*parts: Ints | list[int]) -> Tape:
    return mark(*np.concatenate([nothing(), *(np.asarray(part, np.int64) for part in parts)]).tolist())


def _view(streams: dict[str, Stream]) -> View:
    """Nothing is asked in it: the last cell is read. A view has at least one place."""
    return View(np.zeros(1, np.int64), streams)

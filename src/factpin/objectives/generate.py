"""Generation: pieces are said one after the other; one function for every row that can say something.

    prompt    what has been said -> the view in which the network says the next piece, at the last cell of a stream
    score     Σ log p of the pieces and the end
    rating    score / ((5 + n) / 6)^α        n pieces, the end among them; what a beam goes by

    greedy    the likeliest piece each time
    beam      the `beams` best beginnings go on; what ended is kept as long as a longer one may be better
    sample    drawn from the likeliest `top_k`, and of these from the least set that has `top_p` of the probability

The network reads the whole view for every piece, so nothing is kept that a later piece could change; an encoder is read
once, and a memory once for each segment. Where a network counts positions, what is said ends with the last of them.

A prompt that asks nothing, or that the learner cannot read, is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from factpin.encoders.own.batch import Batch, Block
from factpin.encoders.own.network import Backbone, Memory, Network
from factpin.encoders.own.parts import DecoderLayer
from factpin.encoders.own.recall import behind, recall
from factpin.errors import BadInput
from factpin.layers.masks import Ints
from factpin.objectives.collate import collate
from factpin.objectives.losses import Learner
from factpin.objectives.prompts import Prompt, blanks, glm
from factpin.objectives.text import Vocabulary
from factpin.words import count

FIVE = 5  # of the length penalty, as in the Transformer's beam search


@dataclass(frozen=True)
class GenerationSearch:
    """How pieces are chosen: greedily, with beams or by sampling."""

    how: Literal["greedy", "beam", "sample"] = "beam"
    beams: int = 1
    penalty: float = 0.0  # α
    top_k: int = 0  # 0: all
    top_p: float = 1.0
    temperature: float = 1.0
    count: int = 1  # how many are given back
    longest: int = 64
    shortest: int = 0
    repeat: int = 0  # no run of this many pieces occurs twice; 0: any

    def __post_init__(self) -> None:
        if self.beams < 1 or self.count < 1 or self.longest < 1 or not 0 < self.top_p <= 1 or self.temperature <= 0:
            raise BadInput(
                "A search needs at least one beam, answer and piece, top_p in (0, 1] and a temperature above 0; "
                f"got beams={self.beams}, count={self.count}, longest={self.longest}, top_p={self.top_p}, "
                f"temperature={self.temperature}."
            )
        if self.how == "beam" and self.count > self.beams:
            give = count(self.beams, "beam gives", "beams give")
            raise BadInput(f"{give} at most {count(self.beams, 'answer')}, not {self.count}. Give more beams.")


@dataclass(frozen=True, eq=False)
class Generation:
    """A generated sequence."""

    ids: Ints  # without the end
    score: float
    finished: bool  # the end was said, or the known length reached


Row = tuple[tuple[int, ...], float]  # what has been said, its score


@torch.no_grad()
def generate(
    learner: Learner,
    prompt: Prompt,
    vocabulary: Vocabulary,
    search: GenerationSearch,
    *,
    chance: torch.Generator | None = None,
    tell: Callable[[Ints], None] | None = None,
) -> list[Generation]:
    """At most `search.count` answers, the best first; samples in the order in which they were drawn.

    `tell` gets what has been said so far, piece by piece, where one answer is said at a time (not with beams).
    """
    _refuse_without_decoder(learner, prompt)
    _refuse_unlearned(learner, prompt)
    was = learner.training
    learner.eval()
    try:
        speaker = Speaker(learner, prompt, vocabulary, search)
        return speaker.beam() if search.how == "beam" else speaker.say(chance, tell)
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

    def __init__(self, learner: Learner, prompt: Prompt, vocabulary: Vocabulary, search: GenerationSearch) -> None:
        self.learner, self.prompt, self.search, self.pad = learner, prompt, search, vocabulary.pad
        self.encoded: Tensor | None = None
        self.limit = positions_of(learner.encoder, prompt.stream)
        self.recalled: tuple[bytes, Block, Memory] | None = None

    def beam(self) -> list[Generation]:
        prompt, search = self.prompt, self.search
        longest = prompt.length or search.longest
        live: list[Row] = [((), 0.0)]
        done: list[Row] = []
        for n in range(longest):
            if not self._room(n):
                break
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
        ended = [Generation(np.array(said, np.int64), score, True) for said, score in done]
        cut = [Generation(np.array(said, np.int64), score, prompt.end is None) for said, score in live]
        return (ended + cut)[: search.count]

    def say(self, chance: torch.Generator | None, tell: Callable[[Ints], None] | None) -> list[Generation]:
        """One piece after the other: the likeliest, or one that is drawn."""
        prompt, search = self.prompt, self.search
        rows: list[Row] = [((), 0.0)] * search.count
        open_rows = list(range(search.count))
        for n in range(prompt.length or search.longest):
            if not open_rows or not self._room(n):
                break
            logs = self._next([rows[r] for r in open_rows])
            if search.how == "greedy":
                taken = logs.argmax(dim=-1).tolist()
            else:
                p = likeliest(logs, search).softmax(dim=-1).cpu()
                taken = torch.multinomial(p, 1, generator=chance)[:, 0].tolist()
            going = []
            for at, (r, piece) in enumerate(zip(open_rows, taken, strict=True)):
                said, score = rows[r]
                ended = piece == prompt.end
                rows[r] = (said if ended else (*said, piece), score + float(logs[at, piece]))
                going += [] if ended else [r]
            open_rows = going
            if tell is not None and len(rows) == 1:
                tell(np.array(rows[0][0], np.int64))
        return [
            Generation(np.array(said, np.int64), score, prompt.end is None or r not in open_rows)
            for r, (said, score) in enumerate(rows)
        ]

    def _room(self, n: int) -> bool:
        """Whether the network can count one more piece behind n."""
        if self.limit is None:
            return True
        view = self.prompt.view(np.zeros(n, np.int64))
        return int(view.streams[self.prompt.stream].positions.max(initial=0)) < self.limit

    def _next(self, rows: Sequence[Row]) -> Tensor:
        """log p (rows, V) of the next piece, -inf where it may not be said."""
        prompt, search = self.prompt, self.search
        views = [prompt.view(np.array(said, np.int64)) for said, _ in rows]
        batch = collate(views, self.pad)
        if self.encoded is None and prompt.stream == "decoder":
            self.encoded = self.learner.encoder(batch).hidden["encoder"][:1]  # (1, m, D)
        encoded = None if self.encoded is None else self.encoded.expand(len(rows), -1, -1)
        last = batch.streams[prompt.stream].real.sum(axis=1) - 1
        batch, memory = self._recall(batch)
        logs = self.learner.log_p(batch, prompt.stream, last, encoded=encoded, memory=memory)
        never = prompt.never | ({prompt.end} if prompt.end is not None and len(rows[0][0]) < search.shortest else set())
        logs[:, sorted(never)] = -torch.inf
        for r, (said, _) in enumerate(rows):
            logs[r, _repeating(said, search.repeat)] = -torch.inf
        return logs

    def _recall(self, batch: Batch) -> tuple[Batch, Memory | None]:
        """What was read before the present segment, made once."""
        network, kept = self.learner.encoder, batch.streams.get("memory")
        if kept is None or not kept.ids.shape[1] or not isinstance(network, Network) or not network.config.memory:
            return batch, None
        key = kept.ids.tobytes()
        if self.recalled is None or self.recalled[0] != key:
            self.recalled = (key, *recall(network, kept))
        _, recalled, memory = self.recalled
        return behind(batch, recalled), memory


def positions_of(reader: Backbone, stream: str) -> int | None:
    """How many positions a stream can count; None: any number."""
    if isinstance(reader, Network):
        return reader.config.longest if reader.input.positions else None
    own = getattr(reader, "input", None) if stream == "decoder" else None
    if own is not None:
        return int(own.config.longest)
    encoder = getattr(reader, "encoder", None)
    return encoder.max_length if encoder is not None else None


def likeliest(logs: Tensor, search: GenerationSearch) -> Tensor:
    """logs (rows, V) -> at the search's temperature, -inf for pieces that may not be drawn."""
    ranked, at = (logs / search.temperature).sort(dim=-1, descending=True)
    if search.top_k:
        ranked[:, search.top_k :] = -torch.inf
    p = ranked.softmax(dim=-1)
    closed = p.cumsum(dim=-1) - p >= search.top_p  # the pieces before it have enough already
    return torch.empty_like(logs).scatter_(-1, at, ranked.masked_fill(closed, -torch.inf))


def _repeating(said: tuple[int, ...], n: int) -> list[int]:
    """The pieces that would end a run of n pieces that is there already."""
    if n < 1 or len(said) < n:
        return []
    before = said[len(said) - n + 1 :]
    return [said[i + n - 1] for i in range(len(said) - n + 1) if said[i : i + n - 1] == before]


def _rating(score: float, n: int, search: GenerationSearch) -> float:
    return score / ((FIVE + n) / (FIVE + 1)) ** search.penalty


def fill_blanks(
    learner: Learner,
    ids: Ints,
    v: Vocabulary,
    search: GenerationSearch,
    *,
    chance: torch.Generator | None = None,
    tell: Callable[[list[Ints]], None] | None = None,
) -> list[Generation]:
    """GLM: what is missing in each blank of ids, from left to right, the best answer each time.

    `tell` gets what has been said so far for each blank, piece by piece, except with beams.
    """
    one, filled = replace(search, count=1), list[tuple[int, Generation]]()
    for blank in blanks(ids, v):
        before = [said.ids for _, said in filled]
        prompt = glm(ids, blank, v, earlier=[(at, said.ids) for at, said in filled])
        tell_all = None if tell is None else partial(_tell_all, tell, before)
        filled.append((blank, generate(learner, prompt, v, one, chance=chance, tell=tell_all)[0]))
    return [said for _, said in filled]


def _tell_all(tell: Callable[[list[Ints]], None], before: list[Ints], said: Ints) -> None:
    tell([*before, said])

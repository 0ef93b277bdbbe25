"""The job of a pretraining run: the batches of a stream for the one loop, and held-out texts to judge by.

    stages     one after the other, each as long as the sum of its weights says (ernie, palm, ernie2)
    mixture    of a stage's rows one is drawn for each batch, by weight (unilm, glm; several names with commas)

    step -> numbers of batches -> texts of the stream -> views by (seed, pass, text) -> loss

An example of the loop is a place: step · together + k, k below together = accumulation x processes. They are handed in
as they come, a process gets every n-th, and place // processes is the number of its batch in the stream.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from factpin.errors import BadInput, pick
from factpin.layers.masks import Ints
from factpin.objectives import CONTINUAL, MIXTURES, PAIRED, ROWS, STAGES, Batch, Text, Vocabulary, collate, ernie
from factpin.objectives.view import NO_LOSS
from factpin.pretraining.learner import Learners
from factpin.pretraining.stream import BatchStream, StreamCounts, in_lanes
from factpin.tokens.batches import InTurn
from factpin.training.config import TrainConfig
from factpin.training.parallel import World

METRIC = "minus_loss"  # of held-out texts: the loop keeps the weights with the greatest
PAIRS = "_pairs"  # ending of the rows that learn from pairs
JUDGED = 1 << 31  # the pass in which held-out texts are hidden; no training pass has this number

Stage = dict[str, float]  # row -> weight


def stages_of(names: str, *, pairs: bool = False) -> tuple[Stage, ...]:
    """The stages that a name, or several with commas, stands for; `pairs`: what the method makes of pairs."""
    if pairs:
        rows = {row.removesuffix(PAIRS): row for row in PAIRED}
        return ({pick(rows, names, kind="objective for pairs"): 1.0},)
    table: dict[str, tuple[Stage, ...]] = {
        **{name: ({name: 1.0},) for name in ROWS},
        **{name: (mixture,) for name, mixture in MIXTURES.items()},
        **{name: tuple({row: 1.0} for row in rows) for name, rows in STAGES.items()},
        **{name: ernie.stages(rows) for name, rows in CONTINUAL.items()},
    }
    found = [pick(table, name.strip(), kind="objective") for name in names.split(",")]
    if len(found) == 1:
        return found[0]
    if any(len(stages) > 1 for stages in found):
        raise BadInput(f"{names}: what is trained in stages cannot be mixed. Name it alone.")
    mixed: Stage = {}
    for (stage,) in found:
        for row, weight in stage.items():
            mixed[row] = mixed.get(row, 0.0) + weight / sum(stage.values())
    return (mixed,)


class PretrainJob:
    """The batches of a stream as a job of the loop, and held-out texts."""

    def __init__(
        self,
        model: Learners,
        stages: Sequence[Stage],
        stream: BatchStream,
        vocabulary: Vocabulary,
        heldout: Sequence[Text],
        how: TrainConfig,
        world: World,
        steps: int,
        at: Callable[[int, int], None] | None = None,
        *,
        apart: bool = False,
    ) -> None:
        """`at` is called with the steps done and the pieces seen, while the model is as it is judged.

        `apart`: the documents of a text do not see each other.
        """
        self.model, self.stages, self.stream, self.vocabulary = model, stages, stream, vocabulary
        self.heldout, self.how, self.world, self.steps = heldout, how, world, steps
        self.at, self.done, self.apart = at, 0, apart
        self.together = how.accumulation * world.size  # batches of a step
        self.lengths = range(steps * self.together)  # a corpus that is streamed is not counted: these are places
        self.terms = None
        self.pieces = 0  # that this process has learned from
        borders = np.cumsum([sum(stage.values()) for stage in stages])
        self.borders = borders / borders[-1]  # (stages,) where each ends, as a share of the steps

    def order(self, _: int) -> InTurn:
        """All places, step by step."""
        return InTurn(len(self.lengths), self.together)

    def batch(self, examples: Sequence[int]) -> tuple[str, Batch]:
        (place,) = examples
        drawn = self.stream.batch(place // self.world.size, again=self.how.accumulation)
        self.pieces = drawn.seen.pieces
        self.done = place // self.together + 1
        numbers = [number * self.world.size + self.world.rank for number in drawn.numbers]
        row = self.row(place)
        return row, self._collated(row, self._behind(drawn.texts), numbers, drawn.epoch)

    def _behind(self, texts: Sequence[Text]) -> Sequence[Text]:
        return texts if self.model.carried is None else self.model.carried.behind(texts)

    def row(self, place: int) -> str:
        """Which row of the table a batch is for."""
        share = place // self.together / self.steps
        stage = self.stages[min(int(np.searchsorted(self.borders, share, side="right")), len(self.stages) - 1)]
        weights = np.array(list(stage.values()))
        k = np.random.default_rng([self.how.seed, place]).choice(len(stage), p=weights / weights.sum())
        return list(stage)[int(k)]

    def _collated(self, row: str, texts: Sequence[Text], numbers: Sequence[int], epoch: int) -> Batch:
        objective = ROWS[row]
        views = [
            objective.view(text, self.vocabulary, seed=self.how.seed, epoch=epoch, index=number, apart=self.apart)
            for text, number in zip(texts, numbers, strict=True)
        ]
        return collate(views, self.vocabulary.pad, task=objective.task)

    def seen(self, steps: int) -> StreamCounts:
        """What this process has seen after so many steps."""
        return self.stream.batch(steps * self.how.accumulation - 1).seen

    def evaluate(self) -> dict[str, float]:
        """Of the last stage's rows, over all pieces that are asked for."""
        if self.at is not None:
            self.at(self.done, self.pieces)
        if not self.heldout:
            return {}
        loss, asked, carried = 0.0, 0, self.model.carried
        with torch.random.fork_rng():
            torch.manual_seed(JUDGED)  # ELECTRA's generator draws
            for row in self.stages[-1]:
                self.model.carried = None if carried is None else carried.empty()
                for numbers in self._judged():
                    texts = self._behind([self.heldout[i] for i in numbers])
                    batch = self._collated(row, texts, numbers, JUDGED)
                    count = sum(int((block.labels != NO_LOSS).sum()) for block in batch.streams.values())
                    loss += float(self.model.loss((row, batch))) * count
                    asked += count
        self.model.carried = carried
        return {METRIC: -loss / max(1, asked), "heldout_loss": loss / max(1, asked)}

    def asked(self) -> Ints:
        """How often each piece of the vocabulary is asked for in the held-out texts."""
        counts = np.zeros(self.vocabulary.size, np.int64)
        for row in self.stages[-1]:
            for numbers in self._judged():
                batch = self._collated(row, [self.heldout[i] for i in numbers], numbers, JUDGED)
                for block in batch.streams.values():
                    counts += np.bincount(block.labels[block.labels != NO_LOSS], minlength=len(counts))
        return counts

    def _judged(self) -> list[list[int]]:
        """The held-out texts in batches; side by side, where memory is carried from one to the next."""
        count, size = len(self.heldout), self.how.texts
        if self.model.carried is not None:
            return in_lanes(count, size)
        return [list(range(at, min(at + size, count))) for at in range(0, count, size)]

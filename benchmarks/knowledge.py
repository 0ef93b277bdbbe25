"""The cost of knowledge layers: CPU time of a training step beside the same step without a layer.

python benchmarks/knowledge.py --entities 1000 10000 100000

A small random encoder, 8 texts of 64 tokens with 4 mentions each, one thread. Times are ratios of CPU time, steps with
and without the layer taking turns; memory is what the tables take.
"""

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from factpin.encoders import small_encoder
from factpin.knowledge.entity_memory import EntityMemory, EntityMemoryConfig, linking_loss
from factpin.knowledge.fact_memory import FactMemory, HeadFacts
from factpin.knowledge.kar import Kar, KarConfig
from factpin.knowledge.mentions import FIRST, MentionSpan, collate_mentions

TEXTS, TOKENS, MENTIONS, SIZE, WIDTH = 8, 64, 4, 128, 256


class Given(nn.Module):
    """A layer with the same mentions for every batch."""

    def __init__(self, layer: nn.Module, spans: list[list[MentionSpan]]) -> None:
        super().__init__()
        self.layer, self.mentions = layer, collate_mentions(spans)
        self.linking: Tensor | None = None

    def forward(self, hidden: Tensor, *_: Tensor) -> Tensor:
        """The ids and the mask are not needed."""
        changed, scores = self.layer(hidden, self.mentions)
        of_kar = isinstance(self.layer, Kar)
        self.linking = self.layer.loss(scores, self.mentions) if of_kar else linking_loss(scores, self.mentions)
        return changed


def step(parts: list[nn.Module], forward: Callable[[], Tensor]) -> float:
    """CPU seconds of a forward and backward pass."""
    start = time.process_time()
    forward().backward()  # type: ignore[no-untyped-call]
    spent = time.process_time() - start
    for part in parts:
        part.zero_grad()
    return spent


def main() -> None:
    """One row for each layer and size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--entities", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("| layer | entities | step beside none | MB of tables |\n|---|---|---|---|")
    for entities in args.entities:
        spans = [
            [MentionSpan(8 * c + 1, 8 * c + 2, tuple(range(FIRST, FIRST + 8)), (0.125,) * 8, 0, FIRST)
             for c in range(MENTIONS)] for _ in range(TEXTS)
        ]  # fmt: skip
        layers = {
            "KAR": Kar(WIDTH, torch.randn(FIRST + entities, SIZE), KarConfig()),
            "entity memory": EntityMemory(WIDTH, FIRST + entities, EntityMemoryConfig(SIZE)),
            "fact memory": None,
        }
        for name, layer in layers.items():
            print(f"| {name} | {entities:,} | {measure(layer, spans, entities, args.steps)} |", flush=True)


def measure(layer: nn.Module | None, spans: list[list[MentionSpan]], entities: int, steps: int) -> str:
    """The ratio of CPU times, and the size of the tables. None: a fact memory with as many rows as entities."""
    encoder = small_encoder(1000, width=WIDTH, layers=4, heads=4, dropout=0.0)
    ids, mask = torch.randint(1, 1000, (TEXTS, TOKENS)), torch.ones(TEXTS, TOKENS, dtype=torch.bool)
    size = (FIRST + entities) * SIZE * 4 / 1e6
    if layer is None:
        memory = FactMemory(WIDTH, nn.Embedding(FIRST + entities, SIZE), nn.Embedding(20, SIZE))
        memory.replace_facts([HeadFacts(FIRST + i, i % 20, (FIRST + (i * 7) % entities,)) for i in range(entities)])
        parts: list[nn.Module] = [encoder, memory]

        def forward() -> Tensor:
            reading = memory(encoder(ids, mask).hidden[:, 0])
            return -reading.facts.log_softmax(-1)[:, 1].mean() - reading.answers.log_softmax(-1)[:, FIRST].mean()

    else:
        given = Given(layer, spans)
        parts = [encoder, given]

        def forward() -> Tensor:
            encoder.put_between(given, 2)
            hidden = encoder(ids, mask).hidden
            encoder.put_between(None)
            return hidden.square().mean() + (given.linking if given.linking is not None else 0.0)

    pairs = []
    for _ in range(steps + 1):
        without = step(parts, lambda: encoder(ids, mask).hidden.square().mean())
        pairs.append((step(parts, forward), without))
    ratio = sorted(a / b for a, b in pairs[1:])[steps // 2]
    return f"{ratio:.2f} | {size:.1f}"


if __name__ == "__main__":
    main()

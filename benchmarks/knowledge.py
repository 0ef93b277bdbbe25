"""The cost of knowledge layers: time and memory of a training step beside the same step without a layer.

    python benchmarks/knowledge.py --entities 1000 10000 100000

A small random encoder, 8 texts of 64 tokens with 4 mentions each, one thread, AdamW. Times are ratios of CPU time;
steps with and without the layer take turns. Memory is the peak of a process of its own, beside that of one without.
A fact memory has as many facts as there are entities, whose vectors are fixed, as in `pretrain --objective fae`.
"""

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import torch
from torch import Tensor, nn

from factpin.encoders import Encoder, small_encoder
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


def fact_memory(encoder: Encoder, ids: Tensor, mask: Tensor, entities: int) -> tuple[nn.Module, Callable[[], Tensor]]:
    """A fact memory above the encoder, and its loss."""
    table = nn.Embedding(FIRST + entities, SIZE).requires_grad_(False)
    memory = FactMemory(WIDTH, table, nn.Embedding(20, SIZE))
    memory.replace_facts([HeadFacts(FIRST + i, i % 20, (FIRST + (i * 7) % entities,)) for i in range(entities)])

    def loss() -> Tensor:
        reading = memory(encoder(ids, mask).hidden[:, 0])
        return -reading.facts.log_softmax(-1)[:, 1].mean() - reading.answers.log_softmax(-1)[:, FIRST].mean()

    return memory, loss


def between_layers(
    layer: nn.Module, encoder: Encoder, ids: Tensor, mask: Tensor
) -> tuple[nn.Module, Callable[[], Tensor]]:
    """A layer inside the encoder, and its loss."""
    spans = [
        [MentionSpan(8 * c + 1, 8 * c + 2, tuple(range(FIRST, FIRST + 8)), (0.125,) * 8, 0, FIRST)
         for c in range(MENTIONS)] for _ in range(TEXTS)
    ]  # fmt: skip
    given = Given(layer, spans)

    def loss() -> Tensor:
        encoder.put_between(given, 2)
        hidden = encoder(ids, mask).hidden
        encoder.put_between(None)
        return hidden.square().mean() + (given.linking if given.linking is not None else 0.0)

    return given, loss


def seconds(optimiser: torch.optim.Optimizer, loss: Callable[[], Tensor]) -> float:
    """CPU seconds of a training step."""
    start = time.process_time()
    loss().backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    optimiser.zero_grad()
    return time.process_time() - start


def measure(layer: str, entities: int, steps: int, answer: Connection) -> None:
    """Send the median ratio of CPU times, and the peak of memory in bytes."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    encoder = small_encoder(1000, width=WIDTH, layers=4, heads=4, dropout=0.0)
    ids, mask = torch.randint(1, 1000, (TEXTS, TOKENS)), torch.ones(TEXTS, TOKENS, dtype=torch.bool)

    def plain() -> Tensor:
        return encoder(ids, mask).hidden.square().mean()

    own: nn.Module = nn.Identity()
    loss = plain
    if layer == "KAR":
        kar = Kar(WIDTH, torch.randn(FIRST + entities, SIZE), KarConfig())
        own, loss = between_layers(kar, encoder, ids, mask)
    elif layer == "entity memory":
        memory = EntityMemory(WIDTH, FIRST + entities, EntityMemoryConfig(SIZE))
        own, loss = between_layers(memory, encoder, ids, mask)
    elif layer == "fact memory":
        own, loss = fact_memory(encoder, ids, mask, entities)
    without = torch.optim.AdamW(encoder.parameters(), fused=True)
    both = nn.ModuleList([encoder, own])
    whole = torch.optim.AdamW([p for p in both.parameters() if p.requires_grad], fused=True)
    ratios = sorted(seconds(whole, loss) / seconds(without, plain) for _ in range(steps + 1))
    answer.send((ratios[len(ratios) // 2], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


def alone(layer: str, entities: int, steps: int) -> tuple[float, int]:
    """Measure in a process of its own."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=measure, args=(layer, entities, steps, theirs))
    process.start()
    found: tuple[float, int] = mine.recv()
    process.join()
    return found


def main() -> None:
    """One row for each layer and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--steps", type=int, default=8)
    args = parser.parse_args()
    print("| layer | entities | step beside one without | MiB more at the peak |\n|---|---|---|---|")
    ratio, least = alone("none", 0, args.steps)
    print(f"| none | | {ratio:.2f} | |", flush=True)
    for layer in ("KAR", "entity memory", "fact memory"):
        for entities in args.entities:
            ratio, peak = alone(layer, entities, args.steps)
            print(f"| {layer} | {entities:,} | {ratio:.2f} | {(peak - least) / 2**20:.0f} |", flush=True)


if __name__ == "__main__":
    main()

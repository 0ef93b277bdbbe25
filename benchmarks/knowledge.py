"""The cost of knowledge layers: time and memory of a training step beside the same step without a layer.

    python benchmarks/knowledge.py --entities 1000 10000 100000
    python benchmarks/knowledge.py --entities 1000 10000 100000 --read

--read: instead of steps, what reading a store costs before a KAR is trained, CPU seconds without those of the encoder
(one layer), and the memory at the peak. Each entity is named in two documents, of eight names each.

A small random encoder, 8 texts of 64 tokens with 4 mentions each, one thread, AdamW. Times are ratios of CPU time;
steps with and without the layer take turns. Memory is the peak of a process of its own, beside that of one without.
A fact memory has as many facts as there are entities, whose vectors are fixed, as in `pretrain --objective fae`.
"""

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor, nn

from factpin.documents import Document, Entity, Mention
from factpin.encoders import Encoder, small_encoder
from factpin.knowledge.entity_memory import EntityMemory, EntityMemoryConfig, linking_loss
from factpin.knowledge.fact_memory import FactMemory, HeadFacts
from factpin.knowledge.kar import Kar, KarConfig
from factpin.knowledge.mentions import FIRST, MentionSpan, collate_mentions
from factpin.knowledge.reading import read_store
from factpin.memory import Source, open_store
from factpin.tokens.small import build_tokenizer

SYLLABLES = ("ba", "ko", "mi", "tu", "re", "so", "la", "ni", "vo", "zu", "pe", "da", "fi", "go", "hu", "ja")
FILLER = ("the day of", "he met", "who was near", "from the town of", "later seen by", "with her and", "they saw")
NAMES = 8  # in a document that is read
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


def name_of(number: int) -> str:
    """A name of two invented words."""
    parts = [SYLLABLES[number // len(SYLLABLES) ** i % len(SYLLABLES)] for i in range(5)]
    return f"{''.join(parts[:3]).capitalize()} {''.join(parts[3:]).capitalize()}"


def text_with(entities: Sequence[int], id: str) -> Document:
    """A text that names these entities."""
    text, mentions, found = "", [], []
    for i, number in enumerate(entities):
        text += f"{FILLER[number % 7]} "
        name = name_of(number)
        mentions.append(Mention(f"m{i}", len(text), len(text) + len(name), name, "PER"))
        found.append(Entity(f"e{i}", (f"m{i}",), "PER", link=f"Q{number}"))
        text += f"{name} "
    return Document(id, text.rstrip(), mentions=tuple(mentions), entities=tuple(found))


def fill(path: Path, entities: int) -> None:
    """A store of so many entities."""
    chance = np.random.default_rng(0)
    every = np.concatenate([chance.permutation(entities) for _ in range(2)]).tolist()
    with open_store(str(path), create=True) as store, store.together():
        for at in range(0, len(every), NAMES):
            store.put(text_with(every[at : at + NAMES], str(at)), Source(str(at)))


def measure_reading(path: Path, names: Sequence[str], answer: Connection) -> None:
    """Send the CPU seconds of reading a store, without those of the encoder, and the peak of memory in bytes."""
    torch.set_num_threads(1)
    tokenizer = build_tokenizer([*names, *FILLER], 1000)
    encoder = small_encoder(tokenizer.vocab_size, width=WIDTH, layers=1, heads=4, tokenizer=tokenizer)
    inside = [0.0]

    def began(*_: object) -> None:
        inside[0] -= time.process_time()

    def ended(*_: object) -> None:
        inside[0] += time.process_time()

    encoder.register_forward_pre_hook(began)
    encoder.register_forward_hook(ended)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with open_store(str(path)) as store:
        read_store(store, "kar", encoder, tokenizer, size=SIZE)
    seconds = time.process_time() - start - inside[0]
    answer.send((seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024))


def read_alone(entities: int) -> tuple[float, int]:
    """Fill a store, and measure its reading in a process of its own."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kb.db"
        fill(path, entities)
        return in_process(measure_reading, path, [name_of(i) for i in range(0, entities, max(1, entities // 500))])


def in_process(target: Callable[..., None], *args: object) -> tuple[float, int]:
    """Measure in a process of its own."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=target, args=(*args, theirs))
    process.start()
    found: tuple[float, int] = mine.recv()
    process.join()
    return found


def main() -> None:
    """One row for each layer and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--read", action="store_true", help="measure the reading of a store instead")
    args = parser.parse_args()
    if args.read:
        print(
            "| reading a store | entities | CPU seconds without the encoder | MiB more at the peak |\n|---|---|---|---|"
        )
        for entities in args.entities:
            spent, peak = read_alone(entities)
            print(f"| | {entities:,} | {spent:.1f} | {peak / 2**20:.0f} |", flush=True)
        return
    print("| layer | entities | step beside one without | MiB more at the peak |\n|---|---|---|---|")
    ratio, least = in_process(measure, "none", 0, args.steps)
    print(f"| none | | {ratio:.2f} | |", flush=True)
    for layer in ("KAR", "entity memory", "fact memory"):
        for entities in args.entities:
            ratio, peak = in_process(measure, layer, entities, args.steps)
            print(f"| {layer} | {entities:,} | {ratio:.2f} | {(peak - least) / 2**20:.0f} |", flush=True)


if __name__ == "__main__":
    main()

"""What the systems that read and answer cost: MemRecall on long texts, the frontier loop, and decoding in RAG.

    python benchmarks/answers.py memrecall --characters 50000 100000 200000
    python benchmarks/answers.py hops
    python benchmarks/answers.py rag

memrecall   time and windows for each length, beside reading every window once with the same encoder. Linear: the time
            per character does not grow with the text. The last columns are the largest number of tokens in one batch,
            and how far the most memory that the process ever had grew while the text was read
hops        how often passages are read, and in how many batches, in worlds in which every passage names some others
rag         rows that the decoder reads for one answer, and CPU time beside one passage with one beam, by decoding, k
            and beams; prompts of 150 tokens, answers of at most 8 pieces

Encoders and generators are small and random: what counts are ratios and numbers of calls.
"""

import argparse
import random
import resource
from collections.abc import Sequence
from time import process_time

import numpy as np
import torch
from torch import Tensor
from transformers import T5Config, T5ForConditionalGeneration

from factpin.answers import cogltx_judge
from factpin.answers.cogltx import cut_blocks
from factpin.answers.cogltx_judge import Judge, JudgeModel, JudgeSettings
from factpin.answers.cogqa import Findings, FoundSpan, GraphNode, grow
from factpin.answers.rag import RagSettings, write
from factpin.documents import Passage, Span
from factpin.documents.keys import passage_key
from factpin.encoders import small_encoder
from factpin.encoders.generator import EncoderDecoder
from factpin.tokens.pieces import Ints
from factpin.tokens.small import build_tokenizer

WORDS = [
    "the",
    "cat",
    "saw",
    "a",
    "dog",
    "near",
    "old",
    "river",
    "and",
    "then",
    "went",
    "home",
    "because",
    "rain",
    "fell",
    "on",
    "every",
    "hill",
]


def long_text(characters: int) -> str:
    """Sentences of random words."""
    chance, parts, size = random.Random(0), list[str](), 0
    while size < characters:
        parts.append(" ".join(chance.choices(WORDS, k=chance.randrange(5, 20))).capitalize() + ".")
        size += len(parts[-1]) + 1
    return " ".join(parts)[:characters]


def recall_long_texts(characters: Sequence[int]) -> None:
    """Time by length."""
    torch.manual_seed(0)
    tokenizer = build_tokenizer([long_text(5000)], vocab_size=500)
    encoder = small_encoder(tokenizer.vocab_size, width=64, layers=2, max_length=512, tokenizer=tokenizer)
    judge = Judge(JudgeModel(encoder).eval(), tokenizer, JudgeSettings())
    widest = [0]
    forward = judge.model.scores

    def counted(batch: cogltx_judge.PairBatch) -> torch.Tensor:
        widest[0] = max(widest[0], batch.ids.size)
        return forward(batch)

    judge.model.scores = counted  # type: ignore[method-assign]
    print("| characters | blocks | seconds | µs a character | beside one reading | tokens of a batch | MB more |")
    print("|---|---|---|---|---|---|---|")
    judge.recall("Where is the cat?", [long_text(5000)])  # warm
    for size in characters:
        text, widest[0], before = long_text(size), 0, _most_memory()
        start = process_time()
        found = judge.recall("Where is the cat?", [text])
        recall = process_time() - start
        start = process_time()
        blocks = cut_blocks([text], tokenizer)
        windows = [range(i, min(len(blocks), i + 7)) for i in range(0, len(blocks), 7)]
        judge.score(tokenizer.encode("Where is the cat?").ids, blocks, windows)
        once = process_time() - start
        more = _most_memory() - before
        figures = f"{recall:.2f} | {1e6 * recall / size:.1f} | {recall / once:.2f} | {widest[0]:,} | {more:.0f}"
        print(f"| {size:,} | {len(found.blocks):,} | {figures} |", flush=True)


def _most_memory() -> float:
    """In megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _passage(number: int) -> Passage:
    key = passage_key(str(number), 0, 9)
    return Passage(key, str(number), 0, 9, "A passage", f"Title {number}")


class NamingWorld:
    """Passages of which each names some others, drawn by chance; every third one has an answer."""

    def __init__(self, passages: int, named: int) -> None:
        chance = random.Random(passages * 100 + named)
        self.passages = [_passage(i) for i in range(passages)]
        self.named = [chance.sample(range(passages), named) for _ in range(passages)]
        self.batches = 0

    def read(self, nodes: Sequence[GraphNode], _: bool) -> list[Findings]:
        """What each node names."""
        self.batches += 1
        return [self._read(node) for node in nodes]

    def _read(self, node: GraphNode) -> Findings:
        if node.passage is None:
            return Findings((), (), 1.0)
        number = int(node.passage.document)
        hops = tuple(FoundSpan(Span(0, 7), Span(0, 9), f"Title {i}", 1.0) for i in self.named[number])
        answers = (FoundSpan(Span(0, 7), Span(0, 9), f"answer {number % 9}", 1.0),) if number % 3 == 0 else ()
        return Findings(hops, answers, -1.0 if answers else 1.0)

    def link(self, name: str) -> list[Passage]:
        """The passage of a title."""
        return [self.passages[int(name.split()[1])]]


def grow_graphs() -> None:
    """How often passages are read."""
    print("| passages retrieved | named by each | passages added at most | nodes | edges | read | batches | ms |")
    print("|---" * 8 + "|")
    for seeds, named, new in ((5, 1, 5), (5, 3, 5), (10, 1, 5), (10, 3, 5), (10, 3, 20), (10, 10, 20), (20, 3, 20)):
        world = NamingWorld(1000, named)
        start = process_time()
        graph = grow(world.passages[:seeds], world.read, world.link, new)
        spent = 1000 * (process_time() - start)
        counts = f"{len(graph.nodes)} | {len(graph.edges)} | {graph.visits} | {world.batches}"
        print(f"| {seeds} | {named} | {new} | {counts} | {spent:.1f} |", flush=True)


class CountedGenerator:
    """A generator that counts the rows that its decoder reads."""

    def __init__(self, generator: EncoderDecoder) -> None:
        self.generator, self.end, self.rows = generator, generator.end, 0

    def encode(self, prompts: Sequence[Ints]) -> tuple[Tensor, Tensor]:
        """As the generator."""
        return self.generator.encode(prompts)

    def log_p(self, states: Tensor, mask: Tensor, said: Tensor) -> Tensor:
        """As the generator."""
        self.rows += len(said)
        return self.generator.log_p(states, mask, said)


def decode_answers() -> None:
    """Time by decoding, k and beams."""
    torch.manual_seed(0)
    tokenizer = build_tokenizer([long_text(5000)], vocab_size=500)
    config = T5Config(vocab_size=tokenizer.vocab_size, d_model=128, d_kv=32, d_ff=512, num_layers=4, num_heads=4,
                      pad_token_id=tokenizer.pad_id, eos_token_id=tokenizer.suffix[-1],
                      decoder_start_token_id=tokenizer.pad_id)  # fmt: skip
    generator = CountedGenerator(EncoderDecoder(T5ForConditionalGeneration(config), tokenizer).eval())
    chance = np.random.default_rng(0)
    prompts = [chance.integers(10, tokenizer.vocab_size, 150).astype(np.int32) for _ in range(20)]

    def run(decode: str, k: int, beams: int) -> tuple[float, int]:
        settings = RagSettings(k=k, longest=8, beams=beams, decode=decode)  # type: ignore[arg-type]
        spent = []
        for _ in range(3):
            generator.rows, start = 0, process_time()
            write(generator, prompts[:k], torch.zeros(k), settings)
            spent.append(process_time() - start)
        return sorted(spent)[1], generator.rows

    run("fast", 1, 1)  # warm
    one, _ = run("fast", 1, 1)
    print("| decoding | k | beams | rows of the decoder | CPU time |\n|---|---|---|---|---|")
    for decode in ("token", "fast", "thorough"):
        for k, beams in ((1, 1), (5, 1), (5, 3), (10, 3), (20, 3), (5, 10)):
            spent, rows = run(decode, k, beams)
            print(f"| {decode} | {k} | {beams} | {rows:,} | {spent / one:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("memrecall", "hops", "rag"))
    parser.add_argument("--characters", type=int, nargs="+", default=[50_000, 100_000, 200_000])
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.what == "memrecall":
        recall_long_texts(options.characters)
    else:
        {"hops": grow_graphs, "rag": decode_answers}[options.what]()


if __name__ == "__main__":
    main()

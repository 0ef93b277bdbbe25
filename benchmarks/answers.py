"""MemRecall on long texts: time and windows for each length, beside reading every window once with the same encoder.

    python benchmarks/answers.py --characters 50000 100000 200000

Linear: the time per character does not grow with the text. The encoder is small and random; what counts are ratios.
The last column is the largest number of tokens in one batch, which does not grow either.
"""

import argparse
import random
from time import process_time

import torch

from factpin.answers import cogltx_judge
from factpin.answers.cogltx import cut_blocks
from factpin.answers.cogltx_judge import Judge, JudgeModel, JudgeSettings
from factpin.encoders import small_encoder
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, nargs="+", default=[50_000, 100_000, 200_000])
    options = parser.parse_args()
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
    print("| characters | blocks | seconds | µs a character | beside one reading | tokens of a batch |")
    print("|---|---|---|---|---|---|")
    judge.recall("Where is the cat?", [long_text(5000)])  # warm
    for size in options.characters:
        text, widest[0] = long_text(size), 0
        start = process_time()
        found = judge.recall("Where is the cat?", [text])
        recall = process_time() - start
        start = process_time()
        blocks = cut_blocks([text], tokenizer)
        windows = [range(i, min(len(blocks), i + 7)) for i in range(0, len(blocks), 7)]
        judge.score(tokenizer.encode("Where is the cat?").ids, blocks, windows)
        once = process_time() - start
        figures = f"{recall:.2f} | {1e6 * recall / size:.1f} | {recall / once:.2f} | {widest[0]:,}"
        print(f"| {size:,} | {len(found.blocks):,} | {figures} |", flush=True)


if __name__ == "__main__":
    main()

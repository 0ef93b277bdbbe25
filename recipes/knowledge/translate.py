"""Entity vectors from facts alone (`--vectors facts`, TransE): can held-out facts of CoDEx-S be read off them?

    python recipes/knowledge/translate.py ../shared/data/codex/codex-s

The relation of a fact leads from its head to a place; its tail is ranked among all entities by the distance to that
place, other tails that are known left out. A relation is the mean of tail - head over the facts that are learned from.
With 0 steps, the vectors are those that are drawn at the start.
"""

import argparse
import lzma
from collections import defaultdict
from pathlib import Path

import torch

from factpin.knowledge.translate import STEPS, translated

SIZE = 128


def read(path: Path) -> list[list[str]]:
    """Head, relation and tail on each line."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [line.split() for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--steps", type=int, nargs="+", default=[0, STEPS, 3 * STEPS])
    args = parser.parse_args()
    learned, asked = (read(args.data / f"{part}.txt.xz") for part in ("train", "test"))
    entity = {name: i for i, name in enumerate(sorted({end for head, _, tail in learned for end in (head, tail)}))}
    relation = {name: i for i, name in enumerate(sorted({name for _, name, _ in learned}))}
    facts = torch.tensor([(entity[h], relation[r], entity[t]) for h, r, t in learned])
    questions = torch.tensor([(entity[h], relation[r], entity[t]) for h, r, t in asked if h in entity and t in entity])
    known = defaultdict[tuple[int, int], list[int]](list)
    for head, number, tail in facts.tolist():
        known[head, number].append(tail)
    print(f"{len(entity)} entities, {len(relation)} relations, {len(facts)} facts, {len(questions)} asked\n")
    print("| steps | first | among the first ten | mean rank |\n|---|---|---|---|")
    for steps in args.steps:
        e = translated([tuple(fact) for fact in facts.tolist()], len(entity), len(relation), SIZE, steps=steps)
        moved = e[facts[:, 2]] - e[facts[:, 0]]
        leads = torch.stack([moved[facts[:, 1] == number].mean(0) for number in range(len(relation))])
        far = torch.cdist(e[questions[:, 0]] + leads[questions[:, 1]], e)  # (questions, entities)
        for row, (head, number, tail) in enumerate(questions.tolist()):
            far[row, [other for other in known[head, number] if other != tail]] = float("inf")
        rank = (far < far.gather(1, questions[:, 2:])).sum(1) + 1
        first, ten = ((rank <= n).float().mean().item() for n in (1, 10))
        print(f"| {steps} | {first:.3f} | {ten:.3f} | {rank.float().mean():.0f} |", flush=True)


if __name__ == "__main__":
    main()

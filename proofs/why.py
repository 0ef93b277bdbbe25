"""Why bars of RAG and REALM are missed: smaller experiments about their experiments.

    python -m proofs.why rag
    python -m proofs.why realm

rag     sequence was to fail where an answer is split over two passages. With six words, three beams guess the missing
        word nearly always, so the right answer is a candidate: with fewer beams it is not
realm   joint learning was to reach 0.85, an index that is never refreshed was to cost something, and a start from
        nothing was to fail. How long it learns and how it begins, which side learns, how far passages move, and how
        many passages are seen at once
"""

import sys

from proofs.memory_rag import WORDS, taught, thorough_share
from proofs.memory_realm import learn

SEEDS = (1, 2)


def explain_rag() -> None:
    """Split answers by the number of beams, for one training."""
    print(f"{WORDS} words, a writer that learned with the loss of sequences\n")
    print("| seed | beams | right | right answer among the candidates | expected if the other word is guessed |")
    print("|---|---|---|---|---|")
    for seed in SEEDS:
        writer = taught(seed, "split", "sequence")
        for beams in (1, 2, 3, 6):
            right, offered = thorough_share(writer, seed, beams)
            guessed = 1 - (1 - min(1.0, beams / (WORDS - 1))) ** 2
            print(f"| {seed} | {beams} | {right:.2f} | {offered:.2f} | {guessed:.2f} |", flush=True)


def explain_realm() -> None:
    """Recall of held-out questions, and how far the vectors of passages moved."""
    arms: dict[str, dict[str, object]] = {
        "joint": {},
        "joint, twice the steps": {"steps": 1200},
        "joint, twice the start": {"warm": 50},
        "joint, sixteen seen": {"k": 16},
        "frozen, twice the start": {"frozen": True, "warm": 50},
        "never refreshed": {"refresh": 0},
        "only questions learn": {"fixed": "said"},
        "only passages learn": {"fixed": "asked"},
        "only passages learn, never refreshed": {"fixed": "asked", "refresh": 0},
        "joint, two seen": {"k": 2},
        "from nothing, eight seen": {"warm": 0},
        "from nothing, four seen": {"warm": 0, "k": 4},
        "from nothing, two seen": {"warm": 0, "k": 2},
    }
    print("| arm | seed | recall@1 | recall@8 | cosine of passages before and after |\n|---|---|---|---|---|")
    for name, arm in arms.items():
        for seed in (*SEEDS, 3):
            found = learn(seed, **arm)  # type: ignore[arg-type]
            print(f"| {name} | {seed} | {found['recall@1']:.2f} | {found['recall@8']:.2f} | {found['cosine']:.2f} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    {"rag": explain_rag, "realm": explain_realm}[sys.argv[1]]()

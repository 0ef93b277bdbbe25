"""Facts as Experts on the triples of 2WikiMultihopQA: are edited, injected and removed facts followed?

    python recipes/knowledge/edit_facts.py DATA --encoder minilm-en --steps 600 --output runs/edit

DATA has 2wiki_train.jsonl.xz and 2wiki_dev.jsonl.xz. A tenth of the heads is kept for injection. Questions are asked in
words that training does not use. Beside the memory: `ask --mode facts`. Nothing has been measured with it yet.
"""

import argparse
import json
import lzma
import random
from pathlib import Path

from factpin.answers.ask import ask
from factpin.memory import Store, TypedFact, open_store
from factpin.models.memory_folder import MemoryReasoner, load_memory
from factpin.pretraining.knowledge import pretrain_knowledge
from factpin.training.config import TrainConfig
from factpin.training.knowledge_options import KnowledgeOptions

Triple = tuple[str, str, str]
QUESTION = "Do you know the {relation} of {head}?"


def triples(data: Path, most: int) -> list[Triple]:
    """One tail for each head and relation."""
    found: dict[tuple[str, str], str] = {}
    for part in ("train", "dev"):
        with lzma.open(data / f"2wiki_{part}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                for head, relation, tail in json.loads(line)["evidences"]:
                    found.setdefault((head, relation), tail)
    return [(head, relation, tail) for (head, relation), tail in sorted(found.items())][:most]


def fill(path: Path, facts: list[Triple]) -> Store:
    """A store of these facts, each in a document of its own."""
    path.unlink(missing_ok=True)
    store = open_store(str(path), create=True)
    with store.together():
        for head, relation, tail in facts:
            store.add(TypedFact(head, relation, tail))
    return store


def share(store: Store, asked: list[Triple], reasoner: MemoryReasoner | None) -> float:
    """How often the tail is answered."""
    right = 0
    for head, relation, tail in asked:
        question = QUESTION.format(relation=relation, head=head)
        if reasoner is None:
            found = ask(f"What is the {relation} of {head}?", store, "facts")
        else:
            found = ask(question, store, "memory", 0.0, reasoners={"memory": reasoner})
        right += tail in (found.text, *(found.text.split(", ")))
    return round(right / max(1, len(asked)), 3)


def main() -> None:
    """Train once, edit, and ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--facts", type=int, default=1500)
    parser.add_argument("--edits", type=int, default=300)
    parser.add_argument("--inject", type=int, default=200)
    parser.add_argument("--asked", type=int, default=100, help="questions of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    facts = triples(args.data, args.facts)
    chance.shuffle(facts)
    new, known = facts[: args.inject], facts[args.inject :]
    args.output.mkdir(parents=True, exist_ok=True)
    folder = args.output / "model"
    if not (folder / "factpin.json").exists():
        with fill(args.output / "kb.db", known):
            how = TrainConfig(
                max_steps=args.steps, epochs=100, batch_size=16, seed=args.seed, evaluate_every=args.steps
            )
            options = KnowledgeOptions("fae", args.encoder, str(args.output / "kb.db"))
            pretrain_knowledge(options, how, folder, quiet=True)
    tails = [tail for _, _, tail in known]
    edited = {(h, r): chance.choice([t for t in tails if t != old]) for h, r, old in known[: args.edits]}
    after = [(h, r, edited.get((h, r), t)) for h, r, t in known]
    some, reasoner = slice(0, args.asked), MemoryReasoner(load_memory(folder))
    changed, old = [(h, r, edited[h, r]) for h, r, _ in known[: args.edits]][some], known[: args.edits][some]
    report: dict[str, float] = {}
    for arm, one in (("memory", reasoner), ("symbolic", None)):
        with fill(args.output / "before.db", known) as store:
            report[f"{arm}: known facts"] = share(store, known[-args.asked :], one)
            report[f"{arm}: not injected"] = share(store, new[some], one)
        with fill(args.output / "after.db", after + new) as store:
            report[f"{arm}: edited, new answer"] = share(store, changed, one)
            report[f"{arm}: edited, old answer"] = share(store, old, one)
            report[f"{arm}: injected"] = share(store, new[some], one)
        with fill(args.output / "without.db", known[args.edits :]) as store:
            report[f"{arm}: removed, old answer"] = share(store, old, one)
        (args.output / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()

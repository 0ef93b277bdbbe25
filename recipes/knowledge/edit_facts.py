"""Facts as Experts on the triples of 2WikiMultihopQA: are edited, injected and removed facts followed?

    python recipes/knowledge/edit_facts.py DATA --encoder minilm-en --steps 400 --seeds 1 2 3 --output runs/edit

DATA has 2wiki_train.jsonl.xz and 2wiki_dev.jsonl.xz. Heads with brackets, which are no names in a question, are left
out. Most heads have one fact only. The heads of --inject facts are kept for injection; an edited fact gets the tail of
another fact of its relation. Questions are asked in words that training does not use.

memory       `ask --mode memory`
memory off   the same network without any fact: the entity that it names from its weights
symbolic     `ask --mode facts`, asked in words that it understands
"""

import argparse
import json
import lzma
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

import torch

from factpin.answers.ask import ask
from factpin.documents import Span
from factpin.knowledge.asker import BLANK, blank_text, collate_blanks
from factpin.knowledge.mentions import FIRST
from factpin.knowledge.tables import read_facts
from factpin.memory import Store, TypedFact, open_store
from factpin.models.memory_folder import MemoryReasoner, load_memory
from factpin.pretraining.knowledge import pretrain_knowledge
from factpin.training.config import TrainConfig
from factpin.training.knowledge_options import KnowledgeOptions

Triple = tuple[str, str, str]
Answer = Callable[[Store, str, str], Sequence[str]]  # a head and a relation -> what is answered
QUESTION = "Do you know the {relation} of {head}?"


def triples(data: Path, most: int) -> list[Triple]:
    """One tail for each head and relation."""
    found: dict[tuple[str, str], str] = {}
    for part in ("train", "dev"):
        with lzma.open(data / f"2wiki_{part}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                for head, relation, tail in json.loads(line)["evidences"]:
                    if "(" not in head:
                        found.setdefault((head, relation), tail)
    return [(head, relation, tail) for (head, relation), tail in sorted(found.items())][:most]


def by_heads(facts: list[Triple], inject: int, chance: random.Random) -> tuple[list[Triple], list[Triple]]:
    """The facts of some heads, `inject` or a few more, and those of all others."""
    heads = sorted({head for head, _, _ in facts})
    chance.shuffle(heads)
    many, new = Counter(head for head, _, _ in facts), set[str]()
    for head in heads:
        if sum(many[one] for one in new) >= inject:
            break
        new.add(head)
    chance.shuffle(facts)
    return [one for one in facts if one[0] in new], [one for one in facts if one[0] not in new]


def edits(facts: list[Triple], most: int, chance: random.Random) -> dict[tuple[str, str], str]:
    """Another tail for some facts: that of another fact of the same relation."""
    found: dict[tuple[str, str], str] = {}
    for head, relation, old in facts:
        tails = sorted({tail for _, other, tail in facts if other == relation and tail != old})
        if len(found) < most and tails:
            found[head, relation] = chance.choice(tails)
    return found


def fill(path: Path, facts: list[Triple]) -> Store:
    """A store of these facts, each in a document of its own."""
    path.unlink(missing_ok=True)
    store = open_store(str(path), create=True)
    with store.together():
        for head, relation, tail in facts:
            store.add(TypedFact(head, relation, tail))
    return store


def share(store: Store, asked: list[Triple], answer: Answer) -> float:
    """How often the tail is answered."""
    right = sum(tail in answer(store, head, relation) for head, relation, tail in asked)
    return round(right / max(1, len(asked)), 3)


def by_memory(reasoner: MemoryReasoner) -> Answer:
    """What the memory answers."""

    def answer(store: Store, head: str, relation: str) -> Sequence[str]:
        question = QUESTION.format(relation=relation, head=head)
        found = ask(question, store, "memory", 0.0, reasoners={"memory": reasoner})
        return (found.text, *found.text.split(", "))

    return answer


def by_weights(reasoner: MemoryReasoner) -> Answer:
    """What the network names without any fact."""
    model, tokenizer = reasoner.reader.model.eval(), reasoner.reader.tokenizer
    read: list[Store] = []

    @torch.no_grad()
    def answer(store: Store, head: str, relation: str) -> Sequence[str]:
        if read != [store]:
            read[:] = [store]
            model.know(read_facts(store), tokenizer)
        text = f"{QUESTION.format(relation=relation, head=head)} {BLANK}"
        at = text.index(BLANK)
        framed = blank_text(text, Span(at, at + 1), store.names_in(text), model.table, tokenizer)
        if framed is None:
            return ()
        named = int(model(collate_blanks([framed], tokenizer.pad_id)).context[0].argmax())
        return (model.table.names[named - FIRST],)

    return answer


def by_rules(store: Store, head: str, relation: str) -> Sequence[str]:
    """What is looked up."""
    found = ask(f"What is the {relation} of {head}?", store, "facts")
    return (found.text, *found.text.split(", "))


COLUMNS = ("known", "not injected", "edited: new answer", "edited: old answer", "injected", "removed")
Report = dict[str, list[float]]  # arm -> a share for each column


def run(args: argparse.Namespace, seed: int, output: Path) -> Report:
    """Train once, edit, and ask."""
    chance = random.Random(seed)
    new, known = by_heads(triples(args.data, args.facts), args.inject, chance)
    output.mkdir(parents=True, exist_ok=True)
    folder = output / "model"
    if not (folder / "factpin.json").exists():
        with fill(output / "kb.db", known):
            steps = args.steps
            how = TrainConfig(max_steps=steps, epochs=100, batch_size=16, seed=seed, evaluate_every=steps)
            options = KnowledgeOptions("fae", args.encoder, str(output / "kb.db"))
            pretrain_knowledge(options, how, folder, quiet=True)
    edited = edits(known, args.edits, chance)
    some = slice(0, args.asked)
    changed = [(head, relation, tail) for (head, relation), tail in edited.items()][some]
    old = [one for one in known if one[:2] in edited][some]
    kept = [one for one in known if one[:2] not in edited]
    after = [(head, relation, edited.get((head, relation), tail)) for head, relation, tail in known]
    arms = {
        "memory": by_memory(MemoryReasoner(load_memory(folder))),
        "memory off": by_weights(MemoryReasoner(load_memory(folder))),
        "symbolic": by_rules,
    }
    print(f"{len(known)} facts, {len(edited)} edited, {len(new)} injected; seed {seed}, {args.steps} steps", flush=True)
    report: Report = {name: [] for name in arms}
    states = {
        "before": (known, [kept[some], new[some]]),
        "after": (after + new, [changed, old, new[some]]),
        "without": (kept, [old]),
    }
    for name, (facts, asked) in states.items():
        with fill(output / f"{name}.db", facts) as store:
            for arm, answer in arms.items():
                report[arm] += [share(store, questions, answer) for questions in asked]
    return report


def show(reports: Sequence[Report]) -> None:
    """The mean of all seeds, and the range."""
    print("\n| | " + " | ".join(COLUMNS) + " |\n" + "|---" * (1 + len(COLUMNS)) + "|")
    for arm in reports[0]:
        columns = zip(*(report[arm] for report in reports), strict=True)
        cells = [f"{fmean(found):.2f} ({min(found):.2f} to {max(found):.2f})" for found in columns]
        print(f"| {arm} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--facts", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--inject", type=int, default=100)
    parser.add_argument("--asked", type=int, default=100, help="questions of each kind")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--output", type=Path, required=True, help="a folder for each seed")
    args = parser.parse_args()
    reports: list[Report] = []
    for seed in args.seeds:
        kept = args.output / str(seed) / "report.json"
        if not kept.exists():
            found = run(args, seed, kept.parent)
            kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
        reports.append(json.loads(kept.read_text(encoding="utf-8")))
    show(reports)


if __name__ == "__main__":
    main()

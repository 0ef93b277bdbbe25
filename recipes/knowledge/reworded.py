"""A fact memory and the lookup by rules, asked about the facts of a store in plain words and in others.

    factpin index documents.jsonl --db kb.db
    factpin pretrain --objective fae --db kb.db --encoder minilm-en --output runs/fae --max-steps 80 --bf16
    python recipes/knowledge/reworded.py kb.db runs/fae --facts 120

Counts the questions whose answer has the tail of the fact, at the usual least score and at 0, and looks at every
citation of every answer: the characters of the document must be those that are quoted.
"""

import argparse
from collections import Counter
from pathlib import Path

from factpin.answers.ask import Mode, ask
from factpin.memory import open_store
from factpin.models.memory_folder import MemoryReasoner, load_memory

MODES: tuple[Mode, ...] = ("memory", "facts")
WORDS = {
    "plain": "What is the {relation} of {head}?",
    "not in training": "Do you know the {relation} of {head}?",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("model", type=Path)
    parser.add_argument("--facts", type=int, default=120)
    args = parser.parse_args()
    reasoners = {"memory": MemoryReasoner(load_memory(args.model))}
    many, cited, wrong = Counter[tuple[str, str, float | None, str]](), 0, 0
    with open_store(args.store) as store:
        facts = list(store.facts())[: args.facts]
        for fact in facts:
            for words, question in WORDS.items():
                text = question.format(relation=fact.relation.replace("_", " "), head=fact.head.name)
                for mode in MODES:
                    for least in (None, 0.0):
                        found = ask(text, store, mode, least, reasoners=reasoners)
                        many[words, mode, least, "answered"] += not found.abstained
                        many[words, mode, least, "right"] += fact.tail.name in (found.text, *found.text.split(", "))
                        for citation in (c for one in (found, *found.alternatives) for c in one.citations):
                            source = store.document(citation.uri)[0].text
                            cited, wrong = cited + 1, wrong + (source[citation.start : citation.end] != citation.quote)
    print(f"{len(facts)} facts\n\n| words | mode | least score | answered | right |\n|---|---|---|---|---|")
    for words, mode, least in sorted({key[:3] for key in many}, key=str):
        answered, right = (many[words, mode, least, what] for what in ("answered", "right"))
        print(f"| {words} | {mode} | {'usual' if least is None else least} | {answered} | {right} |")
    print(f"\n{cited} citations, {wrong} of them not exact")


if __name__ == "__main__":
    main()

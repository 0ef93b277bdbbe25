"""How often search finds the passages that hold the answer: by words, by vectors, by both.

    python recipes/answers/retrieval.py --vectors multilingual
    python recipes/answers/retrieval.py --vectors minilm-en --sets hotpotqa 2wiki musique nq xquad-en
    python recipes/answers/retrieval.py --table

The passages of the chosen questions, and lines of Wikipedia that answer nothing, are one store. The questions of a set
are chosen at equal distances, so that they come from all its passages. A question's gold are its passages that hold an
answer or support it. One half of each set, by the order of its questions, fits the weight of vectors against words;
recall@k is that of the other half. Figures are added to a file as they are measured, and not measured twice.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _sets import SETS, contexts, fill, questions_of, spread, wikipedia

from factpin.documents import Question
from factpin.documents.keys import document_key
from factpin.memory import Hit, Store
from factpin.memory.embedder import Embedder
from factpin.memory.nouns import Floats
from factpin.memory.search import Search, Trial, by_ranks, by_scores, embed_passages, fit_weight
from factpin.models.embedders import find_embedder
from factpin.scoring.means import mean, mean_interval
from factpin.scoring.retrieval import all_gold_at, recall_at

DEEP = 100
AT = (1, 5, 20)
COLUMNS = ("set", "passages", "search", *(f"recall@{k}" for k in AT), "recall@5, 95 %", "all gold@20")
Ranked = list[list[str]]


class Remembering:
    """An embedder that embeds each text once: all sets of a language have the same lines of Wikipedia."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder, self.known = embedder, dict[str, Floats]()
        self.seconds, self.made = 0.0, 0

    def __call__(self, texts: Sequence[str]) -> Floats:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            began = time.process_time()
            self.known.update(zip(new, self.embedder.embed(new), strict=True))
            self.seconds, self.made = self.seconds + time.process_time() - began, self.made + len(new)
        return np.stack([self.known[text] for text in texts])


def gold_documents(question: Question) -> frozenset[str]:
    return frozenset(document_key(question.context[i].id) for i in question.gold)


def ranked_documents(store: Store, hits: Sequence[Hit]) -> list[str]:
    """The documents of passages, each once."""
    return list(dict.fromkeys(passage.document for passage in store.passages([hit.passage for hit in hits])))


def figures(gold: list[frozenset[str]], ranked: Ranked) -> dict[str, object]:
    """The figures of one way to search."""
    low, high = mean_interval(recall_at(gold, ranked, AT[1]))
    return {
        "questions": len(gold),
        **{f"recall@{k}": mean(recall_at(gold, ranked, k)) for k in AT},
        "recall@5, 95 %": [low, high],
        "all gold@20": mean(all_gold_at(gold, ranked, AT[2])),
    }


def measure(name: str, encoder: str, embed: Remembering | None, options: argparse.Namespace) -> list[dict[str, object]]:
    """Every way to search one set."""
    asked = spread([q for q in questions_of(name, None) if q.gold], options.questions)
    store = fill([*contexts(asked), *wikipedia(SETS[name][1], options.distractors)])
    gold = [gold_documents(q) for q in asked]
    search = Search(store)
    words = [search(q.text, DEEP, by="words") for q in asked]
    test = range(1, len(asked), 2)
    rows: list[dict[str, object]] = []

    def add(way: str, hits: Sequence[Sequence[Hit]], **more: object) -> None:
        found = figures([gold[i] for i in test], [ranked_documents(store, hits[i]) for i in test])
        rows.append({"set": name, "encoder": encoder, "way": way, "passages": store.stats()["passage"],
                     **found, **more})  # fmt: skip

    if embed is None:
        add("words", words)
        return rows
    label = embed.embedder.name
    embed_passages(store, label, embed)
    near = [store.nearest(label, vector, DEEP) for vector in embed([q.text for q in asked])]
    passages = {p.id: p.document for hits in (*words, *near) for p in store.passages([h.passage for h in hits])}
    trials = [
        Trial(tuple(words[i]), tuple(near[i]), frozenset(id for id, doc in passages.items() if doc in gold[i]))
        for i in range(0, len(asked), 2)
    ]
    add("vectors", near, rate=embed.made / max(embed.seconds, 1e-9))
    add("both, by ranks", [by_ranks(w, v) for w, v in zip(words, near, strict=True)])
    weights = {"fitted": fit_weight(trials), "default": embed.embedder.weight}
    for why, weight in weights.items():
        if weight is not None:
            merged = [by_scores(w, v, weight) for w, v in zip(words, near, strict=True)]
            add(f"both, {why} weight", merged, weight=weight)
    return rows


def show(path: Path) -> None:
    """The table of all that was measured."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    order = {name: i for i, name in enumerate(SETS)}
    for row in sorted(rows, key=lambda row: (order[row["set"]], row["encoder"])):
        way = row["way"].replace("vectors", row["encoder"]).replace("both", f"words and {row['encoder']}")
        way += f" {row['weight']:.2f}" if "weight" in row else ""
        low, high = row["recall@5, 95 %"]
        shown = " | ".join(f"{100 * row[f'recall@{k}']:.1f}" for k in AT)
        print(f"| {row['set']} | {row['passages']:,} | {way} | {shown} | {100 * low:.1f}–{100 * high:.1f} | "
              f"{100 * row['all gold@20']:.1f} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--distractors", type=int, default=500)
    parser.add_argument("--vectors", default="", help="an embedder; words alone without it")
    parser.add_argument("--output", type=Path, default=Path("runs/retrieval.jsonl"))
    parser.add_argument("--table", action="store_true", help="print what was measured")
    options = parser.parse_args()
    if options.table:
        show(options.output)
        return
    embed = Remembering(find_embedder(options.vectors)) if options.vectors else None
    known = options.output.read_text().splitlines() if options.output.exists() else []
    done = {(row["set"], row["encoder"]) for row in map(json.loads, known)}
    judges = [name for name in SETS if not name.endswith("-train")]
    for name in options.sets or judges:
        if (name, options.vectors) not in done:
            rows = measure(name, options.vectors, embed, options)
            with options.output.open("a") as stream:
                stream.writelines(json.dumps(row) + "\n" for row in rows)
            print(name, *(f"{row['way']} {row['recall@5']:.3f}" for row in rows), sep="  ", flush=True)


if __name__ == "__main__":
    main()

"""How often search finds the passages that hold the answer: by words, by vectors, by both.

    python recipes/answers/retrieval.py --questions 150 --distractors 500 --vectors multilingual

The passages of all questions of a set, and lines of Wikipedia that answer nothing, are one store. A question's gold are
its passages that hold an answer or support it. One half of each set, by the order of its questions, fits the weight of
vectors against words; recall@k is that of the other half.
"""

import argparse
import time
from collections.abc import Sequence

from _sets import SETS, contexts, fill, questions_of, wikipedia

from factpin.documents import Question
from factpin.documents.keys import document_key
from factpin.memory import Hit, Store
from factpin.memory.search import Search, Trial, by_ranks, by_scores, embed_passages, fit_weight
from factpin.models.embedders import find_embedder
from factpin.scoring.means import mean, mean_interval
from factpin.scoring.retrieval import all_gold_at, recall_at

DEEP = 100
AT = (1, 5, 20)
COLUMNS = ("set", "search", *(f"recall@{k}" for k in AT), "recall@5, 95 %", "all gold@20")


def gold_documents(question: Question) -> frozenset[str]:
    return frozenset(document_key(question.context[i].id) for i in question.gold)


def ranked_documents(store: Store, hits: Sequence[Hit]) -> list[str]:
    """The documents of passages, each once."""
    return list(dict.fromkeys(passage.document for passage in store.passages([hit.passage for hit in hits])))


def print_row(name: str, way: str, gold: list[frozenset[str]], ranked: list[list[str]]) -> None:
    figures = [mean(recall_at(gold, ranked, k)) for k in AT]
    low, high = mean_interval(recall_at(gold, ranked, AT[1]))
    whole = mean(all_gold_at(gold, ranked, AT[2]))
    shown = " | ".join(f"{100 * figure:.1f}" for figure in figures)
    print(f"| {name} | {way} | {shown} | {100 * low:.1f}–{100 * high:.1f} | {100 * whole:.1f} |", flush=True)


def measure(name: str, options: argparse.Namespace) -> None:
    asked = [q for q in questions_of(name, options.questions) if q.gold]
    store = fill([*contexts(asked), *wikipedia(SETS[name][1], options.distractors)])
    gold = [gold_documents(q) for q in asked]
    search = Search(store)
    words = [search(q.text, DEEP, by="words") for q in asked]
    test = range(1, len(asked), 2)

    def row(way: str, hits: Sequence[Sequence[Hit]]) -> None:
        print_row(name, way, [gold[i] for i in test], [ranked_documents(store, hits[i]) for i in test])

    row("words", words)
    for encoder in options.vectors:
        embedder, began = find_embedder(encoder), time.perf_counter()
        made = embed_passages(store, embedder.name, embedder.embed)
        rate = made / (time.perf_counter() - began)
        near = [store.nearest(embedder.name, vector, DEEP) for vector in embedder.embed([q.text for q in asked])]
        passages = {p.id: p.document for hits in (*words, *near) for p in store.passages([h.passage for h in hits])}
        trials = [
            Trial(tuple(words[i]), tuple(near[i]), frozenset(id for id, doc in passages.items() if doc in gold[i]))
            for i in range(0, len(asked), 2)
        ]
        weight = fit_weight(trials)
        row(f"{encoder} ({rate:.0f} passages/s)", near)
        row(f"words and {encoder}, ranks", [by_ranks(w, v) for w, v in zip(words, near, strict=True)])
        row(f"words and {encoder}, weight {weight:.2f}",
            [by_scores(w, v, weight) for w, v in zip(words, near, strict=True)])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--questions", type=int)
    parser.add_argument("--distractors", type=int, default=2_000)
    parser.add_argument("--vectors", nargs="*", default=[])
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for name in options.sets:
        measure(name, options)


if __name__ == "__main__":
    main()

"""The store as it grows: how fast it is filled, how large it is, and how long each kind of question takes.

Texts of any size are generated from Chinese and English words with Zipf's frequencies, with three facts per passage;
the same seed gives the same texts. Times are CPU times of this process, medians over the questions. If bm25s, rank-bm25
and faiss are installed, they search the same passages (by our terms), and the ratio theirs / ours is shown: above 1,
ours is faster. The table is printed anew after each size.

    python benchmarks/store.py                                       # 1,000 and 10,000 passages in SQLite
    python benchmarks/store.py --sizes 1000 10000 100000
    python benchmarks/store.py --url postgresql://user@host/database # an empty database
"""

import argparse
import importlib.util
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from factpin.answers.ask import ask
from factpin.documents import Document, Entity, Fact, Mention, Relation, Schema, Span
from factpin.memory import Pattern, Source, Store, open_store
from factpin.memory.search import Search
from factpin.memory.terms import query_terms, terms

ENCODER = "random@000000000000-mean"
WIDTH = 384
FACTS = 3  # to a passage
PASSAGES = 5  # to a document
BATCH = 100  # documents put together
QUESTIONS = 40
MOST_RANKED = 20_000  # passages that rank-bm25 searches: it looks at every one in Python
CLOCK = time.process_time  # of this process: other work on the machine does not count, nor does a server


class World:
    """Words, people and places, and documents made of them."""

    def __init__(self, size: int) -> None:
        self.chance = random.Random(7)
        han = [chr(0x4E00 + i) for i in range(4000)]
        self.words = ["".join(self.chance.choices(han, k=self.chance.choice((1, 2, 2, 2, 3)))) for _ in range(30_000)]
        self.words[::4] = [f"word{i}" for i in range(len(self.words[::4]))]
        self.shares = list(accumulate(1 / (i + 5) for i in range(len(self.words))))
        people = max(50, size // 2)
        self.people = ["".join(self.chance.choices(han, k=3)) for _ in range(people)]
        self.places = ["".join(self.chance.choices(han, k=2)) + "市" for _ in range(max(20, people // 20))]

    def sentence(self, length: int) -> str:
        return "".join(self.chance.choices(self.words, cum_weights=self.shares, k=length)) + "。"

    def document(self, number: int) -> tuple[Document, Source]:
        """A document of some passages; every third sentence states a fact."""
        text, sentences, mentions = "", [], []
        entities: dict[str, tuple[str, list[str]]] = {}
        facts: list[tuple[str, str, str, str]] = []
        for i in range(PASSAGES * FACTS * 2):
            start = len(text)
            if i % 2:
                text += self.sentence(20)
            else:
                pair = (self.chance.choice(self.people), "人物"), (self.chance.choice(self.places), "地点")
                ids = []
                for (name, type), joint in zip(pair, ("出生于", "。"), strict=True):
                    ids.append(f"m{len(mentions)}")
                    mentions.append(Mention(ids[-1], len(text), len(text) + len(name), name, type, 0.9))
                    entities.setdefault(name, (type, []))[1].append(ids[-1])
                    text += name + joint
                facts.append((pair[0][0], pair[1][0], *ids))
            sentences.append(Span(start, len(text)))
        names = list(entities)
        found = tuple(Entity(f"e{i}", tuple(entities[n][1]), entities[n][0], n) for i, n in enumerate(names))
        doc = Document(
            str(number), text, "zh", tuple(sentences), tuple(mentions), found,
            tuple(Fact(f"e{names.index(h)}", "出生地", f"e{names.index(t)}", hm, tm, 0.8) for h, t, hm, tm in facts),
        )  # fmt: skip
        return doc, Source(f"{number}.txt", title=self.chance.choice(self.people))


def fill(store: Store, world: World, size: int) -> float:
    """Put documents until there are that many passages; passages a second."""
    began, number = CLOCK(), 0
    while store.stats()["passage"] < size:
        with store.together():
            for _ in range(min(BATCH, max(1, size // PASSAGES))):
                store.put(*world.document(number))
                number += 1
    return size / (CLOCK() - began)


def embed(store: Store) -> None:
    """A random vector for every passage."""
    rng = np.random.default_rng(0)
    batch: dict[str, np.ndarray] = {}
    for passage in store.without_vectors(ENCODER):
        batch[passage.id] = rng.normal(size=WIDTH)
        if len(batch) == 256:
            store.put_vectors(ENCODER, batch)
            batch = {}
    store.put_vectors(ENCODER, batch)


def timed(action: Callable[[int], object]) -> float:
    """The median milliseconds of an action over the questions; the first, which fills caches, is left out."""
    spent = []
    for i in range(QUESTIONS + 1):
        began = CLOCK()
        action(i)
        spent.append(CLOCK() - began)
    return 1000 * statistics.median(spent[1:])


def measure(url: str, size: int, folder: Path) -> dict[str, str]:
    """All figures of one size."""
    world = World(size)
    place = url or str(folder / f"{size}.db")
    with open_store(place, create=True) as store:
        store.set_schema(Schema((), {"出生地": Relation("出生地", functional=True)}))
        found = {"index, passages/s": f"{fill(store, world, size):,.0f}"}
        counts = store.stats()
        found |= {"passages": f"{counts['passage']:,}", "facts": f"{counts['fact']:,}"}
        questions = [world.chance.choice(world.people) + world.sentence(4) for _ in range(QUESTIONS + 1)]
        people = [world.chance.choice(world.people) for _ in range(QUESTIONS + 1)]
        if not url:
            found["file, MB"] = f"{(folder / f'{size}.db').stat().st_size / 1e6:,.1f}"
            found["text, MB"] = f"{sum(len(doc.text.encode()) for doc, _ in store.documents()) / 1e6:,.1f}"
        words = timed(lambda i: store.words(query_terms(questions[i]), 20))
        found["words, ms"] = f"{words:.2f}"
        found["open, then words, ms"] = f"{timed(lambda i: open_and_search(place, questions[i])):.1f}"
        embed(store)
        queries = np.random.default_rng(1).normal(size=(QUESTIONS + 1, WIDTH))
        nearest = timed(lambda i: store.nearest(ENCODER, queries[i], 20))
        found["vectors, ms"] = f"{nearest:.1f}"
        search = Search(store, lambda _: queries[:1], ENCODER)
        found["both, ms"] = f"{timed(lambda i: search(questions[i], 20)):.1f}"
        found["names in a question, ms"] = f"{timed(lambda i: store.names_in(questions[i])):.1f}"
        found["facts of a person, judged, ms"] = f"{timed(lambda i: _about(store, people[i])):.1f}"
        asked = [f"{person}出生在哪里？" for person in people]
        found["ask, by facts, ms"] = f"{timed(lambda i: ask(asked[i], store, 'facts')):.1f}"
        found["ask, by facts and words, ms"] = f"{timed(lambda i: ask(questions[i], store)):.1f}"
        found["put one document, ms"] = f"{timed(lambda i: store.put(*world.document(10**7 + i))):.1f}"
        found["remove one document, ms"] = f"{timed(lambda i: store.remove(f'{10**7 + i}.txt')):.1f}"
        found["peak memory, MB"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f}"
        found |= peers(store, questions, queries, words, nearest)
    return found


def open_and_search(place: str, question: str) -> None:
    """What `factpin ask` does once for every call."""
    with open_store(place) as store:
        store.words(query_terms(question), 20)


def _about(store: Store, person: str) -> object:
    heads = tuple(candidate.entity.id for candidate in store.candidates(person))
    return store.judged(Pattern(heads=heads))


def peers(store: Store, questions: list[str], queries: np.ndarray, words: float, nearest: float) -> dict[str, str]:
    """The same passages searched by others, in memory, as ratios of time."""
    found: dict[str, str] = {}
    texts = [passage.text for source in store.sources() for passage in store.passages_of(source.uri)]
    if importlib.util.find_spec("bm25s"):
        import bm25s

        index = bm25s.BM25()
        index.index([terms(text) for text in texts], show_progress=False)
        theirs = timed(lambda i: index.retrieve([query_terms(questions[i])], k=20, show_progress=False, n_threads=1))
        found["bm25s / ours"] = f"{theirs / words:.2f}"
    if importlib.util.find_spec("rank_bm25") and len(texts) <= MOST_RANKED:
        from rank_bm25 import BM25Okapi

        plain = BM25Okapi([terms(text) for text in texts])
        theirs = timed(lambda i: np.argsort(-plain.get_scores(query_terms(questions[i])))[:20])
        found["rank-bm25 / ours"] = f"{theirs / words:.2f}"
    if importlib.util.find_spec("faiss"):
        import faiss

        faiss.omp_set_num_threads(1)
        flat = faiss.IndexFlatIP(WIDTH)
        flat.add(np.random.default_rng(2).normal(size=(len(texts), WIDTH)).astype(np.float32))
        theirs = timed(lambda i: flat.search(queries[i : i + 1].astype(np.float32), 20))
        found["faiss flat / ours"] = f"{theirs / nearest:.2f}"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], help="passages")
    parser.add_argument("--url", default="", help="an empty database; SQLite in a temporary folder without it")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        columns: list[dict[str, str]] = []
        for size in chosen.sizes:
            columns.append(measure(chosen.url, size, Path(folder)))
            show(chosen.sizes, columns)


def show(sizes: list[int], columns: list[dict[str, str]]) -> None:
    """The figures of the sizes that were measured so far."""
    table = Table("", *(f"{size:,}" for size in sizes[: len(columns)]))
    for row in columns[0]:
        table.add_row(row, *(column.get(row, "") for column in columns))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()

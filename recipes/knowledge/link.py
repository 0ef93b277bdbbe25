"""Entity linking with the linker of KnowBERT beside simpler ones, on wiki-fair, news-fair and OKE.

    python recipes/knowledge/link.py ../shared/data/entity_linking --seeds 1 2 3 --output runs/link.json

DATA has the *.benchmark.jsonl.xz of ELEVANT. A store is made of every second document of wiki-fair and news-fair, of
the training parts of OKE 2015 and 2016 and of rss-500; the other documents are linked. Then the halves change places;
the evaluation parts of OKE are linked once. Mentions are given; their types are not, neither here nor in the store.

prior    the entity that the store means most often by the name
shared   `factpin link`: prior, shared words and facts between names, weighed by a fit on the store
dot      the linker of a KAR without the prior: the mention's vector against those of its candidates
KAR      the same with the prior, as `train --knowledge kar` makes it; the arms behind it have one thing undone

    python recipes/knowledge/link.py ../shared/data/entity_linking --write runs/link

writes the store's documents, the bare documents that are linked, and gold, for the commands, of both halves, and

    python recipes/knowledge/link.py ../shared/data/entity_linking --judge runs/link/plain runs/link/kar-s1-

counts what the commands linked, plain0.jsonl and plain1.jsonl, kar-s1-0.jsonl and kar-s1-1.jsonl, in the same way.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from factpin import formats
from factpin.documents import Document, Entity
from factpin.encoders import Encoder, resolve
from factpin.knowledge.kar import Kar
from factpin.knowledge.kar_linker import KarLinker
from factpin.knowledge.reading import StoreReading, Vectors, read_store
from factpin.knowledge.store_layer import build_layer
from factpin.memory import Source, Store, open_store
from factpin.memory.linking import Linker
from factpin.memory.names import surface_key
from factpin.scoring import align, calibration
from factpin.scoring.counts import Rows, f1_of
from factpin.scoring.intervals import interval, paired_bootstrap
from factpin.scoring.linking import known_names, score_linking
from factpin.scoring.means import mean_of
from factpin.tokens import Tokenizer
from factpin.training.knowledge_layer import Lessons, train_linker

HALVES = ("wiki-fair-v2-no-coref", "news-fair-v2-no-coref")
WHOLE = ("oke-2015-train", "oke-2016-train", "rss-500")
TESTS = ("oke-2015-eval", "oke-2016-eval")
Answers = dict[str, str]  # the link of each mention, "" for NIL


@dataclass(frozen=True)
class Way:
    """How a KAR learns to link."""

    prior: bool = True
    vectors: Vectors = "contexts"
    others: int = Lessons.others  # random candidates
    loss: Literal["margin", "softmax"] = "softmax"
    fitted: bool = True  # the score below which a mention is NIL is fitted; otherwise 0


KAR = Way()
WAYS = {
    "dot": replace(KAR, prior=False),
    "KAR": KAR,
    "KAR, vectors of descriptions": replace(KAR, vectors="descriptions"),
    "KAR, no random candidates": replace(KAR, others=0),
    "KAR, margin loss": replace(KAR, loss="margin"),
    "KAR, NIL below 0": replace(KAR, fitted=False),
}


def read(data: Path, name: str) -> list[Document]:
    """The documents of a benchmark, under names of their own."""
    documents = formats.read(data / f"{name}.benchmark.jsonl.xz", format="elevant")
    return [replace(doc, id=f"{name}/{number}") for number, doc in enumerate(documents)]


def untyped(doc: Document) -> Document:
    """A document whose mentions have no type; types of gold mentions would give their entities away."""
    return replace(doc, mentions=tuple(replace(m, type="") for m in doc.mentions),
                   entities=tuple(replace(e, type="") for e in doc.entities))  # fmt: skip


def bare(doc: Document) -> Document:
    """A document with its mentions alone."""
    return replace(untyped(doc), entities=(), meta={})


def by_prior(docs: Sequence[Document], store: Store) -> Answers:
    """The candidate that the name means most often."""
    linker, found = Linker(store), Answers()
    for doc in docs:
        for m in doc.mentions:
            if uses := linker.uses(surface_key(m.text)):
                found[f"{doc.id} {m.id}"] = linker.outside(max(uses, key=lambda use: use.count()).entity.id)
    return found


def by_linker(docs: Sequence[Document], linker: Linker) -> tuple[Answers, list[tuple[str, float]]]:
    """`factpin link`: the links, and the probability of each."""
    found = [(f"{doc.id} {one.mention.id}", one) for doc in docs for one in linker.links(bare(doc))]
    return {id: one.link for id, one in found}, [(id, one.score) for id, one in found]


def kar_linker(way: Way, reading: StoreReading, encoder: Encoder, tokenizer: Tokenizer, seed: int) -> KarLinker:
    """Train a linker."""
    torch.manual_seed(seed)
    layer = build_layer(encoder, tokenizer, reading)
    if isinstance(layer.layer, Kar):
        layer.layer.config = replace(layer.layer.config, use_prior=way.prior, loss=way.loss)
    train_linker(layer, reading.texts, Lessons(others=way.others))
    layer.trim()
    if not way.fitted:
        layer.config = replace(layer.config, nil=0.0)
    return KarLinker(encoder, tokenizer, layer, bf16=True)


def linked(doc: Document, answers: Answers) -> Document:
    """A document with these links."""
    found = {m.id: answers.get(f"{doc.id} {m.id}", "") for m in doc.mentions}
    entities = [Entity(f"e{i}", (id,), link=link) for i, (id, link) in enumerate(found.items()) if link]
    return replace(doc, entities=tuple(entities), meta={})


Scores = dict[str, Rows]  # metric -> rows of documents


def judge(docs: Sequence[Document], answers: Answers, names: Mapping[str, set[str]], known: set[str]) -> Scores:
    """Rows of the documents: F1 of links, and the accuracies of all, ambiguous and NIL mentions."""
    rows: dict[str, list[Sequence[float]]] = defaultdict(list)
    for doc in docs:
        found = score_linking(align([linked(doc, answers)], [doc]).pairs, known, names)
        rows["F1"].append(tuple(found.rows["linked"][0]))
        rows["accuracy"].append((sum(ok for *_, ok in found.right), len(found.right)))
        for part, (share, many) in (("ambiguous", found.on_ambiguous), ("NIL", found.on_nil)):
            rows[part].append((share * many, many))
    return {name: np.array(values, np.float64) for name, values in rows.items()}


def halves(data: Path, number: int) -> tuple[list[Document], dict[str, list[Document]]]:
    """The documents of the store, and those that are linked, by set."""
    both = {name: read(data, name) for name in HALVES}
    tests = {name: docs[1 - number :: 2] for name, docs in both.items()}
    if number == 0:
        tests |= {name: read(data, name) for name in TESTS}
    learned = [untyped(doc) for docs in both.values() for doc in docs[number::2]]
    return learned + [untyped(doc) for name in WHOLE for doc in read(data, name)], tests


def names_of(
    learned: Sequence[Document], tests: Mapping[str, Sequence[Document]]
) -> tuple[dict[str, set[str]], set[str]]:
    """The links that each name has in the store or in gold, and those that the store has."""
    names = known_names(learned)
    links = {link for some in names.values() for link in some}
    for key, some in known_names(doc for docs in tests.values() for doc in docs).items():
        names[key] = names.get(key, set()) | some
    return names, links


def fold(
    data: Path, number: int, encoder: Encoder, tokenizer: Tokenizer, seeds: Sequence[int], ways: Mapping[str, Way]
) -> dict[str, dict[str, Scores]]:
    """One half linked with the other: arm -> set -> rows, summed over seeds."""
    learned, tests = halves(data, number)
    names, links = names_of(learned, tests)
    every = [doc for docs in tests.values() for doc in docs]
    with open_store("memory:", create=True) as store:
        with store.together():
            for doc in learned:
                store.put(doc, Source(doc.id))
        arms = {"prior": [by_prior(every, store)] * len(seeds)}
        shared = by_linker(every, Linker(store))
        arms["shared"] = [shared[0]] * len(seeds)
        print(f"# shared, ece {ece(every, *shared, names, links):.3f}", flush=True)
        readings: dict[str, StoreReading] = {}
        for arm, way in ways.items():
            if way.vectors not in readings:
                encoder.put_between(None)  # the linker of the last arm
                readings[way.vectors] = read_store(store, "kar", encoder, tokenizer, vectors=way.vectors, bf16=True)
            arms[arm] = []
            for seed in seeds if arm in ("dot", "KAR") else seeds[:1]:
                linker = Linker(store, judge=kar_linker(way, readings[way.vectors], encoder, tokenizer, seed))
                found = by_linker(every, linker)
                arms[arm].append(found[0])
                print(f"# {arm}, seed {seed}, ece {ece(every, *found, names, links):.3f}", flush=True)
        encoder.put_between(None)
        judged: dict[str, dict[str, Scores]] = {}
        for arm, runs in arms.items():
            judged[arm] = {}
            for name, docs in tests.items():
                each = [judge(docs, answers, names, links) for answers in runs]
                judged[arm][name] = {metric: sum(one[metric] for one in each) for metric in each[0]}  # type: ignore[misc]
    return judged


def ece(docs: Sequence[Document], answers: Answers, scores: Sequence[tuple[str, float]],
        names: Mapping[str, set[str]], known: set[str]) -> float:  # fmt: skip
    """How far scores are from the shares of right links."""
    by_mention: dict[str, float] = dict(scores)
    outcomes: list[tuple[float, bool]] = []
    for doc in docs:
        records = [{"mention": m.id, "score": by_mention[f"{doc.id} {m.id}"]} for m in doc.mentions
                   if f"{doc.id} {m.id}" in by_mention]  # fmt: skip
        found = replace(linked(doc, answers), meta={"links": records})
        outcomes += score_linking(align([found], [doc]).pairs, known, names).outcomes
    return calibration(outcomes).ece


def write(data: Path, folder: Path) -> None:
    """The documents of both folds as files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(2):
        learned, tests = halves(data, number)
        every = [doc for docs in tests.values() for doc in docs]
        for name, docs in (("store", learned), ("bare", [bare(doc) for doc in every]), ("gold", every)):
            formats.write(docs, folder / f"{name}{number}.jsonl")


def read_answers(path: Path) -> Answers:
    """The links of documents that `factpin link` wrote."""
    found = Answers()
    for doc in formats.read(path):
        link_of = {id: entity.link for entity in doc.entities for id in entity.mentions}
        found |= {f"{doc.id} {m.id}": link_of.get(m.id, "") for m in doc.mentions}
    return found


def judge_files(data: Path, arms: Sequence[str]) -> dict[str, dict[str, Scores]]:
    """The rows of what the commands wrote: arm -> set -> rows. Arms are the beginnings of paths."""
    found: dict[str, dict[str, Scores]] = {arm: {} for arm in arms}
    for number in range(2):
        learned, tests = halves(data, number)
        names, known = names_of(learned, tests)
        for arm in arms:
            answers = read_answers(Path(f"{arm}{number}.jsonl"))
            for name, docs in tests.items():
                rows, before = judge(docs, answers, names, known), found[arm].get(name)
                found[arm][name] = rows if before is None else {m: np.concatenate([before[m], rows[m]]) for m in rows}
    return found


STATISTICS = {"F1": f1_of, "accuracy": mean_of, "ambiguous": mean_of, "NIL": mean_of}


def show(found: dict[str, dict[str, Scores]], seeds: int) -> None:
    """All figures, and the paired tests."""
    first_arm, *others = found
    sets = list(found[first_arm])
    whole = {arm: {metric: np.concatenate([one[metric] for one in by.values()]) for metric in STATISTICS}
             for arm, by in found.items()}  # fmt: skip
    many = {name: found[first_arm][name]["accuracy"].sum(0)[1] / seeds for name in sets}
    of = {name: found[first_arm][name]["ambiguous"].sum(0)[1] / seeds for name in sets}
    print("| accuracy, ambiguous names, F1 | " + " | ".join(f"{s} ({many[s]:.0f}, {of[s]:.0f})" for s in sets) + " |")
    print("|---" * (1 + len(sets)) + "|")
    for arm, by in found.items():
        cells = [" / ".join(f"{100 * STATISTICS[m](by[s][m].sum(0)[None])[0]:.1f}"
                            for m in ("accuracy", "ambiguous", "F1")) for s in sets]  # fmt: skip
        print(f"| {arm} | " + " | ".join(cells) + " |")
    print("\n| all sets | accuracy | ambiguous | F1 of links | NIL |\n|---|---|---|---|---|")
    for arm, rows in whole.items():
        by_metric: dict[str, str] = {}
        for metric, statistic in STATISTICS.items():
            low, high = interval(rows[metric], statistic=statistic)
            value = statistic(rows[metric].sum(0)[None])[0]
            by_metric[metric] = f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"
        print(f"| {arm} | " + " | ".join(by_metric[m] for m in ("accuracy", "ambiguous", "F1", "NIL")) + " |")
    print("\n| compared | on | difference | 95 % | p |\n|---|---|---|---|---|")
    pairs = [("KAR", "prior"), ("KAR", "dot"), ("KAR", "shared"), ("shared", "prior")]
    if first_arm != "prior":  # files of the commands
        pairs = [(arm, first_arm) for arm in others]
    for first, second in pairs:
        if first not in whole or second not in whole:
            continue
        for metric, statistic in STATISTICS.items():
            d = paired_bootstrap(whole[first][metric], whole[second][metric], statistic=statistic)
            between = f"{100 * d.interval[0]:+.1f} to {100 * d.interval[1]:+.1f}"
            print(f"| {first} − {second} | {metric} | {100 * d.difference:+.1f} | {between} | {d.p_value:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--arms", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--output", type=Path, help="keep the rows here, fold by fold")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the documents of both halves, and stop")
    parser.add_argument("--judge", nargs="+", metavar="PREFIX", help="count what the commands linked, and stop")
    options = parser.parse_args()
    if options.judge:
        show(judge_files(options.data, options.judge), 1)
        return
    if options.write:
        write(options.data, options.write)
        return
    source = resolve(options.encoder)
    encoder, tokenizer = Encoder.load(source).eval(), Tokenizer.load(source)
    kept = json.loads(options.output.read_text()) if options.output and options.output.exists() else {}
    for number in range(2):
        if str(number) not in kept:
            rows = fold(options.data, number, encoder, tokenizer, options.seeds,
                        {arm: WAYS[arm] for arm in options.arms})  # fmt: skip
            kept[str(number)] = {arm: {name: {metric: values.tolist() for metric, values in one.items()}
                                       for name, one in by.items()} for arm, by in rows.items()}  # fmt: skip
            if options.output:
                options.output.write_text(json.dumps(kept))
    found: dict[str, dict[str, Scores]] = {}
    for arm in kept["0"]:
        sets = Counter(name for one in kept.values() for name in one[arm])
        found[arm] = {name: {metric: np.concatenate([np.array(one[arm][name][metric]) for one in kept.values()
                                                     if name in one[arm]]) for metric in STATISTICS}
                      for name in sets}  # fmt: skip
    show(found, len(options.seeds))


if __name__ == "__main__":
    main()

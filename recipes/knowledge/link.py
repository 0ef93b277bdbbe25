"""Entity linking with the linker of KnowBERT beside simpler ones, on wiki-fair, news-fair and OKE.

    python recipes/knowledge/link.py ../shared/data/entity_linking --seeds 1 2 3 --output runs/link.json

DATA has the *.benchmark.jsonl.xz of ELEVANT. A store is made of every second document of wiki-fair and news-fair, of
the training parts of OKE 2015 and 2016 and of rss-500; the other documents are linked. Then the halves change places;
the evaluation parts of OKE are linked once. Mentions are given; their types are not, neither here nor in the store.

prior    the entity that the store means most often by the name
shared   `factpin link`: prior, shared words and facts between names, weighed by a fit on the store
dot      the linker of a KAR without the prior: the mention's vector against those of its candidates
KAR      the same with the prior

The layers below a KAR are fixed here, so that each text is read once. A KAR learns on the store's own documents, each
as if it were not in the store, so that names without an entity (NIL) occur. The vector of a candidate is the mean of
the contexts of its mentions, and random entities are added to the candidates. Every fifth document is kept to choose
the score below which a mention is NIL. The other arms are the KAR with one of these undone, and with all of them.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from factpin import formats
from factpin.documents import Document, Entity
from factpin.encoders import Encoder, resolve
from factpin.encoders.between import layers_of
from factpin.knowledge.kar import LOWEST, Kar, KarConfig
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan, collate_mentions
from factpin.knowledge.store_layer import encode_descriptions, main_directions
from factpin.layers.half import half_precision
from factpin.memory import Source, Store, open_store
from factpin.memory.linking import Linker
from factpin.memory.names import surface_key
from factpin.scoring import align
from factpin.scoring.counts import Rows, f1_of
from factpin.scoring.intervals import interval, paired_bootstrap
from factpin.scoring.linking import known_names, score_linking
from factpin.scoring.means import mean_of
from factpin.tokens import Tokenizer

HALVES = ("wiki-fair-v2-no-coref", "news-fair-v2-no-coref")
WHOLE = ("oke-2015-train", "oke-2016-train", "rss-500")
TESTS = ("oke-2015-eval", "oke-2016-eval")
AROUND, PIECES, WINDOW = 400, 160, 24  # characters around the mentions of a document; pieces of a text, of a context
BATCH, RATE, SIZE = 32, 1e-3, 128
Answers = dict[str, str]  # the link of each mention, "" for NIL


@dataclass(frozen=True)
class Way:
    """How a KAR learns to link."""

    prior: bool = True
    vectors: str = "contexts"  # or names
    after: int = 5  # the layer that it reads, of six
    without: bool = True  # a text is learned from as if its document were not in the store
    others: int = 8  # random candidates beside those of the name, for half of the mentions
    loss: str = "softmax"  # or margin
    fitted: bool = True  # the score below which a mention is NIL is fitted; otherwise 0


KAR = Way()
WAYS = {
    "dot": replace(KAR, prior=False),
    "KAR": KAR,
    "KAR, vectors of names": replace(KAR, vectors="names"),
    "KAR, behind layer 2": replace(KAR, after=2),
    "KAR, with its own document": replace(KAR, without=False),
    "KAR, no random candidates": replace(KAR, others=0),
    "KAR, margin loss": replace(KAR, loss="margin"),
    "KAR, NIL below 0": replace(KAR, fitted=False),
    "KAR, all undone": Way(True, "names", 2, False, 0, "margin", False),
}


@dataclass(frozen=True, eq=False)
class Named:
    """A mention as pieces of a text."""

    id: str
    name: str
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class ReadText:
    """A part of a document, and its vectors behind some layers."""

    doc: str
    mentions: tuple[Named, ...]
    hidden: Mapping[int, Tensor]  # (n, D)


@dataclass(frozen=True)
class Candidate:
    """An entity that a name can mean, its link, and how often each document of the store means it by the name."""

    entity: str
    link: str
    documents: Mapping[str, int]


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


def parts(doc: Document, tokenizer: Tokenizer) -> Iterator[tuple[np.ndarray, tuple[Named, ...]]]:
    """The pieces around the mentions of a document, and the mentions among them."""
    if not doc.mentions:
        return
    start = max(0, min(m.start for m in doc.mentions) - AROUND)
    pieces = tokenizer.encode(doc.text[start : max(m.end for m in doc.mentions) + AROUND])
    before, seen = len(tokenizer.prefix), set[str]()
    for at in range(0, len(pieces), PIECES):
        part, named = slice(at, at + PIECES), list[Named]()
        for m in doc.mentions:
            inside = np.flatnonzero((pieces.start[part] < m.end - start) & (pieces.end[part] > m.start - start))
            if len(inside) and m.id not in seen:
                named.append(Named(m.id, m.text, before + int(inside[0]), before + int(inside[-1])))
                seen.add(m.id)
        if named:
            yield tokenizer.frame(pieces.ids[part])[0], tuple(named)


@torch.no_grad()
def read_texts(docs: Sequence[Document], encoder: Encoder, tokenizer: Tokenizer) -> list[ReadText]:
    """All parts of documents, as the layers that an arm needs see them."""
    found = [(doc.id, ids, named) for doc in docs for ids, named in parts(doc, tokenizer)]
    layers, kept = layers_of(encoder.model), dict[int, Tensor]()
    wanted = {way.after for way in WAYS.values()} | {len(layers)}

    def keep(number: int, output: Tensor | tuple[Tensor, ...]) -> None:
        kept[number] = output[0] if isinstance(output, tuple) else output

    handles = [layers[n - 1].register_forward_hook(lambda _, __, output, n=n: keep(n, output)) for n in wanted]
    order = sorted(range(len(found)), key=lambda i: len(found[i][1]))
    texts: dict[int, ReadText] = {}
    for at in range(0, len(order), BATCH):
        some = order[at : at + BATCH]
        ids, mask = encoder.batch([found[i][1] for i in some])
        with half_precision("cpu", enabled=True):
            encoder(ids, mask)
        for row, i in enumerate(some):
            hidden = {n: kept[n][row, mask[row]].float() for n in wanted}
            texts[i] = ReadText(found[i][0], found[i][2], hidden)
    for handle in handles:
        handle.remove()
    return [texts[i] for i in range(len(found))]


class Known:
    """What a store knows by each name, and the vectors of its entities."""

    def __init__(self, store: Store) -> None:
        self.linker = Linker(store)
        self._document = {row.id: row.uri for row in store.tables.sources(self.linker.filter)}
        self._candidates: dict[str, tuple[Candidate, ...]] = {}

    def candidates(self, name: str) -> tuple[Candidate, ...]:
        """The entities that the store knows by a name."""
        if name not in self._candidates:
            self._candidates[name] = tuple(
                Candidate(use.entity.id, self.linker.outside(use.entity.id),
                          {self._document[id]: n for id, n in use.documents.items()})
                for use in self.linker.uses(surface_key(name))
            )  # fmt: skip
        return self._candidates[name]


class Vectors:
    """A table of entity vectors; without a document, an entity has the vector of its mentions elsewhere."""

    def __init__(self, way: Way, learned: Sequence[Document], texts: Sequence[ReadText], encoder: Encoder) -> None:
        own = {doc.id: {id: entity for entity in doc.entities for id in entity.mentions} for doc in learned}
        named: dict[str, list[tuple[str, Tensor]]] = defaultdict(list)  # of each link: document, context
        names: dict[str, str] = {}
        for text in texts:
            top = text.hidden[max(text.hidden)]
            for m in text.mentions:
                entity: Entity | None = own[text.doc].get(m.id)
                if entity is not None and entity.link:
                    named[entity.link].append((text.doc, context(top, m)))
                    names[entity.link] = entity.name or m.name
        self._row: dict[tuple[str, str], int] = {}
        links = sorted(named)
        if way.vectors == "names":
            self._row = {(link, ""): FIRST + i for i, link in enumerate(links)}
            self.table = encode_descriptions(encoder, tuple(names[link] for link in links), SIZE)
            return
        means = []
        for link in links:
            for without in ("", *sorted({doc for doc, _ in named[link]})):
                kept = [vector for doc, vector in named[link] if doc != without]
                if kept:
                    self._row[link, without] = FIRST + len(means)
                    means.append(torch.stack(kept).mean(0))
        self.table = main_directions(torch.stack(means), SIZE)

    def row(self, link: str, without: str) -> int | None:
        """The row of an entity, as it is without a document."""
        return self._row.get((link, without), self._row.get((link, "")))

    @property
    def rows(self) -> list[int]:
        """The rows of all entities."""
        return [row for (_, without), row in self._row.items() if not without]


def context(hidden: Tensor, mention: Named) -> Tensor:
    """The mean of the vectors around a mention (D,)."""
    around = torch.cat([hidden[max(0, mention.first - WINDOW) : mention.first],
                        hidden[mention.last + 1 : mention.last + 1 + WINDOW]])  # fmt: skip
    return (around if len(around) else hidden).mean(0)


@dataclass(frozen=True, eq=False)
class Lesson:
    """The mentions of a text that the store knows candidates for."""

    hidden: Tensor  # (n, D)
    ids: tuple[str, ...]
    spans: tuple[MentionSpan, ...]
    links: tuple[tuple[str, ...], ...]  # of the candidates of each


def lesson(text: ReadText, way: Way, known: Known, vectors: Vectors, gold: Mapping[str, str], without: str) -> Lesson:
    """A text with the candidates of its mentions; gold: links. without: a document that does not count."""
    ids, spans, links = [], [], []
    for m in text.mentions:
        found = []
        for one in known.candidates(m.name):
            count = sum(n for doc, n in one.documents.items() if doc != without)
            row = vectors.row(one.link, without)
            if count and row is not None:
                found.append((one.link, row, count))
        if found:
            total, offered = sum(n for *_, n in found), tuple(link for link, *_ in found)
            at = offered.index(gold[m.id]) if gold.get(m.id) in offered else NIL
            rows, priors = tuple(row for _, row, _ in found), tuple(n / total for *_, n in found)
            ids, spans, links = (
                [*ids, m.id],
                [*spans, MentionSpan(m.first, m.last, rows, priors, at)],
                [*links, offered],
            )
    return Lesson(text.hidden[way.after], tuple(ids), tuple(spans), tuple(links))


def with_others(span: MentionSpan, rows: Sequence[int], many: int, chance: np.random.Generator) -> MentionSpan:
    """A mention with random candidates, and random priors, for half of the mentions."""
    if not many or span.gold == NIL or chance.random() < 0.5:
        return span
    more = tuple(int(row) for row in chance.choice(rows, size=many) if row not in span.candidates)
    candidates = span.candidates + more
    return replace(span, candidates=candidates, priors=tuple(chance.dirichlet(np.ones(len(candidates))).tolist()))


def train(way: Way, lessons: Sequence[Lesson], vectors: Vectors, width: int, steps: int, seed: int) -> Kar:
    """Train a linker."""
    torch.manual_seed(seed)
    chance, rows = np.random.default_rng(seed), vectors.rows
    kar = Kar(width, vectors.table, KarConfig(loss=way.loss, use_prior=way.prior))  # type: ignore[arg-type]
    optimiser = torch.optim.AdamW(kar.linker(), lr=RATE)
    for _ in range(steps):
        some = [lessons[int(i)] for i in chance.integers(len(lessons), size=BATCH)]
        hidden = torch.nn.utils.rnn.pad_sequence([one.hidden for one in some], batch_first=True)
        mentions = collate_mentions([[with_others(span, rows, way.others, chance) for span in one.spans]
                                     for one in some])  # fmt: skip
        loss = kar.loss(kar(hidden, mentions)[1], mentions)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return kar.eval()


@torch.no_grad()
def best(kar: Kar, one: Lesson) -> list[tuple[float, int]]:
    """The score and number of the best candidate of each mention."""
    if not one.spans:
        return []
    mentions = collate_mentions([one.spans])
    scores = kar(one.hidden[None], mentions)[1].masked_fill(~mentions.offered, LOWEST)[0]
    values, which = scores.max(-1)
    return list(zip(values.tolist(), which.tolist(), strict=True))


def nil_below(kar: Kar, lessons: Sequence[Lesson]) -> float:
    """The score below which a mention is NIL, so that most of these mentions are right."""
    pairs = [pair for one in lessons for pair in zip(best(kar, one), one.spans, strict=True)]
    found = sorted((score, number == span.gold, span.gold == NIL) for (score, number), span in pairs)
    right = [sum(ok for _, ok, _ in found)]  # nothing is NIL
    for _, ok, nil in found:
        right.append(right[-1] - ok + nil)
    at = int(np.argmax(right))  # so many of the lowest are NIL
    return found[at][0] if at < len(found) else float("inf")


def by_kar(way: Way, learned: Sequence[Document], store_texts: Sequence[ReadText], tests: Sequence[ReadText],
           known: Known, encoder: Encoder, steps: int, seed: int) -> Answers:  # fmt: skip
    """The link of each mention of the tests, by document and mention."""
    vectors = Vectors(way, learned, store_texts, encoder)
    gold = {doc.id: {id: entity.link for entity in doc.entities for id in entity.mentions} for doc in learned}
    lessons = [lesson(text, way, known, vectors, gold[text.doc], text.doc if way.without else "")
               for text in store_texts]  # fmt: skip
    kept = [i for i, text in enumerate(store_texts) if sum(text.doc.encode()) % 5 == 0] if way.fitted else []
    taught = [one for i, one in enumerate(lessons) if one.spans and i not in set(kept)]
    kar = train(way, taught, vectors, encoder.width, steps, seed)
    least = nil_below(kar, [lessons[i] for i in kept]) if kept else 0.0
    answers: Answers = {}
    for text in tests:
        one = lesson(text, way, known, vectors, {}, "")
        for id, (score, number), links in zip(one.ids, best(kar, one), one.links, strict=True):
            answers[f"{text.doc} {id}"] = links[number] if score >= least else ""
    return answers


def by_prior(docs: Sequence[Document], known: Known) -> Answers:
    """The candidate that the name means most often."""
    found = {f"{doc.id} {m.id}": known.candidates(m.text) for doc in docs for m in doc.mentions}
    return {id: max(some, key=lambda one: sum(one.documents.values())).link for id, some in found.items() if some}


def by_features(docs: Sequence[Document], known: Known) -> Answers:
    """`factpin link`."""
    return {f"{doc.id} {one.mention.id}": one.link for doc in docs for one in known.linker.links(bare(doc))}


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


def fold(
    data: Path, number: int, encoder: Encoder, tokenizer: Tokenizer, seeds: Sequence[int], steps: int
) -> dict[str, dict[str, Scores]]:
    """One half linked with the other: arm -> set -> rows, summed over seeds."""
    halves = {name: read(data, name) for name in HALVES}
    tests = {name: docs[1 - number :: 2] for name, docs in halves.items()}
    if number == 0:
        tests |= {name: read(data, name) for name in TESTS}
    learned = [untyped(doc) for docs in halves.values() for doc in docs[number::2]]
    learned += [untyped(doc) for name in WHOLE for doc in read(data, name)]
    names = known_names(learned)
    links = {link for some in names.values() for link in some}
    for key, some in known_names(doc for docs in tests.values() for doc in docs).items():
        names[key] = names.get(key, set()) | some
    every = [doc for docs in tests.values() for doc in docs]
    found: dict[str, dict[str, Scores]] = {}
    with open_store("memory:", create=True) as store:
        with store.together():
            for doc in learned:
                store.put(doc, Source(doc.id))
        known = Known(store)
        texts, asked = (read_texts(docs, encoder, tokenizer) for docs in (learned, every))
        arms = {"prior": [by_prior(every, known)] * len(seeds), "shared": [by_features(every, known)] * len(seeds)}
        for arm, way in WAYS.items():
            drawn = seeds if arm in ("dot", "KAR") else seeds[:1]
            arms[arm] = [by_kar(way, learned, texts, asked, known, encoder, steps, seed) for seed in drawn]
            print(f"# {arm}", flush=True)
        for arm, runs in arms.items():
            found[arm] = {}
            for name, docs in tests.items():
                judged = [judge(docs, answers, names, links) for answers in runs]
                found[arm][name] = {metric: sum(one[metric] for one in judged) for metric in judged[0]}  # type: ignore[misc]
    return found


STATISTICS = {"F1": f1_of, "accuracy": mean_of, "ambiguous": mean_of, "NIL": mean_of}


def show(found: dict[str, dict[str, Scores]], seeds: int) -> None:
    """All figures, and the paired tests."""
    sets = list(found["prior"])
    whole = {arm: {metric: np.concatenate([one[metric] for one in by.values()]) for metric in STATISTICS}
             for arm, by in found.items()}  # fmt: skip
    many = {name: found["prior"][name]["accuracy"].sum(0)[1] / seeds for name in sets}
    of = {name: found["prior"][name]["ambiguous"].sum(0)[1] / seeds for name in sets}
    print("| accuracy, ambiguous names, F1 | " + " | ".join(f"{s} ({many[s]:.0f}, {of[s]:.0f})" for s in sets) + " |")
    print("|---" * (1 + len(sets)) + "|")
    for arm, by in found.items():
        cells = [" / ".join(f"{100 * STATISTICS[m](by[s][m].sum(0)[None])[0]:.1f}"
                            for m in ("accuracy", "ambiguous", "F1")) for s in sets]  # fmt: skip
        print(f"| {arm} | " + " | ".join(cells) + " |")
    print("\n| all sets | accuracy | ambiguous | F1 of links | NIL |\n|---|---|---|---|---|")
    for arm, rows in whole.items():
        cells = []
        for metric, statistic in STATISTICS.items():
            low, high = interval(rows[metric], statistic=statistic)
            value = statistic(rows[metric].sum(0)[None])[0]
            cells.append((metric, f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"))
        by_metric = dict(cells)
        print(f"| {arm} | " + " | ".join(by_metric[m] for m in ("accuracy", "ambiguous", "F1", "NIL")) + " |")
    print("\n| compared | on | difference | 95 % | p |\n|---|---|---|---|---|")
    for first, second in (("KAR", "prior"), ("KAR", "dot"), ("KAR", "shared"), ("shared", "prior")):
        for metric, statistic in STATISTICS.items():
            d = paired_bootstrap(whole[first][metric], whole[second][metric], statistic=statistic)
            between = f"{100 * d.interval[0]:+.1f} to {100 * d.interval[1]:+.1f}"
            print(f"| {first} − {second} | {metric} | {100 * d.difference:+.1f} | {between} | {d.p_value:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--output", type=Path, help="keep the rows here, fold by fold")
    options = parser.parse_args()
    source = resolve(options.encoder)
    encoder, tokenizer = Encoder.load(source).eval(), Tokenizer.load(source)
    kept = json.loads(options.output.read_text()) if options.output and options.output.exists() else {}
    for number in range(2):
        if str(number) not in kept:
            rows = fold(options.data, number, encoder, tokenizer, options.seeds, options.steps)
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

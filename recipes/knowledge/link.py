"""Entity linking with the linker of KnowBERT beside simpler ones, on wiki-fair, news-fair and OKE.

    python recipes/knowledge/link.py DATA --encoder minilm-en --steps 300

DATA has the *.benchmark.jsonl.xz of ELEVANT. The store is made of every second document of wiki-fair and news-fair, of
the training parts of OKE 2015 and 2016 and of rss-500; the other documents are linked. Mentions are given; their types
and what gold says about the entities of the document are not.

prior    the entity that the store means most often by the name
shared   `factpin link`: prior, shared words and facts between names, weighed by a fit on the store
dot      the linker of a KAR without the prior: the mention's vector against those of its candidates
KAR      the same with the prior

A KAR learns to link on the store's own documents; the vector of a candidate is its encoded description. The layers
below it are fixed here, so they read each text once. An entity that the store does not have is NIL.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from factpin import formats
from factpin.documents import Document
from factpin.encoders import Encoder, resolve
from factpin.knowledge.kar import Kar, KarConfig, decide
from factpin.knowledge.linked import LONGEST, linked_texts
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan, NameBatch, collate_mentions
from factpin.knowledge.names import MOST_CANDIDATES, read_entities
from factpin.knowledge.store_layer import build_layer
from factpin.memory import Source, Store, open_store
from factpin.memory.linking import Linker
from factpin.scoring.intervals import paired_bootstrap
from factpin.scoring.means import as_mean_rows, mean_of
from factpin.tokens import Tokenizer

HALVES = ("wiki-fair-v2-no-coref", "news-fair-v2-no-coref")
WHOLE = ("oke-2015-train", "oke-2016-train", "rss-500")
TESTS = ("oke-2015-eval", "oke-2016-eval")
BATCH, RATE = 32, 1e-3


@dataclass(frozen=True, eq=False)
class ReadText:
    """What the layers below a KAR make of a text, and its mentions."""

    hidden: Tensor  # (n, D)
    mentions: tuple[MentionSpan, ...]


def read(data: Path, name: str) -> list[Document]:
    """The documents of a benchmark, under names of their own."""
    documents = formats.read(data / f"{name}.benchmark.jsonl.xz", format="elevant")
    return [replace(doc, id=f"{name}/{number}") for number, doc in enumerate(documents)]


def gold_of(doc: Document) -> list[tuple[str, str]]:
    """Each mention that has an entity, and its link; "" where it has none."""
    return [(id, entity.link) for entity in doc.entities for id in entity.mentions]


def bare(doc: Document) -> Document:
    """A document with its mentions alone."""
    return replace(doc, mentions=tuple(replace(m, type="") for m in doc.mentions), entities=(), meta={})


Window = tuple[np.ndarray, list[MentionSpan], list[str]]  # framed pieces, mentions, their ids
Rights = tuple[list[float], list[float]]  # of all mentions, and of those whose name has several candidates


class Candidates:
    """What the store knows by each name: rows of the table of entities, priors, links."""

    def __init__(self, store: Store, keys: Sequence[str]) -> None:
        self.store, self.linker = store, Linker(store)
        self._known: dict[str, list[tuple[int, float]]] = {}
        self.row = {key: FIRST + i for i, key in enumerate(keys)}
        self.link = {row: self.linker.outside(key) for key, row in self.row.items()}

    def of(self, name: str) -> list[tuple[int, float]]:
        """Rows and priors, best first."""
        if name not in self._known:
            found = self.store.candidates(name)[:MOST_CANDIDATES]
            self._known[name] = [(self.row[one.entity.id], one.prior) for one in found if one.entity.id in self.row]
        return self._known[name]


def by_prior(doc: Document, known: Candidates) -> dict[str, str]:
    """The link of each mention."""
    found = {m.id: known.of(m.text) for m in doc.mentions}
    return {id: known.link[max(one, key=lambda pair: pair[1])[0]] if one else "" for id, one in found.items()}


def by_features(doc: Document, known: Candidates) -> dict[str, str]:
    """The same by `factpin link`."""
    found = {one.mention.id: one for one in known.linker.links(bare(doc))}
    return {id: known.linker.outside(one.entity.id) if one.entity else "" for id, one in found.items()}


@torch.no_grad()
def below(encoder: Encoder, after: int, framed: Sequence[np.ndarray]) -> list[Tensor]:
    """The vectors of each text behind layer number `after`."""
    found: list[Tensor] = []

    def keep(hidden: Tensor, _: Tensor, mask: Tensor) -> Tensor:
        found.extend(row[real].clone() for row, real in zip(hidden, mask, strict=True))
        return hidden

    class Keep(torch.nn.Module):
        forward = staticmethod(keep)

    encoder.eval().put_between(Keep(), after)
    for at in range(0, len(framed), BATCH):
        encoder(*encoder.batch(list(framed[at : at + BATCH])))
    encoder.put_between(None)
    return found


def collate(texts: Sequence[ReadText]) -> tuple[Tensor, NameBatch]:
    """Texts side by side."""
    hidden = torch.nn.utils.rnn.pad_sequence([text.hidden for text in texts], batch_first=True)
    return hidden, collate_mentions([text.mentions for text in texts])


def train(kar: Kar, texts: Sequence[ReadText], steps: int, seed: int) -> None:
    """Train the linker."""
    chance = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(kar.linker(), lr=RATE)
    for _ in range(steps):
        hidden, mentions = collate([texts[int(i)] for i in chance.integers(len(texts), size=BATCH)])
        loss = kar.loss(kar(hidden, mentions)[1], mentions)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    kar.eval()


def windows(doc: Document, tokenizer: Tokenizer, known: Candidates) -> list[Window]:
    """The parts of a document, with its mentions as tokens and their ids."""
    pieces, before, found = tokenizer.encode(doc.text), len(tokenizer.prefix), []
    for at in range(0, len(pieces), LONGEST):
        part = slice(at, at + LONGEST)
        spans, names = [], []
        for m in doc.mentions:
            inside = np.flatnonzero((pieces.start[part] < m.end) & (pieces.end[part] > m.start))
            offered = known.of(m.text)
            if len(inside) and offered and m.id not in {name for *_, old in found for name in old}:
                rows, priors = zip(*offered, strict=True)
                spans.append(MentionSpan(before + int(inside[0]), before + int(inside[-1]), rows, priors))
                names.append(m.id)
        if spans:
            found.append((tokenizer.frame(pieces.ids[part])[0], spans, names))
    return found


@torch.no_grad()
def by_kar(
    documents: Sequence[Document], kar: Kar, encoder: Encoder, tokenizer: Tokenizer, after: int, known: Candidates
) -> list[dict[str, str]]:
    """The link of each mention of each document."""
    answers = []
    for doc in documents:
        parts = windows(doc, tokenizer, known)
        answer: dict[str, str] = {}
        for (_, spans, names), hidden in zip(parts, below(encoder, after, [ids for ids, _, _ in parts]), strict=True):
            batch = collate_mentions([spans])
            chosen = decide(kar(hidden[None], batch)[1], batch)[0].tolist()
            answer |= {name: "" if best == NIL else known.link[span.candidates[best]]
                       for name, span, best in zip(names, spans, chosen, strict=True)}  # fmt: skip
        answers.append(answer)
    return answers


def rights(documents: Sequence[Document], answers: Sequence[dict[str, str]], known: Candidates) -> Rights:
    """Which links are right: of all mentions, and of those whose name has several candidates."""
    links, every, several = set(known.link.values()), [], []
    for doc, answer in zip(documents, answers, strict=True):
        text = {m.id: m.text for m in doc.mentions}
        for id, link in gold_of(doc):
            right = float(answer.get(id, "") == (link if link in links else ""))
            every.append(right)
            if len(known.of(text[id])) > 1:
                several.append(right)
    return every, several


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    halves = {name: read(options.data, name) for name in HALVES}
    tests = {name: docs[1::2] for name, docs in halves.items()} | {name: read(options.data, name) for name in TESTS}
    learned = [doc for docs in halves.values() for doc in docs[::2]]
    learned += [doc for name in WHOLE for doc in read(options.data, name)]
    with open_store("memory:", create=True) as store:
        with store.together():
            for doc in learned:
                store.put(doc, Source(doc.id))
        entities = read_entities(store)
        known = Candidates(store, entities.keys)
        torch.manual_seed(options.seed)
        source = resolve(options.encoder)
        encoder, tokenizer = Encoder.load(source), Tokenizer.load(source)
        layer = build_layer("kar", encoder, tokenizer, entities, "")
        texts = list(linked_texts(store, entities, layer.names, layer.inside, tokenizer))
        hidden = below(encoder, layer.config.after, [text.ids for text in texts])
        taught = [ReadText(h, text.mentions) for h, text in zip(hidden, texts, strict=True)]
        vectors, after = layer.layer.entities, layer.config.after
        simple = {"prior": by_prior, "shared": by_features}
        arms = {arm: {name: [link(doc, known) for doc in docs] for name, docs in tests.items()}
                for arm, link in simple.items()}  # fmt: skip
        for arm, prior in (("dot", False), ("KAR", True)):
            torch.manual_seed(options.seed)
            kar = Kar(encoder.width, vectors, KarConfig(use_prior=prior))
            train(kar, taught, options.steps, options.seed)
            arms[arm] = {name: by_kar(docs, kar, encoder, tokenizer, after, known) for name, docs in tests.items()}
        print(f"{len(learned)} documents in the store, {len(entities.keys)} entities; {len(taught)} texts to learn "
              f"from, {options.steps} steps, seed {options.seed}\n")  # fmt: skip
        show(tests, arms, known)


def show(tests: dict[str, list[Document]], arms: dict[str, dict[str, list[dict[str, str]]]], known: Candidates) -> None:
    """Accuracy of every arm on every set, and KAR against the prior on all of them."""
    print("| set | mentions | " + " | ".join(arms) + " | with several candidates | " + " | ".join(arms) + " |")
    print("|---" * (3 + 2 * len(arms)) + "|")
    total: dict[str, tuple[list[float], list[float]]] = {arm: ([], []) for arm in arms}
    for name, docs in tests.items():
        found = {arm: rights(docs, answers[name], known) for arm, answers in arms.items()}
        for arm, (every, several) in found.items():
            total[arm] = (total[arm][0] + every, total[arm][1] + several)
        print(row(name, found))
    print(row("all", total))
    print("\n| compared | on | difference | 95 % | p |\n|---|---|---|---|---|")
    for first, second in (("KAR", "prior"), ("KAR", "dot"), ("KAR", "shared"), ("shared", "prior")):
        for part, label in enumerate(("all mentions", "several candidates")):
            d = paired_bootstrap(as_mean_rows(total[first][part]), as_mean_rows(total[second][part]), statistic=mean_of)
            low, high = d.interval
            interval = f"{100 * low:+.1f} to {100 * high:+.1f}"
            print(f"| {first} − {second} | {label} | {100 * d.difference:+.1f} | {interval} | {d.p_value:.3f} |")


def row(name: str, found: dict[str, tuple[list[float], list[float]]]) -> str:
    """One set."""
    parts = [name]
    for part in range(2):
        columns = [one[part] for one in found.values()]
        parts += [str(len(columns[0])), *(f"{100 * np.mean(column):.1f}" if column else "" for column in columns)]
    return "| " + " | ".join(parts) + " |"


if __name__ == "__main__":
    main()

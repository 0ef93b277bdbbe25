"""REALM on Wikipedia: a retriever that learns from names that it helps to fill in, beside one that stays as it is.

    python recipes/answers/realm.py train --arms frozen joint --output runs/realm
    python recipes/answers/realm.py train --arms "no refresh" "no null" --output runs/realm
    python recipes/answers/realm.py report --output runs/realm

The first articles of wiki_en, cut to 600 characters, are the pool; en-entities finds the names in them. A name is
blanked out if it is a person, place, organisation or other name that 1 to 20 other articles mention: what no passage
mentions cannot be filled in by retrieval, and what many mention needs none. Dev blanks are of other articles.

    ict          from minilm-en: a sentence finds its passage
    frozen       from ict: only the reader learns
    joint        reader and retriever learn together; passages are embedded anew every 40 steps
    no refresh   never embedded anew
    no null      without the null document

    name@5       dev blanks for which one of the five best passages mentions the name
    NQ R@5       questions of Natural Questions whose passage is among the five best of 1,000
    utility      log p(name) with retrieval - log p(name) beside the null document alone, in nats
    filler       the same where a common word of the sentence is blanked out instead

minilm-en has seen pairs of questions and passages when it was pretrained; its row says what that is worth. Every arm is
written to --output as soon as it is there, and is not run again.
"""

import argparse
import json
import lzma
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _sets import DATA, fill, questions_of

from factpin import load, read, write
from factpin.answers.embedding import TextEmbedder
from factpin.answers.marginal import prior, token
from factpin.answers.realm import Blank, PoolPassage, blank_inputs, blanks_of, pool_of
from factpin.documents import Document, Span
from factpin.encoders import Encoder, resolve
from factpin.layers.half import half_precision
from factpin.memory.search import Search
from factpin.scoring.intervals import paired_bootstrap
from factpin.scoring.means import as_mean_rows, mean_interval, mean_of
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.part_run import run_part
from factpin.training.part_table import train_part
from factpin.training.retriever import RetrieverJob, prepare_retriever
from factpin.training.retriever_options import RetrieverOptions

CUT = 600  # characters of an article
NAMES = ("person", "location", "organization", "other")
RARE, COMMON = 1, 20  # other articles that mention a name
DEPTH = 5
NQ_POOL, NQ_ASKED = 1000, 200
FILLER = re.compile(r"\b[a-z]{4,}\b")
ARMS: dict[str, dict[str, Any]] = {
    "frozen": {"frozen": True},
    "joint": {},
    "no refresh": {"refresh": 0},
    "no null": {"null": False},
}


def articles(many: int) -> Iterator[Document]:
    """The first articles of wiki_en, without their titles, cut."""
    with lzma.open(DATA / "wiki_en" / "wiki_en.txt.xz", "rt", encoding="utf-8") as stream:
        lines: list[str] = []
        found = 0
        for line in stream:
            if line.strip():
                lines.append(line.strip())
                continue
            if len(lines) > 1:
                yield Document(f"wiki-{found}", "\n".join(lines[1:])[:CUT], meta={"title": lines[0]})
                found += 1
            lines = []
            if found == many:
                return


def annotated(options: argparse.Namespace) -> tuple[list[Document], list[Document]]:
    """The articles to learn from and those of dev, with the names that are blanked out; from the file if there."""
    path = options.output / "articles.jsonl"
    if not path.exists():
        options.output.mkdir(parents=True, exist_ok=True)
        write(load("en-entities").annotate(articles(options.articles + options.dev)), path)
    docs = list(read(path))
    training, dev = docs[: options.articles], docs[options.articles :]
    mentioned = Counter(name for doc in training for name in {doc.text[m.start : m.end] for m in doc.mentions})

    def kept(doc: Document, own: int) -> Document:
        """own: 1 if the article itself is among those that are counted."""
        some = [
            m for m in doc.mentions if m.type in NAMES and RARE <= mentioned[doc.text[m.start : m.end]] - own <= COMMON
        ]
        return replace(doc, mentions=tuple(some))

    return [kept(doc, 1) for doc in training], [kept(doc, 0) for doc in dev]


def config(options: argparse.Namespace, steps: int, batch: int) -> TrainConfig:
    """How all arms are trained."""
    return TrainConfig(max_steps=steps, epochs=1000, batch_size=batch, learning_rate=1e-4, head_learning_rate=1e-3,
                       bf16=True, freeze_layers=3, seed=options.seed, evaluate_every=10**6,
                       save_every=10**6)  # fmt: skip


def train(options: argparse.Namespace) -> None:
    """ICT, then the arms that are not there yet, and what each of them retrieves and fills in."""
    training, dev = annotated(options)
    ict = options.output / "ict"
    if not (ict / "factpin.json").exists():
        chosen = RetrieverOptions("minilm-en", passage_size=64, max_length=128)
        train_part("retriever", training, [], chosen, config(options, options.ict, 32), ict, quiet=True, resume=True)
    blanks = usable(dev, ict)
    for name, source in (("minilm-en", resolve("minilm-en")), ("ict", ict)):
        path = options.output / f"{name}.json"
        if not path.exists():
            embedder = TextEmbedder(Encoder.load(source), Tokenizer.load(source), 128)
            with half_precision("cpu", enabled=True):
                path.write_text(json.dumps(retrieved(embedder, pool_of(training, 64), blanks)))
    words = options.output / "words.json"
    if not words.exists():
        words.write_text(json.dumps(by_words(pool_of(training, 64), blanks)))
    for name in options.arms:
        path = options.output / f"{name.replace(' ', '-')}.json"
        if not path.exists():
            base = RetrieverOptions(str(ict), "realm", passage_size=64, k=4, refresh=40, max_length=128)
            run = prepare_retriever(training, [], replace(base, **ARMS[name]), config(options, options.steps, 8))
            run_part(run, options.output / name.replace(" ", "-"), quiet=True)
            with half_precision("cpu", enabled=True):
                path.write_text(json.dumps(measured(run.job, blanks)))


def usable(dev: Sequence[Document], folder: Path) -> list[Blank]:
    """The blanks of dev that fit, as if their articles were not in the pool, which they are not."""
    tokenizer = Tokenizer.load(folder)
    found = [Blank(-1, blank.sentence, blank.span) for blank in blanks_of(dev)]
    return [blank for blank in found if blank_inputs(tokenizer, blank, [""], 0, 128) is not None]


def name_of(blank: Blank) -> str:
    """What is blanked out."""
    return blank.sentence[blank.span.start : blank.span.end]


def retrieved(embedder: TextEmbedder, pool: Sequence[PoolPassage], blanks: Sequence[Blank]) -> dict[str, list[float]]:
    """Whether the five best passages mention the name of each blank, and whether they hold that of each question."""
    token = "[MASK]"
    vectors, queries = embedder.embed([p.shown for p in pool]), embedder.embed([b.masked(token) for b in blanks])
    best = (queries @ vectors.T).topk(DEPTH, dim=1).indices.tolist()
    names = [float(any(name_of(b) in pool[i].text for i in row)) for b, row in zip(blanks, best, strict=True)]
    asked = questions_of("nq", NQ_POOL)
    vectors = embedder.embed([f"{q.context[0].meta.get('title', '')}\n{q.context[0].text}" for q in asked])
    best = (embedder.embed([q.text for q in asked[:NQ_ASKED]]) @ vectors.T).topk(DEPTH, dim=1).indices.tolist()
    return {"name": names, "nq": [float(i in row) for i, row in enumerate(best)]}


def by_words(pool: Sequence[PoolPassage], blanks: Sequence[Blank]) -> dict[str, list[float]]:
    """The same of names with words."""
    store = fill([Document(str(i), p.text, meta={"title": p.title}) for i, p in enumerate(pool)])
    search, found = Search(store), []
    for blank in blanks:
        hits = store.passages([hit.passage for hit in search(blank.masked(" "), DEPTH, by="words")])
        found.append(float(any(name_of(blank) in passage.text for passage in hits)))
    return {"name": found}


def fillers(blanks: Sequence[Blank], seed: int) -> list[Blank]:
    """A common word of each of these sentences, blanked out instead."""
    chance, found = random.Random(seed), []
    for blank in blanks:
        words = [Span(*m.span()) for m in FILLER.finditer(blank.sentence)]
        if words:
            found.append(Blank(-1, blank.sentence, chance.choice(words)))
    return found


@torch.no_grad()
def measured(job: RetrieverJob, blanks: Sequence[Blank]) -> dict[str, Any]:
    """What the retriever of an arm finds, and what retrieval adds to names and to common words."""
    model, null = job.model.eval(), job.options.null
    found: dict[str, Any] = {**retrieved(job.retriever, job.pool, blanks)}
    job.refresh(0)
    job.options = replace(job.options, null=True)
    for kind, some in (("salient", list(blanks)), ("filler", fillers(blanks, 0))):
        rows: list[tuple[float, float, float]] = []
        for at in range(0, len(some), 8):
            batch = job.realm_batch(some[at : at + 8])
            scores, y = model.documents(batch).float(), model.blanks(batch, job.retriever.tokenizer.pad_id)
            first = 0 if null else 1  # without the null document, the mixture is that of the others
            total = token(prior(scores[:, first:]), y[:, first:]).sum(-1)
            alone = y[:, 0].sum(-1)
            rows += zip(total.tolist(), alone.tolist(), prior(scores)[:, 0].exp().tolist(), strict=True)
        found[kind] = rows
    return found


def report(options: argparse.Namespace) -> None:
    """The tables of all arms that are there."""
    there = {name: json.loads(path.read_text()) for name in ("words", "minilm-en", "ict", *ARMS)
             if (path := options.output / f"{name.replace(' ', '-')}.json").exists()}  # fmt: skip
    some = next(iter(there.values()))
    print(f"{len(some['name'])} dev blanks, {NQ_ASKED} questions\n")
    print("| arm | name@5 | 95 % | NQ R@5 | 95 % | utility of names | 95 % | of fillers | 95 % | log p of names | "
          "null, of names | null, of fillers |\n" + "|---" * 12 + "|")  # fmt: skip
    for name, one in there.items():
        cells = [shown(one[key], 100) if key in one else " | " for key in ("name", "nq")]
        if "salient" in one:
            utility = {kind: [total - alone for total, alone, _ in one[kind]] for kind in ("salient", "filler")}
            cells += [shown(utility["salient"], 1), shown(utility["filler"], 1)]
            cells += [f"{np.mean([row[0] for row in one['salient']]):.2f}"]
            cells += [f"{np.mean([row[2] for row in one[kind]]):.2f}" for kind in ("salient", "filler")]
        else:
            cells += [" | ", " | ", "", "", ""]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("\n| compared | name@5 | 95 % | p | NQ R@5 | 95 % | p | log p of names | 95 % | p |\n" + "|---" * 10 + "|")
    pairs = (("ict", "minilm-en"), ("joint", "frozen"), ("joint", "no refresh"), ("joint", "no null"))
    for first, second in pairs:
        if first in there and second in there:
            cells = [difference(there[first][key], there[second][key], 100) for key in ("name", "nq")]
            if "salient" in there[first] and "salient" in there[second]:
                cells.append(difference(*([r[0] for r in there[n]["salient"]] for n in (first, second)), 1))
            print(f"| {first} − {second} | {' | '.join(cells)} |", flush=True)


def shown(values: Sequence[float], scale: float) -> str:
    """A mean with its interval."""
    low, high = mean_interval(as_mean_rows(list(values)))
    digits = 1 if scale == 100 else 2
    return f"{scale * np.mean(values):.{digits}f} | {scale * low:.{digits}f} to {scale * high:.{digits}f}"


def difference(first: Sequence[float], second: Sequence[float], scale: float) -> str:
    """A paired difference with its interval and p."""
    d = paired_bootstrap(as_mean_rows(list(first)), as_mean_rows(list(second)), statistic=mean_of)
    digits, (low, high) = (1 if scale == 100 else 2), d.interval
    return (f"{scale * d.difference:+.{digits}f} | {scale * low:+.{digits}f} to {scale * high:+.{digits}f} | "
            f"{d.p_value:.3f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "report"))
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS))
    parser.add_argument("--articles", type=int, default=1200, help="articles of the pool")
    parser.add_argument("--dev", type=int, default=150, help="articles whose names are blanked out on dev")
    parser.add_argument("--ict", type=int, default=120, help="steps of 32 sentences")
    parser.add_argument("--steps", type=int, default=120, help="steps of 8 blanks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is trained")
    options = parser.parse_args()
    {"train": train, "report": report}[options.what](options)


if __name__ == "__main__":
    main()

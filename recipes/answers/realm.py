"""REALM on Wikipedia: a retriever that learns from names that it helps to fill in, beside one that stays as it is.

    python recipes/answers/realm.py train --output runs/realm
    python recipes/answers/realm.py report --output runs/realm
    python recipes/answers/realm.py seen --output runs/realm
    python recipes/answers/realm.py train --retriever minilm-en --layers 2 --arms joint frozen --beside words ict \
        --ict 60 --steps 300 --output runs/realm-words

Articles of wiki_en are cut into blocks of about 200 characters, and every block is a document: a sentence never finds
its own block, but may find others of its article, as in the published system. en-entities finds the names. A name is
blanked out if it has at most four pieces, is nowhere else in its sentence, and is in 1 to 20 other blocks, so that a
perfect retriever would always find it. For every four names a common word is blanked out too, so that the reader learns
where passages are of no use. Dev blanks are of articles no blank of which is learned from; all blocks are in the pool.

    ict          an encoder of one layer that begins with chance weights, and learns which block a sentence is from;
                 with --retriever, the lowest --layers layers of that encoder, whose word vectors stay as they are
    more ict     the same for as many more steps as the others learn from blanks
    frozen       from ict: only the reader learns
    joint        reader and retriever learn together; blocks are embedded anew every --refresh steps
    no refresh   never embedded anew
    no null      without the null document

The reader starts from minilm-en, which never retrieves here, and has had its lesson before the arms begin: beside a
block that states the name, and beside none. All arms begin with the same retriever and the same reader.

    name@5       dev blanks for which one of the five best blocks states the name
    NQ R@5       questions of Natural Questions whose passage is among the five best of 1,000
    utility      log p(name) with retrieval - log p(name) beside the null document alone, in nats
    filler       the same where a common word of the sentence is blanked out instead
    pull         what the gradient adds to the scores of blocks that state the name, where some of those read do

`seen` asks where a retriever has become better: on blanks that it learned from, on others of the same articles, or on
dev blanks. Every arm is written to --output as soon as it is there, and is not run again.
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
from factpin.answers.marginal import posterior, prior, token
from factpin.answers.realm import Blank, blanks_of, nearest
from factpin.documents import Document, Mention, Span
from factpin.encoders import Encoder, resolve, small_encoder
from factpin.layers.half import half_precision
from factpin.memory.passages import PassageSettings, cut
from factpin.memory.search import Search
from factpin.scoring.intervals import paired_bootstrap
from factpin.scoring.means import as_mean_rows, mean_interval, mean_of
from factpin.tokens import Tokenizer
from factpin.tokens.batches import shuffled_batches
from factpin.training.config import TrainConfig
from factpin.training.part_run import run_part
from factpin.training.retriever import RetrieverJob, prepare_retriever, start_retriever
from factpin.training.retriever_options import RetrieverOptions

BLOCK, CUT = 64, 2400  # of a block, in groups of four characters; characters of an article
NAMES = ("person", "location", "organization", "other")
RARE, COMMON, PIECES = 1, 20, 4
FILLED = 4  # names to one common word
FILLER = re.compile(r"\b[a-z]{4,}\b")
DEPTH = 5
NQ_POOL, NQ_ASKED = 1000, 200
READER = "minilm-en"
HELD = re.compile(r"\bembeddings\b|\blayer\.[012]\.")  # of the reader: they do not learn
ICT_RATE, RATE, READER_RATE = 1e-3, 5e-4, 2e-4
SLOW = 0.2  # of these two, the share for a pretrained retriever
BESIDE = ("words", "minilm-en", "chance", "ict", "more-ict", "lesson")
ARMS: dict[str, dict[str, Any]] = {
    "frozen": {"frozen": True},
    "joint": {},
    "no refresh": {"refresh": 0},
    "no null": {"null": False},
}


def blocks(many: int) -> Iterator[Document]:
    """The first articles of wiki_en in blocks."""
    with lzma.open(DATA / "wiki_en" / "wiki_en.txt.xz", "rt", encoding="utf-8") as stream:
        lines: list[str] = []
        found = 0
        for line in stream:
            if line.strip():
                lines.append(line.strip())
                continue
            if len(lines) > 1:
                text = "\n".join(lines[1:])[:CUT]
                for at, (start, end) in enumerate(cut(text, PassageSettings(BLOCK))):
                    yield Document(f"{found}-{at}", text[start:end], meta={"title": lines[0], "article": found})
                found += 1
            lines = []
            if found == many:
                return


def annotated(options: argparse.Namespace) -> tuple[list[Document], list[Blank]]:
    """All blocks, with what is blanked out for learning, and the dev blanks; names are from the file if it is there."""
    path = options.output / "blocks.jsonl"
    if not path.exists():
        options.output.mkdir(parents=True, exist_ok=True)
        write(load("en-entities").annotate(blocks(options.articles + options.dev)), path)
    docs, tokenizer, chance = list(read(path)), Tokenizer.load(resolve(READER)), random.Random(0)
    stated = Counter(name for doc in docs for name in {doc.text[m.start : m.end] for m in doc.mentions})
    seen, kept = Counter[str](), []
    for doc in docs:
        names = []
        for blank in blanks_of([replace(doc, mentions=tuple(m for m in doc.mentions if m.type in NAMES))]):
            others = stated[blank.name] - 1
            pieces = len(tokenizer.encode(blank.name).ids)
            seen["names"] += 1
            seen["stated in 1 to 20 other blocks"] += RARE <= others <= COMMON
            if RARE <= others <= COMMON and pieces <= PIECES and blank.sentence.count(blank.name) == 1:
                at = doc.text.index(blank.sentence) + blank.span.start
                names.append(Mention(f"b{at}", at, at + len(blank.name), blank.name, "name"))
        seen["blanked out"] += len(names)
        kept.append(replace(doc, mentions=tuple(names)))
    dev = [b for b in blanks_of(kept) if int(docs[b.document].meta["article"]) >= options.articles]
    learned = []
    for doc in kept:
        words = [m for m in FILLER.finditer(doc.text) if doc.text.count(m.group()) == 1]
        some = chance.sample(words, min(len(words), round(len(doc.mentions) / FILLED + chance.random() - 0.5)))
        common = [Mention(f"c{m.start()}", m.start(), m.end(), m.group(), "word") for m in some]
        own = (*doc.mentions, *common) if int(doc.meta["article"]) < options.articles else ()
        learned.append(replace(doc, mentions=own))
    print(f"{len(docs)} blocks, {dict(seen)}, {len(dev)} of them dev", flush=True)
    return learned, dev


def config(options: argparse.Namespace, steps: int, batch: int, rate: float) -> TrainConfig:
    """How all arms are trained."""
    return TrainConfig(max_steps=steps, epochs=1000, batch_size=batch, learning_rate=rate,
                       head_learning_rate=READER_RATE, bf16=True, seed=options.seed, evaluate_every=10**6,
                       save_every=10**6)  # fmt: skip


def start(folder: Path, options: argparse.Namespace) -> None:
    """A retriever that knows nothing: one layer, with the vocabulary of the reader. Or the lowest layers of another."""
    torch.manual_seed(options.seed)
    if options.retriever:
        encoder = Encoder.load(resolve(options.retriever))
        encoder.model.encoder.layer = encoder.model.encoder.layer[: options.layers]
        encoder.config.num_hidden_layers = options.layers
        encoder.save(folder)
        return
    tokenizer = Tokenizer.load(resolve(READER))
    small_encoder(tokenizer.vocab_size, width=256, layers=1, max_length=128, tokenizer=tokenizer).save(folder)


def ict(options: argparse.Namespace, docs: Sequence[Document], encoder: Path, steps: int, folder: Path) -> None:
    """A retriever that has learned which block a sentence is from."""
    if not (folder / "factpin.json").exists():
        chosen = RetrieverOptions(str(encoder), passage_size=BLOCK, max_length=112)
        rate = SLOW * ICT_RATE if options.retriever else ICT_RATE
        run = prepare_retriever(docs, [], chosen, config(options, steps, 64, rate))
        hold_words(run, options)
        run_part(run, folder, quiet=True)


def hold_words(run: Any, options: argparse.Namespace) -> None:
    """Keep the word vectors of a pretrained retriever: what it learns of some words it then learns of all."""
    if options.retriever:
        run.job.model.encoder.model.embeddings.requires_grad_(False)


def prepared(options: argparse.Namespace, docs: Sequence[Document], steps: int, **arm: Any) -> Any:
    """An arm that is ready to learn, from ict; the lower half of its reader does not learn."""
    base = RetrieverOptions(str(options.output / "ict"), "realm", passage_size=BLOCK, reader=READER, k=options.k,
                            refresh=options.refresh, max_length=112)  # fmt: skip
    rate = SLOW * RATE if options.retriever else RATE
    run = prepare_retriever(docs, [], replace(base, **arm), config(options, steps, options.batch, rate))
    hold_words(run, options)
    for name, weight in run.job.model.head.encoder.named_parameters():  # type: ignore[attr-defined]
        if HELD.search(name):
            weight.requires_grad_(False)
    return run


def train(options: argparse.Namespace) -> None:
    """ICT, the reader's lesson, then the arms that are not there yet, and what each of them finds and fills in."""
    docs, dev = annotated(options)
    out = options.output
    start(out / "chance", options)
    ict(options, docs, out / "chance", options.ict, out / "ict")
    if "more-ict" in options.beside:
        ict(options, docs, out / "ict", options.steps, out / "more-ict")
    blanks = usable(docs, dev, out / "ict")[: options.blanks]
    for name, source in (("minilm-en", resolve("minilm-en")), ("chance", out / "chance"), ("ict", out / "ict"),
                         ("more-ict", out / "more-ict")):  # fmt: skip
        if name in options.beside and not (path := out / f"{name}.json").exists():
            model = RetrieverOptions(str(source), "realm", passage_size=BLOCK, reader=READER, max_length=112)
            with half_precision("cpu", enabled=True):
                job = RetrieverJob(start_retriever(model, 1), docs, [], model, 1)
                path.write_text(json.dumps(retrieved(job, blanks)))
    if "words" in options.beside and not (path := out / "words.json").exists():
        path.write_text(json.dumps(by_words(docs, blanks)))
    lesson = out / "lesson.pt"
    if not lesson.exists():
        run = prepared(options, docs, options.lesson, frozen=True, lesson=options.lesson)
        run_part(run, out / "lesson", quiet=True)
        torch.save(run.job.model.head.state_dict(), lesson)
    for name in options.arms:
        if not (path := out / f"{name.replace(' ', '-')}.json").exists():
            run = prepared(options, docs, options.steps, **ARMS[name])
            run.job.model.head.load_state_dict(torch.load(lesson))
            if name == "frozen" and "lesson" in options.beside:
                (out / "lesson.json").write_text(json.dumps(noted(run.job, blanks, options.filled)))
            run_part(run, out / name.replace(" ", "-"), quiet=True)
            path.write_text(json.dumps(noted(run.job, blanks, options.filled)))


def usable(docs: Sequence[Document], dev: Sequence[Blank], folder: Path) -> list[Blank]:
    """The dev blanks that fit, in an order by chance, so that any first part of them is of all articles."""
    model = RetrieverOptions(str(folder), "realm", passage_size=BLOCK, max_length=112)
    job = RetrieverJob(start_retriever(model, 1), docs, [], model, 1)
    fitting = [blank for blank in dev if job.inputs(blank, [""]) is not None and job.stating(blank)]
    random.Random(0).shuffle(fitting)
    return fitting


def retrieved(job: RetrieverJob, blanks: Sequence[Blank]) -> dict[str, list[float]]:
    """Whether the five best blocks state the name of each blank, and whether they hold that of each question."""
    embedder: TextEmbedder = job.retriever
    job.refresh(0)
    own = [b.document for b in blanks]
    best = nearest(embedder.embed(job.masked(blanks)), job.vectors, job.owners, own, DEPTH)
    names = [float(any(b.name in job.pool[i].shown for i in row)) for b, row in zip(blanks, best, strict=True)]
    asked = questions_of("nq", NQ_POOL)
    vectors = embedder.embed([f"{q.context[0].meta.get('title', '')}\n{q.context[0].text}" for q in asked])
    rows = (embedder.embed([q.text for q in asked[:NQ_ASKED]]) @ vectors.T).topk(DEPTH, dim=1).indices.tolist()
    return {"name": names, "nq": [float(i in row) for i, row in enumerate(rows)]}


def by_words(docs: Sequence[Document], blanks: Sequence[Blank]) -> dict[str, list[float]]:
    """The same of names with words."""
    search, found = Search(store := fill(docs)), []
    for blank in blanks:
        hits = store.passages([hit.passage for hit in search(blank.masked(" "), DEPTH + 3, by="words")])
        others = [p for p in hits if p.text not in docs[blank.document].text][:DEPTH]
        found.append(float(any(blank.name in f"{p.title}\n{p.text}" for p in others)))
    return {"name": found}


def fillers(blanks: Sequence[Blank], seed: int) -> list[Blank]:
    """A common word of each of these sentences, blanked out instead."""
    chance, found = random.Random(seed), []
    for blank in blanks:
        words = [Span(*m.span()) for m in FILLER.finditer(blank.sentence)]
        if words:
            found.append(Blank(blank.document, blank.sentence, chance.choice(words)))
    return found


def noted(job: RetrieverJob, blanks: Sequence[Blank], filled: int) -> dict[str, Any]:
    """All that is measured of an arm."""
    with half_precision("cpu", enabled=True):
        return measured(job, blanks, filled)


@torch.no_grad()
def measured(job: RetrieverJob, blanks: Sequence[Blank], filled: int) -> dict[str, Any]:
    """What the retriever of an arm finds, and what retrieval adds to names and to common words."""
    model, null = job.model.eval(), job.options.null
    found: dict[str, Any] = {**retrieved(job, blanks)}
    k, job.options = job.options.k, replace(job.options, null=True, k=job.options.k + (not null))
    for kind, some in (("salient", list(blanks[:filled])), ("filler", fillers(blanks[:filled], 0))):
        rows, pulls = [], []
        for at in range(0, len(some), 8):
            batch = job.realm_batch(part := some[at : at + 8])
            scores, y = model.documents(batch).float(), model.head(batch)
            first = 0 if null else 1  # without the null document, the mixture is that of the others
            total = token(prior(scores[:, first:]), y[:, first:]).sum(-1)
            alone = y[:, 0].sum(-1)
            rows += zip(total.tolist(), alone.tolist(), prior(scores)[:, 0].exp().tolist(), strict=True)
            gradient = posterior(prior(scores), y) - prior(scores).exp()
            for blank, texts, pull in zip(part, batch.passages, gradient, strict=True):
                stating = torch.tensor([blank.name in text for text in texts])
                if stating.any() and not stating[1:].all():
                    pulls.append(float(pull[stating].sum()))
        found[kind], found[f"{kind} pull"] = rows, pulls
    chance, stated = np.random.default_rng(0), []
    for at in range(0, filled, 8):
        stated += model.head(job.lesson_batch(blanks[at : min(at + 8, filled)], chance))[:, 1].sum(-1).tolist()
    found["stated"] = stated
    job.options = replace(job.options, null=null, k=k)
    return found


def seen(options: argparse.Namespace) -> None:
    """What ict, more ict and joint find for blanks that joint learned from, for others, and for dev blanks."""
    docs, dev = annotated(options)
    found: dict[str, dict[str, list[int]]] = {}
    for name in ("ict", "more-ict", "joint"):
        if not (options.output / name / "factpin.json").exists():
            continue
        model = RetrieverOptions(str(options.output / name), "realm", passage_size=BLOCK, reader=READER, max_length=112)
        job = RetrieverJob(start_retriever(model, 1), docs, [], model, 1)
        epochs = range(-(-options.steps // options.refresh))
        batches = [shuffled_batches(job.lengths, size=options.batch, seed=options.seed, epoch=e) for e in epochs]
        learned = {int(i) for some in batches for at in range(options.refresh) for i in some[at]}
        names = [i for i, blank in enumerate(job.blanks) if not FILLER.fullmatch(blank.name)]
        random.Random(0).shuffle(names)
        groups = {"learned": [job.blanks[i] for i in names if i in learned][: options.blanks],
                  "others": [job.blanks[i] for i in names if i not in learned][: options.blanks],
                  "dev": usable(docs, dev, options.output / "ict")[: options.blanks]}  # fmt: skip
        with half_precision("cpu", enabled=True):
            job.refresh(0)
            for group, blanks in groups.items():
                queries, own = job.retriever.embed(job.masked(blanks)), [b.document for b in blanks]
                best = nearest(queries, job.vectors, job.owners, own, 100)
                hits = [[b.name in job.pool[i].shown for i in row] for b, row in zip(blanks, best, strict=True)]
                found.setdefault(group, {})[name] = [row.index(True) if any(row) else 100 for row in hits]
    print("| blanks | retriever | first | among 5 | among 20 | first, against ict | 95 % | p |\n" + "|---" * 8 + "|")
    for group, arms in found.items():
        for name, places in arms.items():
            shares = [f"{100 * np.mean([at < depth for at in places]):.1f}" for depth in (1, 5, 20)]
            first, start = ([float(at < 1) for at in some] for some in (places, arms["ict"]))
            print(f"| {group}, {len(places)} | {name} | {' | '.join(shares)} | {difference(first, start, 100)} |")


def report(options: argparse.Namespace) -> None:
    """The tables of all arms that are there."""
    every = (*BESIDE, *ARMS)
    there = {name: json.loads(path.read_text()) for name in every
             if (path := options.output / f"{name.replace(' ', '-')}.json").exists()}  # fmt: skip
    some = next(iter(there.values()))
    print(f"{len(some['name'])} dev blanks, {NQ_ASKED} questions\n")
    print("| retriever | name@5 | 95 % | NQ R@5 | 95 % |\n" + "|---" * 5 + "|")
    for name, one in there.items():
        if name != "lesson":
            cells = [shown(one[key], 100) if key in one else " | " for key in ("name", "nq")]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("\n| arm | log p of names, null | retrieved | stated | utility of names | 95 % | of common words | 95 % | "
          "p(null), names | words | pull, names | 95 % |\n" + "|---" * 12 + "|")  # fmt: skip
    for name, one in there.items():
        if "salient" in one:
            means = [np.mean([row[at] for row in one["salient"]]) for at in (1, 0)] + [np.mean(one["stated"])]
            utility = {kind: [total - alone for total, alone, _ in one[kind]] for kind in ("salient", "filler")}
            cells = [f"{mean:.2f}" for mean in means]
            cells += [shown(utility["salient"], 1), shown(utility["filler"], 1)]
            cells += [f"{np.mean([row[2] for row in one[kind]]):.2f}" for kind in ("salient", "filler")]
            print(f"| {name} | {' | '.join(cells)} | {shown(one['salient pull'], 1)} |", flush=True)
    print("\n| compared | name@5 | 95 % | p | NQ R@5 | 95 % | p | log p of names | 95 % | p |\n" + "|---" * 10 + "|")
    pairs = (
        ("ict", "chance"),
        ("joint", "frozen"),
        ("joint", "ict"),
        ("joint", "words"),
        ("joint", "more-ict"),
        ("joint", "no refresh"),
        ("joint", "no null"),
    )
    for first, second in pairs:
        if first in there and second in there:
            cells = [difference(there[first][key], there[second][key], 100) if key in there[second] else " | | "
                     for key in ("name", "nq")]  # fmt: skip
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
    parser.add_argument("what", choices=("train", "report", "seen"))
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=list(ARMS))
    parser.add_argument(
        "--beside", nargs="+", choices=BESIDE, default=list(BESIDE), help="what is measured beside them"
    )
    parser.add_argument("--retriever", default="", help="an encoder to begin with in place of chance weights")
    parser.add_argument("--layers", type=int, default=2, help="of that encoder, from the lowest on")
    parser.add_argument("--articles", type=int, default=300, help="articles whose names are learned from")
    parser.add_argument("--dev", type=int, default=100, help="articles whose names judge")
    parser.add_argument("--ict", type=int, default=300, help="steps of 64 sentences")
    parser.add_argument("--lesson", type=int, default=150, help="steps of the reader alone")
    parser.add_argument("--steps", type=int, default=200, help="steps of the arms")
    parser.add_argument("--batch", type=int, default=8, help="blanks a step")
    parser.add_argument("--k", type=int, default=5, help="blocks that a blank is filled from, with the null document")
    parser.add_argument("--refresh", type=int, default=25, help="steps after which blocks are embedded anew")
    parser.add_argument("--blanks", type=int, default=600, help="dev blanks that are asked")
    parser.add_argument("--filled", type=int, default=200, help="dev blanks that are filled in")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="folder for what is trained")
    options = parser.parse_args()
    {"train": train, "report": report, "seen": seen}[options.what](options)


if __name__ == "__main__":
    main()

"""A plain tagger to compare with factpin: the same encoder, data, learning rates and steps, and nothing else.

    python benchmarks/baseline.py --train train.json --dev dev.json --encoder ltp-zh
    python benchmarks/baseline.py --train train.json --dev dev.json --test test.json --encoder ltp-zh \
        --against predicted.jsonl --json baseline.json

One linear layer gives every piece a tag of the BIO scheme and is trained with cross-entropy. Of nested mentions it
learns only the outermost; the others are counted. As in `factpin train`, the weights that are best on dev are kept.
Without --test the tagger is evaluated on dev. --against takes the output of `factpin predict` for the same documents
and compares the two with a paired bootstrap.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from factpin import formats
from factpin.documents import Document
from factpin.encoders import Encoder
from factpin.scoring import align, interval, paired_bootstrap, spans
from factpin.scoring.counts import Rows, total
from factpin.tasks.spans import Scale, Spans, decode, flat, targets
from factpin.tokens import Tokenizer
from factpin.tokens.reading import Batch, WindowedDocument, WindowReader, batched, collate
from factpin.training.config import TrainConfig
from factpin.training.defaults import settle

OVERLAP = 64  # pieces that neighbouring windows of one sentence share
IGNORE = -100  # padding and special tokens have no tag


# ---- the tagger


class Tagger(nn.Module):
    def __init__(self, source: str, labels: Sequence[str], dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = Encoder.load(source)
        self.labels = tuple(labels)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(self.encoder.width, 1 + 2 * len(labels))  # O, then B and I of every label

    def forward(self, batch: Batch) -> Tensor:
        """(B, N, tags)."""
        scores: Tensor = self.out(
            self.dropout(self.encoder(torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)).hidden)
        )
        return scores

    @property
    def tokenizer(self) -> Tokenizer:
        return self.encoder._tokens()

    @property
    def reader(self) -> WindowReader:
        """As `factpin train` reads: sentence by sentence, those that do not fit in overlapping windows."""
        return WindowReader(
            self.tokenizer, min(self.encoder.max_length or 512, 512) - self.tokenizer.frame_size, OVERLAP
        )


@dataclass(frozen=True)
class Example:
    """One window."""

    ids: Any  # (n,)
    tags: list[int]  # (n,)


def examples(tagger: Tagger, documents: Sequence[Document]) -> tuple[list[Example], int]:
    """The windows of a corpus, and how many mentions their tags cannot say."""
    found: list[Example] = []
    mentions = taught = 0
    for doc in documents:
        read = tagger.reader.read(doc)
        cells = flat(targets(doc, read.pieces, tagger.labels))
        mentions, taught = mentions + len(doc.mentions), taught + len(cells.label)
        tags = np.zeros(len(read.pieces), np.int64)
        for label, first, last in zip(cells.label, cells.first, cells.last, strict=True):
            tags[first] = 1 + 2 * label
            tags[first + 1 : last + 1] = 2 + 2 * label
        found += [Example(ids, tags[w.first : w.last].tolist()) for ids, w in zip(read.ids, read.windows, strict=True)]
    return found, mentions - taught


def loss_of(tagger: Tagger, chosen: Sequence[Example]) -> Tensor:
    batch = collate([example.ids for example in chosen], tagger.tokenizer)
    gold = torch.full(batch.ids.shape, IGNORE)
    gold[torch.from_numpy(batch.real)] = torch.tensor([tag for example in chosen for tag in example.tags])
    return nn.functional.cross_entropy(tagger(batch).flatten(0, 1), gold.flatten(), ignore_index=IGNORE)


def fit(tagger: Tagger, learned: Sequence[Example], dev: Sequence[Document], how: TrainConfig, steps: int) -> None:
    """AdamW with linear decay after a warm-up; the weights that are best on dev stay."""
    groups = [
        {"params": list(tagger.encoder.parameters()), "lr": how.learning_rate},
        {"params": list(tagger.out.parameters()), "lr": how.head_learning_rate},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=how.weight_decay, fused=True)
    warmup = max(1, round(how.warmup * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warmup, (steps - step) / max(1, steps - warmup))
    )
    best, kept = -1.0, tagger.state_dict()
    often = how.evaluate_every or per_epoch(len(learned), how)
    for step, chosen in enumerate(islice(shuffled(len(learned), how), steps)):
        tagger.train()
        loss = loss_of(tagger, [learned[i] for i in chosen])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(tagger.parameters(), how.clip or float("inf"))
        optimiser.step()
        schedule.step()
        if dev and (step + 1 == steps or (step + 1) % often == 0):
            f1 = total(rows_of(predict(tagger, dev), dev)).f1
            if f1 > best:
                best, kept = f1, {name: value.clone() for name, value in tagger.state_dict().items()}
    tagger.load_state_dict(kept)


def per_epoch(count: int, how: TrainConfig) -> int:
    return -(-count // how.texts)


def shuffled(count: int, how: TrainConfig) -> Iterator[list[int]]:
    """Batches without end, every example once in an epoch."""
    chance = np.random.default_rng(how.seed)
    while True:
        order = chance.permutation(count).tolist()
        yield from (order[i : i + how.texts] for i in range(0, count, how.texts))


@torch.no_grad()
def predict(tagger: Tagger, documents: Sequence[Document]) -> list[Document]:
    """The documents with the mentions that the tags mark."""
    tagger.eval()
    reads = [tagger.reader.read(doc) for doc in documents]
    tags = [np.zeros(len(read.pieces), np.int64) for read in reads]
    for places, batch in batched([read.ids for read in reads], tagger.tokenizer):
        best = tagger(batch).argmax(dim=2)
        for (d, w), row, real in zip(places, best, batch.real, strict=True):
            window = reads[d].windows[w]  # where windows overlap, each answers for its own part
            own = row[real].numpy()[window.keep_first - window.first : window.keep_last - window.first]
            tags[d][window.keep_first : window.keep_last] = own
    return [annotated(read, mine, tagger.labels) for read, mine in zip(reads, tags, strict=True)]


def annotated(read: WindowedDocument, tags: Any, labels: Sequence[str]) -> Document:
    cells = [cell for window in read.windows for cell in spelled(tags, window.keep_first, window.keep_last)]
    label, first, last = np.array(cells, np.int64).reshape(-1, 3).T
    found = Spans(label, first, last, np.zeros(len(cells)))
    return replace(read.doc, mentions=tuple(decode(found, read.doc.text, read.pieces, labels, Scale())))


def spelled(tags: Sequence[int], first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """(label, first, last) of the tags first:last. A mention begins with B and goes on with I of its label.

    An I that follows nothing is dropped: reading it as a beginning costs this tagger about eight points on CLUENER.
    """
    for start in range(first, last):
        label, inside = divmod(int(tags[start]) - 1, 2)
        if label < 0 or inside:
            continue
        end = start
        while end + 1 < last and int(tags[end + 1]) == 2 + 2 * label:
            end += 1
        yield label, start, end


# ---- judging


@dataclass(frozen=True)
class Result:
    """Strict figures in percent."""

    f1: float
    low: float  # of the 95 % interval
    high: float
    precision: float
    recall: float
    steps: int
    minutes: float  # of the processor
    not_taught: int  # mentions of the training part: nested, overlapping, or not at borders of pieces
    learning_rate: float | None


def rows_of(predicted: Sequence[Document], gold: Sequence[Document]) -> Rows:
    return spans.score(align(predicted, gold).pairs).rows["strict"]


def train_baseline(
    training: Sequence[Document],
    dev: Sequence[Document],
    test: Sequence[Document],
    encoder: str,
    how: TrainConfig,
) -> tuple[list[Document], Result]:
    """What the tagger finds in test, and how good that is."""
    began = time.process_time()
    torch.manual_seed(how.seed)
    tagger = Tagger(encoder, sorted({m.type for doc in training for m in doc.mentions}))
    learned, lost = examples(tagger, training)
    tokens = sum(len(example.tags) for example in learned) / max(1, len(learned))
    how = settle(how, tagger.encoder.width, len(learned), tokens=tokens)
    steps = how.max_steps or (how.epochs or 1) * per_epoch(len(learned), how)
    fit(tagger, learned, dev, how, steps)
    minutes = round((time.process_time() - began) / 60, 2)
    predicted = predict(tagger, test)
    rows = rows_of(predicted, test)
    counts, (low, high) = total(rows), interval(rows)
    f1, low, high, precision, recall = (
        round(100 * x, 2) for x in (counts.f1, low, high, counts.precision, counts.recall)
    )
    return predicted, Result(f1, low, high, precision, recall, steps, minutes, lost, how.learning_rate)


# ---- the program


def read(path: Path, options: argparse.Namespace, count: int | None = None) -> list[Document]:
    return list(islice(formats.read(path, format=options.source_format), count))


def settings(options: argparse.Namespace) -> TrainConfig:
    """Those of `factpin train`, with what was given."""
    given = {name: getattr(options, name) for name in ("epochs", "max_steps", "batch_size", "learning_rate",
             "head_learning_rate", "warmup", "evaluate_every", "seed")}  # fmt: skip
    return replace(TrainConfig(), **{name: value for name, value in given.items() if value is not None})


def show(result: Result, where: Path) -> None:
    print(f"{where}: strict F1 {result.f1:.2f} ({result.low:.2f} to {result.high:.2f}), precision "
          f"{result.precision:.2f}, recall {result.recall:.2f}; {result.steps} steps, {result.minutes} minutes; "
          f"{result.not_taught} mentions could not be taught")  # fmt: skip


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, help="chooses the epoch")
    parser.add_argument("--test", type=Path, help="judges; without it dev does")
    parser.add_argument("--from", dest="source_format", help="format of the corpora; guessed where it can be")
    parser.add_argument("--limit", type=int, help="first N training documents")
    parser.add_argument("--encoder", required=True)
    for name in ("epochs", "max-steps", "batch-size", "evaluate-every", "seed"):
        parser.add_argument(f"--{name}", type=int, help="default: as `factpin train`")
    for name in ("learning-rate", "head-learning-rate", "warmup"):
        parser.add_argument(f"--{name}", type=float, help="default: as `factpin train`")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--predictions", type=Path, help="write what it finds here")
    parser.add_argument("--against", type=Path, help="predictions for the same documents to compare with")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    if not (options.dev or options.test):
        parser.error("nothing to judge on: give --dev or --test")
    return options


def main() -> None:
    options = arguments()
    torch.set_num_threads(options.threads)
    training = read(options.train, options, options.limit)
    dev = read(options.dev, options) if options.dev else []
    test = read(options.test, options) if options.test else dev
    how = settings(options)
    predicted, result = train_baseline(training, dev, test, options.encoder, how)
    show(result, options.test or options.dev)
    record: dict[str, Any] = asdict(result)
    if options.predictions:
        formats.write(predicted, options.predictions, format="jsonl")
    if options.against:
        other = rows_of(list(formats.read(options.against, format="jsonl")), test)
        test_of = paired_bootstrap(other, rows_of(predicted, test))
        low, high = (100 * x for x in test_of.interval)
        record["against"] = {"difference": 100 * test_of.difference, "low": low, "high": high, "p": test_of.p_value}
        print(f"{options.against} is {100 * test_of.difference:+.2f} ({low:+.2f} to {high:+.2f}, p = "
              f"{test_of.p_value:.3f}) against the tagger")  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

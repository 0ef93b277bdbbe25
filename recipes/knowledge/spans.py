"""Named entities with and without knowledge: WikiGold, with a store of documents and facts of Re-DocRED.

    python recipes/knowledge/spans.py ../shared/data --seeds 1 2 3 --output runs/know-spans

none       factpin train spans --encoder minilm-en
kar        the same with a KAR over the store, --knowledge kar
entities   the same with an entity memory, --knowledge entities

Of 150 documents, 60 (about 600 sentences) are learned from, 20 are dev, and 70 are the test. A layer is built and its
linker trained once, as `train --knowledge` does it, and saved with its encoder; every seed starts from there.
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np
import torch

from factpin import formats
from factpin.documents import Document
from factpin.encoders import Encoder, resolve
from factpin.knowledge.layer_folder import save_layer
from factpin.memory import Source, open_store
from factpin.models.extractor import Extractor
from factpin.scoring import align
from factpin.scoring.counts import Rows, f1_of
from factpin.scoring.intervals import interval, paired_bootstrap
from factpin.scoring.spans import score
from factpin.tasks import TASKS
from factpin.tasks.spans.task import SpanOptions
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.knowledge_layer import layer_over, train_linker
from factpin.training.run import run_training

ARMS = ("none", "kar", "entities")


def with_layer(kind: str, data: Path, documents: int, folder: Path) -> None:
    """Save an encoder with a layer over a store."""
    if (folder / "knowledge.json").exists():
        return
    torch.manual_seed(0)
    source = resolve("minilm-en")
    encoder, tokenizer = Encoder.load(source), Tokenizer.load(source)
    with open_store("memory:", create=True) as store:
        with store.together():
            for number, doc in enumerate(formats.read(data / "redocred/dev_revised.json.xz", format="docred")):
                if number < documents:
                    store.put(doc, Source(f"redocred/{number}"))
        layer, reading = layer_over(store, kind, encoder, tokenizer)
    loss = train_linker(layer, reading.texts).loss
    print(f"{kind}: {layer.config.rows} rows, {len(layer.names.starts) - 1} names, {len(reading.texts)} texts, "
          f"last loss of linking {loss:.3f}", flush=True)  # fmt: skip
    encoder.save(folder)
    save_layer(folder, layer)


def rows_of(folder: Path, test: list[Document]) -> Rows:
    """Counts of right mentions for each sentence."""
    found = Extractor.load(folder).annotate([Document(doc.id, doc.text) for doc in test])
    return score(align(found, test).pairs).rows["strict"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=ARMS)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--documents", type=int, default=150, help="of Re-DocRED in the store")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    docs = list(formats.read(args.data / "wikigold/wikigold.conll.txt.xz"))
    random.Random(0).shuffle(docs)
    training, dev, test = docs[:60], docs[60:80], docs[80:]
    kept = args.output / "rows.json"
    found: dict[str, dict[str, list[list[float]]]] = json.loads(kept.read_text()) if kept.exists() else {}
    for arm in args.arms:
        encoder = args.output / arm
        if arm != "none":
            with_layer(arm, args.data, args.documents, encoder)
        for seed in args.seeds:
            if str(seed) in found.setdefault(arm, {}):
                continue
            options = SpanOptions(encoder="minilm-en" if arm == "none" else str(encoder))
            how = TrainConfig(max_steps=args.steps, epochs=100, batch_size=16, seed=seed, bf16=True,
                              evaluate_every=args.steps)  # fmt: skip
            folder = args.output / f"{arm}-{seed}"
            run_training(TASKS["spans"], training, dev, options, how, folder, quiet=True)
            rows = rows_of(folder, test)
            found[arm][str(seed)] = rows.tolist()
            kept.write_text(json.dumps(found))
            print(f"{arm}, seed {seed}: F1 {100 * float(f1_of(rows.sum(0)[None])[0]):.1f}", flush=True)
    show({arm: [np.array(rows) for _, rows in sorted(by.items())] for arm, by in found.items() if by})


def show(found: dict[str, list[Rows]]) -> None:
    """F1 of every seed, and differences over all of them."""
    whole: dict[str, Rows] = {arm: sum(rows[1:], rows[0]) for arm, rows in found.items()}
    print("\n| | F1 of each seed | mean | 95 % |\n|---|---|---|---|")
    for arm, seeds in found.items():
        each = [100 * float(f1_of(rows.sum(0)[None])[0]) for rows in seeds]
        low, high = interval(whole[arm])
        print(f"| {arm} | {', '.join(f'{one:.1f}' for one in each)} | {np.mean(each):.1f} | "
              f"{100 * low:.1f} to {100 * high:.1f} |")  # fmt: skip
    for arm in set(found) - {"none"}:
        if "none" in found and len(found[arm]) == len(found["none"]):
            d = paired_bootstrap(whole[arm], whole["none"])
            print(f"\n{arm} − none: {100 * d.difference:+.1f} ({100 * d.interval[0]:+.1f} to "
                  f"{100 * d.interval[1]:+.1f}), p {d.p_value:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()

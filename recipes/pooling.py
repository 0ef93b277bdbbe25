"""How much of the pooled vectors of entities is the number of their mentions, before a model of relations has learned.

    python recipes/pooling.py
    python recipes/pooling.py --encoder mpnet-en

ATLOP pools the markers of an entity's mentions by log-sum-exp, which is log n more than the vector of each of n equal
mentions. For 40 documents of Re-DocRED dev, on an encoder that has learned nothing of relations yet: how much of the
variance of the pooled vectors log n explains alone (a least-squares line for each dimension), and the same for their
mean over mentions, where n should explain next to nothing.
"""

import argparse
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from factpin import formats
from factpin.heads import atlop
from factpin.layers.entity_pooling import log_sum_exp
from factpin.tasks import TASKS
from factpin.training.run import start


def explained(vectors: np.ndarray, counts: np.ndarray) -> float:
    """The share of the variance of vectors (E, D) that a line in log n explains."""
    x, y = np.log(counts) - np.log(counts).mean(), vectors - vectors.mean(axis=0)
    return float(((x @ y) ** 2).sum() / (x @ x) / (y**2).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    docs = list(islice(formats.read(options.data / "redocred/dev_revised.json.xz"), options.documents))
    task: Any = TASKS["document_relations"]
    extractor = start(task, task.options(encoder=options.encoder), docs, 1)
    pooled, means, counts = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()

    def record(x: Tensor, entity: Tensor, entities: int) -> Tensor:
        e, n = log_sum_exp(x, entity, entities), torch.bincount(entity, minlength=entities)
        mean = torch.zeros_like(e).index_add(0, entity, x) / n.clamp_min(1)[:, None]
        for found, rows in ((pooled, e), (means, mean), (counts, n)):
            found.append(rows[n > 0].float().numpy())
        return e

    atlop.log_sum_exp = record
    finder: Any = extractor.finder
    with torch.no_grad():
        for _ in finder.score((extractor.read(doc) for doc in docs), extractor.predict):
            pass
    n = np.concatenate(counts)
    print(f"{len(n)} entities of {len(docs)} documents, named {n.mean():.2f} times on average, {n.max():.0f} at most")
    for name, vectors in (("log-sum-exp", pooled), ("mean", means)):
        print(f"{name}: log n explains {100 * explained(np.concatenate(vectors), n):.1f} % of the variance")


if __name__ == "__main__":
    main()

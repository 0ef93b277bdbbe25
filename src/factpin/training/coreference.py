"""Training a scorer of coreference: documents with mentions and entities in, a model folder out.

    temperature   least negative log-likelihood of the gold antecedents on dev
    add, keep     highest mean F1 of MUC, B-cubed and CEAF-e on dev, one after the other (coreference.PairScores);
                  the scorer is silent where the rules alone reach as much
    rules_f1      what the rules alone reach on dev, beside every figure of the scorer

Mentions that a corpus puts into no entity are learned and scored as entities of one mention.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from factpin.corpora.evaluate import coreference_score
from factpin.documents import Document
from factpin.errors import BadInput, pick
from factpin.heads.mention_pair import gold_of
from factpin.language.coreference import ordered, resolve, with_singletons
from factpin.models.extractor import Extractor
from factpin.models.find_coreference import Paired, annotated, paired
from factpin.scoring import Pair, Scores, align, coreference
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.options import CoreferenceOptions as CoreferenceConfig
from factpin.training.parallel import World
from factpin.training.run import Task, digest, on_encoder, run_training

METRICS = ("f1", *coreference.METRICS)
LABEL = "same entity"  # the one thing that is said of two mentions
TEMPERATURES = (1.0, 0.5, 0.6, 0.75, 1.25, 1.5, 2.0, 3.0)
ADDS = (0.5, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 2.0)  # the usual first: of equals it stays. 2: nothing is added
KEEPS = (0.1, 0.0, 0.01, 0.03, 0.2, 0.4, 0.8)  # 0: no rule is refused
SILENT = (2.0, 0.0)  # add, keep: the rules alone
RULES = "rules_"  # before the name of a metric: what the rules alone reach


class CoreferenceJob:
    """The training documents of a corpus, and its dev set."""

    def __init__(
        self, extractor: Extractor, training: Sequence[Document], dev: Sequence[Document], config: CoreferenceConfig
    ) -> None:
        self.extractor = extractor
        self.model = extractor.model
        self.dev = dev
        self.documents: list[Paired] = []
        self.noted: Counter[str] = Counter()
        for doc in training:
            self._add(doc, config.antecedents)
        self.lengths = [len(document) for document in self.documents]
        self.terms = [len(document.gold) for document in self.documents]  # mentions

    def _add(self, doc: Document, most: int) -> None:
        document = paired(self.extractor.reader.read(doc), most, self.extractor.tokenizer)
        self.noted["mentions"] += len(doc.mentions)
        self.noted["unread_mentions"] += len(document.unread)
        self.noted["beyond_candidates"] += _beyond(doc, document)
        if (document.candidates.antecedent >= 0).any():
            self.documents.append(document)
        else:
            self.noted["documents_without_pairs"] += 1

    def fingerprint(self, config: CoreferenceConfig, how: TrainConfig) -> str:
        """What makes this run this run: its settings and every document that it learns from."""
        return digest((config, how, self.extractor.settings), chain.from_iterable(map(_columns, self.documents)))

    def batch(self, examples: Sequence[int]) -> tuple[list[Paired], Tokenizer]:
        """Documents."""
        return [self.documents[i] for i in examples], self.extractor.tokenizer

    def evaluate(self) -> dict[str, float]:
        """Figures on dev with gold mentions, by the very path that predicts."""
        if not self.dev:
            return {}
        return figures(score(align(self.extractor.annotate(self.dev), self.dev).pairs))


def _columns(document: Paired) -> tuple[NDArray[Any], ...]:
    """All that is learned from a document."""
    asked = document.candidates
    return *document.windows, document.tokens, asked.antecedent, asked.distance, asked.features, document.gold


def _beyond(doc: Document, document: Paired) -> int:
    """Mentions with an earlier one of their entity, but none among their candidates."""
    owners: dict[str, set[str]] = {mention.id: set() for mention in doc.mentions}
    for entity in doc.entities:
        for id in entity.mentions:
            owners[id].add(entity.id)
    seen, count = set[str](), 0
    for mention, gold in zip(ordered(doc), document.gold, strict=True):
        count += not seen.isdisjoint(owners[mention.id]) and not gold.any()
        seen |= owners[mention.id]
    return count


def score(pairs: Sequence[Pair]) -> Scores:
    """As `factpin evaluate` counts, with rows for the rules alone on the same mentions."""
    found = coreference_score(pairs)
    rules = coreference.score([Pair(with_singletons(pair.gold), resolve(pair.gold)) for pair in pairs])
    return replace(found, rows={**found.rows, **{RULES + name: rows for name, rows in rules.items()}})


def figures(found: Scores) -> dict[str, float]:
    """F1 of each metric, and first their mean, as `factpin evaluate` counts them; last the mean of the rules alone."""
    return {**_figures(found, ""), RULES + "f1": _figures(found, RULES)["f1"]}


def _figures(found: Scores, whose: str) -> dict[str, float]:
    f1 = {name: float(coreference.figures(found.rows[whose + name].sum(axis=0))[2]) for name in coreference.METRICS}
    return {"f1": sum(f1.values()) / len(f1), **f1}


def start(config: CoreferenceConfig, training: Sequence[Document], seed: int) -> Extractor:
    """An extractor with a fresh head."""
    torch.manual_seed(seed)
    pick({"mention_pair": None}, config.head, kind="head for coreference")
    if not any(len(entity.mentions) > 1 for doc in training for entity in doc.entities):
        raise BadInput("No entity of the training documents has two mentions, so there is nothing to gather. Check "
                       "them with doctor.")  # fmt: skip
    head_config = {"size": config.size, "antecedents": config.antecedents, "dropout": config.dropout}
    return on_encoder("coreference", config, "mention_pair", head_config, (LABEL,))


def tune(extractor: Extractor, dev: Sequence[Document], config: CoreferenceConfig) -> None:
    """Fit temperature, add and keep on dev. The scores are made once."""
    reads = [extractor.reader.read(doc) for doc in dev]
    found = extractor.find(reads)
    loss = extractor.model.head.loss

    def surprise(temperature: float) -> float:
        return sum(float(loss(one.scores / temperature, gold_of([one.paired.gold]))) * len(one.scores) for one in found)

    extractor.settings = replace(extractor.settings, temperature=min(TEMPERATURES, key=surprise))

    def mean_f1(add: float, keep: float) -> float:
        settings = replace(extractor.settings, task_config={"keep": keep})
        told = (annotated(read, replace(one, add=add), settings) for read, one in zip(reads, found, strict=True))
        return _figures(coreference_score(align(told, dev).pairs), "")["f1"]

    add = max(ADDS, key=lambda add: mean_f1(add, KEEPS[0]))
    keep = max(KEEPS, key=lambda keep: mean_f1(add, keep))
    if mean_f1(*SILENT) >= mean_f1(add, keep):
        add, keep = SILENT
    extractor.settings = replace(extractor.settings, thresholds={LABEL: add}, task_config={"keep": keep})


COREFERENCE: Task[CoreferenceConfig] = Task(
    "coreference", CoreferenceConfig, METRICS, start, CoreferenceJob, tune, score, figures
)


def train_coreference(
    training: Sequence[Document],
    dev: Sequence[Document],
    config: CoreferenceConfig,
    how: TrainConfig,
    folder: Path,
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train, tune on dev, and write the model folder; gives what was measured."""
    return run_training(COREFERENCE, training, dev, config, how, folder, data=data, resume=resume, quiet=quiet,
                        world=world)  # fmt: skip

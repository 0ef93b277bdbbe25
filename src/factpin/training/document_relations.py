"""Training a model that finds relations of whole documents: documents with facts in, a model folder out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from factpin.documents import Document, learn_schema, read_schema
from factpin.documents.schema import record_of
from factpin.errors import BadInput, pick
from factpin.pipelines.document_model import Marked, marked
from factpin.pipelines.extractor import Extractor
from factpin.pipelines.find_relations import RelationSettings, prepared
from factpin.pipelines.tune import best_cut, fit_scale, fit_thresholds, relation_candidates
from factpin.scoring import Scores, align, document_relations, macro
from factpin.scoring.counts import total
from factpin.tasks.document_relations import Targets
from factpin.tasks.markers import marker_id
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.parallel import World
from factpin.training.run import Task, digest, on_encoder, run_training

METRICS = ("f1", "precision", "recall", "macro_f1", "intra_f1", "inter_f1", "evidence_f1")


@dataclass(frozen=True)
class DocumentRelationsConfig:
    """What is trained. How it is trained stands in TrainConfig."""

    encoder: str  # a name of the catalogue, a folder, or a hub id
    head: str = "atlop"
    size: int = 768  # width of a pair's two views
    group: int = 64  # width of a group of the bilinear form; divides size
    localized: bool = True  # False: the ablation without localized context
    threshold: Literal["adaptive", "global"] = "adaptive"  # global: the ablation, one threshold fitted on dev
    top_k: int = 4  # relations of one pair
    evidence: float = 0.0  # weight of the evidence loss; needs annotated evidence
    negatives: float = 1.0  # share of the pairs without a relation that each step learns from
    schema: str = ""  # a TOML file; empty: learned from the training corpus
    types: bool = True  # pairs whose types no relation allows are not asked
    functional: bool = False
    complete: bool = False
    max_length: int | None = 512  # tokens of a window
    overlap: int = 128
    context: Literal["window"] = "window"  # documents are read whole
    dropout: float = 0.1
    tune_thresholds: bool = False
    language: str = ""
    name: str = ""
    finds: str = ""


class DocumentJob:
    """The training documents of a corpus, and its dev set."""

    def __init__(
        self, extractor: Extractor, training: Sequence[Document], dev: Sequence[Document],
        config: DocumentRelationsConfig,
    ) -> None:  # fmt: skip
        self.extractor = extractor
        self.model = extractor.model
        self.dev = dev
        self.config = config
        self.documents: list[tuple[Targets, Marked]] = []
        self.noted: Counter[str] = Counter()
        self.marker = marker_id(extractor.tokenizer)
        for doc in training:
            self._add(doc)
        self.lengths = [len(document) for _, document in self.documents]

    def _add(self, doc: Document) -> None:
        read = self.extractor.reader.read(doc)
        y, document = prepared(read, self.extractor.settings, self.extractor.tokenizer, self.marker)
        self.noted["facts"] += len(doc.facts)
        self.noted["unread_mentions"] += len(y.unread)
        self.noted["lost_entities"] += len(y.lost)
        self.noted["unknown"] += len(y.unknown)
        self.noted["not_asked"] += len(y.unasked)
        self.noted["qualifiers_left_out"] += y.qualifiers
        if document is None:
            self.noted["documents_without_pairs"] += 1
        else:
            self.documents.append((y, document))

    def fingerprint(self, config: DocumentRelationsConfig, how: TrainConfig) -> str:
        """What makes this run this run: its settings and every document that it learns from."""
        columns = (
            column for y, _ in self.documents
            for column in (y.pieces.ids, y.place, y.entity, y.head, y.tail, y.pair, y.relation, y.proof_pair, y.proof)
        )  # fmt: skip
        return digest((config, how, self.extractor.settings), columns)

    def batch(self, examples: Sequence[int]) -> tuple[list[Marked], Tokenizer]:
        """Documents; of pairs without a relation a share that the step's own chance picks."""
        tokenizer = self.extractor.tokenizer
        chosen = [self.documents[i] for i in examples]
        if self.config.negatives >= 1:
            return [document for _, document in chosen], tokenizer
        chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
        picked = [(y.sampled(self.config.negatives, chance), document) for y, document in chosen]
        return [marked(y, document.layout.windows, tokenizer) for y, document in picked if len(y.head)], tokenizer

    def evaluate(self) -> dict[str, float]:
        """Figures on dev with gold entities, by the very path that predicts."""
        if not self.dev:
            return {}
        if self.config.threshold == "global":
            fit_global(self.extractor, self.dev)
        return figures(document_relations.score(align(self.extractor.annotate(self.dev), self.dev).pairs))


def figures(found: Scores) -> dict[str, float]:
    """Facts between gold entities, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    others = {f"{name}_f1": total(found.rows[name]).f1 for name in ("intra", "inter", "evidence")}
    return {"f1": strict.f1, "precision": strict.precision, "recall": strict.recall,
            "macro_f1": macro(found.labels.values())["f1"], **others}  # fmt: skip


def fit_global(extractor: Extractor, dev: Sequence[Document]) -> None:
    """The one threshold for all relations with the best F1 on dev."""
    cut = best_cut(relation_candidates(extractor, dev))
    thresholds = dict.fromkeys(extractor.settings.labels, cut)
    extractor.settings = replace(extractor.settings, thresholds=thresholds)


def start(config: DocumentRelationsConfig, training: Sequence[Document], seed: int) -> Extractor:
    """An extractor for the relations of these documents, with a fresh head."""
    torch.manual_seed(seed)
    pick({"atlop": None}, config.head, kind="head for document_relations")
    relations = tuple(sorted({fact.relation for doc in training for fact in doc.facts}))
    if not relations:
        raise BadInput("The training documents have no fact, so there is no relation to learn. Check them with doctor.")
    schema = read_schema(Path(config.schema)) if config.schema else learn_schema(training)
    own = RelationSettings(record_of(schema), config.types, config.functional, config.complete)
    head_config = {"relations": relations, "size": config.size, "group": config.group, "context": config.localized,
                   "threshold": config.threshold, "top_k": config.top_k, "evidence": config.evidence}  # fmt: skip
    return on_encoder("document_relations", config, "atlop", head_config, relations, asdict(own))


def tune(extractor: Extractor, dev: Sequence[Document], config: DocumentRelationsConfig) -> None:
    """Fit the scale of the scores on dev, and thresholds: one for all where they are global, or one each by choice."""
    found = relation_candidates(extractor, dev)
    if config.threshold == "global":
        fit_global(extractor, dev)
    elif config.tune_thresholds:
        thresholds = fit_thresholds(found, extractor.settings.labels, 0.0)
        extractor.settings = replace(extractor.settings, thresholds=thresholds)
    cut = torch.as_tensor(extractor.threshold()).expand(len(extractor.settings.labels)).double().numpy()
    scale = fit_scale(found, cut)
    extractor.settings = replace(extractor.settings, temperature=scale.temperature, shift=scale.shift)


DOCUMENT_RELATIONS: Task[DocumentRelationsConfig] = Task(
    "document_relations", DocumentRelationsConfig, METRICS, start, DocumentJob, tune, document_relations.score, figures
)


def train_document_relations(
    training: Sequence[Document],
    dev: Sequence[Document],
    config: DocumentRelationsConfig,
    how: TrainConfig,
    folder: Path,
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train, tune on dev, and write the model folder; gives what was measured."""
    return run_training(DOCUMENT_RELATIONS, training, dev, config, how, folder, data=data, resume=resume, quiet=quiet,
                        world=world)  # fmt: skip

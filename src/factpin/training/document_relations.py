"""Training a model that finds relations of whole documents: documents with facts in, a model folder out.

    teacher    a trained model whose soft labels join the loss, (1 - teacher_weight) * loss + teacher_weight * taught
    initial    a trained model whose weights are where this one starts

Documents without annotated facts, or with facts that are guessed from a knowledge base, are learned from in two runs:
a teacher's soft labels of them (teacher_weight = 1 where nothing is annotated), then the annotated documents, with
`initial` the first run. Relations and schema of a run with one of these are theirs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from factpin.corpora.tune import best_cut, fit_evidence_share, fit_scale, fit_thresholds, relation_candidates
from factpin.documents import Document, learn_schema, read_schema
from factpin.documents.schema import record_of
from factpin.errors import BadInput, pick
from factpin.models.document_model import Marked, marked
from factpin.models.extractor import Extractor
from factpin.models.find_relations import RelationSettings, prepared
from factpin.models.settings import Settings, read_settings
from factpin.models.shipped import find_model
from factpin.scoring import Scores, align, document_relations, macro
from factpin.scoring.counts import total
from factpin.tasks.document_relations import Targets
from factpin.tasks.markers import marker_id
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.options import RelationOptions as DocumentRelationsConfig
from factpin.training.parallel import World
from factpin.training.run import Task, digest, on_encoder, run_training
from factpin.training.soft_labels import SoftLabels, soft_labels, taught

METRICS = ("f1", "precision", "recall", "macro_f1", "filtered_f1", "intra_f1", "inter_f1", "evidence_f1")


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
        self.soft: list[SoftLabels] = []  # of the documents, or none
        self.noted: Counter[str] = Counter()
        self.marker = marker_id(extractor.tokenizer)
        kept = [doc for doc in training if self._add(doc)]
        if config.teacher:
            self.soft = list(soft_labels(Path(config.teacher), kept))
        self.lengths = [len(document) for _, document in self.documents]
        self.terms = [len(y.head) for y, _ in self.documents]  # pairs

    def _add(self, doc: Document) -> bool:
        """Whether there is something to learn from it."""
        read = self.extractor.reader.read(doc)
        out = {pair for pair in doc.notes.excluded_pairs if len(pair) == 2}
        y, document = prepared(read, self.extractor.settings, self.extractor.tokenizer, self.marker, out)
        self.noted["excluded_pairs"] += len(out)
        self.noted["facts"] += len(doc.facts)
        self.noted["unread_mentions"] += len(y.unread)
        self.noted["lost_entities"] += len(y.lost)
        self.noted["unknown"] += len(y.unknown)
        self.noted["not_asked"] += len(y.unasked)
        self.noted["qualifiers_left_out"] += y.qualifiers
        if document is None:
            self.noted["documents_without_pairs"] += 1
            return False
        self.documents.append((y, document))
        return True

    def fingerprint(self, config: DocumentRelationsConfig, how: TrainConfig) -> str:
        """What makes this run this run: its settings and every document that it learns from."""
        columns = (
            column for y, _ in self.documents
            for column in (y.pieces.ids, y.place, y.entity, y.head, y.tail, y.pair, y.relation, y.proof_pair, y.proof)
        )  # fmt: skip
        said = (labels.margins.numpy() for labels in self.soft)
        return digest((config, how, self.extractor.settings), chain(columns, said))

    def batch(self, examples: Sequence[int]) -> tuple[list[Marked], Tokenizer]:
        """Documents; of pairs without a relation a share that the step's own chance picks."""
        chosen = [self.documents[i][1] for i in examples]
        if self.config.negatives < 1:
            chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
            chosen = [self._sampled(i, chance) for i in examples]
        if self.soft:
            weight, temperature = self.config.teacher_weight, self.config.teacher_temperature
            chosen = [taught(document, self.soft[i], weight, temperature)
                      for i, document in zip(examples, chosen, strict=True)]  # fmt: skip
        return chosen, self.extractor.tokenizer

    def _sampled(self, example: int, chance: np.random.Generator) -> Marked:
        """A document with a share of its pairs without a relation; one that would be left without pairs keeps all."""
        y, document = self.documents[example]
        few = y.sampled(self.config.negatives, chance)
        return marked(few, document.layout.windows, self.extractor.tokenizer) if len(few.head) else document

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
    others = {f"{name}_f1": total(found.rows[name]).f1 for name in ("filtered", "intra", "inter", "evidence")}
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
    known = _known(config)
    found = sorted({fact.relation for doc in training for fact in doc.facts})
    relations = (*known.labels, *(name for name in found if name not in known.labels)) if known else tuple(found)
    if not relations:
        raise BadInput("The training documents have no fact, so there is no relation to learn. Check them with doctor.")
    own = RelationSettings(_schema(config, known, training), config.types, config.functional, config.complete)
    head_config = {"relations": relations, "size": config.size, "group": config.group, "context": config.localized,
                   "context_start": config.context_start, "threshold": config.threshold, "top_k": config.top_k,
                   "evidence": config.evidence}  # fmt: skip
    return on_encoder("document_relations", config, "atlop", head_config, relations, asdict(own))


def _known(config: DocumentRelationsConfig) -> Settings | None:
    """The settings of a model that this run learns from: its relations are those of the run."""
    models = {name: read_settings(find_model(name)) for name in (config.initial, config.teacher) if name}
    if config.teacher and models[config.teacher].task != "document_relations":
        raise BadInput(f"{config.teacher}: expected a model of document_relations as the teacher, this one is of "
                       f"{models[config.teacher].task}.")  # fmt: skip
    same = [settings for settings in models.values() if settings.task == "document_relations"]
    if len({settings.labels for settings in same}) > 1:
        raise BadInput(f"{config.initial} and {config.teacher} have different relations. Teach with a model that has "
                       f"the same.")  # fmt: skip
    return same[0] if same else None


def _schema(config: DocumentRelationsConfig, known: Settings | None, training: Sequence[Document]) -> dict[str, Any]:
    """A schema as in a TOML file: the one that is named, or that of a known model, or learned."""
    if config.schema:
        return record_of(read_schema(Path(config.schema)))
    return dict(known.task_config.get("schema", {})) if known else record_of(learn_schema(training))


def tune(extractor: Extractor, dev: Sequence[Document], config: DocumentRelationsConfig) -> None:
    """Fit on dev: the scale of the scores; thresholds, one for all where they are global, or one each by choice; and
    the share above which a sentence proves, where evidence is annotated."""
    found = relation_candidates(extractor, dev)
    if config.threshold == "global":
        fit_global(extractor, dev)
    elif config.tune_thresholds:
        thresholds = fit_thresholds(found, extractor.settings.labels, 0.0)
        extractor.settings = replace(extractor.settings, thresholds=thresholds)
    cut = torch.as_tensor(extractor.threshold()).expand(len(extractor.settings.labels)).double().numpy()
    scale = fit_scale(found, cut)
    extractor.settings = replace(extractor.settings, temperature=scale.temperature, shift=scale.shift)
    share = fit_evidence_share(extractor, dev)
    if share is not None:
        head = extractor.model.head
        head.config = replace(head.config, evidence_share=share)
        head_config = {**extractor.settings.head_config, "evidence_share": share}
        extractor.settings = replace(extractor.settings, head_config=head_config)


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

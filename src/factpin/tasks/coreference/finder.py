"""Coreference, made ready for one model: documents to examples, and a head's scores to entities.

    s       scores of each mention's candidates             (M, K)
    p       softmax([0; s] / temperature), without the 0    (M, K)
    entities = resolve(doc, p, keep, add)                             language/coreference

The document brings its mentions; entities that it brings are ignored. Documents are read whole, in overlapping windows.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from factpin.documents import Document
from factpin.language.coreference import KEEP, ordered
from factpin.tasks.coreference.decode import decode
from factpin.tasks.coreference.find import CandidateScores, find_links
from factpin.tasks.coreference.targets import Targets, targets
from factpin.tasks.examples import DocumentBatch, DocumentExample, Lesson
from factpin.tasks.settings import Settings
from factpin.tasks.task import Cut, Predict
from factpin.tokens import Tokenizer
from factpin.tokens.layout import WindowLayout
from factpin.tokens.reading import WindowedDocument


@dataclass(frozen=True)
class CoreferenceSettings:
    """How scores become entities: Settings.task_config of a model of coreference."""

    keep: float = KEEP  # a link of the rules with a lower probability is refused


@dataclass(frozen=True)
class DocumentScores:
    """The scores of the pairs of one document, before temperature and thresholds."""

    targets: Targets
    scores: CandidateScores  # (M, K)
    add: float  # the probability above which a link is added


@dataclass(frozen=True)
class CoreferenceFinder:
    """Coreference for one model."""

    tokenizer: Tokenizer
    antecedents: int  # candidates of one mention
    temperature: float
    keep: float

    @staticmethod
    def prepare(settings: Settings, tokenizer: Tokenizer) -> "CoreferenceFinder":
        """Coreference for the model of these settings."""
        own = CoreferenceSettings(**settings.task_config)
        return CoreferenceFinder(tokenizer, settings.head_config["antecedents"], settings.temperature, own.keep)

    def teach(self, document: WindowedDocument, options: Any = None) -> Lesson:
        """The document with the candidates of its mentions."""
        y, example = self.ask(document)
        notes = Counter(
            mentions=len(document.doc.mentions),
            unread_mentions=len(y.unread),
            beyond_candidates=_beyond(document.doc, y),
            documents_without_pairs=int(example is None),
        )
        return Lesson([] if example is None else [example], notes)

    def ask(self, document: WindowedDocument) -> tuple[Targets, DocumentExample | None]:
        """The pairs of a document, and its windows; None where there is no pair."""
        y = targets(document.doc, document.pieces, self.antecedents)
        if not (y.candidates.antecedent >= 0).any():
            return y, None
        prefix = len(self.tokenizer.prefix)
        layout = WindowLayout(document.windows, len(document.pieces), prefix, self.tokenizer.frame_size - prefix)
        return y, DocumentExample(document.ids, layout, y, terms=len(y.gold))

    def find(self, documents: Sequence[WindowedDocument], predict: Predict, cut: Cut) -> list[DocumentScores]:
        """The scores of every document, one document at a time."""
        add, found = float(np.asarray(cut).reshape(-1)[0]), []
        for document in documents:
            y, example = self.ask(document)
            scores = CandidateScores(np.full(y.candidates.antecedent.shape, -np.inf, np.float32))
            if example is not None:
                scores = predict(DocumentBatch((example,), self.tokenizer))
            found.append(DocumentScores(y, scores, add))
        return found

    def annotate(self, document: WindowedDocument, found: DocumentScores) -> Document:
        """The document with its mentions grouped into entities; facts follow their mentions."""
        asked = [found.targets.candidates]
        (links,) = find_links(found.scores, asked, temperature=self.temperature, keep=self.keep, add=found.add)
        return decode(document.doc, links, found.targets)


def _beyond(doc: Document, y: Targets) -> int:
    """Mentions with an earlier one of their entity, but none among their candidates."""
    owners: dict[str, set[str]] = {mention.id: set() for mention in doc.mentions}
    for entity in doc.entities:
        for id in entity.mentions:
            owners[id].add(entity.id)
    seen, count = set[str](), 0
    for mention, gold in zip(ordered(doc), y.gold, strict=True):
        count += not seen.isdisjoint(owners[mention.id]) and not gold.any()
        seen |= owners[mention.id]
    return count

"""Document relations: what ATLOP finds between the entities of read documents, and the documents with it as facts.

The document brings its mentions and entities: gold ones, or those of other models and of coreference. All of it is read
in overlapping windows, which are put together again before pairs are scored: the length of a document has no bound.
Two entities that no window shows together are not asked about; how many is in the notes of the coverage.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from factpin.documents import Coverage, Document, Relation, Schema, Span
from factpin.documents.schema import schema_of
from factpin.heads.atlop import AtlopScores
from factpin.language.assertion import with_assertions
from factpin.models.document_model import DocumentModel, Marked, marked
from factpin.models.reading import Read
from factpin.models.settings import Settings
from factpin.tasks.document_relations import (
    Relations,
    Rules,
    Targets,
    decode,
    find_relations,
    naming,
    targets,
    types_of,
)
from factpin.tasks.markers import marker_id
from factpin.tasks.spans import Scale
from factpin.tokens import Tokenizer, windows


@dataclass(frozen=True)
class RelationSettings:
    """How found relations become facts: Settings.task_config of a model of document relations."""

    schema: dict[str, Any] = field(default_factory=dict)  # as in a schema's TOML file; empty: none
    types: bool = True  # pairs whose types no relation allows are not asked
    functional: bool = False  # of a functional relation keep the best tail
    complete: bool = False  # add what follows from symmetric and inverse relations
    assertion: bool = True

    def chosen_schema(self) -> Schema:
        """The schema with the marks that are switched on."""
        schema = schema_of(self.schema)
        return replace(schema, relations={name: self._chosen(r) for name, r in schema.relations.items()})

    def _chosen(self, relation: Relation) -> Relation:
        heads, tails = (relation.heads, relation.tails) if self.types else ((), ())
        return replace(relation, heads=heads, tails=tails, functional=relation.functional and self.functional)


@dataclass(frozen=True)
class Judged:
    """What was found in a document, and what of it could not be asked."""

    found: Relations
    targets: Targets


def prepared(
    read: Read, settings: Settings, tokenizer: Tokenizer, marker: int, excluded: Collection[frozenset[int]] = ()
) -> tuple[Targets, Marked | None]:
    """The targets of a document and its marked windows; None where there is no pair to ask."""
    schema = RelationSettings(**settings.task_config).chosen_schema()
    doc = replace(read.doc, sentences=tuple(Span(*sentence) for sentence in read.sentences))
    y = targets(doc, read.pieces, marker, settings.labels, schema if schema.relations else None, excluded)
    if not len(y.head):
        return y, None
    size = settings.max_length - tokenizer.frame_size
    found = windows(y.pieces, read.sentences, size, min(settings.overlap, size // 2), context="window")
    y = y.seen_together([(w.first, w.last) for w in found], doc.facts)
    return y, marked(y, found, tokenizer) if len(y.head) else None


def find(
    model: DocumentModel, tokenizer: Tokenizer, settings: Settings, reads: Sequence[Read], cut: float | Tensor
) -> list[Judged]:
    """What the head finds in every document, one document at a time."""
    return [
        Judged(Relations.none() if scores is None else find_relations(model.head.to_arrays(scores), cut, y.fits()), y)
        for y, scores in _scored(model, tokenizer, settings, reads)
    ]


def scored(
    model: DocumentModel, tokenizer: Tokenizer, settings: Settings, reads: Iterable[Read]
) -> Iterator[tuple[Targets, AtlopScores | None]]:
    """The targets of every document and the scores of its pairs, -inf where types do not fit; None: no pair to ask."""
    for y, scores in _scored(model, tokenizer, settings, reads):
        yield y, None if scores is None else model.head.only(scores, torch.from_numpy(y.fits()))


@torch.no_grad()
def _scored(
    model: DocumentModel, tokenizer: Tokenizer, settings: Settings, reads: Iterable[Read]
) -> Iterator[tuple[Targets, AtlopScores | None]]:
    """The same, whether types fit or not."""
    marker = marker_id(tokenizer)
    for read in reads:
        y, document = prepared(read, settings, tokenizer, marker)
        scores = None
        if document is not None:
            scores = model.scores([document], tokenizer)[0]
        yield y, scores


def annotated(read: Read, judged: Judged, settings: Settings) -> Document:
    """The document with the facts that were found between its entities, proved and scored."""
    own, doc = RelationSettings(**settings.task_config), read.doc
    rules = Rules(own.chosen_schema(), own.complete, Scale(settings.temperature, settings.shift))
    told = decode(naming(judged.found, doc), doc, settings.labels, rules)
    coverage = doc.coverage or Coverage()
    notes = list(_notes(doc, judged.targets, own))
    if n := told.dropped.get("functional", 0):
        notes.append(f"functional: {n} fact{'s' if n > 1 else ''} left out for a better one")
    unread = tuple(sorted((*coverage.unread, *judged.targets.not_read()), key=lambda part: (part.start, part.end)))
    doc = replace(doc, facts=told.facts, coverage=replace(coverage, unread=unread, notes=(*coverage.notes, *notes)))
    return with_assertions(doc) if own.assertion else doc


def _notes(doc: Document, y: Targets, own: RelationSettings) -> Iterator[str]:
    """What was asked of a document, and what was not."""
    if not doc.entities:
        yield "facts were not looked for: there are no entities. They come with a model of spans, or with the document"
        return
    yield "facts are looked for in the whole document, between the entities that it came with"
    if y.apart:
        yield f"pairs of entities that stand too far apart to be read together, not asked: {y.apart:,}"
    known = {type for r in own.chosen_schema().relations.values() for type in (*r.heads, *r.tails)}
    strange = Counter(type for type in types_of(doc) if known and type and type not in known)
    if strange:
        yield (f"entities of types that the model does not know, not asked: {strange.total()} of {len(doc.entities)} "
               f"({', '.join(sorted(strange)[:4])}; known: {', '.join(sorted(known)[:8])})")  # fmt: skip

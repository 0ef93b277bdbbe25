"""Document relations, made ready for one model: documents to examples, and a head's scores to facts.

The document brings its mentions and entities: gold ones, or those of other models and of coreference. It is read in
overlapping windows, which are put together again before pairs are scored, so its length has no bound. Two entities that
no window shows together are not asked about; the notes of the coverage say how many.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from factpin.documents import Coverage, Document, Schema, Span
from factpin.documents.schema import schema_of
from factpin.language.assertion import with_assertions
from factpin.tasks.document_relations.decode import Rules, decode, naming
from factpin.tasks.document_relations.find import Relations, RelationScores, find_relations
from factpin.tasks.document_relations.targets import Targets, targets, types_of
from factpin.tasks.examples import DocumentBatch, DocumentExample, Lesson
from factpin.tasks.markers import marker_id
from factpin.tasks.scale import Scale
from factpin.tasks.schema import switch_marks
from factpin.tasks.settings import Settings
from factpin.tasks.task import Cut, Predict
from factpin.tokens import Pieces, Tokenizer, Window, windows
from factpin.tokens.layout import WindowLayout
from factpin.tokens.reading import WindowedDocument
from factpin.words import count


@dataclass(frozen=True)
class RelationSettings:
    """How found relations become facts: Settings.task_config of a model of document relations."""

    schema: dict[str, Any] = field(default_factory=dict)  # as in a schema's TOML file; empty: none
    types: bool = True  # pairs whose types no relation allows are not scored
    functional: bool = False  # of a functional relation keep the best tail
    complete: bool = False  # add what follows from symmetric and inverse relations
    assertion: bool = True

    def chosen_schema(self) -> Schema:
        """The schema with the marks that are switched on."""
        return switch_marks(schema_of(self.schema), types=self.types, functional=self.functional)


@dataclass(frozen=True)
class FoundRelations:
    """What was found in a document, and the pairs that were scored."""

    found: Relations
    targets: Targets


@dataclass(frozen=True)
class RelationFinder:
    """Document relations for one model."""

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    rules: Rules
    assertion: bool
    marker: int  # the piece that marks mentions
    size: int  # pieces of a window
    overlap: int

    @staticmethod
    def prepare(settings: Settings, tokenizer: Tokenizer) -> "RelationFinder":
        """Document relations for the model of these settings."""
        own = RelationSettings(**settings.task_config)
        rules = Rules(own.chosen_schema(), own.complete, Scale(settings.temperature, settings.shift))
        size = settings.max_length - tokenizer.frame_size
        overlap = min(settings.overlap, size // 2)
        return RelationFinder(tokenizer, settings.labels, rules, own.assertion, marker_id(tokenizer), size, overlap)

    def teach(self, document: WindowedDocument, options: Any = None) -> Lesson:
        """The document with its pairs of entities, but for those that the corpus excludes."""
        out = {pair for pair in document.doc.notes.excluded_pairs if len(pair) == 2}
        y, example = self.ask(document, out)
        notes = Counter(
            {
                "excluded_pairs": len(out),
                "facts": len(document.doc.facts),
                "unread_mentions": len(y.unread),
                "lost_entities": len(y.lost),
                "unknown": len(y.unknown),
                "not_asked": len(y.unasked),
                "qualifiers_left_out": y.qualifiers,
                "documents_without_pairs": int(example is None),
            }
        )
        return Lesson([] if example is None else [example], notes)

    def ask(
        self, document: WindowedDocument, excluded: Collection[frozenset[int]] = ()
    ) -> tuple[Targets, DocumentExample | None]:
        """The pairs of a document, and its marked windows; None if there is no pair to score."""
        doc = replace(document.doc, sentences=tuple(Span(*sentence) for sentence in document.sentences))
        schema = self.rules.schema if self.rules.schema.relations else None
        found: list[Window] = []

        def read(pieces: Pieces) -> list[tuple[int, int]]:
            found.extend(windows(pieces, document.sentences, self.size, self.overlap, context="window"))
            return [(window.first, window.last) for window in found]

        y = targets(doc, document.pieces, self.marker, self.labels, schema, excluded, read)
        if not len(y.head):
            return y, None
        prefix = len(self.tokenizer.prefix)
        layout = WindowLayout(tuple(found), len(y.pieces), prefix, self.tokenizer.frame_size - prefix)
        ids = tuple(y.pieces.ids[w.first : w.last] for w in found)
        return y, DocumentExample(ids, layout, y, terms=len(y.head))

    def score(
        self, documents: Sequence[WindowedDocument], predict: Predict
    ) -> Iterator[tuple[Targets, RelationScores | None]]:
        """The pairs of every document and their scores, one document at a time; None: no pair to ask about."""
        for document in documents:
            y, example = self.ask(document)
            yield y, None if example is None else predict(DocumentBatch((example,), self.tokenizer))[0]

    def find(self, documents: Sequence[WindowedDocument], predict: Predict, cut: Cut) -> list[FoundRelations]:
        """The relations of every document."""
        return [
            FoundRelations(Relations.none() if scores is None else find_relations(scores, cut, y.fits()), y)
            for y, scores in self.score(documents, predict)
        ]

    def annotate(self, document: WindowedDocument, found: FoundRelations) -> Document:
        """The document with the facts that were found between its entities, scored and with evidence."""
        doc = document.doc
        decoded = decode(naming(found.found, doc), doc, self.labels, self.rules)
        coverage = doc.coverage or Coverage()
        notes = list(self._notes(doc, found.targets))
        if n := decoded.dropped.get("functional", 0):
            notes.append(f"{count(n, 'fact')} left out for a better one, where there can be one alone")
        unread = tuple(sorted((*coverage.unread, *found.targets.not_read()), key=lambda part: (part.start, part.end)))
        coverage = replace(coverage, unread=unread, notes=(*coverage.notes, *notes))
        doc = replace(doc, facts=decoded.facts, coverage=coverage)
        return with_assertions(doc) if self.assertion else doc

    def _notes(self, doc: Document, y: Targets) -> Iterator[str]:
        """Notes about what was scored in a document, and what was not."""
        if not doc.entities:
            yield "facts were not looked for: there are no entities. A model of spans finds them, or give them"
            return
        yield "facts are looked for in the whole document, between the entities that it was given"
        if y.apart:
            yield f"pairs of entities that are too far apart to be read together, not asked: {y.apart:,}"
        known = {type for r in self.rules.schema.relations.values() for type in (*r.heads, *r.tails)}
        strange = Counter(type for type in types_of(doc) if known and type and type not in known)
        if strange:
            names, others = ", ".join(sorted(strange)[:4]), ", ".join(sorted(known)[:8])
            yield (
                f"entities of types that the model does not know, not asked: {strange.total()} of "
                f"{len(doc.entities)} ({names}; known: {others})"
            )

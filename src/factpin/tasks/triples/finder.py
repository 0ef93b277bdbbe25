"""Triples, made ready for one model: documents to examples, and a head's scores to facts.

A relation is looked for inside one window at a time: a sentence, or a part of it where sentences are read alone. Every
fact gets its assertion status, where there are cues for the language, and the sentence or sentences of its two mentions
as evidence. What the rules leave out is counted in the notes of the coverage.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from factpin.arrays import Bools
from factpin.documents import Coverage, Document, Schema
from factpin.documents.schema import schema_of
from factpin.tasks.by_window import find_by_window, reach
from factpin.tasks.examples import Lesson, WindowExample
from factpin.tasks.links import Labels, Links, allowed, merge, split_links
from factpin.tasks.scale import Scale
from factpin.tasks.schema import switch_marks
from factpin.tasks.settings import Settings
from factpin.tasks.task import Cut, Predict
from factpin.tasks.triples.decode import Rules, decode
from factpin.tasks.triples.find import find_triples
from factpin.tasks.triples.targets import targets
from factpin.tokens import Tokenizer
from factpin.tokens.reading import Batch, WindowedDocument
from factpin.words import count

LEFT_OUT = {  # what the notes say about facts that a rule left out, by the reason that decode gives
    "no name": "{} left out with an argument that is not one name of its own",
    "several mentions": "{} left out that other mentions of the same names, closer to each other, state",
    "functional": "{} left out for a better one, where there can be one alone",
}


@dataclass(frozen=True)
class TripleSettings:
    """How found links become facts: Settings.task_config of a model of triples."""

    slots: tuple[tuple[str, str], ...] = ()  # (relation, role) of qualifiers; their links follow the relations
    schema: dict[str, Any] = field(default_factory=dict)  # as in a schema's TOML file; empty: none
    types: bool = True  # leave out facts whose argument types the schema does not allow
    functional: bool = False  # of a functional relation keep one tail: what is asserted first, then the surest
    one_tail: tuple[str, ...] = ()  # relations with one tail for each entity, once mentions are grouped into entities
    complete: bool = False  # add what follows from symmetric and inverse relations
    mentions: Literal["linked", "all"] = "linked"  # all: spans without a link are mentions too
    assertion: bool = True
    shifts: dict[str, float] = field(default_factory=dict)  # relation -> how much more than Settings.shift, fitted
    evidence: dict[str, float] = field(default_factory=dict)  # how the words around facts correct their scores
    span_temperature: float = 1.0  # the scale of mentions; that of facts is in Settings
    span_shift: float = 0.0

    @staticmethod
    def of(settings: Settings) -> "TripleSettings":
        """Parsed from the settings of a model."""
        record = dict(settings.task_config)
        record["slots"] = tuple((str(relation), str(role)) for relation, role in record.get("slots", ()))
        record["one_tail"] = tuple(record.get("one_tail", ()))
        return TripleSettings(**record)

    def chosen_schema(self) -> Schema:
        """The schema with the marks that are switched on."""
        return switch_marks(schema_of(self.schema), types=self.types, functional=self.functional)


@dataclass(frozen=True)
class TripleFinder:
    """Triples for one model."""

    tokenizer: Tokenizer
    labels: Labels
    rules: Rules
    allowed: Bools | None  # (links, classes, classes); None: there is no schema
    known: frozenset[str]  # relations of the schema
    context: Literal["sentence", "window"]
    max_span: int | None

    @staticmethod
    def prepare(settings: Settings, tokenizer: Tokenizer) -> "TripleFinder":
        """Triples for the model of these settings."""
        own = TripleSettings.of(settings)
        subjects, objects = (tuple(settings.head_config[key]) for key in ("subjects", "objects"))
        labels = Labels(settings.labels[: len(settings.labels) - len(own.slots)], own.slots, subjects, objects)
        schema = own.chosen_schema()
        rules = Rules(
            schema,
            own.complete,
            own.mentions,
            sift=True,
            assertion=own.assertion,
            scale=Scale(settings.temperature, settings.shift),
            shifts=own.shifts,
            span_scale=Scale(own.span_temperature, own.span_shift),
        )
        table = allowed(labels, schema) if schema.relations else None
        width = settings.head_config.get("max_span")
        return TripleFinder(tokenizer, labels, rules, table, frozenset(schema.relations), settings.context, width)

    def teach(self, document: WindowedDocument, options: Any) -> Lesson:
        """A window each, with the facts whose arguments both lie in it."""
        doc = document.doc
        whole = targets(doc, document.pieces, self.labels, options.occurrences, options.mentions)
        taught = whole if self.max_span is None else whole.no_wider(self.max_span)
        held = taught.fact[taught.held(document.windows)]
        notes = Counter({name: len(getattr(whole, name)) for name in ("unalignable", "unknown", "ambiguous", "merged")})
        notes["facts"] = len(doc.facts)
        notes["not_in_schema"] = sum(fact.relation not in self.known for fact in doc.facts)
        notes["not_found"] = len(doc.notes.unfound)
        notes["not_taught"] = len({*whole.fact} - {-1}) - len({*held} - {-1})  # across windows, or too wide
        notes["lost_qualifiers"] = whole.lost_qualifiers + int((whole.fact == -1).sum() - (held == -1).sum())
        notes["lost_mentions"] = whole.lost_mentions + whole.alone() - taught.alone(document.windows)
        examples = [
            WindowExample(document.pieces.ids[window.first : window.last], taught.inside(window))
            for window in document.windows
        ]
        return Lesson(examples, notes)

    def find(self, documents: Sequence[WindowedDocument], predict: Predict, cut: Cut) -> list[Links]:
        """The spans and links of every document, each once."""

        def find(batch: Batch) -> list[Links]:
            cells = find_triples(predict(batch), cut, allowed=self.allowed)
            return split_links(cells, len(batch.ids), len(self.tokenizer.prefix))

        return find_by_window(documents, self.tokenizer, find, merge)

    def annotate(self, document: WindowedDocument, found: Links) -> Document:
        """The document with what was found, pinned, scored, with evidence and assertion status."""
        doc = document.doc
        decoded = decode(found, doc, document.pieces, self.labels, self.rules)
        notes = [f"facts are looked for inside one {reach(document, self.context)} at a time"]
        counts = {reason: decoded.dropped.get(reason, 0) for reason in LEFT_OUT}
        notes += [LEFT_OUT[why].format(count(n, "fact")) for why, n in counts.items() if n]
        if found.truncated:
            notes.append("more spans or links scored above the threshold than are joined at once: the best were joined")
        coverage = replace(doc.coverage or Coverage(), notes=tuple(notes))
        return replace(
            doc, mentions=decoded.mentions, entities=decoded.entities, facts=decoded.facts, coverage=coverage
        )

"""Triples: what GPLinker finds in read documents, and the documents with it as mentions, entities and facts.

A relation is looked for inside one window at a time, which is a sentence or a part of it where sentences are read
alone. Every fact gets its assertion status, where there are cues for the language, and the sentence or sentences of its
two mentions as evidence. What the rules leave out is counted in the notes of the coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from torch import Tensor

from factpin.documents import Coverage, Document, Relation, Schema
from factpin.documents.schema import schema_of
from factpin.models.model import Model
from factpin.models.reading import Read, batched
from factpin.models.settings import Settings
from factpin.tasks.links import Labels, Links, allowed, merge, split_links
from factpin.tasks.spans import Scale
from factpin.tasks.triples import Rules, decode, find_triples
from factpin.tokens import Tokenizer
from factpin.tokens.windows import sentence_starts

LEFT_OUT = {  # what the notes say of facts that a rule left out, by the reason that decode gives
    "no name": "no names: {} left out, with an argument that is a cue, the other argument or not one name",
    "several mentions": "told of several mentions: the nearest is kept, {} left out",
    "functional": "functional: {} left out for a better one",
}


@dataclass(frozen=True)
class TripleSettings:
    """How found links become facts: Settings.task_config of a model of triples."""

    slots: tuple[tuple[str, str], ...] = ()  # (relation, role) of qualifiers; their links stand after the relations
    schema: dict[str, Any] = field(default_factory=dict)  # as in a schema's TOML file; empty: none
    types: bool = True  # leave out facts whose argument types the schema does not allow
    functional: bool = False  # of a functional relation keep one tail: what is asserted first, then the surest
    complete: bool = False  # add what follows from symmetric and inverse relations
    mentions: Literal["linked", "all"] = "linked"  # all: spans without a link are mentions too
    assertion: bool = True
    span_temperature: float = 1.0  # the scale of mentions; that of facts stands in Settings
    span_shift: float = 0.0

    @staticmethod
    def of(settings: Settings) -> "TripleSettings":
        record = dict(settings.task_config)
        record["slots"] = tuple((str(relation), str(role)) for relation, role in record.get("slots", ()))
        return TripleSettings(**record)

    def chosen_schema(self) -> Schema:
        """The schema with the marks that are switched on."""
        schema = schema_of(self.schema)
        return replace(schema, relations={name: self._chosen(r) for name, r in schema.relations.items()})

    def _chosen(self, relation: Relation) -> Relation:
        heads, tails = (relation.heads, relation.tails) if self.types else ((), ())
        return replace(relation, heads=heads, tails=tails, functional=relation.functional and self.functional)


def labels_of(settings: Settings) -> Labels:
    """What the model of these settings tells apart."""
    slots = TripleSettings.of(settings).slots
    subjects, objects = (tuple(settings.head_config[key]) for key in ("subjects", "objects"))
    return Labels(settings.labels[: len(settings.labels) - len(slots)], slots, subjects, objects)


def find(
    model: Model, tokenizer: Tokenizer, settings: Settings, reads: Sequence[Read], cut: float | Tensor
) -> list[Links]:
    """What the head finds in every document, each span and link once."""
    schema = TripleSettings.of(settings).chosen_schema()
    table = allowed(labels_of(settings), schema) if schema.relations else None
    parts: list[list[Links | None]] = [[None] * len(read.windows) for read in reads]
    for chosen, batch in batched([read.ids for read in reads], tokenizer):
        cells = find_triples(model.head.to_arrays(model.predict(batch)), cut, allowed=table)
        for (d, w), found in zip(chosen, split_links(cells, len(chosen), len(tokenizer.prefix)), strict=True):
            parts[d][w] = found
    return [merge(read.windows, [p for p in own if p is not None]) for read, own in zip(reads, parts, strict=True)]


def annotated(read: Read, found: Links, settings: Settings) -> Document:
    """The document with what was found, pinned, scored, with evidence and assertion status."""
    own, doc = TripleSettings.of(settings), read.doc
    rules = Rules(
        own.chosen_schema(),
        own.complete,
        own.mentions,
        sift=True,
        assertion=own.assertion,
        scale=Scale(settings.temperature, settings.shift),
        span_scale=Scale(own.span_temperature, own.span_shift),
    )
    told = decode(found, doc, read.pieces, labels_of(settings), rules)
    notes = [f"facts are looked for inside one {reach(read, settings)} at a time"]
    counts = {reason: told.dropped.get(reason, 0) for reason in LEFT_OUT}
    notes += [LEFT_OUT[why].format(f"{n} fact" if n == 1 else f"{n} facts") for why, n in counts.items() if n]
    if found.truncated:
        notes.append("more spans or links scored above the threshold than are joined at once: the best were")
    coverage = replace(doc.coverage or Coverage(), notes=tuple(notes))
    return replace(doc, mentions=told.mentions, entities=told.entities, facts=told.facts, coverage=coverage)


def reach(read: Read, settings: Settings) -> Literal["sentence", "window"]:
    """Inside what two mentions must stand to be linked: a sentence, where each was read alone and whole."""
    whole = len(read.windows) <= len(sentence_starts(read.pieces, read.sentences))
    return "sentence" if settings.context == "sentence" and whole else "window"

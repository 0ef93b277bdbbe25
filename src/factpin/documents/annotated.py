"""Partial annotation: a document may say which types and relations its annotators marked wherever they occur.

    {"text": …, "meta": {"annotated": {"mentions": ["person"], "relations": ["place of birth"]}}}

Where a type or relation is not listed, its absence says nothing: it is learned from what is marked, but nothing
counts against it, neither in training nor in scoring. Without the entry, or without one of its two lists, a document
is annotated for everything. So corpora with different labels can be trained on and judged together.
"""

from dataclasses import replace
from typing import Literal

from factpin.documents.nouns import Document
from factpin.errors import BadDocument

KEY = "annotated"


def annotated_names(doc: Document, kind: Literal["mentions", "relations"]) -> frozenset[str] | None:
    """The types or relations that this document marks wherever they occur; None: all."""
    entry = doc.meta.get(KEY)
    if entry is None:
        return None
    names = entry.get(kind) if isinstance(entry, dict) else entry
    if names is None:
        return None
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise BadDocument(
            f"{doc.id}: meta.annotated is {entry!r}; expected lists of names, such as "
            f'{{"mentions": ["person"], "relations": ["place of birth"]}}. Correct it, or remove it.',
            field="meta.annotated",
        )
    return frozenset(names)


def keep_judged(doc: Document, gold: Document) -> Document:
    """A gold document or its prediction without the types and relations that gold does not mark everywhere."""
    types, relations = annotated_names(gold, "mentions"), annotated_names(gold, "relations")
    if types is None and relations is None:
        return doc
    facts = tuple(fact for fact in doc.facts if relations is None or fact.relation in relations)
    bound = {id for entity in doc.entities for id in entity.mentions}
    bound |= {id for event in doc.events for id in (event.trigger, *(a.mention for a in event.arguments)) if id}
    mentions = tuple(m for m in doc.mentions if types is None or m.type in types or m.id in bound)
    return replace(doc, mentions=mentions, facts=facts)

"""Partial annotation: compare documents only by the types and relations that gold annotates (see `notes`)."""

from dataclasses import replace

from factpin.documents.nouns import Document


def keep_annotated(doc: Document, gold: Document) -> Document:
    """A gold document, or a prediction for it, without the types and relations that gold does not fully annotate."""
    types, relations = gold.notes.annotated_types, gold.notes.annotated_relations
    if types is None and relations is None:
        return doc
    facts = tuple(fact for fact in doc.facts if relations is None or fact.relation in relations)
    bound = {id for entity in doc.entities for id in entity.mentions}
    bound |= {id for event in doc.events for id in (event.trigger, *(a.mention for a in event.arguments)) if id}
    mentions = tuple(m for m in doc.mentions if types is None or m.type in types or m.id in bound)
    return replace(doc, mentions=mentions, facts=facts)

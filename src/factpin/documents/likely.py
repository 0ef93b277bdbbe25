"""Filter by score: by default, keep facts and events that are more likely true than not."""

from dataclasses import replace

from factpin.documents.nouns import Document

LIKELY = 0.5


def keep_likely(doc: Document, least: float) -> tuple[Document, int]:
    """Remove facts and events with a lower score, and count them.

    Those without a score stay, and so does an event that is an argument of one that stays.
    """
    named = {a.event for e in doc.events for a in e.arguments if a.event and (e.score is None or e.score >= least)}
    facts = tuple(f for f in doc.facts if f.score is None or f.score >= least)
    events = tuple(e for e in doc.events if e.score is None or e.score >= least or e.id in named)
    hidden = len(doc.facts) - len(facts) + len(doc.events) - len(events)
    return (replace(doc, facts=facts, events=events) if hidden else doc), hidden

"""Documents and what is pinned to them: the frozen nouns that every other package works with."""

from factpin.documents.answer import Answer, Citation, Hop, Passage
from factpin.documents.canonical import canonical
from factpin.documents.keys import document_key, fact_key
from factpin.documents.native import from_json, to_json
from factpin.documents.notes import CorpusNotes, UnfoundFact
from factpin.documents.nouns import (
    ASSERTIONS,
    Argument,
    Coverage,
    Document,
    Entity,
    Event,
    Evidence,
    Fact,
    Mention,
    Qualifier,
    Span,
    Unread,
)
from factpin.documents.question import Question, question_from_json, question_to_json
from factpin.documents.schema import Relation, Schema, learn_schema, read_schema, write_schema

__all__ = [
    "ASSERTIONS",
    "Answer",
    "Argument",
    "Citation",
    "CorpusNotes",
    "Coverage",
    "Document",
    "Entity",
    "Event",
    "Evidence",
    "Fact",
    "Hop",
    "Mention",
    "Passage",
    "Qualifier",
    "Question",
    "Relation",
    "Schema",
    "Span",
    "UnfoundFact",
    "Unread",
    "canonical",
    "document_key",
    "fact_key",
    "from_json",
    "learn_schema",
    "question_from_json",
    "question_to_json",
    "read_schema",
    "to_json",
    "write_schema",
]

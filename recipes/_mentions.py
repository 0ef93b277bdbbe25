"""The mentions of training documents that no fact speaks of: what a model of entities finds there, and pronouns.

A corpus of facts marks the arguments of its facts alone. Whoever learns from it that all else is no mention learns not
to see the arguments of facts that the corpus did not ask about. So a model of entities fills in the rest, where it does
not overlap an argument, and the links alone learn which mentions take part in a fact.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from factpin.documents import Document, Entity, Mention
from factpin.models.extractor import Extractor

PERSON = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]im|[Hh]is|[Hh]ers?)\b")


def with_mentions(documents: Sequence[Document], model: Extractor, types: Iterable[str]) -> Iterator[Document]:
    """The documents with further mentions of these types, each an entity of its own."""
    wanted = {*types}
    bare = (Document(doc.id, doc.text, doc.language) for doc in documents)
    for doc, found in zip(documents, model.annotate(bare), strict=True):
        spans = [(*unmarked(m), m.type) for m in found.mentions if m.type in wanted]
        if doc.language == "en":
            spans += [(*m.span(), "person") for m in PERSON.finditer(doc.text)]
        yield with_spans(doc, spans)


def unmarked(m: Mention) -> tuple[int, int]:
    """Where a mention is, without the marks 《》 of a title around it: arguments have none."""
    marked = len(m.text) > 2 and m.text[0] == "《" and m.text[-1] == "》"
    return m.start + marked, m.end - marked


def with_spans(doc: Document, spans: Iterable[tuple[int, int, str]]) -> Document:
    """The document with further mentions where they overlap none of its own."""
    free = [s for s in dict.fromkeys(spans) if all(s[1] <= m.start or m.end <= s[0] for m in doc.mentions)]
    mentions = [Mention(f"s{i}", start, end, doc.text[start:end], type) for i, (start, end, type) in enumerate(free)]
    entities = [Entity(f"s{i}", (m.id,), m.type, m.text) for i, m in enumerate(mentions)]
    return replace(doc, mentions=(*doc.mentions, *mentions), entities=(*doc.entities, *entities))

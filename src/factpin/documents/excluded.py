"""Pairs of entities that a corpus says nothing about: neither a fact nor the lack of one.

CDR's filtered files (*.data) mark pairs `not_include` whose disease or chemical is only a wider term for that of a true
fact. They are not taught, and the convention `filtered` does not count them. The reader keeps them with all pairs in
meta["extra"]["pairs"]["rows"]: the label first, the numbers of the two entities last.
"""

from factpin.documents.nouns import Document

LABEL = "not_include"


def excluded_pairs(doc: Document) -> set[frozenset[int]]:
    """Such pairs, as places in doc.entities."""
    extra = doc.meta.get("extra")
    pairs = extra.get("pairs") if isinstance(extra, dict) else None
    rows = pairs.get("rows") if isinstance(pairs, dict) else None
    return {frozenset(row[-2:]) for row in rows or () if isinstance(row, list) and row and row[0] == LABEL}

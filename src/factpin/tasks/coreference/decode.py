"""Decode coreference: what a scorer said of pairs of mentions -> the document with entities."""

from dataclasses import replace

from factpin.documents import Coverage, Document
from factpin.language.coreference import PairScores, resolve
from factpin.tasks.coreference.targets import Targets

NOTE = "mentions were grouped into entities by rules and a model, over the whole document"


def decode(doc: Document, judged: PairScores, targets: Targets) -> Document:
    """The document with its mentions grouped into entities; facts follow their mentions."""
    doc = resolve(doc, judged=judged)
    coverage = doc.coverage or Coverage()
    unread = tuple(sorted((*coverage.unread, *targets.not_read()), key=lambda part: (part.start, part.end)))
    return replace(doc, coverage=replace(coverage, unread=unread, notes=(*coverage.notes, NOTE)))

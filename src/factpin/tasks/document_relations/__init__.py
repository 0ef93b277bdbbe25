"""Relations between entities of a whole document: facts <-> pairs of entities with their relations.

    targets(doc, pieces, marker, relations, schema)   what a head reads and is taught
    decode(found, doc, relations, rules)              what a head found, as facts of the document's own entities

The document brings its mentions, its entities and its sentences; a mention that belongs to no entity is not marked.
Asked are all ordered pairs of two different entities, with a schema those whose types some relation allows, and in a
long document those that some window shows together (`targets`). An entity that cannot be read is never scored,
and never silently: it is named. Where the place of a fact is not given, decoding pins it to the two mentions that
are nearest to each other. Sentences prove a pair: all its relations share them.
`decode(targets(x)) == x` but for what Targets names, for pins, and for sentences that only one relation of a pair has.
"""

from factpin.tasks.document_relations.decode import Decoding, Rules, decode, naming, nearest
from factpin.tasks.document_relations.find import Relations, RelationScores, find_relations
from factpin.tasks.document_relations.targets import Targets, targets, types_of

__all__ = [
    "Decoding",
    "RelationScores",
    "Relations",
    "Rules",
    "Targets",
    "decode",
    "find_relations",
    "naming",
    "nearest",
    "targets",
    "types_of",
]

"""Triples: facts <-> spans that are subjects or objects, and links between them, in pieces; ends inclusive there.

    targets(doc, pieces, labels, occurrences, taught)   what a head is taught
    decode(found, doc, pieces, labels, rules)           what a head found, as mentions, entities and facts

A pinned fact is taught where it is pinned. Where an argument is not, `occurrences` says which mentions of its entity
stand for it: the first, the nearest pair, or all pairs. Where all mentions are taught, each is a subject
and an object, as far as its type has both classes; the links tell which of them take part in a fact.
A qualifier is a separate link, from the fact's tail to the qualifier's value, under the name "relation.role": a head
often has several tails of one relation, each with its own qualifiers, while a tail seldom has two heads. Decoding gives
a link of that name to every fact of the relation that ends in the same mention. Facts of one relation that share their
tail's mention but not their qualifiers come back with the qualifiers of all: they are counted as `merged`.
A fact and what follows from it by a symmetric or inverse relation are one statement: they are kept or dropped together.
Where rules choose between facts (triples/rules.py), what the text asserts comes before what it doubts, reports or
supposes, whatever the scores are, and what it denies takes no other fact's place.
Mentions of one text and type are one entity. `decode(targets(x)) == x` but for what Targets counts, and for white space
at the ends of a mention, which is left out.
"""

from factpin.tasks.triples.decode import REASONS, Decoding, Rules, decode
from factpin.tasks.triples.find import TripleScores, find_triples
from factpin.tasks.triples.targets import Occurrences, Targets, Taught, targets

__all__ = [
    "REASONS",
    "Decoding",
    "Occurrences",
    "Rules",
    "Targets",
    "Taught",
    "TripleScores",
    "decode",
    "find_triples",
    "targets",
]

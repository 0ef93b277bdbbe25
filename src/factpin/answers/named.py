"""The names in a question that the store knows, whole or in part: "Where was Somchai born?" for Somchai Rattanakul.

A part of a name is a capitalised word that belongs to no name that is known whole. It can mean a person, by any word of
the name, or an organization, by the first one.
"""

import re
from collections.abc import Sequence

from factpin.answers.kinds import kind_of
from factpin.documents import Span
from factpin.documents.keys import fold
from factpin.memory import ALL, Candidate, Filter, Store

MOST_MEANT = 5  # entities that a part of a name can mean; of more, it means none
_CAPITALISED = re.compile(r"(?<![\w'’.-])[^\W\d_a-z][^\W\d_]{2,}(?![\w.-]|['’](?!s\b))")
_FIRST = "who whom whose what when where which why how the did does was were are has have had can"  # in a question
_ASKING = frozenset(_FIRST.split())
Name = tuple[Span, Sequence[Candidate]]


def names_in(question: str, store: Store, filter: Filter = ALL) -> list[Name]:
    """The names in a question, longest first, and then the parts of names."""
    found: list[Name] = list(store.names_in(question, filter))
    known = [span for span, _ in found]
    for match in _CAPITALISED.finditer(question):
        span = Span(*match.span())
        inside = any(span.start < end and start < span.end for start, end in known)
        if not inside and match[0].isascii() and match[0].lower() not in _ASKING:
            meant = [c for c in store.names_with(match[0], filter) if _called(match[0], c)]
            if 0 < len({fold(c.entity.name) for c in meant}) <= MOST_MEANT:
                found.append((span, meant))
    return found


def _called(word: str, candidate: Candidate) -> bool:
    """Whether such an entity is called by this word of its name."""
    kind = kind_of(candidate.entity)
    return kind == "person" or (kind == "organization" and fold(candidate.entity.name).startswith(f"{fold(word)} "))

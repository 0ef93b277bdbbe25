"""The names in a question that the store knows, whole or in part: "Where was Somchai born?" for Somchai Rattanakul.

The title of a document is a name of what it is about. Brackets behind a name belong to it if they are those of the
title, The Base (film). Other brackets say something that is not understood here, and are left.

A part of a name is a capitalised word that belongs to no name that is known whole. It can mean a person, by any word of
the name, or an organization, by the first one.
"""

import re
from collections.abc import Iterator, Sequence

from factpin.answers.kinds import kind_of
from factpin.answers.subjects import subjects
from factpin.documents import Span
from factpin.documents.keys import fold
from factpin.memory import ALL, Candidate, Filter, Store
from factpin.memory.names import MOST_UNITS, longest_first, spans_of_names, title_key

MOST_MEANT = 5  # entities that a part of a name can mean; of more, it means none
_CAPITALISED = re.compile(r"(?<![\w'’.-])[^\W\d_a-z][^\W\d_]{2,}(?![\w.-]|['’](?!s\b))")
BRACKETS = re.compile(r"\s*\([^()]*\)")
_KIND = re.compile(r"\s*\((?:film|movie|song|single|album|novel|book|play|band|(?:TV |television )?series)\)", re.I)
_WORD = re.compile(r"[^\W_]+")
_TITLE_GAP = re.compile(r"[\s\-'’&/:.,;!?…]{0,4}")
_FIRST = "who whom whose what when where which why how the did does was were are has have had can"  # in a question
_ASKING = frozenset(_FIRST.split())
Name = tuple[Span, Sequence[Candidate]]


def names_in(question: str, store: Store, filter: Filter = ALL) -> list[Name]:
    """The names in a question, longest first, and then the parts of names."""
    known = dict(store.names_in(question, filter))
    wide = (*spans_of_names(question), *_spans_of_titles(question))
    spans = {span: question[slice(*span)] for span in wide if span.end - span.start > 1}
    about = subjects(store, dict.fromkeys(text for span, text in spans.items() if text[0].isupper()), filter)
    for span, text in spans.items():
        if text in about:
            others = () if BRACKETS.match(question, span.end) else known.get(span, ())
            known[span] = list({c.entity.id: c for c in (*others, *about[text])}.values())
    spans_found = longest_first(list(known))
    found: list[Name] = [(_with_brackets(question, span, store, filter), known[span]) for span in spans_found]
    for match in _CAPITALISED.finditer(question):
        span = Span(*match.span())
        inside = any(span.start < end and start < span.end for start, end in known)
        if not inside and match[0].isascii() and match[0].lower() not in _ASKING:
            meant = [c for c in store.names_with(match[0], filter) if _called(match[0], c)]
            if 0 < len({fold(c.entity.name) for c in meant}) <= MOST_MEANT:
                found.append((span, meant))
    return found


def longer_names(question: str, names: Sequence[Name], store: Store, filter: Filter = ALL) -> list[Name]:
    """For each English name of several words, the entities with a name that begins like it: Jeanie Beadle Staples."""
    found: list[Name] = []
    for span, _ in names:
        text = fold(question[slice(*span)])
        if text.isascii() and " " in text:
            longer = store.names_with(text.split()[-1], filter)
            meant = [c for c in longer if any(fold(name).startswith(f"{text} ") for name in c.names)]
            if 0 < len(meant) <= MOST_MEANT:
                found.append((span, meant))
    return found


def _spans_of_titles(question: str) -> Iterator[Span]:
    """Spans with the punctuation that titles have and names do not: Bern, West County; Beware! The Blob."""
    words = [m.span() for m in _WORD.finditer(question)]
    for i, (start, _) in enumerate(words):
        for j in range(i, min(i + MOST_UNITS, len(words))):
            if j > i and not _TITLE_GAP.fullmatch(question, words[j - 1][1], words[j][0]):
                break
            behind = question[words[j][1] :]
            closing = len(behind) - len(behind.lstrip("!?.…"))
            yield from (Span(start, words[j][1] + more) for more in {0, closing})


def _with_brackets(question: str, span: Span, store: Store, filter: Filter) -> Span:
    """A name with the brackets behind it, if every document of that name has them in its title, or they name a kind."""
    match = BRACKETS.match(question, span.end)
    if match is None:
        return span
    whole = Span(span.start, match.end())
    key = title_key(question[slice(*span)])
    ids = store.titled([key], filter).get(key, ()) if key else ()
    titles = {fold(passage.title) for passage in store.passages(ids)}
    known = titles == {fold(question[slice(*whole)])} or (len(titles) < 2 and _KIND.fullmatch(match[0]))
    return whole if known else span


def _called(word: str, candidate: Candidate) -> bool:
    """Whether such an entity is called by this word of its name."""
    kind = kind_of(candidate.entity)
    return kind == "person" or (kind == "organization" and fold(candidate.entity.name).startswith(f"{fold(word)} "))

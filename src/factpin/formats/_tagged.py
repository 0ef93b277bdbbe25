"""Convert documents to tokens with tagged spans and back, for conll and parallel."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from factpin.documents import Document, Mention
from factpin.formats._tags import TagSpan
from factpin.formats._words import borders, join, sentence_ranges, split, token_span


@dataclass
class TaggedDocument:
    """The tokens of a document, the number per sentence, its mentions as spans of tokens, and what is lost."""

    tokens: list[str]
    sizes: list[int]
    spans: list[TagSpan]
    lost: Counter[str] = field(default_factory=Counter)


def tagged(doc: Document, bad_token: re.Pattern[str], bad_type: re.Pattern[str], several: bool) -> TaggedDocument:
    """Convert a document. Tokens and types that match their pattern cannot be written; `several` sentences can."""
    lost: Counter[str] = Counter()
    places = borders(doc)
    if any(start == end or bad_token.search(doc.text[start:end]) for start, end in places):
        lost["tokens"] = len(places)
        places = split(doc.text)
    tokens = [doc.text[start:end] for start, end in places]
    if not tokens:
        lost["empty documents"] = 1
    elif join(tokens) != (doc.text, places):
        lost["spacing"] = 1
    sizes = [len(tokens)]
    if several and len(doc.sentences) > 1:
        ranges = sentence_ranges(doc, places)
        if ranges is None:
            lost["sentence borders"] = len(doc.sentences)
        else:
            sizes = [end - first for first, end in ranges]
    sentence = [i for i, size in enumerate(sizes) for _ in range(size)]  # of every token
    spans = []
    for m in doc.mentions:
        place = token_span(places, m.start, m.end)
        if place is None:
            lost["mentions inside a token"] += 1
        elif sentence[place[0]] != sentence[place[1] - 1]:
            lost["mentions across sentences"] += 1
        elif m.type and bad_type.search(m.type):
            lost["types"] += 1
            spans.append(TagSpan(*place, ""))
        else:
            spans.append(TagSpan(*place, m.type))
    return TaggedDocument(tokens, sizes, spans, lost)


def mentions_of(spans: Sequence[TagSpan], text: str, places: Sequence[tuple[int, int]]) -> tuple[Mention, ...]:
    """Convert spans of tokens to mentions, in the order of the text, longest first."""
    found = []
    for i, span in enumerate(sorted(spans, key=lambda s: (s.first, -s.end, s.type))):
        start, end = places[span.first][0], places[span.end - 1][1]
        found.append(Mention(f"m{i}", start, end, text[start:end], span.type))
    return tuple(found)

"""Join tokens to a text and split it again, for formats that count in tokens.

Join rule: one space between two tokens, except in Chinese records. If most tokens have CJK characters, there is no
space next to a CJK character; if all tokens are single characters, at least one of them CJK (corpora split into
characters, including digits), there are no spaces at all. Split rule: single CJK characters, words, numbers, and single
other visible characters. If joining these does not restore the text, single characters (Chinese text without spaces)
and words between spaces are tried. The borders of tokens are kept as meta["tokens"] = [[start, end], …], unless the
split rule finds the same.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from operator import add
from typing import Any

from factpin.documents import Document, Span

CJK = (
    "\u2e80-\u2fff\u3001-\u312f\u31a0-\u31bf\u31f0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    "\U00020000-\U0003ffff"
)
# marks cling to what they follow
MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
RULE = re.compile(
    rf"[{CJK}]"
    rf"|[0-9]+(?:[.,][0-9]+)+(?![^\W{CJK}])"
    rf"|[^\W{CJK}](?:[^\W{CJK}]|[{MARKS}])*"
    rf"|\S(?:[{MARKS}]|(?<=\u200d)\S)*"
)
RESERVED = ("tokens", "extra")  # reserved keys of meta
IS_CJK = re.compile(f"[{CJK}]")
BLANK = re.compile(r"\s")
PIECE = re.compile(r"\S+")
WORDS = re.compile(rf"(?:\w|[{MARKS}])+|\S")


def join(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text of tokens, and the span of each."""
    sizes = list(map(len, tokens))
    gaps = _gaps(tokens)
    if gaps is None:
        text = " ".join(tokens)
        starts = accumulate([size + 1 for size in sizes], initial=0)
    else:
        text = "".join([token + " " * gap for token, gap in zip(tokens, gaps, strict=True)])
        starts = accumulate(map(add, sizes, gaps), initial=0)
    return text, [(start, start + size) for start, size in zip(starts, sizes, strict=False)]


def _gaps(tokens: Sequence[str]) -> list[int] | None:
    """The spaces after every token, except the last; None if all others have one."""
    letters = "".join(tokens)
    if letters.isascii() or not IS_CJK.search(letters):
        return None
    if all(len(token) == 1 for token in tokens):
        return [0] * len(tokens)
    if 2 * sum(IS_CJK.search(token) is not None for token in tokens) > len(tokens):
        return [int(not IS_CJK.match(a[-1:]) and not IS_CJK.match(b[:1])) for a, b in pairwise(tokens)] + [0]
    return None


def split(text: str) -> list[tuple[int, int]]:
    """Split a text without tokens of its own."""
    rule = [match.span() for match in RULE.finditer(text)]
    if rebuilds(text, rule):
        return rule
    characters = [(i, i + 1) for i in range(len(text))] if not BLANK.search(text) else []
    pieces = [match.span() for match in PIECE.finditer(text)]
    if not all(WORDS.fullmatch(text, start, end) for start, end in pieces):
        pieces = []  # punctuation is attached to words: mentions would end inside such tokens
    return next((tokens for tokens in (characters, pieces) if rebuilds(text, tokens)), rule)


def borders(doc: Document) -> list[tuple[int, int]]:
    """The tokens of a document: from meta if valid, otherwise by the split rule."""
    kept = _valid(doc.meta.get("tokens"), doc.text)
    return split(doc.text) if kept is None else kept


def token_span(borders: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """The tokens (half-open) of characters start:end; None if a border is inside a token or a gap."""
    first = bisect_left(borders, (start,))
    last = bisect_left(borders, end, key=lambda border: border[1])
    if first > last or last == len(borders) or borders[first][0] != start or borders[last][1] != end:
        return None
    return first, last + 1


def token_meta(text: str, borders: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """The entry of meta that restores these tokens; empty if the split rule finds them."""
    if not _has_strange_token(text, borders) and list(borders) == split(text):
        return {}
    return {"tokens": [[start, end] for start, end in borders]}


def _has_strange_token(text: str, borders: Sequence[tuple[int, int]]) -> bool:
    """A quick check whether `split` can never produce one of the tokens, such as "x-y"."""
    for start, end in borders:
        if end - start > 1:
            token = text[start:end]
            if not token.isalnum() and not RULE.fullmatch(token) and not WORDS.fullmatch(token):
                return True
    return False


def rebuilds(text: str, borders: Sequence[tuple[int, int]]) -> bool:
    """Whether joining the tokens restores the text."""
    return join([text[start:end] for start, end in borders])[0] == text


def sentence_spans(borders: Sequence[tuple[int, int]], lengths: Sequence[int]) -> list[Span | None]:
    """The spans of sentences with these numbers of tokens; None for an empty one."""
    spans: list[Span | None] = []
    at = 0
    for length in lengths:
        start, end = (borders[at][0], borders[at + length - 1][1]) if length else (0, 0)
        spans.append(Span(start, end) if start < end else None)
        at += length
    return spans


def sentence_ranges(doc: Document, borders: Sequence[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """The tokens (half-open) of every sentence; None if the sentences do not partition the tokens."""
    if not doc.sentences:
        return [(0, len(borders))] if borders else []
    ranges = []
    first = 0
    for sentence in doc.sentences:
        last = bisect_right(borders, sentence.end, key=lambda border: border[1])
        if first == last or borders[first][0] != sentence.start or borders[last - 1][1] != sentence.end:
            return None
        ranges.append((first, last))
        first = last
    return ranges if first == len(borders) else None


def at_tokens(doc: Document) -> tuple[Document, list[tuple[int, int]], Counter[str]]:
    """The document with only the mentions that are whole tokens, its tokens, and what is lost."""
    tokens = borders(doc)
    lost: Counter[str] = Counter()
    if not rebuilds(doc.text, tokens):
        lost["spacing"] = 1
    if "tokens" in doc.meta and _valid(doc.meta["tokens"], doc.text) is None:
        lost["meta"] = 1
    inside = {m.id for m in doc.mentions if token_span(tokens, m.start, m.end) is None}
    if inside:
        lost["mentions inside a token"] = len(inside)
        doc, more = without(doc, inside)
        lost.update(more)
    return doc, tokens, lost


def in_sentences(
    doc: Document, borders: Sequence[tuple[int, int]]
) -> tuple[Document, list[tuple[int, int]], Counter[str]]:
    """The document, the tokens of its sentences, and what is lost: all borders if one of them cuts a token."""
    ranges = sentence_ranges(doc, borders)
    if ranges is not None:
        return doc, ranges, Counter()
    lost = Counter({"sentence borders": len(doc.sentences)})
    proved = sum(bool(f.evidence) for f in doc.facts)
    if proved:
        lost["evidence in lost sentences"] = proved
    doc = replace(doc, sentences=(), facts=tuple(replace(f, evidence=()) for f in doc.facts))
    return doc, [(0, len(borders))] if borders else [], lost


def without(doc: Document, gone: set[str]) -> tuple[Document, Counter[str]]:
    """Remove mentions and everything that depends on them, and count the removals."""
    entities = tuple(
        replace(e, mentions=tuple(id for id in e.mentions if id not in gone))
        for e in doc.entities
        if not gone.issuperset(e.mentions)
    )
    left = {e.id for e in entities}
    facts = tuple(
        replace(
            f,
            head_mention=None if f.head_mention in gone else f.head_mention,
            tail_mention=None if f.tail_mention in gone else f.tail_mention,
            qualifiers=tuple(q for q in f.qualifiers if q.entity in left and q.mention not in gone),
        )
        for f in doc.facts
        if f.head in left and f.tail in left
    )
    standing = tuple(v for v in doc.events if v.trigger not in gone)
    known = {v.id for v in standing}
    events = tuple(
        replace(v, arguments=tuple(a for a in v.arguments if a.mention not in gone and a.event in {None, *known}))
        for v in standing
    )
    lost = Counter(
        {
            "entities left without a mention": len(doc.entities) - len(entities),
            "facts left without an end": len(doc.facts) - len(facts),
            "events left without a trigger": len(doc.events) - len(events),
            "arguments left without a mention": sum(len(v.arguments) for v in standing)
            - sum(len(v.arguments) for v in events),
        }
    )
    mentions = tuple(m for m in doc.mentions if m.id not in gone)
    return replace(doc, mentions=mentions, entities=entities, facts=facts, events=events), +lost


# ---- fields without a noun ------------------------------------------------------------------------------------------


def reader_meta(
    record: Mapping[str, Any], known: Collection[str], tokens: dict[str, Any], extra: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """The meta of a document: unknown fields of the record, its tokens, and in `extra` fields of parts by place."""
    meta = {key: value for key, value in record.items() if key not in known and key not in RESERVED}
    reserved = {key: record[key] for key in RESERVED if key in record and key not in known}
    if reserved:
        extra = extra | {"record": reserved}
    return meta | tokens | ({"extra": extra} if extra else {})


def record_fields(doc: Document, known: Collection[str]) -> dict[str, Any]:
    """The fields of meta to write into the record."""
    fields = {key: value for key, value in doc.meta.items() if key not in known and key not in RESERVED}
    return fields | {key: value for key, value in extra_of(doc, "record").items() if key in RESERVED}


def extra_of(doc: Document, place: str) -> dict[str, Any]:
    """The unknown fields at a place of the record."""
    extra = doc.meta.get("extra")
    found = extra.get(place) if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else {}


def without_extra(doc: Document) -> tuple[Document, Counter[str]]:
    """The document without fields by place, for when the places have changed."""
    return replace(doc, meta={k: v for k, v in doc.meta.items() if k != "extra"}), Counter({"fields by their place": 1})


def lost_meta(doc: Document, known: Collection[str], places: Collection[str]) -> Counter[str]:
    """What of meta cannot be written: fields with a name that the format uses, and fields of unknown places."""
    count = sum(key in known and key not in RESERVED for key in doc.meta)
    if "extra" in doc.meta:
        extra = doc.meta["extra"]
        if isinstance(extra, dict) and extra:
            count += sum(not isinstance(extra[key], dict) or key not in {"record", *places} for key in extra)
        else:
            count += 1
    return Counter({"meta": count} if count else {})


def _valid(value: Any, text: str) -> list[tuple[int, int]] | None:
    """Borders from meta if they are pairs in order, inside the text, with only white space between them."""
    if not isinstance(value, list):
        return None
    found = []
    at = 0
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(border) is int for border in pair):
            return None
        start, end = pair
        if not at <= start <= end <= len(text) or text[at:start].strip():
            return None
        found.append((start, end))
        at = end
    return None if text[at:].strip() else found

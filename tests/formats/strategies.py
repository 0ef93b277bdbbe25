"""Documents that a format with given features can hold, as hypothesis strategies: CJK, emoji, combining marks, …"""

from hypothesis import strategies as st

from factpin.documents import (
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

PIECES = [
    "北京", "谷爱凌", "中 文", "a", "Bc", "x-y", "é", "e\u0301", "ﬁ", "１２", "😀",
    "👨\u200d👩\u200d👧", "\u200b", "\u3000",
    "。", ".", ", ", " ", "  ", "\n", "\r\n", "\t", '"', "<b>", "|", "\\",
]  # fmt: skip
PLAIN = ["北京", "谷爱凌", "word", "Bc", "é", "😀", "12"]
TYPES = ["PER", "地点", "a_b", "Creative-Work"]


@st.composite
def documents(draw: st.DrawFn, holds: frozenset[str], plain: bool = False) -> Document:
    """A document that uses the features in `holds` and no others. Plain ones are words joined by single blanks."""
    words = draw(st.lists(st.sampled_from(PLAIN if plain else PIECES), min_size=1, max_size=14))
    text = (" " if plain else "").join(words)
    sentences = _sentences(draw, text, words, plain) if "sentences" in holds else ()
    mentions = _mentions(draw, text, words, plain, holds) if "mentions" in holds else ()
    entities = _entities(draw, mentions, holds) if "facts" in holds or "entities" in holds else ()
    facts = _facts(draw, entities, sentences, holds) if "facts" in holds else ()
    if "entities" not in holds:
        used = {id for f in facts for id in (f.head, f.tail, *(q.entity for q in f.qualifiers))}
        entities = tuple(e for e in entities if e.id in used)
    events = _events(draw, mentions) if "events" in holds else ()
    coverage = Coverage((Span(0, len(text)),), (Unread(0, 1, "why"),)) if "coverage" in holds else None
    return Document(
        id=draw(st.sampled_from(["d1", "doc-7", "文档3"])),
        text=text,
        language=draw(st.sampled_from([None, "zh"])) if "language" in holds else None,
        sentences=sentences,
        mentions=mentions,
        entities=entities,
        facts=facts,
        events=events,
        coverage=draw(st.sampled_from([None, coverage])),
        meta=draw(st.sampled_from([{}, {"source": {"page": 3}, "标签": ["x", 1.5, None]}])) if "meta" in holds else {},
    )


def _borders(text: str, words: list[str], plain: bool) -> list[tuple[int, int]]:
    """The span of every word."""
    spans, at = [], 0
    for word in words:
        spans.append((at, at + len(word)))
        at += len(word) + (1 if plain else 0)
    return spans


def _sentences(draw, text, words, plain):
    spans = _borders(text, words, plain)
    cut = draw(st.integers(0, len(spans) - 1))
    if not cut:
        return (Span(0, len(text)),)
    return (Span(0, spans[cut - 1][1]), Span(spans[cut][0], len(text)))


def _mentions(draw, text, words, plain, holds):
    spans = _borders(text, words, plain)
    found: list[tuple[int, int, str]] = []
    for _ in range(draw(st.integers(0, 5))):
        i = draw(st.integers(0, len(spans) - 1))
        j = draw(st.integers(i, min(i + 3, len(spans) - 1)))
        type = draw(st.sampled_from(TYPES)) if "types" in holds else ""
        start, end = spans[i][0], spans[j][1]
        if "overlaps" not in holds and any(start < e and s < end for s, e, _ in found):
            continue
        if any((start, end) == (s, e) and (type == t or "same spans" not in holds) for s, e, t in found):
            continue
        found.append((start, end, type))
    score = st.sampled_from([None, 0.5, 0.875]) if "scores" in holds else st.none()
    return tuple(Mention(f"m{i}", s, e, text[s:e], t, draw(score)) for i, (s, e, t) in enumerate(sorted(found)))


def _entities(draw, mentions, holds):
    entities = []
    for i, m in enumerate(mentions):
        ids = (m.id,)
        if entities and "clusters" in holds and draw(st.booleans()) and entities[-1].type == m.type:
            last = entities.pop()
            ids = (*last.mentions, m.id)
        first = next(x for x in mentions if x.id == ids[0])
        name = draw(st.sampled_from([first.text, "另名"])) if "names" in holds else first.text
        link = draw(st.sampled_from(["", "Q5"])) if "links" in holds else ""
        entities.append(Entity(f"e{i}", ids, m.type, name, link))
    return tuple(entities)


def _facts(draw, entities, sentences, holds):
    facts = []
    if len(entities) < 2:
        return ()
    for i in range(draw(st.integers(0, 3))):
        head, tail = draw(st.sampled_from(entities)), draw(st.sampled_from(entities))
        if head == tail or any((f.head, f.tail, f.relation) == (head.id, tail.id, f"r{i % 2}") for f in facts):
            continue
        pins = "pins" in holds
        evidence = (Evidence(len(sentences) - 1),) if "evidence" in holds and sentences else ()
        other = draw(st.sampled_from(entities))
        qualifiers = (Qualifier("inArea", other.id, other.mentions[0]),) if "qualifiers" in holds else ()
        facts.append(
            Fact(
                head.id,
                f"r{i % 2}",
                tail.id,
                head.mentions[0] if pins else None,
                tail.mentions[0] if pins else None,
                draw(st.sampled_from([None, 0.25])) if "scores" in holds else None,
                evidence,
                draw(st.sampled_from([None, "negated"])) if "assertions" in holds else None,
                draw(st.sampled_from([(), qualifiers])),
            )
        )
    return tuple(facts)


def _events(draw, mentions):
    if len(mentions) < 2 or not draw(st.booleans()):
        return ()
    return (Event("v0", "Attack", mentions[0].id, (Argument("who", mentions[1].id),)),)

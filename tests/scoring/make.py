"""Short ways to write documents for the tests of this room."""

from collections.abc import Iterable, Mapping, Sequence

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span
from factpin.scoring import Pair

TEXT = "abcdefghijklmnopqrstuvwxyz0123456789"


def spans(*labelled: tuple[int, int, str], id: str = "d", text: str = TEXT, scores: Sequence[float] = ()) -> Document:
    """A document with these (start, end, label)."""
    mentions = (
        Mention(f"m{i}", start, end, text[start:end], label, scores[i] if scores else None)
        for i, (start, end, label) in enumerate(labelled)
    )
    return Document(id, text, sentences=(Span(0, len(text)),), mentions=tuple(mentions))


def relations(
    entities: Mapping[str, Iterable[tuple[int, int]]],
    facts: Iterable[tuple[str, str, str]],
    *,
    id: str = "d",
    text: str = TEXT,
    sentences: Sequence[tuple[int, int]] = (),
    evidence: Mapping[tuple[str, str, str], Sequence[int]] | None = None,
    types: Mapping[str, str] | None = None,
    pinned: bool = False,
) -> Document:
    """A document with entities {id: places} and facts (head, relation, tail), pinned to first mentions by choice."""
    mentions, made = [], []
    for name, places in entities.items():
        own = []
        for start, end in places:
            own.append(f"{name}.{len(own)}")
            mentions.append(Mention(own[-1], start, end, text[start:end]))
        made.append(Entity(name, tuple(own), type=(types or {}).get(name, "")))
    return Document(
        id,
        text,
        sentences=tuple(Span(*s) for s in sentences),
        mentions=tuple(mentions),
        entities=tuple(made),
        facts=tuple(
            Fact(
                head,
                relation,
                tail,
                head_mention=f"{head}.0" if pinned else None,
                tail_mention=f"{tail}.0" if pinned else None,
                evidence=tuple(Evidence(s) for s in (evidence or {}).get((head, relation, tail), ())),
            )
            for head, relation, tail in facts
        ),
    )


def pair(gold: Document, predicted: Document) -> list[Pair]:
    return [Pair(gold, predicted)]

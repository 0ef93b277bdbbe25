"""Small documents with facts, and a way to embed them without a model: what the tests of the store are made of."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factpin.documents import Coverage, Document, Entity, Fact, Mention, Qualifier, Span, Unread
from factpin.memory import Store
from factpin.memory.nouns import Floats

ENCODER = "hashes@0123456789ab-mean"


@dataclass(frozen=True)
class Said:
    """A sentence that states a fact: {h}, {t} and {d} stand for head, tail and a date."""

    head: str
    relation: str
    tail: str
    frame: str = "{h}的{r}是{t}。"
    head_type: str = "PER"
    tail_type: str = "LOC"
    assertion: str | None = None
    score: float | None = None
    date: str = ""
    link: str = ""


def tell(*said: Said, id: str = "d", extra: str = "", partly: bool = False) -> Document:
    """A document that says these sentences, one after the other. An entity is shared by all that name it."""
    text = ""
    mentions: list[Mention] = []
    sentences: list[Span] = []
    owners: dict[tuple[str, str, str], list[str]] = {}
    facts: list[tuple[Said, str, str, str | None]] = []
    for one in said:
        start = len(text)
        spots: dict[str, str] = {}
        for part in one.frame.replace("{r}", one.relation).replace("{", "\x01{").replace("}", "}\x01").split("\x01"):
            word, type, link = {"{h}": (one.head, one.head_type, one.link), "{t}": (one.tail, one.tail_type, ""),
                                "{d}": (one.date, "TIME", "")}.get(part, ("", "", ""))  # fmt: skip
            if word:
                id_ = f"m{len(mentions)}"
                mentions.append(Mention(id_, len(text), len(text) + len(word), word, type, one.score))
                owners.setdefault((word, type, link), []).append(id_)
                spots[part] = id_
            text += word or part
        sentences.append(Span(start, len(text)))
        facts.append((one, spots["{h}"], spots["{t}"], spots.get("{d}")))
    names = {mention: f"e{i}" for i, ids in enumerate(owners.values()) for mention in ids}
    entities = tuple(Entity(f"e{i}", tuple(ids), type, word, link)
                     for i, ((word, type, link), ids) in enumerate(owners.items()))  # fmt: skip
    if extra:
        sentences.append(Span(len(text), len(text) + len(extra)))
    return Document(
        id, text + extra, "zh", tuple(sentences), tuple(mentions), entities,
        tuple(
            Fact(names[h], one.relation, names[t], h, t, one.score, (), one.assertion,
                 (Qualifier("valid_from", names[d], d),) if d else ())
            for one, h, t, d in facts
        ),
        coverage=Coverage((Span(0, 1),), (Unread(1, 2, "too long"),)) if partly and len(text) > 1 else None,
    )  # fmt: skip


def embed(texts: Sequence[str]) -> Floats:
    """A vector for each text that follows from its characters alone."""
    rows = []
    for text in texts:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
        rows.append(np.random.default_rng(seed).normal(size=8))
    return np.array(rows, dtype=np.float32).reshape(-1, 8)


def fill(store: Store, encoder: str = ENCODER) -> int:
    """Embed what has no vector yet."""
    waiting = list(store.without_vectors(encoder))
    if waiting:
        vectors = embed([passage.text for passage in waiting])
        store.put_vectors(encoder, {p.id: v for p, v in zip(waiting, vectors, strict=True)})
    return len(waiting)

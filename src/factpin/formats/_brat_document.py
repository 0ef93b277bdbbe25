"""Build a document from a text and the records of a brat .ann file.

A mention in a relation, an Equiv or a normalization gets an entity; mentions in one Equiv share it. Everything else
goes to meta: attributes, notes, normalizations (second references of an entity, and those of events), arguments (names
other than Arg1 and Arg2, and relations of events). Facts have no ids: in meta, R3 is the third fact.
"""

from collections.abc import Callable, Iterable
from typing import Any

from factpin.documents import Argument, Document, Entity, Event, Fact, Mention
from factpin.errors import OffsetMismatch
from factpin.formats._brat_lines import Annotations, BadLine, BratLink, Remark, TextBound
from factpin.formats._writing import single
from factpin.words import count

NO_BASE = "_:"  # prefix for a reference without a knowledge base, which brat requires
AS_BLANKS = str.maketrans("\n\r\t", "   ")

NoteDown = Callable[[str, int, str], None]  # kind, line, message


def document(id: str, text: str, found: Annotations, merge: bool, note: NoteDown) -> Document:
    """The document; BadLine if a record does not match the text or another record."""
    mentions = {t.id: _mention(id, text, t, merge, note) for t in found.mentions}
    events = _events(found, mentions)
    entities = _Entities(mentions)
    for line, ids in found.equivs:
        entities.join(_known(ids, mentions, line))
    ends = {v.id: v.trigger for v in events}
    pinned = [tuple(_end(target, mentions, ends, r) for _, target in r.arguments) for r in found.relations]
    for head, tail in pinned:
        entities.join([head])
        entities.join([tail])
    further = [n for n in found.normalizations if not entities.link(n)]
    for line, text_ in found.others:
        note("unknown_line", line, f"{text_[:40]!r} was left out; the only known line with * is Equiv")
    owner, named = entities.finished()
    return Document(
        id=id,
        text=text,
        mentions=tuple(mentions.values()),
        entities=named,
        facts=tuple(
            Fact(owner[head], r.type, owner[tail], head, tail)
            for r, (head, tail) in zip(found.relations, pinned, strict=True)
        ),
        events=tuple(events),
        meta=_meta(found, further, note),
    )


def _mention(document: str, text: str, t: TextBound, merge: bool, note: NoteDown) -> Mention:
    for start, end in t.fragments:
        if not start < end <= len(text):
            raise BadLine(f"offsets {start}:{end} in a text of {count(len(text), 'character')}; expected start < end, "
                          f"inside the text. Correct them.", t.line, t.id)  # fmt: skip
    start, end = min(f[0] for f in t.fragments), max(f[1] for f in t.fragments)
    there = " ".join(text[start:end] for start, end in t.fragments)
    if there.translate(AS_BLANKS) != t.text.translate(AS_BLANKS):
        raise _mismatch(document, text, t, there)
    if len(t.fragments) > 1:
        if not merge:
            raise BadLine(
                f"{document}: {t.id} has {count(len(t.fragments), 'fragment')} ({t.text[:40]!r}); a mention is one "
                f"piece of text. Read the first to the last character with --fragments merge.",
                t.line,
                t.id,
            )
        note("merged_fragments", t.line, f"{t.id}: {t.text[:40]!r} is read as {text[start:end][:60]!r}")
    return Mention(t.id, start, end, text[start:end], t.type)


class BadOffsets(OffsetMismatch):
    """The error for a text that is not at its offsets."""

    line = 1


def _mismatch(document: str, text: str, t: TextBound, there: str) -> BadOffsets:
    start, end = t.fragments[0]
    given = t.text.translate(AS_BLANKS)
    inclusive = len(t.fragments) == 1 and text[start : end + 1].translate(AS_BLANKS) == given
    place = text.translate(AS_BLANKS).find(given) if given else -1
    if inclusive:
        hint = f"text[{start}:{end + 1}] is, so the file seems to have inclusive ends. Add 1 to every end."
    else:
        hint = f"It is at {place}:{place + len(given)}." if place >= 0 else "It is not in the text."
    error = BadOffsets(
        f"{document}: {t.id}: text[{start}:{end}] is {there[:40]!r}, not {t.text[:40]!r}. {hint}",
        field=t.id,
        inclusive=inclusive,
    )
    error.line = t.line
    return error


def _known(ids: Iterable[str], known: dict[str, Mention], line: int) -> list[str]:
    ids = list(ids)
    for id in ids:
        if id not in known:
            raise _missing(id, line, "")
    return ids


def _missing(id: str, line: int, owner: str) -> BadLine:
    return BadLine(
        f"{owner or 'the line'} refers to {id[:40]}, which is not in the file. Correct it, or remove the line.",
        line,
        owner,
    )


def _end(target: str, mentions: dict[str, Mention], triggers: dict[str, str | None], r: BratLink) -> str:
    """The mention of an argument of a relation: itself, or the trigger of the event."""
    id = triggers.get(target) or target
    if id not in mentions:
        raise _missing(target, r.line, r.id)
    return id


def _events(found: Annotations, mentions: dict[str, Mention]) -> list[Event]:
    ids = {v.id for v in found.events}
    events = []
    for v in found.events:
        if v.trigger not in mentions:
            raise _missing(v.trigger, v.line, v.id)
        arguments = []
        for role, target in v.arguments:
            if target in mentions:
                arguments.append(Argument(role, mention=target))
            elif target in ids:
                arguments.append(Argument(role, event=target))
            else:
                raise _missing(target, v.line, v.id)
        events.append(Event(v.id, v.type, v.trigger, tuple(arguments)))
    return events


class _Entities:
    """Groups of mentions that are merged step by step."""

    def __init__(self, mentions: dict[str, Mention]) -> None:
        self.mentions = mentions
        self.of: dict[str, dict[str, None]] = {}  # mention -> its group, in order
        self.links: dict[str, tuple[str, str]] = {}  # mention -> reference, name

    def join(self, ids: list[str]) -> None:
        """Merge the groups of these mentions."""
        joined: dict[str, None] = {}
        for id in ids:
            joined.update(self.of.get(id, {id: None}))
        for id in joined:
            self.of[id] = joined

    def link(self, n: Remark) -> bool:
        """Set the reference of a mention's entity; False if it already has one, or the mention does not exist."""
        if n.target not in self.mentions or n.type != "Reference":
            return False
        self.of.setdefault(n.target, {n.target: None})
        if any(id in self.links for id in self.of[n.target]):
            return False
        self.links[n.target] = ((n.value or "").removeprefix(NO_BASE), n.text)
        return True

    def finished(self) -> tuple[dict[str, str], tuple[Entity, ...]]:
        """The id of every mention's entity, and the entities."""
        owner: dict[str, str] = {}
        entities: list[Entity] = []
        for id in self.mentions:
            if id not in self.of or id in owner:
                continue
            ids = tuple(self.of[id])
            entity = single(self.mentions[ids[0]], f"e{len(entities)}")
            link, name = next((self.links[i] for i in ids if i in self.links), ("", ""))
            entities.append(Entity(entity.id, ids, entity.type, name or entity.name, link))
            owner.update(dict.fromkeys(ids, entity.id))
        return owner, tuple(entities)


def _meta(found: Annotations, further: list[Remark], note: NoteDown) -> dict[str, Any]:
    facts = {r.id: f"R{i}" for i, r in enumerate(found.relations, start=1)}
    known = {t.id for t in found.mentions} | {v.id for v in found.events} | facts.keys()
    for a in found.attributes:
        if a.target not in known:
            note("unknown_target", a.line, f"{a.id} refers to {a.target[:40]}, which is not in the file; it is kept")

    def target(remark: Remark) -> str:
        return facts.get(remark.target, remark.target)

    meta: dict[str, Any] = {
        "attributes": [{"id": a.id, "type": a.type, "target": target(a), "value": a.value} for a in found.attributes],
        "normalizations": [
            {"id": n.id, "type": n.type, "target": target(n), "reference": n.value, "text": n.text} for n in further
        ],
        "notes": [{"id": n.id, "type": n.type, "target": target(n), "text": n.text} for n in found.notes],
        "arguments": {facts[r.id]: _names(r) for r in found.relations if _names(r) != [["Arg1", ""], ["Arg2", ""]]},
    }
    return {key: value for key, value in meta.items() if value}


def _names(r: BratLink) -> list[list[str]]:
    """[name, id if it is an event] of both arguments."""
    return [[role, "" if id.startswith("T") else id] for role, id in r.arguments]

"""Turn a document into the lines of a brat .ann file, and count what they cannot hold."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from factpin.documents import Document, Entity, Event
from factpin.formats._brat_document import AS_BLANKS, NO_BASE
from factpin.formats._brat_lines import NO_TYPE, Annotations, BadLine, parse, with_numbers, without_numbers

BLANK = re.compile(r"[\s\ud800-\udfff]")  # not allowed in a type, role or reference
BREAK = re.compile(r"[\n\ud800-\udfff]|\r\Z")  # not allowed in a name
DEFAULT = [["Arg1", ""], ["Arg2", ""]]


class Plan:
    """The lines of a document, and in `lost` what they cannot hold."""

    def __init__(self, doc: Document) -> None:
        self.doc = doc
        self.lost: Counter[str] = Counter()
        self.lines: list[str] = []
        self.first: dict[str, str] = {}  # entity -> its first mention
        self.kept = _kept_meta(doc)
        named = {
            remark["target"] for key in ("attributes", "normalizations", "notes") for remark in self.kept.get(key, [])
        }
        self.T = _numbered("T", [m.id for m in doc.mentions], named)
        written = [v for v in doc.events if v.trigger is not None]
        self.E = _numbered("E", [v.id for v in written], named)
        self._mentions()
        self._events(written)
        self._entities()
        self._facts()
        self._remarks()

    def _word(self, text: str, what: str, empty: bool = True) -> str:
        """Write a name as one word; a change counts as lost under `what`."""
        if (text == NO_TYPE and empty) or BLANK.search(text):
            self.lost[what] += 1
        return BLANK.sub("_", text) or NO_TYPE

    def _mentions(self) -> None:
        for m in self.doc.mentions:
            place = f"{self._word(m.type, 'types')} {m.start} {m.end}"
            self.lines.append(f"{self.T[m.id]}\t{place}\t{m.text.translate(AS_BLANKS)}")

    def _events(self, written: list[Event]) -> None:
        if len(written) < len(self.doc.events):
            self.lost["events without trigger"] = len(self.doc.events) - len(written)
        for v in written:
            arguments = [a for a in v.arguments if a.event is None or a.event in self.E]
            if len(arguments) < len(v.arguments):
                self.lost["arguments that are events without trigger"] += len(v.arguments) - len(arguments)
            roles = with_numbers(self._word(a.role, "roles") for a in arguments)
            if without_numbers(roles) != [self._plain(a.role) for a in arguments]:
                self.lost["numbered roles"] += 1
            ids = [self.E[a.event] if a.event is not None else self.T[a.mention or ""] for a in arguments]
            words = [f"{self._word(v.type, 'event types')}:{self.T[v.trigger or '']}"]
            words += [f"{role}:{id}" for role, id in zip(roles, ids, strict=True)]
            self.lines.append(f"{self.E[v.id]}\t{' '.join(words)}")

    def _plain(self, role: str) -> str:
        return BLANK.sub("_", role) or NO_TYPE

    def _entities(self) -> None:
        """Equiv for entities with several mentions, a normalization for the link; others are implied by their facts."""
        by_id = {m.id: m for m in self.doc.mentions}
        joined = {id for f in self.doc.facts for id in (f.head, f.tail)}
        taken: set[str] = set()
        numbers = _numbers("N", {n["id"] for n in self.kept.get("normalizations", [])})
        for e in self.doc.entities:
            own = [id for id in dict.fromkeys(e.mentions) if id not in taken]
            if len(own) < len(e.mentions):
                self.lost["mentions of two entities"] += len(e.mentions) - len(own)
            self.first[e.id] = e.mentions[0]
            taken.update(own)
            if len(own) > 1:
                self.lines.append(f"*\tEquiv {' '.join(self.T[id] for id in own)}")
            link = bool(e.link) and self._link(e, own, numbers)
            if len(own) == 1 and not link and e.id not in joined:
                self.lost["entities"] += 1
                continue
            if own and e.type != by_id[own[0]].type:
                self.lost["entity types"] += 1
            if e.name and not (link and not BREAK.search(e.name)) and e.name != by_id[e.mentions[0]].text:
                self.lost["names"] += 1

    def _link(self, e: Entity, own: list[str], numbers: Iterator[str]) -> bool:
        """Write the link and name of an entity; if that is impossible, count it and return False."""
        if not own or BLANK.search(e.link) or e.link.startswith(NO_BASE):
            self.lost["links"] += 1
            return False
        reference = e.link if ":" in e.link else NO_BASE + e.link
        name = "" if BREAK.search(e.name) else e.name
        self.lines.append(f"{next(numbers)}\tReference {self.T[own[0]]} {reference}\t{name}")
        return True

    def _facts(self) -> None:
        names = self.kept.get("arguments", {})
        mentions = {e.id: set(e.mentions) for e in self.doc.entities}
        for i, f in enumerate(self.doc.facts, start=1):
            pins = []
            for entity, mention in ((f.head, f.head_mention), (f.tail, f.tail_mention)):
                pins.append(mention if mention in mentions[entity] else None)
            if None in pins:
                self.lost["facts without mentions"] += 1
            ends = [self.T[pin or self.first[e]] for pin, e in zip(pins, (f.head, f.tail), strict=True)]
            roles = []
            for k, (role, event) in enumerate(names.get(f"R{i}", DEFAULT)):
                roles.append(f"{role}:{self.E.get(event, ends[k])}")
            relation = self._word(f.relation, "relation names", empty=False)
            self.lines.append(f"R{i}\t{relation} {' '.join(roles)}")

    def _remarks(self) -> None:
        gone = {v.id for v in self.doc.events} - self.E.keys() - self.T.keys()
        new = {**self.E, **self.T}
        for key, render in RENDER.items():
            for remark in self.kept.get(key, []):
                if remark["target"] in gone:
                    self.lost["remarks on events without trigger"] += 1
                else:
                    self.lines.append(render({**remark, "target": new.get(remark["target"], remark["target"])}))
        if len(self.kept) < len(self.doc.meta):
            self.lost["meta"] = len(self.doc.meta) - len(self.kept)


def _numbers(letter: str, taken: set[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"{letter}{number}" not in taken:
            yield f"{letter}{number}"


def _numbered(letter: str, ids: list[str], named: set[str]) -> dict[str, str]:
    """A brat id for every id; valid ones stay."""
    own = {id for id in ids if re.fullmatch(f"{letter}[0-9]+", id)}
    fresh = _numbers(letter, own | named)
    return {id: id if id in own else next(fresh) for id in ids}


def _attribute(a: dict[str, Any]) -> str:
    value = "" if a["value"] is None else f" {a['value']}"
    return f"{a['id']}\t{a['type']} {a['target']}{value}"


def _normalization(n: dict[str, Any]) -> str:
    return f"{n['id']}\t{n['type']} {n['target']} {n['reference']}\t{n['text']}"


def _note(n: dict[str, Any]) -> str:
    return f"{n['id']}\t{n['type']} {n['target']}\t{n['text']}" if n["id"] else f"#{n['text']}"


RENDER = {"attributes": _attribute, "normalizations": _normalization, "notes": _note}
FIELDS = {
    "attributes": ("id", "type", "target", "value"),
    "normalizations": ("id", "type", "target", "reference", "text"),
    "notes": ("id", "type", "target", "text"),
}


def _kept_meta(doc: Document) -> dict[str, Any]:
    """The fields of meta that can be written and read back."""
    kept = {key: doc.meta[key] for key in RENDER if key in doc.meta and _returns(key, doc.meta[key])}
    if "arguments" in doc.meta and _are_arguments(doc):
        kept["arguments"] = doc.meta["arguments"]
    return kept


def _returns(key: str, value: Any) -> bool:
    """Whether remarks have the shape that the reader makes, and can be read back."""
    if not isinstance(value, list) or not value:
        return False
    for remark in value:
        if not isinstance(remark, dict) or remark.keys() != set(FIELDS[key]):
            return False
        if not all(isinstance(v, str) or (v is None and k == "value") for k, v in remark.items()):
            return False
    lines = [RENDER[key](remark) for remark in value]
    if any(re.search(r"[\n\r\ud800-\udfff]", line) for line in lines):
        return False
    try:
        found = parse(enumerate(lines, start=1))
    except BadLine:
        return False
    return _as_remarks(found, key) == value


def _as_remarks(found: Annotations, key: str) -> list[dict[str, Any]]:
    if key == "attributes":
        return [{"id": a.id, "type": a.type, "target": a.target, "value": a.value} for a in found.attributes]
    if key == "normalizations":
        return [
            {"id": n.id, "type": n.type, "target": n.target, "reference": n.value, "text": n.text}
            for n in found.normalizations
        ]
    return [{"id": n.id, "type": n.type, "target": n.target, "text": n.text} for n in found.notes]


def _are_arguments(doc: Document) -> bool:
    """{"R1": [[name, event or ""], [name, event or ""]], …}, for existing facts, and events with that trigger."""
    value = doc.meta["arguments"]
    if not isinstance(value, dict) or not value:
        return False
    triggers = {v.id: v.trigger for v in doc.events}
    pins = {f"R{i}": (f.head_mention, f.tail_mention) for i, f in enumerate(doc.facts, start=1)}
    for id, pairs in value.items():
        if id not in pins or not isinstance(pairs, list) or len(pairs) != 2 or pairs == DEFAULT:
            return False
        for pair, pin in zip(pairs, pins[id], strict=True):
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(x, str) for x in pair):
                return False
            role, event = pair
            if not role or role == NO_TYPE or BLANK.search(role) or (event and triggers.get(event, "") != pin):
                return False
    return True

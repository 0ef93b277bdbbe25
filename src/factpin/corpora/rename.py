"""Rename the relations and types of documents by a table of names, such as {"P17": "country"}.

A table is applied in one direction, from keys to values or back. With gold, it is the direction in which more of the
predicted names become names of gold; without gold, the first known name decides. Unknown names stay, and are counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import orjson

from factpin.documents import Document
from factpin.errors import BadFile, BadInput
from factpin.files import read_text
from factpin.words import count

Kind = Literal["relations", "types", "event types"]
Name = tuple[Kind, str]
FEW = 5  # names to list in a note


@dataclass
class Renaming:
    """A table of names, with counts of what it changed and which names it does not know."""

    table: Mapping[str, str]
    forward: bool | None = None  # from keys to values; None: the first known name decides
    changed: Counter[str] = field(default_factory=Counter)  # kind -> how often
    kept: Counter[Name] = field(default_factory=Counter)
    _back: dict[str, list[str]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for key, value in self.table.items():
            self._back.setdefault(value, []).append(key)

    def rename(self, doc: Document) -> Document:
        """The document with the names of the table."""
        known = (name for _, name in names(doc) if name in self.table or name in self._back)
        if self.forward is None and (first := next(known, None)) is not None:
            self.forward = first in self.table

        def new(kind: Kind, name: str) -> str:
            found = self.candidates(name)
            if len(found) > 1:
                raise BadInput(f"{name!r} could become {' or '.join(map(repr, found))}: the table of names has it more "
                               f"than once. Leave one of them in it.")  # fmt: skip
            if found:
                self.changed[kind] += 1
            elif name:
                self.kept[kind, name] += 1
            return found[0] if found else name

        return replace(
            doc,
            mentions=tuple(replace(m, type=new("types", m.type)) for m in doc.mentions),
            entities=tuple(replace(e, type=new("types", e.type)) for e in doc.entities),
            facts=tuple(replace(f, relation=new("relations", f.relation)) for f in doc.facts),
            events=tuple(replace(e, type=new("event types", e.type)) for e in doc.events),
        )

    def candidates(self, name: str) -> list[str]:
        """The possible new names."""
        if self.forward is False:
            return self._back.get(name, [])
        return [self.table[name]] if name in self.table else []

    def notes(self) -> list[str]:
        """What was changed, and which names are unknown; kinds without any known name are skipped."""
        notes = [f"renamed: {_counts(self.changed)}"] if self.changed else []
        for kind in dict.fromkeys(kind for kind, _ in self.kept):
            own = Counter({name: n for (of, name), n in self.kept.items() if of == kind})
            if kind in self.changed or not self.changed:
                unknown = count(own.total(), kind.removesuffix("s"))
                notes.append(f"kept, as the table of names has no entry for {unknown}: {few(own)}")
        return notes


def names(doc: Document) -> Iterator[Name]:
    """The relations, types and event types of a document, with repetitions."""
    yield from (("relations", fact.relation) for fact in doc.facts)
    yield from (("types", mention.type) for mention in doc.mentions if mention.type)
    yield from (("types", entity.type) for entity in doc.entities if entity.type)
    yield from (("event types", event.type) for event in doc.events)


def towards(table: Mapping[str, str], predicted: Iterable[Document], gold: Iterable[Document]) -> Renaming:
    """The table in the direction in which more predicted names become names of gold; forward if equal."""
    known = {name for doc in gold for name in names(doc)}
    counts = Counter(name for doc in predicted for name in names(doc))

    def hits(renaming: Renaming) -> int:
        return sum(n for (kind, name), n in counts.items()
                   if any((kind, new) in known for new in renaming.candidates(name) or [name]))  # fmt: skip

    return max(Renaming(table, forward=True), Renaming(table, forward=False), key=hits)


def read_names(path: Path) -> dict[str, str]:
    """Read a JSON object of names.

    A value can be an object with the name in it, as in some copies of DocRED's rel_info. Empty names (DocRED's "Na")
    are left out.
    """
    expected = 'expected one JSON object of names, such as {"P17": "country"}'
    try:
        record = orjson.loads(read_text(path))
    except orjson.JSONDecodeError as error:
        raise BadFile(f"{path}: not JSON ({error}); {expected}.") from None
    if not isinstance(record, dict) or not record:
        raise BadFile(f"{path}: {expected}.")
    table = {key: value.get("name") if isinstance(value, dict) else value for key, value in record.items()}
    for key, name in table.items():
        if not isinstance(name, str):
            raise BadFile(f"{path}: {expected}; under {key!r} is no name. Write a string there.")
    return {key: name for key, name in table.items() if key and name}


def few(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - FEW} more" if len(every) > FEW else ""
    return ", ".join(every[:FEW]) + more


def _counts(changed: Counter[str]) -> str:
    return ", ".join(count(number, kind.removesuffix("s")) for kind, number in changed.items())

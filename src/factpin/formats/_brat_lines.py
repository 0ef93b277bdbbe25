"""Parse and check the lines of a brat .ann file; each record keeps its line number.

T1  Type start end[;start end…]  text       R1  Type Arg1:T1 Arg2:T2       E1  Type:T1 Role:T2 Role:E2
A1  Type target [value]                     N1  Type target reference  text
#1  Type target  text                       *   Equiv T1 T2 …
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from factpin.errors import BadDocument

ID = re.compile(r"[TREAMN#]\S+")
NO_TYPE = "_"  # written for an empty type, which brat does not allow


class BadLine(BadDocument):
    """A line of the .ann file is wrong."""

    def __init__(self, message: str, line: int, id: str = "") -> None:
        super().__init__(message, field=id)
        self.line = line


@dataclass(frozen=True)
class TextBound:
    """T: a mention."""

    line: int
    id: str
    type: str
    fragments: tuple[tuple[int, int], ...]  # (start, end), half-open
    text: str


@dataclass(frozen=True)
class BratLink:
    """R or E: a type, the trigger of an event, and the arguments as (role, id)."""

    line: int
    id: str
    type: str
    trigger: str
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Remark:
    """A, M, N or #: a remark on `target`; `value` is the value of an attribute or a reference."""

    line: int
    id: str
    type: str
    target: str
    value: str | None
    text: str


@dataclass
class Annotations:
    """All records of an .ann file."""

    mentions: list[TextBound] = field(default_factory=list)
    relations: list[BratLink] = field(default_factory=list)
    events: list[BratLink] = field(default_factory=list)
    attributes: list[Remark] = field(default_factory=list)
    normalizations: list[Remark] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)
    equivs: list[tuple[int, list[str]]] = field(default_factory=list)  # line, ids
    others: list[tuple[int, str]] = field(default_factory=list)  # line, text: symmetric relations other than Equiv


def parse(lines: Iterable[tuple[int, str]]) -> Annotations:
    """Parse numbered lines; BadLine if one of them cannot be parsed."""
    found = Annotations()
    seen: set[str] = set()
    for number, line in lines:
        if not line.strip():
            continue
        id, _, rest = line.partition("\t")
        if id in seen and id != "*" and ID.fullmatch(id):
            raise BadLine(f"the id {id} occurs for the second time; expected unique ids. Rename one.", number, id)
        seen.add(id)
        match id[:1]:
            case "T":
                found.mentions.append(_text_bound(number, id, rest))
            case "R":
                found.relations.append(_relation(number, id, rest))
            case "E":
                found.events.append(_event(number, id, rest))
            case "A" | "M":
                found.attributes.append(_attribute(number, id, rest))
            case "N":
                found.normalizations.append(_normalization(number, id, rest))
            case "#":
                found.notes.append(_note(number, id, rest, line))
            case "*":
                words = rest.split()
                if words[:1] == ["Equiv"]:
                    found.equivs.append((number, words[1:]))
                else:
                    found.others.append((number, line))
            case _:
                raise BadLine(
                    f"expected a line that starts with T, R, E, A, M, N, # or *, and has a tab, got {line[:40]!r}. "
                    f"Correct it, or remove it.",
                    number,
                )
    return found


def _text_bound(number: int, id: str, rest: str) -> TextBound:
    kind, tab, text = rest.partition("\t")
    type, places = (*kind.split(maxsplit=1), "", "")[:2]
    fragments = []
    for place in places.split(";"):
        start, end = _pair(place, number, id)
        fragments.append((start, end))
    if not tab:
        raise BadLine(
            "expected an id, a type with offsets, and the text, between tabs; the text is missing. Complete the line.",
            number,
            id,
        )
    return TextBound(number, id, "" if type == NO_TYPE else type, tuple(fragments), text)


def _pair(place: str, number: int, id: str) -> tuple[int, int]:
    words = place.split()
    # no text has that many characters, and int() refuses very long numbers
    if len(words) != 2 or not all(word.isascii() and word.isdigit() and len(word) < 16 for word in words):
        raise BadLine(f"expected a type and offsets such as 'Person 0 5' or 'Person 0 5;9 12', got {place[:40]!r}. "
                      f"Correct the line.", number, id)  # fmt: skip
    return int(words[0]), int(words[1])


def _relation(number: int, id: str, rest: str) -> BratLink:
    type, *words = rest.split()[:64] or [""]
    arguments = tuple(_argument(word, number, id) for word in words)
    if len(arguments) != 2:
        raise BadLine(f"expected a type and two arguments, such as 'Lives_in Arg1:T1 Arg2:T2', got {rest[:60]!r}. "
                      f"Correct the line.", number, id)  # fmt: skip
    return BratLink(number, id, type, "", arguments)


def _event(number: int, id: str, rest: str) -> BratLink:
    words = rest.split()
    if not words:
        raise BadLine(
            "expected a type with its trigger, such as 'Attack:T1', got nothing. Complete the line.", number, id
        )
    type, trigger = _argument(words[0], number, id)
    arguments = [_argument(word, number, id) for word in words[1:]]
    roles = ["" if role == NO_TYPE else role for role in without_numbers([role for role, _ in arguments])]
    pairs = tuple((role, target) for role, (_, target) in zip(roles, arguments, strict=True))
    return BratLink(number, id, "" if type == NO_TYPE else type, trigger, pairs)


def _argument(word: str, number: int, id: str) -> tuple[str, str]:
    role, colon, target = word.rpartition(":")
    if not colon or not role or not target:
        raise BadLine(f"expected a name and an id with a colon between them, such as 'Agent:T3', got {word[:40]!r}. "
                      f"Correct the line.", number, id)  # fmt: skip
    return role, target


def without_numbers(roles: Iterable[str]) -> list[str]:
    """Theme, Theme2, Site2 -> Theme, Theme, Site2: brat numbers repeated roles, starting with 2."""
    times: dict[str, int] = {}
    plain = []
    for role in roles:
        base = role.rstrip("0123456789")
        if base != role and times.get(base) and role[len(base) :] == str(times[base] + 1):
            role = base
        times[role] = times.get(role, 0) + 1
        plain.append(role)
    return plain


def with_numbers(roles: Iterable[str]) -> list[str]:
    """Theme, Theme -> Theme, Theme2."""
    times: dict[str, int] = {}
    numbered = []
    for role in roles:
        times[role] = times.get(role, 0) + 1
        numbered.append(role if times[role] == 1 else f"{role}{times[role]}")
    return numbered


def _attribute(number: int, id: str, rest: str) -> Remark:
    type, _, words = rest.rstrip().partition(" ")
    target, _, value = words.partition(" ")
    if not type or not target:
        raise BadLine(f"expected a type and the id of what has the attribute, such as 'Negation E1', "
                      f"got {rest[:40]!r}. Correct the line.", number, id)  # fmt: skip
    return Remark(number, id, type, target, value or None, "")


def _normalization(number: int, id: str, rest: str) -> Remark:
    words, _, text = rest.partition("\t")
    parts = words.split()
    if len(parts) != 3:
        raise BadLine(f"expected a type, an id and a reference, such as 'Reference T1 Wikidata:Q42', "
                      f"got {words[:60]!r}. Correct the line.", number, id)  # fmt: skip
    return Remark(number, id, parts[0], parts[1], parts[2], text)


def _note(number: int, id: str, rest: str, line: str) -> Remark:
    """A line with '#' but without number, type and target is a comment: everything after the '#' is its text."""
    words, _, text = rest.partition("\t")
    parts = words.split(" ")
    if not ID.fullmatch(id) or len(parts) != 2 or not all(parts):
        return Remark(number, "", "", "", None, line[1:])
    return Remark(number, id, parts[0], parts[1], None, text)

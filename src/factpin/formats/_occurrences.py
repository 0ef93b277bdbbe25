"""Find arguments that a file gives as strings without offsets.

A name is a surface form and a type. Facts of a record with the same name share an entity. Options.occurrences chooses
among several occurrences: the first; the nearest pair of head and tail; or all, in which case only an argument that
occurs once is pinned. In scripts with spaces, occurrences at word borders are preferred: "Ron" is only found in "Aaron"
if it is nowhere else. Everything ambiguous, repaired or missing is noted.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from factpin.documents import Document, Entity, Fact, Mention, Qualifier
from factpin.formats._pinned import entity_losses
from factpin.formats._reading import ReadContext
from factpin.words import count


class ArgumentName(NamedTuple):
    """The name of an argument in a file."""

    surface: str
    type: str = ""


class Triple(NamedTuple):
    """A fact in a file without offsets; slots are (role, name)."""

    head: ArgumentName
    relation: str
    tail: ArgumentName
    slots: tuple[tuple[str, ArgumentName], ...] = ()

    @property
    def names(self) -> tuple[ArgumentName, ...]:
        """All its arguments."""
        return self.head, self.tail, *[name for _, name in self.slots]


@dataclass
class Placement:
    """The nouns for the triples of a record, and the indices of triples with an argument that is not in the text."""

    mentions: tuple[Mention, ...]
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    unfound: list[int] = field(default_factory=list)


_Spot = tuple[int, int, str, str]  # a mention before it has an id: start, end, type, surface
_PlacedTriple = tuple[Triple, list[_Spot | None]]  # a triple, and where each of its names is pinned


def place(triples: Sequence[Triple], text: str, reading: ReadContext, line: int, document: str) -> Placement:
    """Find every argument in the text. A triple with a missing argument is unfound as a whole."""
    choice = reading.options.occurrences
    starts = _all_starts(triples, text, reading, line, document)
    spots: set[_Spot] = set()
    placed: list[_PlacedTriple] = []
    unfound = []
    seen: set[Triple] = set()
    for i, triple in enumerate(triples):
        if triple in seen:
            reading.note("duplicate_fact", line, document, f"{triple.head.surface} {triple.relation} is stated twice")
        seen.add(triple)
        names = triple.names
        found = [starts[name.surface] for name in names]
        if not all(found):
            unfound.append(i)
            missing = names[found.index([])].surface
            reading.note("argument_not_found", line, document, f"{missing!r} ({triple.relation}) is not in the text")
            continue
        every = [[_spot(name, start) for start in here] for name, here in zip(names, found, strict=True)]
        if choice == "all":
            placed.append((triple, [here[0] if len(here) == 1 else None for here in every]))
            spots.update(spot for here in every for spot in here)
        else:
            chosen = [here[0] for here in every] if choice == "first" else _nearest(triple, starts)
            placed.append((triple, [*chosen]))
            spots.update(chosen)
    return Placement(*_nouns(sorted(spots), placed), unfound)


def _nouns(
    spots: list[_Spot], placed: list[_PlacedTriple]
) -> tuple[tuple[Mention, ...], tuple[Entity, ...], tuple[Fact, ...]]:
    """A mention for every spot, an entity for every name in the order of its first spot, a fact for every triple."""
    mention = {spot: f"m{i}" for i, spot in enumerate(spots)}
    members: dict[tuple[str, str], list[str]] = {}
    for (_, _, type, surface), id in mention.items():
        members.setdefault((surface, type), []).append(id)
    entity = {name: f"e{i}" for i, name in enumerate(members)}
    mentions = [Mention(id, start, end, surface, type) for (start, end, type, surface), id in mention.items()]
    entities = [Entity(entity[name], tuple(ids), name[1], name[0]) for name, ids in members.items()]
    facts = []
    for (head, relation, tail, slots), chosen in placed:
        pins = [None if spot is None else mention[spot] for spot in chosen]
        fact = Fact(entity[head], relation, entity[tail], pins[0], pins[1])
        if slots:
            pinned = zip(slots, pins[2:], strict=True)
            qualifiers = tuple([Qualifier(role, entity[name], pin) for (role, name), pin in pinned])
            fact = replace(fact, qualifiers=qualifiers)
        facts.append(fact)
    return tuple(mentions), tuple(entities), tuple(facts)


# ---- where ----------------------------------------------------------------------------------------------------------


def _all_starts(
    triples: Sequence[Triple], text: str, reading: ReadContext, line: int, document: str
) -> dict[str, list[int]]:
    """The occurrences of every surface form, in order; doubts are noted once per record."""
    starts: dict[str, list[int]] = {}
    for triple in triples:
        for surface, _ in triple.names:
            if surface in starts:
                continue
            starts[surface], whole = occurrences(text, surface)
            if len(starts[surface]) > 1:
                reading.note(
                    "ambiguous_argument", line, document, f"{surface!r} occurs {count(len(starts[surface]), 'time')}"
                )
            if starts[surface] and not whole:
                reading.note("inside_word", line, document, f"{surface!r} only occurs inside a longer word")
    return starts


def occurrences(text: str, surface: str) -> tuple[list[int], bool]:
    """Where a surface form occurs, and whether at word borders. Inside words it counts only if it is nowhere else."""
    if not surface:
        return [], True
    found = []
    at = text.find(surface)
    while at >= 0:
        found.append(at)
        at = text.find(surface, at + len(surface))
    if found and not _in_word(surface[0]) and not _in_word(surface[-1]):
        return found, True  # it has no letters at its ends that a word could continue
    whole = [start for start in found if not _cuts_word(text, start) and not _cuts_word(text, start + len(surface))]
    return (whole, True) if whole else (found, False)


def _cuts_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _in_word(text[at - 1]) and _in_word(text[at])


def _in_word(character: str) -> bool:
    """Letters and digits of scripts with spaces between words; those from U+2E80 on have none (or attach particles)."""
    return (character < "\u2e80" or "\uffff" < character < "\U00020000") and character.isalnum()


def _nearest(triple: Triple, starts: dict[str, list[int]]) -> list[_Spot]:
    heads, tails = starts[triple.head.surface], starts[triple.tail.surface]
    head, tail = nearest_pair(heads, len(triple.head.surface), tails, len(triple.tail.surface))
    chosen = [_spot(triple.head, head), _spot(triple.tail, tail)]
    for _, name in triple.slots:
        _, start = nearest_pair([tail], len(triple.tail.surface), starts[name.surface], len(name.surface))
        chosen.append(_spot(name, start))
    return chosen


def nearest_pair(heads: list[int], head_size: int, tails: list[int], tail_size: int) -> tuple[int, int]:
    """The head and tail with the fewest characters between them, the earliest of ties; the first two if all overlap."""
    best = (-1, heads[0], tails[0])
    for head in heads:
        after = bisect_left(tails, head + head_size)
        before = bisect_right(tails, head - tail_size) - 1
        for i in (before, after):
            if 0 <= i < len(tails):
                gap = tails[i] - head - head_size if i == after else head - tails[i] - tail_size
                if best[0] < 0 or gap < best[0]:
                    best = (gap, head, tails[i])
    return best[1], best[2]


def _spot(name: ArgumentName, start: int) -> _Spot:
    return start, start + len(name.surface), name.type, name.surface


# ---- and back -------------------------------------------------------------------------------------------------------


def triples_of(doc: Document, *, typed: bool) -> list[Triple]:
    """The facts of a document as triples without offsets. An argument without a mention uses its first mention."""
    mentions = {m.id: m for m in doc.mentions}
    first = {e.id: e.mentions[0] for e in doc.entities}

    def name(entity: str, mention: str | None) -> ArgumentName:
        m = mentions[mention or first[entity]]
        return ArgumentName(m.text, m.type if typed else "")

    return [
        Triple(
            name(f.head, f.head_mention),
            f.relation,
            name(f.tail, f.tail_mention),
            tuple((q.role, name(q.entity, q.mention)) for q in f.qualifiers),
        )
        for f in doc.facts
    ]


def not_found_again(doc: Document, back: Document, *, typed: bool) -> Counter[str]:
    """What is lost by writing a document without the offsets of its arguments."""
    lost: Counter[str] = entity_losses(doc, typed=typed)
    mention = {m.id: (m.start, m.end, m.type if typed else "") for m in doc.mentions}
    again = {m.id: (m.start, m.end, m.type if typed else "") for m in back.mentions}
    pinned = {id for f in doc.facts for id in (f.head_mention, f.tail_mention, *(q.mention for q in f.qualifiers))}
    left = Counter(again.values())
    missing = 0
    for m in doc.mentions:
        if left[mention[m.id]]:
            left[mention[m.id]] -= 1
        elif m.id in pinned:
            missing += 1
        else:
            lost["mentions outside facts"] += 1
    here = Counter(_fact_keys(doc, mention))
    there = Counter(_fact_keys(back, again))
    moved = (_bare(here) - _bare(there)).total()
    lost["moved pins"] += max(moved, missing)
    lost["qualifiers"] += max(0, (here - there).total() - moved)
    return +lost


def _fact_keys(doc: Document, mention: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (
            mention.get(f.head_mention or ""),
            f.relation,
            mention.get(f.tail_mention or ""),
            tuple(sorted((q.role, mention.get(q.mention or "", ())) for q in f.qualifiers)),
        )
        for f in doc.facts
        if f.head_mention is not None and f.tail_mention is not None
    ]


def _bare(facts: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    bare: Counter[tuple[Any, ...]] = Counter()
    for key, number in facts.items():
        bare[key[:3]] += number
    return bare

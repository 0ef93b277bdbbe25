"""Strings without offsets to mentions: where in the text an argument stands that a file only names.

A name is a surface and a type. All facts of a record that share a name share an entity. Which occurrence is meant is
the user's choice (Options.occurrences): the first; the pair of head and tail that stand nearest; or all of them, and
then only an argument that stands once is pinned. Occurrences at word borders are preferred in scripts that have words:
"Ron" stands in "Aaron" only if it stands nowhere else. Whatever is ambiguous, repaired or not there is noted.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from factpin.documents import Document, Entity, Fact, Mention, Qualifier
from factpin.formats._pinned import entity_losses
from factpin.formats._reading import ReadContext


class ArgumentName(NamedTuple):
    """An argument as a file names it."""

    surface: str
    type: str = ""


class Triple(NamedTuple):
    """A fact as a file without offsets tells it; slots are (role, name)."""

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
    """The triples of one record as nouns, and the indices of those with an argument that is not in the text."""

    mentions: tuple[Mention, ...]
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    unfound: list[int] = field(default_factory=list)


_Spot = tuple[int, int, str, str]  # a mention before it has an id: start, end, type, surface
_Told = tuple[Triple, list[_Spot | None]]  # a triple, and where each of its names is pinned


def place(triples: Sequence[Triple], text: str, reading: ReadContext, line: int, document: str) -> Placement:
    """Find every argument in the text; a triple of which one argument is missing is unfound as a whole."""
    choice = reading.options.occurrences
    starts = _all_starts(triples, text, reading, line, document)
    spots: set[_Spot] = set()
    told: list[_Told] = []
    unfound = []
    seen: set[Triple] = set()
    for i, triple in enumerate(triples):
        if triple in seen:
            reading.note("duplicate_fact", line, document, f"{triple.head.surface} {triple.relation} is told twice")
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
            told.append((triple, [here[0] if len(here) == 1 else None for here in every]))
            spots.update(spot for here in every for spot in here)
        else:
            chosen = [here[0] for here in every] if choice == "first" else _nearest(triple, starts)
            told.append((triple, [*chosen]))
            spots.update(chosen)
    return Placement(*_nouns(sorted(spots), told), unfound)


def _nouns(spots: list[_Spot], told: list[_Told]) -> tuple[tuple[Mention, ...], tuple[Entity, ...], tuple[Fact, ...]]:
    """A mention for every spot, an entity for every name in the order of its first spot, a fact for every triple."""
    mention = {spot: f"m{i}" for i, spot in enumerate(spots)}
    members: dict[tuple[str, str], list[str]] = {}
    for (_, _, type, surface), id in mention.items():
        members.setdefault((surface, type), []).append(id)
    entity = {name: f"e{i}" for i, name in enumerate(members)}
    mentions = [Mention(id, start, end, surface, type) for (start, end, type, surface), id in mention.items()]
    entities = [Entity(entity[name], tuple(ids), name[1], name[0]) for name, ids in members.items()]
    facts = []
    for (head, relation, tail, slots), chosen in told:
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
    """Every surface's occurrences, in order; what is doubtful about them is noted once a record."""
    starts: dict[str, list[int]] = {}
    for triple in triples:
        for surface, _ in triple.names:
            if surface in starts:
                continue
            starts[surface], whole = occurrences(text, surface)
            if len(starts[surface]) > 1:
                reading.note("ambiguous_argument", line, document, f"{surface!r} stands {len(starts[surface])} times")
            if starts[surface] and not whole:
                reading.note("inside_word", line, document, f"{surface!r} stands inside a longer word only")
    return starts


def occurrences(text: str, surface: str) -> tuple[list[int], bool]:
    """Where a surface stands, and whether at word borders; inside words it counts only if it stands nowhere else."""
    if not surface:
        return [], True
    found = []
    at = text.find(surface)
    while at >= 0:
        found.append(at)
        at = text.find(surface, at + len(surface))
    if found and not _in_word(surface[0]) and not _in_word(surface[-1]):
        return found, True  # no word goes on past its ends, whatever stands beside it
    whole = [start for start in found if not _cuts_word(text, start) and not _cuts_word(text, start + len(surface))]
    return (whole, True) if whole else (found, False)


def _cuts_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _in_word(text[at - 1]) and _in_word(text[at])


def _in_word(character: str) -> bool:
    """Letters and digits of scripts that write blanks between words; from U+2E80 on they do not (or glue particles)."""
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
    """The head and tail with the fewest characters between, the earliest of equals; the first two if all overlap."""
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
    """The document's facts as a file without offsets tells them; an unpinned argument is named by its first mention."""
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
    """What of the document does not come back from a file that names arguments without saying where they stand."""
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
    for key, count in facts.items():
        bare[key[:3]] += count
    return bare

"""Events: events <-> spans of a class (event type, role), and links between the spans of one event, in pieces.

    targets(doc, pieces, labels)                what a head is taught
    decode(found, doc, pieces, labels, rules)   what a head found, as mentions and events

    node    a class, and the pieces first..last that play this role; a trigger is one more role
    heads   (i, j), i <= j: two arguments of one event begin with the pieces i and j
    tails   (i, j), i <= j: two arguments of one event end with the pieces i and j
    link    two nodes of one event type, not both triggers, whose ends stand in heads and in tails
    event   a maximal clique of linked nodes; a node without links is an event of one argument

A link has no direction: it is one cell with the earlier piece first, taught once, and scored once whatever the order of
the two. An event has one trigger, so two triggers are never linked, and events that share every argument stay apart.
An argument may be in several events. heads and tails know neither types nor roles, nor which head belongs to which
tail. So an event inside another, and events whose union is a clique, do not come back as they were: they are counted
as `merged`. Cliques that nobody annotated are counted as `invented`: a span that is the buyer in one event and the
seller in another of the same type gives both events in both roles. Mentions have no types here, since event and role
say what they are. `decode(targets(x)) == x` but for what Targets counts, types, and white space at the ends of a
mention.

A window teaches of an event what lies in it, if that is a pair or the whole event. Links of several windows add up; an
event that no window holds may come back in parts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

import numpy as np

from factpin.documents import Argument, Document, Event, Mention
from factpin.tasks.links import Cell, Found, Ints
from factpin.tasks.spans import Scale
from factpin.tokens import Pieces, Window, char_span, piece_spans

Classes = tuple[tuple[str, str | None], ...]  # (event type, role); the role of a trigger is None
STEPS = 2000  # of the search for cliques among arguments that hang together: real texts need some dozens


# ---- labels ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Labels:
    """What a model tells apart. A class is an event type and a role: triggers first, then arguments."""

    triggers: tuple[str, ...]  # event types whose triggers are told; none: events have no triggers
    roles: tuple[tuple[str, str], ...]  # (event type, role)

    @property
    def classes(self) -> Classes:
        return (*((type, None) for type in self.triggers), *self.roles)

    @property
    def names(self) -> tuple[str, ...]:
        """One name a class: "type" for a trigger, "type.role" for an argument."""
        return (*self.triggers, *(f"{type}.{role}" for type, role in self.roles))

    @property
    def types(self) -> tuple[str, ...]:
        """The event types, in alphabetical order."""
        return tuple(sorted({type for type, _ in self.classes}))


def labels_of(documents: Iterable[Document], *, triggers: bool = True) -> Labels:
    """The labels that these documents need, in alphabetical order; without `triggers` only arguments are told."""
    types, roles = set[str](), set[tuple[str, str]]()
    for doc in documents:
        for event in doc.events:
            if triggers and event.trigger is not None:
                types.add(event.type)
            roles |= {(event.type, a.role) for a in event.arguments if a.mention is not None}
    return Labels(tuple(sorted(types)), tuple(sorted(roles)))


# ---- targets --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Targets:
    """The events of a document as sets of spans, in piece indices of the whole document, and what could not be."""

    label: Ints  # (P,) class of a span
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    event: Ints  # (M,) index in doc.events
    argument: Ints  # (M,) index of a span that is in that event
    unalignable: tuple[Event, ...] = ()  # no argument, or none that stands at borders of pieces
    unknown: tuple[Event, ...] = ()  # of a type that the labels do not have
    merged: tuple[Event, ...] = ()  # lie inside a clique that is larger, or are told twice
    lost_arguments: int = 0  # unalignable, of an unknown role, or events themselves, while the event is taught
    invented: int = 0  # cliques that are no event

    def members(self) -> dict[int, frozenset[int]]:
        """The spans of every event."""
        found: dict[int, set[int]] = {}
        for k, at in zip(self.event.tolist(), self.argument.tolist(), strict=True):
            found.setdefault(k, set()).add(at)
        return {k: frozenset(spans) for k, spans in found.items()}

    def links(self) -> list[tuple[int, int]]:
        """All pairs of spans of one event, the lower index first, each once."""
        return sorted({pair for spans in self.members().values() for pair in combinations(sorted(spans), 2)})

    def inside(self, window: Window) -> "Targets":
        """What a window holds of the events, counted from its first piece."""
        here = self._inside(window)
        size, held = np.bincount(self.event), np.bincount(self.event[here], minlength=self.event.max(initial=-1) + 1)
        kept = here & ((held[self.event] > 1) | (size[self.event] == 1))
        spans, place = np.unique(self.argument[kept], return_inverse=True)
        first, last = self.first[spans] - window.first, self.last[spans] - window.first
        return Targets(self.label[spans], first, last, self.event[kept], place.astype(np.int64))

    def no_wider(self, width: int) -> "Targets":
        """Without arguments of more than so many pieces."""
        kept = (self.last - self.first < width)[self.argument]
        return replace(self, event=self.event[kept], argument=self.argument[kept])

    def outside(self, windows: Sequence[Window]) -> list[int]:
        """The events, as indices in doc.events, that no window holds whole."""
        size = Counter(self.event.tolist())
        whole = {k for w in windows for k, held in Counter(self.event[self._inside(w)].tolist()).items()
                 if held == size[k]}  # fmt: skip
        return sorted(size.keys() - whole)

    def _inside(self, window: Window) -> np.ndarray:
        """(M,) which arguments lie wholly in a window."""
        good = (self.first >= window.first) & (self.last < window.last)
        return np.asarray(good[self.argument])


def targets(doc: Document, pieces: Pieces, labels: Labels) -> Targets:
    """Every event as the set of its spans, the trigger among them."""
    taught = _Taught(doc, pieces, labels)
    spans = sorted({cell for cells in taught.cells.values() for cell in cells})
    at = {cell: i for i, cell in enumerate(spans)}
    members = {k: frozenset(at[cell] for cell in cells) for k, cells in taught.cells.items()}
    merged, invented = _confused(spans, members, labels.classes)
    label, first, last = np.array(spans, np.int64).reshape(-1, 3).T
    rows = [(k, i) for k, own in members.items() for i in sorted(own)]
    event_of, argument = np.array(rows, np.int64).reshape(-1, 2).T
    return Targets(
        label,
        first,
        last,
        event_of,
        argument,
        unalignable=tuple(taught.unalignable),
        unknown=tuple(taught.unknown),
        merged=tuple(doc.events[k] for k in merged),
        lost_arguments=taught.lost_arguments,
        invented=invented,
    )


class _Taught:
    """The cells of every event that can be taught, by its index, and what cannot be."""

    def __init__(self, doc: Document, pieces: Pieces, labels: Labels) -> None:
        first, last, ok = piece_spans(pieces, [m.start for m in doc.mentions], [m.end for m in doc.mentions])
        span: dict[str | None, tuple[int, int]] = {
            m.id: (int(first[i]), int(last[i])) for i, m in enumerate(doc.mentions) if ok[i]
        }
        index, types = {name: c for c, name in enumerate(labels.classes)}, set(labels.types)
        self.cells: dict[int, set[Cell]] = {}
        self.unalignable: list[Event] = []
        self.unknown: list[Event] = []
        self.lost_arguments = 0
        for k, event in enumerate(doc.events):
            parts = [(index.get(key), span.get(mention)) for key, mention in _parts(event, labels)]
            cells = {(label, *place) for label, place in parts if label is not None and place is not None}
            if event.type not in types:
                self.unknown.append(event)
            elif not cells:
                self.unalignable.append(event)
            else:
                self.cells[k] = cells
                self.lost_arguments += sum(label is None or place is None for label, place in parts)


def _parts(event: Event, labels: Labels) -> Iterator[tuple[tuple[str, str | None], str | None]]:
    """((event type, role), mention) of the trigger and of every argument; the mention of an event is None."""
    if event.trigger is not None and labels.triggers:
        yield (event.type, None), event.trigger
    for a in event.arguments:
        yield (event.type, a.role), a.mention


def _confused(spans: list[Cell], members: dict[int, frozenset[int]], classes: Classes) -> tuple[list[int], int]:
    """The events that do not come back, and how many cliques are no event, where every cell is found."""
    heads, tails = set[tuple[int, int]](), set[tuple[int, int]]()
    for own in members.values():
        for (_, i, j), (_, x, y) in combinations([spans[at] for at in own], 2):
            heads.add((min(i, x), max(i, x)))
            tails.add((min(j, y), max(j, y)))
    links = [
        (a, b)
        for (a, (c, i, j)), (b, (d, x, y)) in combinations(enumerate(spans), 2)
        if (min(i, x), max(i, x)) in heads and (min(j, y), max(j, y)) in tails and _may_link(classes[c], classes[d])
    ]
    near = _neighbours(len(spans), links)
    seen, merged = set[frozenset[int]](), []
    for k, own in members.items():
        common = -1
        for at in own:
            common &= near[at]
        if common or own in seen:  # a node that all of them are linked to: the clique is larger
            merged.append(k)
        seen.add(own)
    found, _ = cliques(len(spans), links)
    return merged, len({frozenset(clique) for clique in found} - seen)


def _may_link(a: tuple[str, str | None], b: tuple[str, str | None]) -> bool:
    """Whether spans of these two classes can be in one event."""
    return a[0] == b[0] and not (a[1] is None and b[1] is None)


# ---- cliques --------------------------------------------------------------------------------------------------------


def cliques(size: int, links: Iterable[tuple[int, int]], steps: int = STEPS) -> tuple[list[tuple[int, ...]], bool]:
    """The maximal cliques of a graph of `size` nodes, in order, and whether a search ended before it was done.

    Bron-Kerbosch, with the pivot that leaves the fewest branches (Tomita and others, 2006). Sets are bits of an int.
    """
    near = _neighbours(size, links)
    found: list[int] = []
    truncated = False
    for part in _components(near):
        branches, left = [(0, part, 0)], steps  # clique, may follow, must not follow
        while branches and left:
            left -= 1
            clique, more, done = branches.pop()
            if not more | done:
                found.append(clique)
                continue
            pivot = max(_bits(more | done), key=lambda node: (more & near[node]).bit_count())
            for node in _bits(more & ~near[pivot]):
                branches.append((clique | 1 << node, more & near[node], done & near[node]))
                more, done = more & ~(1 << node), done | 1 << node
        truncated |= bool(branches)
    return sorted(tuple(_bits(clique)) for clique in found), truncated


def _neighbours(size: int, links: Iterable[tuple[int, int]]) -> list[int]:
    near = [0] * size
    for a, b in links:
        near[a] |= 1 << b
        near[b] |= 1 << a
    return near


def _components(near: list[int]) -> list[int]:
    """The sets of nodes that hang together."""
    left, found = (1 << len(near)) - 1, []
    while left:
        part, edge = 0, left & -left
        while edge:
            part |= edge
            reached = 0
            for node in _bits(edge):
                reached |= near[node]
            edge = reached & ~part
        found.append(part)
        left &= ~part
    return found


def _bits(nodes: int) -> Iterator[int]:
    while nodes:
        low = nodes & -nodes
        yield low.bit_length() - 1
        nodes ^= low


# ---- decode ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """How found links become events."""

    trigger: Literal["optional", "required"] = "optional"  # required: a clique without a trigger is no event
    least: int = 1  # arguments of an event, its trigger counted
    steps: int = STEPS  # of the search for cliques among arguments that hang together
    scale: Scale = field(default_factory=Scale)  # of events
    span_scale: Scale = field(default_factory=Scale)  # of mentions


@dataclass(frozen=True)
class Decoded:
    mentions: tuple[Mention, ...]
    events: tuple[Event, ...]
    dropped: dict[str, int]  # cliques left out, by reason: no trigger, too few arguments
    truncated: bool  # a search for cliques used up its steps, or the head its budget: events may be missing


def decode(found: Found, doc: Document, pieces: Pieces, labels: Labels, rules: Rules | None = None) -> Decoded:
    """Mentions and events in the order of the text; an event's score is the least of its spans and links.

    A link is a pair of spans in any order; there is one kind of link, so `relation` is not looked at.
    """
    rules, classes = rules or Rules(), labels.classes
    nodes, best = [], dict[Cell, float]()  # a node is (class, start, end), in characters
    for (label, first, last), score in zip(found.spans(), found.span_score, strict=True):
        node = (label, *char_span(pieces, first, last))
        nodes.append(node)
        if node[1] < node[2]:  # pieces may carry no characters
            best[node] = max(best.get(node, -np.inf), float(score))
    links: dict[tuple[Cell, Cell], float] = {}
    for s, o, score in zip(found.subject, found.object, found.score, strict=True):
        a, b = sorted((nodes[s], nodes[o]))
        if a != b and a in best and b in best and _may_link(classes[a[0]], classes[b[0]]):
            links[a, b] = max(links.get((a, b), -np.inf), float(score))
    order = sorted(best)
    at = {node: i for i, node in enumerate(order)}
    groups, truncated = cliques(len(order), [(at[a], at[b]) for a, b in links], rules.steps)
    kept: dict[tuple[Cell, ...], float] = {}
    dropped: Counter[str] = Counter()
    for group in groups:
        own = tuple(order[i] for i in group)
        if rules.trigger == "required" and classes[own[0][0]][1] is not None:  # triggers are sorted first
            dropped["no trigger"] += 1
        elif len(own) < rules.least:
            dropped["too few arguments"] += 1
        else:
            kept[own] = min([best[node] for node in own] + [links[pair] for pair in combinations(own, 2)])
    mentions, events = _nouns(doc.text, best, kept, classes, rules)
    return Decoded(mentions, events, dict(dropped), truncated or found.truncated)


def _nouns(
    text: str, best: dict[Cell, float], kept: dict[tuple[Cell, ...], float], classes: Classes, rules: Rules
) -> tuple[tuple[Mention, ...], tuple[Event, ...]]:
    """Ids for everything."""
    spots: dict[tuple[int, int], float] = {}
    for node in sorted({node for own in kept for node in own}, key=lambda node: node[1:]):
        spots[node[1:]] = max(spots.get(node[1:], -np.inf), best[node])
    mention = {spot: f"m{i}" for i, spot in enumerate(spots)}

    def event(id: str, own: tuple[Cell, ...]) -> Event:
        by_place = sorted(own, key=lambda node: node[1:])
        parts = [(classes[label], mention[start, end]) for label, start, end in by_place]
        trigger = next((id for (_, role), id in parts if role is None), None)
        arguments = tuple(Argument(role, id) for (_, role), id in parts if role is not None)
        return Event(id, parts[0][0][0], trigger, arguments, rules.scale.probability(kept[own]))

    ordered = sorted(kept, key=lambda own: (min(node[1:] for node in own), own))
    mentions = tuple(
        Mention(id, start, end, text[start:end], "", rules.span_scale.probability(spots[start, end]))
        for (start, end), id in mention.items()
    )
    return mentions, tuple(event(f"v{i}", own) for i, own in enumerate(ordered))

"""Decode events: spans and links that a head found -> mentions and events."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np

from factpin.documents import Argument, Document, Event, Mention
from factpin.tasks.events.cliques import STEPS, cliques
from factpin.tasks.events.labels import Classes, Labels, may_link
from factpin.tasks.links import Cell, Links
from factpin.tasks.scale import Scale
from factpin.tokens import Pieces, char_span


@dataclass(frozen=True)
class Rules:
    """How found links become events."""

    trigger: Literal["optional", "required"] = "optional"  # required: a clique without a trigger is not an event
    least: int = 1  # arguments of an event, its trigger counted
    steps: int = STEPS  # of the search for cliques among arguments that hang together
    scale: Scale = field(default_factory=Scale)  # of events
    span_scale: Scale = field(default_factory=Scale)  # of mentions


@dataclass(frozen=True)
class Decoding:
    """The mentions, entities and events of a document, and how many cliques were left out."""

    mentions: tuple[Mention, ...]
    events: tuple[Event, ...]
    dropped: dict[str, int]  # cliques left out, by reason: no trigger, too few arguments
    truncated: bool  # a search for cliques used up its steps, or the head its budget: events may be missing


def decode(found: Links, doc: Document, pieces: Pieces, labels: Labels, rules: Rules | None = None) -> Decoding:
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
        if a != b and a in best and b in best and may_link(classes[a[0]], classes[b[0]]):
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
    return Decoding(mentions, events, dict(dropped), truncated or found.truncated)


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

"""Cluster mentions by links between them, strongest first, without merging what disagrees.

    link (child, host, rule, strength)      the child is a lesser way to refer to the host: Smith -> John Smith

Every name has at most one host (mentions linked by a rule of SAME are one name), so clusters are trees: "Smith" joins
"John Smith" or "Mary Smith", never both, and no link joins the two through it. A tree joins another only by its root,
and only if nothing in them disagrees: types, kinds of things, genders, one person and several, and conflicting names
(John Smith, Mary Smith). An explicit alias may join two conflicting names, but not the other names of their clusters.
"""

from collections.abc import Iterable
from typing import NamedTuple

from factpin.language._coreference_forms import may_quarrel, quarrel, reconciled
from factpin.language._coreference_names import MentionNames, Name

SAME = ("same_name", "variant")  # rules that find the same name
MOST_NAMES = 40  # in a cluster that may conflict: all are compared, so more are refused


class Link(NamedTuple):
    """The mention `child` refers to the same thing as the mention `host` (indices in the order of the text).

    Strength 0 means that the rules cannot decide; only a scorer can raise it.
    """

    child: int
    host: int
    rule: str
    strength: float


def gather(reading: MentionNames, links: Iterable[Link]) -> list[list[int]]:
    """The clusters, each sorted, in the order of their first mentions."""
    forest = _Forest(reading)
    sure = [link for link in links if link.strength > 0]
    for link in sorted(sure, key=lambda link: (-link.strength, link.child, link.host, link.rule)):
        forest.join(link)
    groups: dict[int, list[int]] = {}
    for i in range(len(reading.mentions)):
        groups.setdefault(forest.root(i), []).append(i)
    return sorted(groups.values())


class _Forest:
    """Trees of mentions, and what is known about each tree."""

    def __init__(self, reading: MentionNames) -> None:
        self.reading = reading
        self.host = list(range(len(reading.mentions)))  # a root is its own host
        self.again = [False] * len(self.host)  # is the host the same name?
        self.up = list(self.host)  # the same as host, with shortened paths
        self.names = [{name.index: name} if may_quarrel(name) else {} for name in reading.name_of]
        self.facts = [_facts(name) for name in reading.name_of]

    def root(self, i: int) -> int:
        while self.up[i] != i:
            self.up[i] = self.up[self.up[i]]
            i = self.up[i]
        return i

    def join(self, link: Link) -> None:
        child, host = link.child, self.root(link.host)
        while self.again[child]:
            child = self.host[child]
        if self.host[child] != child or child == host or self._disagree(child, host, link):
            return
        self.host[child] = link.host
        self.again[child] = link.rule in SAME
        self.up[child] = host
        if link.rule != "alias":  # names that conflict with an alias need not conflict with the host
            self.names[host] |= self.names[child]
        for mine, more in zip(self.facts[host], self.facts[child], strict=True):
            mine |= more

    def _disagree(self, child: int, host: int, link: Link) -> bool:
        for mine, more in zip(self.facts[host], self.facts[child], strict=True):
            if len(mine | more) > 1:
                return True
        one, other = (self.reading.name_of[i] for i in (link.child, link.host))
        ours, theirs = self.names[child], self.names[host]
        if link.rule != "alias" and (quarrel(one, other) or len(ours.keys() | theirs.keys()) > MOST_NAMES):
            return True
        linked = {one.index, other.index}
        return any(
            quarrel(a, b) and not any(reconciled(a, b, whole) for whole in (*ours.values(), *theirs.values()))
            for a in ours.values() for b in theirs.values() if {a.index, b.index} != linked
        )  # fmt: skip


def _facts(name: Name) -> tuple[set[str], set[str], set[str], set[str]]:
    """Type, kind of thing, gender and number of a person, each if known. "thing" is anything but a person."""
    thing = {"person"} if name.thing == "person" else {"thing"} if name.thing else set[str]()
    number = name.number if name.thing == "person" or (name.kind == "pronoun" and not name.thing) else ""
    return {name.type} - {""}, thing, {name.gender} - {""}, {number} - {""}

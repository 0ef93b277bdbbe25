"""Events: events <-> spans of a class (event type, role), and links between the spans of one event, in pieces.

    targets(doc, pieces, labels)                what a head is taught
    decode(found, doc, pieces, labels, rules)   what a head found, as mentions and events

    node    a class, and the pieces first..last that play this role; a trigger is one more role
    heads   (i, j), i <= j: two arguments of one event begin with the pieces i and j
    tails   (i, j), i <= j: two arguments of one event end with the pieces i and j
    link    two nodes of one event type, not both triggers, whose ends are in heads and in tails
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

from factpin.tasks.events.cliques import cliques
from factpin.tasks.events.decode import Decoding, Rules, decode
from factpin.tasks.events.find import EventScores, find_events
from factpin.tasks.events.labels import Classes, Labels, labels_of
from factpin.tasks.events.targets import Targets, targets

__all__ = [
    "Classes",
    "Decoding",
    "EventScores",
    "Labels",
    "Rules",
    "Targets",
    "cliques",
    "decode",
    "find_events",
    "labels_of",
    "targets",
]

"""From one passage or fact to the next, without a model: by titles that stand in a text, and by facts that share an
entity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from factpin.documents import Passage, Span
from factpin.memory.names import longest_first, spans_of_names, surface_key, title_key
from factpin.memory.nouns import ALL, Filter, JudgedFact, Pattern
from factpin.memory.store import Store

MOST_FACTS = 20_000  # that a search for paths looks at
MOST_CHAINS = 100  # to one entity
HOLDS = ("active", "disputed", "superseded")  # a fact that somebody asserts and nobody rejected


@dataclass(frozen=True, slots=True)
class Mentioned:
    """Passages of another document, and the characters (of the document, not the passage) that name its title."""

    span: Span
    title: str
    passages: tuple[str, ...]


def linked(store: Store, passage: Passage, filter: Filter = ALL) -> list[Mentioned]:
    """The other documents whose titles stand in a passage, longest title first, each once."""
    spans = [span for span in spans_of_names(passage.text) if span.end - span.start > 1]
    texts = {span: passage.text[span.start : span.end] for span in spans}
    keys = {span: title_key(text) for span, text in texts.items() if surface_key(text)}
    own = title_key(passage.title)
    found = store.titled(sorted(set(keys.values()) - {own, ""}), filter)
    mentioned: dict[str, Mentioned] = {}
    for span in longest_first(spans):
        key = keys.get(span, "")
        if key in found and key not in mentioned:
            place = Span(passage.start + span.start, passage.start + span.end)
            mentioned[key] = Mentioned(place, texts[span], tuple(found[key]))
    return list(mentioned.values())


def neighbours(store: Store, entities: Sequence[str], filter: Filter = ALL) -> list[JudgedFact]:
    """The facts that hold or held of some entities, as heads or as tails."""
    found = [
        *store.judged(Pattern(heads=tuple(entities)), filter),
        *store.judged(Pattern(tails=tuple(entities)), filter),
    ]
    return [f for f in {f.fact.id: f for f in found}.values() if f.status in HOLDS]


def paths(store: Store, start: str, end: str, longest: int = 3, filter: Filter = ALL) -> list[tuple[JudgedFact, ...]]:
    """The shortest chains of facts between two entities (keys), whichever way each fact points; none longer than
    `longest`. Surer chains come first."""
    first, last = store.entity(start, filter).id, store.entity(end, filter).id
    chains: dict[str, list[tuple[JudgedFact, ...]]] = {first: [()]}
    seen = {first}
    looked_at = 0
    for _ in range(longest):
        facts = neighbours(store, sorted(chains), filter)
        looked_at += len(facts)
        longer: dict[str, list[tuple[JudgedFact, ...]]] = {}
        for fact in facts:
            for here, there in _ways(fact):
                if here in chains and there not in seen:
                    longer.setdefault(there, []).extend((*chain, fact) for chain in chains[here])
        longer = {there: sorted(found, key=_surest)[:MOST_CHAINS] for there, found in longer.items()}
        if last in longer:
            return longer[last]
        seen |= set(longer)
        chains = longer
        if not chains or looked_at > MOST_FACTS:
            break
    return []


def _ways(fact: JudgedFact) -> tuple[tuple[str, str], tuple[str, str]]:
    head, tail = fact.fact.head.id, fact.fact.tail.id
    return (head, tail), (tail, head)


def _surest(chain: Sequence[JudgedFact]) -> tuple[float, list[str]]:
    return -math.prod(fact.confidence for fact in chain), [fact.fact.id for fact in chain]

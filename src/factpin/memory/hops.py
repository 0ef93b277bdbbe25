"""Go from a passage or fact to the next without a model: by the titles in a text, or by facts that share an entity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from factpin.documents import Passage, Span
from factpin.memory.names import longest_first, spans_of_names, surface_key, title_key
from factpin.memory.nouns import ALL, Filter, JudgedFact, Pattern
from factpin.memory.store import Store

MOST_FACTS = 20_000  # facts that a search for paths visits
MOST_CHAINS = 100  # chains to keep for one entity
HOLDS = ("active", "disputed", "superseded")  # asserted and not rejected


@dataclass(frozen=True, slots=True)
class TitleMention:
    """The title of another document, where it is mentioned (in characters of the document), and its passages."""

    span: Span
    title: str
    passages: tuple[str, ...]


def linked(store: Store, passage: Passage, filter: Filter = ALL) -> list[TitleMention]:
    """The other documents whose titles are mentioned in a passage, longest title first, each once."""
    spans = [span for span in spans_of_names(passage.text) if span.end - span.start > 1]
    texts = {span: passage.text[span.start : span.end] for span in spans}
    keys = {span: title_key(text) for span, text in texts.items() if surface_key(text)}
    own = title_key(passage.title)
    found = store.titled(sorted(set(keys.values()) - {own, ""}), filter)
    found_titles: dict[str, TitleMention] = {}
    for span in longest_first(spans):
        key = keys.get(span, "")
        if key in found and key not in found_titles:
            place = Span(passage.start + span.start, passage.start + span.end)
            found_titles[key] = TitleMention(place, texts[span], tuple(found[key]))
    return list(found_titles.values())


def neighbours(store: Store, entities: Sequence[str], filter: Filter = ALL) -> list[JudgedFact]:
    """The facts about some entities, as head or tail, that hold or did hold."""
    found = [
        *store.judged(Pattern(heads=tuple(entities)), filter),
        *store.judged(Pattern(tails=tuple(entities)), filter),
    ]
    return [f for f in {f.fact.id: f for f in found}.values() if f.status in HOLDS]


def paths(store: Store, start: str, end: str, longest: int = 3, filter: Filter = ALL) -> list[tuple[JudgedFact, ...]]:
    """The shortest chains of facts between two entities (keys), in either direction and of at most `longest` facts.

    More confident chains come first.
    """
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

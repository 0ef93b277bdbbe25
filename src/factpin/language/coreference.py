"""Coreference: which mentions of a document are one entity, by rules and optionally a learned scorer.

    resolve(doc)                     only rules
    resolve(doc, judged=judged)      rules propose links; the scorer accepts, rejects and adds links

    rules    -> links (child, host, rule, strength)                          _coreference_rules, Chinese and English
    scorer   -> new strengths for these links, and further links             _coreference_pairs, heads/mention_pair
    links    -> clusters; a weak link never merges two people                _coreference_clusters

Every mention is in exactly one entity of the result, which depends neither on the order of the mentions nor on their
ids. For a scorer, `candidates(doc)` are the pairs to judge and `targets(doc, candidates)` the gold answers. With the
right answers `resolve` restores the gold clusters, unless types or names forbid them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from factpin.documents.nouns import Coverage, Document, Entity, Fact, Mention
from factpin.errors import pick
from factpin.language._coreference_clusters import Link, gather
from factpin.language._coreference_forms import initials, part_of
from factpin.language._coreference_names import MentionNames, Name, plain, read
from factpin.language._coreference_pairs import (
    ADD,
    BUCKETS,
    FEATURES,
    KEEP,
    MentionPairs,
    PairScores,
    candidates_of,
    judge,
    ordered,
    targets,
)
from factpin.language._coreference_rules import RULES
from factpin.language._coreference_types import GENERIC, catch_all

__all__ = ["ADD", "BUCKETS", "FEATURES", "KEEP", "RULES", "MentionPairs", "PairScores", "Link", "candidates", "links",
           "ordered", "references", "resolve", "targets", "with_singletons"]  # fmt: skip


def resolve(doc: Document, *, rules: Iterable[str] = tuple(RULES), judged: PairScores | None = None) -> Document:
    """Group the mentions of a document into entities e0, e1, … in the order of the text.

    Facts are updated: an end with a pin becomes the entity of its mention, any other end the entity with most mentions
    of the old one. A fact whose two ends become the same entity (鲁迅 原名 周树人) is dropped and counted in the notes
    of the coverage. A link is kept if it is the only one among the mentions of an entity.
    """
    reading = read(doc)
    proposed = _propose(reading, rules)
    if judged is not None:
        proposed = judge(reading, proposed, judged)
    return _with_entities(doc, reading, gather(reading, proposed))


def references(doc: Document) -> set[str]:
    """The mentions that are no names but pronouns or phrases that only refer: he, 其, the company."""
    reading = read(doc)
    return {mention.id for mention, name in zip(reading.mentions, reading.name_of, strict=True) if name.kind != "name"}


def links(doc: Document, *, rules: Iterable[str] = tuple(RULES)) -> list[Link]:
    """The links proposed by these rules. Children and hosts are indices into `ordered(doc)`."""
    return _propose(read(doc), rules)


def candidates(doc: Document, *, most: int = 50, rules: Iterable[str] = tuple(RULES)) -> MentionPairs:
    """For every mention, in the order of the text, earlier mentions for a scorer to judge, at most `most`."""
    reading = read(doc)
    return candidates_of(reading, _propose(reading, rules), most)


def with_singletons(doc: Document) -> Document:
    """Add an entity for every mention that has none. Some corpora leave them out."""
    known = {id for entity in doc.entities for id in entity.mentions}
    taken = {entity.id for entity in doc.entities}
    alone = [mention for mention in doc.mentions if mention.id not in known]
    free = (id for id in (f"alone{i}" for i in count()) if id not in taken)
    made = tuple(Entity(next(free), (mention.id,), mention.type, mention.text) for mention in alone)
    return replace(doc, entities=doc.entities + made)


def _propose(reading: MentionNames, rules: Iterable[str]) -> list[Link]:
    return [link for name in rules for link in pick(RULES, name, kind="rule")(reading)]


def _with_entities(doc: Document, reading: MentionNames, clusters: Sequence[Sequence[int]]) -> Document:
    known = {id: entity.link for entity in doc.entities for id in entity.mentions}
    entities = []
    for i, cluster in enumerate(clusters):
        mentions = [reading.mentions[at] for at in cluster]
        kept = {known.get(mention.id, "") for mention in mentions} - {""}
        link = kept.pop() if len(kept) == 1 else ""
        ids = tuple(mention.id for mention in mentions)
        entities.append(Entity(f"e{i}", ids, _type(mentions), _best_name(reading, cluster), link))
    owner = {id: entity.id for entity in entities for id in entity.mentions}
    moved = {entity.id: _most([owner[id] for id in entity.mentions]) for entity in doc.entities}
    pairs = [(fact, _moved(fact, owner, moved)) for fact in doc.facts]
    facts = tuple(new for old, new in pairs if new.head != new.tail or old.head == old.tail)
    coverage = doc.coverage
    if dropped := len(pairs) - len(facts):
        note = f"facts dropped because their two ends are one entity: {dropped}"
        coverage = replace(coverage or Coverage(), notes=(*(coverage.notes if coverage else ()), note))
    return replace(doc, entities=tuple(entities), facts=facts, coverage=coverage)


def _most(items: Sequence[str]) -> str:
    """The most frequent item; if there are several, the first."""
    return Counter(items).most_common(1)[0][0]


def _type(mentions: Sequence[Mention]) -> str:
    """The type of most mentions. Types that only say that a mention refers are used if there is no other.

    In a tie, the first type wins, and any type wins over MISC.
    """
    types = [mention.type for mention in mentions if mention.type]
    telling = Counter(type for type in types if type.casefold() not in GENERIC) or Counter(types)
    return max(telling, key=lambda type: (telling[type], not catch_all(type)), default="")


def _best_name(reading: MentionNames, cluster: Sequence[int]) -> str:
    """The most frequent name, including its short forms. In a tie, the first wins: 鲁迅，原名周树人.

    It is the text of a mention, if possible of one without emoji at its ends.
    """
    names = {reading.name_of[i].index: reading.name_of[i] for i in cluster}
    proper = [name for name in names.values() if name.kind == "name"]
    proper = proper or [name for name in names.values() if name.kind == "nominal"] or list(names.values())
    uses = Counter(reading.name_of[i].index for i in cluster)

    def worth(name: Name) -> tuple[int, int]:
        short = [other for other in proper if other is name or part_of(other, name) or initials(other, name)]
        return sum(uses[other.index] for other in short), -name.index

    texts = [reading.mentions[i].text for i in max(proper, key=worth).mentions]
    return next((text for text in texts if plain(text) == text), texts[0])


def _moved(fact: Fact, owner: dict[str, str], moved: dict[str, str]) -> Fact:
    qualifiers = tuple(
        replace(q, entity=moved[q.entity] if q.mention is None else owner[q.mention]) for q in fact.qualifiers
    )
    head = moved[fact.head] if fact.head_mention is None else owner[fact.head_mention]
    tail = moved[fact.tail] if fact.tail_mention is None else owner[fact.tail_mention]
    return replace(fact, head=head, tail=tail, qualifiers=qualifiers)

"""Coreference: which mentions of a document are one entity, by rules and, where there is one, by a learned scorer.

    resolve(doc)                     rules alone
    resolve(doc, judged=judged)      rules propose, the scorer accepts, refuses and adds

    rules    -> links (child, host, rule, strength)                          _coreference_rules, Chinese and English
    scorer   -> other strengths for these links, and links of its own        _coreference_pairs, heads/mention_pair
    links    -> clusters, guarded: no weak link makes two people one         _coreference_clusters

Every mention ends in exactly one entity. The outcome depends neither on the order of the mentions nor on their ids.
For a scorer, `candidates(doc)` are the pairs to judge and `targets(doc, candidates)` the gold answers; from answers
that are all right `resolve` makes the gold clusters again, unless types or names forbid them.
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
    """The document with its mentions gathered into entities e0, e1, … in the order of the text.

    Facts follow: a pinned argument goes to the entity of its mention, another to the entity that most mentions of the
    old one went to. One whose two ends become one entity (鲁迅 原名 周树人) is dropped, and counted in the notes of the
    coverage. A link is kept where the mentions of an entity had one alone.
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
    """What the rules of these names propose; children and hosts are indices into `ordered(doc)`."""
    return _propose(read(doc), rules)


def candidates(doc: Document, *, most: int = 50, rules: Iterable[str] = tuple(RULES)) -> MentionPairs:
    """For every mention, in the order of the text, at most that many earlier ones for a scorer to judge."""
    reading = read(doc)
    return candidates_of(reading, _propose(reading, rules), most)


def with_singletons(doc: Document) -> Document:
    """The document with every mention in an entity: what none has gets one of its own. Some corpora leave them out."""
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
    """The most frequent item, the first of several."""
    return Counter(items).most_common(1)[0][0]


def _type(mentions: Sequence[Mention]) -> str:
    """The type of most mentions; one that only says that a mention refers counts where there is no other.

    Of equals it is the first, or one that tells something rather than MISC.
    """
    types = [mention.type for mention in mentions if mention.type]
    telling = Counter(type for type in types if type.casefold() not in GENERIC) or Counter(types)
    return max(telling, key=lambda type: (telling[type], not catch_all(type)), default="")


def _best_name(reading: MentionNames, cluster: Sequence[int]) -> str:
    """The name used most, where its short forms count for it; of equals the longest, then the first.

    As a mention has it, if possible one without emoji at its ends.
    """
    names = {reading.name_of[i].index: reading.name_of[i] for i in cluster}
    proper = [name for name in names.values() if name.kind == "name"]
    proper = proper or [name for name in names.values() if name.kind == "nominal"] or list(names.values())
    uses = Counter(reading.name_of[i].index for i in cluster)

    def worth(name: Name) -> tuple[int, int, int]:
        short = [other for other in proper if other is name or part_of(other, name) or initials(other, name)]
        return sum(uses[other.index] for other in short), len(name.key), -name.index

    texts = [reading.mentions[i].text for i in max(proper, key=worth).mentions]
    return next((text for text in texts if plain(text) == text), texts[0])


def _moved(fact: Fact, owner: dict[str, str], moved: dict[str, str]) -> Fact:
    qualifiers = tuple(
        replace(q, entity=moved[q.entity] if q.mention is None else owner[q.mention]) for q in fact.qualifiers
    )
    head = moved[fact.head] if fact.head_mention is None else owner[fact.head_mention]
    tail = moved[fact.tail] if fact.tail_mention is None else owner[fact.tail_mention]
    return replace(fact, head=head, tail=tail, qualifiers=qualifiers)

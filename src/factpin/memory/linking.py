"""Linking: which entity of a store a mention refers to, or that it refers to none of them (NIL).

    candidates   the entities that the store knows by the mention's name
    features     prior     log of the share of the name's mentions
                 context   how similar the words around the mention and around the entity's mentions are
                 type      1 if the types agree, -1 if they differ, 0 if one is unknown
                 near      log of 1 + how many other names of the document have a fact with the entity
    score        softmax over the candidates and NIL (link_fit.py)

The weights are fitted on the store itself: every mention in a sample of its documents is linked as if its document were
not there. Then an entity that only this document names is NIL, so that scores are probabilities for this store. They
are fitted twice, with types and without, since NIL seems likely where the types of all candidates are unknown.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log, sqrt
from typing import Any

import numpy as np

from factpin.documents import Document, Entity, Mention
from factpin.documents.keys import name_key
from factpin.memory.assemble import Assembler
from factpin.memory.link_fit import FEATURES, Array, LinkExample, LinkWeights, fit, softmax
from factpin.memory.names import surface_key
from factpin.memory.nouns import ALL, Filter, Pattern, StoredEntity
from factpin.memory.rows import MentionRow
from factpin.memory.store import Store
from factpin.memory.terms import terms

WINDOW = 150  # characters on both sides of a mention
MOST_CANDIDATES = 30
MOST_CONTEXTS = 30  # mentions of an entity whose contexts are compared
MOST_DOCUMENTS = 400  # of the store that weights are fitted on
MOST_EXAMPLES = 4000
FEW = 30  # examples below which the default weights are kept

Words = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LinkedMention:
    """A mention, the entity it refers to (None: none in the store), and the probability of that."""

    mention: Mention
    entity: StoredEntity | None
    score: float
    link: str = ""  # the entity in another knowledge base, such as Q42
    rivals: tuple[tuple[StoredEntity, float], ...] = ()  # other candidates, likeliest first


@dataclass(frozen=True, slots=True)
class NameUse:
    """An entity as the candidate of a name: how often each document uses the name for it."""

    entity: StoredEntity
    documents: Mapping[str, int]

    def count(self, without: str = "") -> int:
        """How often, without one document."""
        return sum(n for document, n in self.documents.items() if document != without)


Asked = Sequence[tuple[Mention, Sequence[NameUse]]]  # mentions of a document, and the candidates of each
Judge = Callable[[Document, Asked], Sequence[Array | None]]  # see Linker


@dataclass
class Linker:
    """Links mentions to the entities of a store.

    weights: fitted on the store unless given. judge: a trained linker, which says how probable the candidates of each
    mention and NIL are (C + 1,), in place of the features. Where it cannot say that of NIL, it gives the candidates
    alone (C,), and the features decide how probable NIL is; where it knows no candidate (None), they decide everything.
    """

    store: Store
    filter: Filter = ALL
    given: LinkWeights | None = None
    judge: Judge | None = None
    _uses: dict[str, list[NameUse]] = field(default_factory=dict, repr=False)
    _mentions: dict[str, list[MentionRow]] = field(default_factory=dict, repr=False)
    _words: dict[str, list[tuple[str, Counter[str]]]] = field(default_factory=dict, repr=False)
    _near: dict[str, dict[str, set[str]]] = field(default_factory=dict, repr=False)

    @cached_property
    def assembler(self) -> Assembler:
        """What reads entities with the decisions made by hand."""
        return Assembler(self.store.tables, self.filter)

    @cached_property
    def weights(self) -> LinkWeights:
        """The weights of the features, for mentions that have a type."""
        return self._fitted(typed=True)

    @cached_property
    def weights_without_type(self) -> LinkWeights:
        """The same for mentions that have none."""
        return self._fitted(typed=False)

    def _fitted(self, *, typed: bool) -> LinkWeights:
        if self.given is not None:
            return self.given
        found = self._examples if typed else [one.without_type() for one in self._examples]
        return fit(found) if len(found) >= FEW else LinkWeights()

    @cached_property
    def _rarity(self) -> dict[str, float]:
        """log(documents / documents with a term), over a sample of the store."""
        counts: Counter[str] = Counter()
        rows = self.store.tables.sources(self.filter)[:MOST_DOCUMENTS]
        for text in self.store.tables.texts([row.id for row in rows]).values():
            counts.update(set(terms(text)))
        return {term: log((len(rows) + 1) / (n + 0.5)) for term, n in counts.items()} | {"": log(2 * len(rows) + 2)}

    # ---- documents ------------------------------------------------------------------------------------------------

    def link(self, doc: Document) -> Document:
        """The document with links. `meta["links"]` has a record for each mention whose name was looked up.

        Mentions without an entity get one where they refer to the store. An entity in the document is linked by its
        longest name.
        """
        found = {one.mention.id: one for one in self.links(doc)}
        owned = {id for entity in doc.entities for id in entity.mentions}
        entities = [self._linked(entity, found) for entity in doc.entities]
        free: dict[str, list[LinkedMention]] = defaultdict(list)
        for id, one in found.items():
            if id not in owned and one.entity is not None:
                free[one.entity.id].append(one)
        taken = {entity.id for entity in doc.entities}
        for number, group in enumerate(free.values()):
            entities.append(self._new(f"e{len(taken) + number}", group, taken))
        meta = {**doc.meta, "links": [record_of(one) for one in found.values()]}
        return replace(doc, entities=tuple(entities), meta=meta)

    def links(self, doc: Document) -> list[LinkedMention]:
        """What each mention with a name refers to; mentions of one entity of the document refer to the same."""
        named = {m.id: m for m in doc.mentions if surface_key(m.text)}
        decides = dict(named)  # of every mention: the one that decides for it
        for entity in doc.entities:
            own = [named[id] for id in entity.mentions if id in named]
            for m in own:
                decides[m.id] = max(own, key=lambda m: (len(m.text), -m.start))
        found = self._decide(doc, list({m.id: m for m in decides.values()}.values()))
        return [replace(found[decides[id].id], mention=m) for id, m in named.items()]

    def _decide(self, doc: Document, mentions: Sequence[Mention]) -> dict[str, LinkedMention]:
        """What these mentions refer to, by their ids."""
        found = {m.id: LinkedMention(m, None, 1.0) for m in mentions}
        asked = [(m, uses) for m in mentions if (uses := self.uses(surface_key(m.text)))]
        judge = self.judge or self._by_features
        for (m, uses), judged in zip(asked, judge(doc, asked), strict=True):
            chances = self._completed(doc, m, uses, judged)
            order = np.argsort(-chances[:-1], kind="stable")
            listed = tuple((uses[i].entity, float(chances[i])) for i in order)
            if chances[-1] >= chances[order[0]]:
                found[m.id] = LinkedMention(m, None, float(chances[-1]), rivals=listed)
            else:
                entity, score = listed[0]
                found[m.id] = LinkedMention(m, entity, score, self.outside(entity.id), listed[1:])
        return found

    def _completed(self, doc: Document, mention: Mention, uses: Sequence[NameUse], judged: Array | None) -> Array:
        """The probabilities of the candidates and of NIL; the features say what the judge does not."""
        if judged is not None and len(judged) > len(uses):
            return judged
        found = self._by_features(doc, [(mention, uses)])[0]
        return found if judged is None else np.append((1 - found[-1]) * judged, found[-1])

    def _by_features(self, doc: Document, asked: Asked) -> list[Array]:
        """The probabilities that follow from the features."""
        around = {key for m in doc.mentions if (key := surface_key(m.text))}
        return [
            softmax(
                (self.weights if m.type else self.weights_without_type).scores(
                    self.features(doc, m, uses, around), sum(use.count() for use in uses)
                )
            )
            for m, uses in asked
        ]

    def _linked(self, entity: Entity, found: Mapping[str, LinkedMention]) -> Entity:
        one = next((found[id] for id in entity.mentions if id in found), None)
        if one is None or one.entity is None:
            return entity
        return replace(entity, name=entity.name or self._name(one.entity), link=entity.link or one.link)

    def _new(self, id: str, group: Sequence[LinkedMention], taken: set[str]) -> Entity:
        while id in taken:
            id += "x"
        stored = group[0].entity
        name, type = ("", "") if stored is None else (self._name(stored), stored.type)
        return Entity(id, tuple(one.mention.id for one in group), type or group[0].mention.type, name, group[0].link)

    def _name(self, entity: StoredEntity) -> str:
        """The name under which a store would find the same entity again; "" if it has a link instead."""
        keys = {row.key for row in self.store.tables.entities(self.assembler.groups.members(entity.id))}
        return entity.name if name_key(entity.name) in keys or self.outside(entity.id) else ""

    def outside(self, id: str) -> str:
        """The id of an entity in another knowledge base; "" if there is none."""
        for row in self.store.tables.entities(self.assembler.groups.members(id)):
            if row.key.startswith("link:"):
                return row.key.removeprefix("link:")
        return ""

    # ---- features -------------------------------------------------------------------------------------------------

    def uses(self, key: str) -> list[NameUse]:
        """The candidates of a name, most frequent first."""
        if key not in self._uses:
            self._uses[key] = self._find_uses(key)
        return self._uses[key]

    def _find_uses(self, key: str) -> list[NameUse]:
        first = self.assembler.groups.first
        ids = list(dict.fromkeys(first(entity) for _, entity, _ in self.store.tables.named([key], self.filter)))
        entities = self.assembler.entities(ids)
        uses = []
        for id in ids:
            documents = Counter(row.document for row in self._rows(id) if row.surface_key == key)
            uses.append(NameUse(entities[id], documents))
        return sorted(uses, key=lambda use: (-use.count(), use.entity.id))[:MOST_CANDIDATES]

    def _rows(self, entity: str) -> list[MentionRow]:
        if entity not in self._mentions:
            members = self.assembler.groups.members(entity)
            self._mentions[entity] = sorted(self.store.tables.mentions(members, self.filter))
        return self._mentions[entity]

    def features(
        self, doc: Document, mention: Mention, uses: Sequence[NameUse], around: set[str], without: str = ""
    ) -> Array:
        """(candidates, 4). without: a document of the store that does not count."""
        counts = [use.count(without) for use in uses]
        priors = [log((n + 0.5) / (sum(counts) + 0.5 * len(uses))) for n in counts]
        here = self._weighed(context_terms(doc.text, mention.start, mention.end))
        similar = [cosine(here, self._profile(use.entity.id, without)) for use in uses]
        types = [_agreement(mention.type, use.entity.type) for use in uses]
        near = [log(1 + self._neighbours(use.entity.id, around, without)) for use in uses]
        return np.array([priors, similar, types, near]).T.reshape(len(uses), len(FEATURES))

    def _weighed(self, counts: Counter[str]) -> Words:
        unseen = self._rarity[""]
        return {term: (1 + log(n)) * max(0.0, self._rarity.get(term, unseen)) for term, n in counts.items()}

    def _profile(self, entity: str, without: str) -> Words:
        """The words around the mentions of an entity."""
        if entity not in self._words:
            rows = self._rows(entity)[:MOST_CONTEXTS]
            texts = self.store.tables.texts(sorted({row.document for row in rows}))
            self._words[entity] = [
                (row.document, context_terms(texts[row.document], row.start, row.end)) for row in rows
            ]
        total: Counter[str] = Counter()
        for document, counts in self._words[entity]:
            if document != without:
                total.update(counts)
        return self._weighed(total)

    def _neighbours(self, entity: str, around: set[str], without: str) -> int:
        """How many of the names around it belong to entities that a fact joins with this one."""
        if entity not in self._near:
            members, found = self.assembler.groups.members(entity), defaultdict[str, set[str]](set)
            for pattern in (Pattern(heads=members), Pattern(tails=members)):
                for fact, evidence in self.store.tables.facts(pattern, self.filter):
                    found[fact.tail if pattern.heads else fact.head].add(evidence.document)
            keys = defaultdict[str, set[str]](set)
            for row in self.store.tables.names(sorted(found), self.filter):
                keys[surface_key(row.surface)] |= found[row.entity]
            self._near[entity] = dict(keys)
        return sum(bool(self._near[entity].get(name, set()) - {without}) for name in around)

    # ---- fitting --------------------------------------------------------------------------------------------------

    @cached_property
    def _examples(self) -> list[LinkExample]:
        return self.examples()

    def examples(self) -> list[LinkExample]:
        """Mentions of the store, each linked without its document."""
        first, found = self.assembler.groups.first, list[LinkExample]()
        for source in self.store.tables.sources(self.filter)[:MOST_DOCUMENTS]:
            rows = self.store.tables.rows(source.id)
            doc = Document(source.id, rows.document.text)
            named = [row for row in rows.mentions if row.surface_key]
            around = {row.surface_key for row in named}
            for row in named:
                uses = [use for use in self.uses(row.surface_key) if use.count(source.id)]
                if uses:
                    mention = Mention("m", row.start, row.end, row.surface, row.type)
                    gold = [use.entity.id for use in uses]
                    at = gold.index(first(row.entity)) if first(row.entity) in gold else -1
                    count = sum(use.count(source.id) for use in uses)
                    found.append(LinkExample(self.features(doc, mention, uses, around, source.id), count, at))
            if len(found) >= MOST_EXAMPLES:
                break
        return found


def context_terms(text: str, start: int, end: int) -> Counter[str]:
    """The terms around a mention, without those of the mention."""
    return Counter(terms(text[max(0, start - WINDOW) : start])) + Counter(terms(text[end : end + WINDOW]))


def cosine(a: Words, b: Words) -> float:
    """From 0 to 1."""
    if len(b) < len(a):
        a, b = b, a
    both = sum(weight * b[term] for term, weight in a.items() if term in b)
    return both / sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values())) if both else 0.0


def record_of(one: LinkedMention) -> dict[str, Any]:
    """A record of `meta["links"]`."""
    known = {} if one.entity is None else {"name": one.entity.name, **({"link": one.link} if one.link else {})}
    return {"mention": one.mention.id, "entity": one.entity and one.entity.id, **known, "score": round(one.score, 4)}


def _agreement(a: str, b: str) -> float:
    return 0.0 if not a or not b else 1.0 if a == b else -1.0

"""Re-DocRED: its sentences with the facts that they state, and its documents as a whole.

Facts of Re-DocRED are between entities of a document. A sentence that mentions both entities states the fact if it is
the evidence in the corpus or the only sentence that mentions both, if it has a word that hints at the relation, and if
the types fit. Otherwise the relation is unknown in that sentence: neither stated nor annotated.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from _prepare_facts import Place, Relation, Table, Told, make_meta, pin, running

from factpin import formats
from factpin.documents import Document, Entity, Fact, Mention, Span

# KnowledgeNet also marks pronouns, Re-DocRED does not: a sentence with one may state facts that it leaves out.
SPEAKS_OF_SOMEONE = re.compile(r"\b(?:he|she|his|her|him|hers|who|whom|whose|they|their|them|i|my|me|we|our)\b", re.I)
SPEAKS_OF_SOMETHING = re.compile(r"\b(?:it|its|we|our|they|their|which)\b", re.I)
OF_SOMEONE = {
    "date of birth",
    "date of death",
    "place of birth",
    "residence",
    "country of citizenship",
    "spouse",
    "child",
    "educated at",
    "employer",
    "member of political party",
    "founded by",
    "chief executive officer",
}
OF_SOMETHING = {"inception", "founded by", "headquarters location", "chief executive officer", "parent organization"}
# KnowledgeNet has one name for what Re-DocRED distinguishes: where the finer one is annotated, the other is unknown.
COARSER = {
    "employer": {"member of", "member of sports team", "military branch", "chairperson"},
    "headquarters location": {"located in the administrative territorial entity", "country", "location of formation"},
    "residence": {"work location", "country of citizenship"},
}
OF_PLACES = ("country", "located in the administrative territorial entity")
DEMONYM = re.compile(
    r"(?:ish|ese|ian|ean|ican|aeli|raqi|stani|French|Dutch|Greek|Swiss|Czech|Thai|German|Roman|Welsh|Slovak|Afghan|"
    r"Catalan|Argentine|Turk|Norman|Moroccan)s?$"
)
NEAR = 25  # characters between a place and what it is in, where nothing else proves that the sentence states it
Pair = tuple[str, str]  # ids of two entities


@dataclass(frozen=True)
class Known:
    """What is known of a document: its relations as ours, and which sentences say what about two entities."""

    doc: Document
    names: Mapping[str, str]  # code of a relation -> its name in Wikidata
    table: Table
    types: Mapping[str, str]  # entity -> our type
    proofs: Mapping[Pair, set[int]]  # sentences that prove something of two entities, in either order
    together: Mapping[Pair, set[int]]  # sentences that mention both

    def sentences(self, fact: Fact) -> set[int]:
        """The sentences that state a fact, as far as this is sure."""
        proved = {e.sentence for e in fact.evidence} or self.proofs[fact.head, fact.tail]
        shared = self.together[fact.head, fact.tail]
        return proved & shared if proved else shared if len(shared) == 1 else set()

    def ours(self, fact: Fact) -> tuple[Relation, str, str] | None:
        """A fact as ours: relation, head, tail."""
        found = self.table.find(self.names[fact.relation])
        if found is None:
            return None
        return (found[0], fact.tail, fact.head) if found[1] else (found[0], fact.head, fact.tail)


@dataclass(frozen=True)
class Sentence:
    """A sentence as running text, and the places of each entity in it."""

    text: str
    places: Mapping[str, list[Span]]

    def mentions(self, fact: Fact) -> bool:
        """Whether both arguments are mentioned."""
        return bool(self.places[fact.head] and self.places[fact.tail])


def redocred(path: Path, names: Mapping[str, str], table: Table) -> Iterator[tuple[str, Document]]:
    """(title, document) of every sentence, with the facts that are stated inside it."""
    schema = schema_of(names, table)
    for doc in formats.read(path, format="docred"):
        known = know(doc, names, table)
        for k in range(len(doc.sentences)):
            sentence = cut_sentence(doc, k)
            facts, unsure = tell(known, k, sentence)
            meta = make_meta("redocred", schema - unsure)
            yield doc.id, pin(f"{doc.id}-{k}", sentence.text, facts, meta, "en")


def schema_of(names: Mapping[str, str], table: Table) -> set[str]:
    """Our relations that the corpus annotates."""
    return {found[0].name for name in names.values() if (found := table.find(name))}


def know(doc: Document, names: Mapping[str, str], table: Table) -> Known:
    """Gather what is known of a document."""
    at = {m.id: doc.sentence_of(m.start) for m in doc.mentions}
    where = {e.id: {k for id in e.mentions if (k := at[id]) is not None} for e in doc.entities}
    proofs: dict[Pair, set[int]] = {}
    for fact in doc.facts:
        for pair in ((fact.head, fact.tail), (fact.tail, fact.head)):
            proofs.setdefault(pair, set()).update(e.sentence for e in fact.evidence)
    together = {(fact.head, fact.tail): where[fact.head] & where[fact.tail] for fact in doc.facts}
    return Known(doc, names, table, types_of(doc, names, table), proofs, together)


def types_of(doc: Document, names: Mapping[str, str], table: Table) -> dict[str, str]:
    """Our types of a document's entities; something with a relation of works is a work."""
    types = {e.id: table.types["redocred"][e.type] for e in doc.entities}
    for fact in doc.facts:
        if found := table.find(names[fact.relation]):
            head = fact.tail if found[1] else fact.head
            if found[0].head == ("work",) and types[head] == "other":
                types[head] = "work"
    return types


def cut_sentence(doc: Document, k: int) -> Sentence:
    """One sentence of a document as running text."""
    start, end = doc.sentences[k]
    mentions = [m for m in doc.mentions if start <= m.start and m.end <= end]
    text, spans = running(doc.text[start:end], [(m.start - start, m.end - start) for m in mentions])
    place = {m.id: span for m, span in zip(mentions, spans, strict=True)}
    return Sentence(text, {e.id: [place[id] for id in e.mentions if id in place] for e in doc.entities})


def tell(known: Known, k: int, sentence: Sentence) -> tuple[list[Told], set[str]]:
    """The facts that a sentence states, and the relations that are unknown in it."""
    facts, unsure, others = list[Told](), unsaid(sentence.text), set[str]()
    for fact in filter(sentence.mentions, known.doc.facts):
        others.add(known.names[fact.relation])
        if ours := known.ours(fact):
            relation, head, tail = ours
            pairs = list(places(known, sentence, fact)) if k in known.sentences(fact) else []
            if pairs and fits(known, *ours) and relation.hinted(sentence.text):
                facts += [Told(a, relation.name, b) for a, b in pairs]
            else:
                unsure.add(relation.name)
    return facts, unsure | {name for name, finer in COARSER.items() if finer & others}


def fits(known: Known, relation: Relation, head: str, tail: str) -> bool:
    """Whether the arguments are of types that the relation allows."""
    return known.types[head] in relation.head and known.types[tail] in relation.tail


def places(known: Known, sentence: Sentence, fact: Fact) -> Iterator[tuple[Place, Place]]:
    """Every pair of mentions that states a fact; a place is in another, not in a people, and near it if unproved."""
    ours = known.ours(fact)
    if ours is None:
        return
    relation, head, tail = ours
    proved = bool(known.proofs[fact.head, fact.tail])
    for a in sentence.places[head]:
        for b in sentence.places[tail]:
            near = max(a.start, b.start) - min(a.end, b.end) <= NEAR
            demonym = DEMONYM.search(sentence.text[b.start : b.end]) is not None
            if relation.name not in OF_PLACES or ((proved or near) and not demonym):
                yield Place(*a, known.types[head]), Place(*b, known.types[tail])


def unsaid(text: str) -> set[str]:
    """The relations that a pronoun of the text may take part in."""
    someone = OF_SOMEONE if SPEAKS_OF_SOMEONE.search(text) else set()
    return someone | (OF_SOMETHING if SPEAKS_OF_SOMETHING.search(text) else set())


def whole_documents(path: Path, names: Mapping[str, str], table: Table) -> Iterator[Document]:
    """Documents as running text with all entities and facts."""
    schema, kinds = schema_of(names, table), table.types["redocred"]
    for doc in formats.read(path, format="docred"):
        known = know(doc, names, table)
        text, spans = running(doc.text, [*((m.start, m.end) for m in doc.mentions), *doc.sentences])
        at = zip(doc.mentions, spans, strict=False)
        yield Document(
            doc.id,
            text,
            "en",
            tuple(spans[len(doc.mentions) :]),
            tuple(Mention(m.id, start, end, text[start:end], kinds[m.type]) for m, (start, end) in at),
            tuple(Entity(e.id, e.mentions, known.types[e.id], e.name) for e in doc.entities),
            tuple(dict.fromkeys(Fact(o[1], o[0].name, o[2]) for fact in doc.facts if (o := known.ours(fact)))),
            meta=make_meta("redocred", schema),
        )

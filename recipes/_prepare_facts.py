"""What en-facts/prepare.py and zh-facts/prepare.py share: relations, documents of pinned facts, cuts and counts."""

import hashlib
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from _detokenise import detokenise

from factpin import formats
from factpin.documents import Document, Entity, Fact, Mention, Qualifier, Span
from factpin.files import lines
from factpin.language.sentences import split_sentences

DATA = Path("../shared/data")
TABLE = Path(__file__).with_name("relations.toml")
TYPES = ("person", "organization", "location", "date", "number", "work", "title", "other")
SHARED = 12  # normalised characters; shorter sentences prove no overlap
UNSEEN = 0.25  # of the arguments of a type: where more may be unannotated, the type is not exhaustive


# ---- relations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Relation:
    """A relation under our name, with the types that its arguments may have."""

    name: str
    head: tuple[str, ...]
    tail: tuple[str, ...]
    symmetric: bool = False
    hint: re.Pattern[str] | None = None
    slots: Mapping[str, str] = field(default_factory=dict)

    def hinted(self, text: str) -> bool:
        """Whether a text may state the relation: it has one of the words that go with it."""
        return self.hint is None or self.hint.search(text) is not None


@dataclass(frozen=True)
class Table:
    """The relations of one language, and what corpora call them."""

    relations: Mapping[str, Relation]
    known: Mapping[str, tuple[str, bool]]  # name in a corpus -> our name, and whether head and tail change places
    types: Mapping[str, Mapping[str, str]]  # corpus -> its types -> ours
    minimum: int

    def find(self, name: str) -> tuple[Relation, bool] | None:
        """Our relation for a corpus' name, and whether its arguments change places."""
        found = self.known.get(name)
        return None if found is None else (self.relations[found[0]], found[1])

    def only(self, names: Collection[str]) -> "Table":
        """The table with these relations alone."""
        kept = {name: relation for name, relation in self.relations.items() if name in names}
        return replace(self, relations=kept, known={k: v for k, v in self.known.items() if v[0] in kept})


def read_table(language: str, path: Path = TABLE) -> Table:
    """The table of a language."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    relations, known = dict[str, Relation](), dict[str, tuple[str, bool]]()
    for name, row in tables[language].items():
        hint = re.compile(row["hint"], re.I) if "hint" in row else None
        types = tuple(row["head"]), tuple(row["tail"])
        relations[name] = Relation(name, *types, row.get("symmetric", False), hint, row.get("slots", {}))
        known |= dict.fromkeys((name, *row.get("names", ())), (name, False))
        known |= dict.fromkeys(row.get("inverse", ()), (name, True))
    return Table(relations, known, tables["types"], tables["minimum"])


# ---- documents ------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """An argument: where it is, and its type."""

    start: int
    end: int
    type: str


class Told(NamedTuple):
    """A fact between two places; slots are (role, place)."""

    head: Place
    relation: str
    tail: Place
    slots: tuple[tuple[str, Place], ...] = ()


def pin(id: str, text: str, facts: Iterable[Told], meta: Mapping[str, Any], language: str) -> Document:
    """A document with each fact pinned to its mentions; mentions of one text and type are one entity."""
    told = list(dict.fromkeys(facts))
    places = sorted({place for fact in told for place in (fact.head, fact.tail, *(p for _, p in fact.slots))})
    mention = {place: f"m{i}" for i, place in enumerate(places)}
    members: dict[tuple[str, str], list[str]] = {}
    for place, name in mention.items():
        members.setdefault((text[place.start : place.end], place.type), []).append(name)
    entities = tuple(Entity(f"e{i}", tuple(ids), type, name) for i, ((name, type), ids) in enumerate(members.items()))
    owner = {id: e.id for e in entities for id in e.mentions}
    return Document(
        id=id,
        text=text,
        language=language,
        mentions=tuple(Mention(m, p.start, p.end, text[p.start : p.end], p.type) for p, m in mention.items()),
        entities=entities,
        facts=tuple(_fact(fact, mention, owner) for fact in told),
        meta=meta,
    )


def _fact(told: Told, mention: dict[Place, str], owner: dict[str, str]) -> Fact:
    head, tail = mention[told.head], mention[told.tail]
    slots = tuple(Qualifier(role, owner[mention[place]], mention[place]) for role, place in told.slots)
    return Fact(owner[head], told.relation, owner[tail], head, tail, qualifiers=slots)


def told_of(doc: Document) -> list[Told]:
    """The pinned facts of a document as places."""
    at = {m.id: Place(m.start, m.end, m.type) for m in doc.mentions}
    return [
        Told(
            at[fact.head_mention or ""],
            fact.relation,
            at[fact.tail_mention or ""],
            tuple((q.role, at[q.mention or ""]) for q in fact.qualifiers),
        )
        for fact in doc.facts
    ]


def make_meta(source: str, relations: Iterable[str], **more: Any) -> dict[str, Any]:
    """Where a document is from, and the relations that are annotated exhaustively in it."""
    return {"source": source, "annotated": {"relations": sorted(set(relations)), "mentions": []}, **more}


def annotated(doc: Document) -> set[str]:
    """The relations that are annotated exhaustively in a document."""
    return set(doc.meta["annotated"]["relations"])


def keep_relations(doc: Document, table: Table) -> Document:
    """The document with the relations of the table alone."""
    facts = [fact for fact in told_of(doc) if fact.relation in table.relations]
    marks = {**doc.meta["annotated"], "relations": sorted(annotated(doc) & table.relations.keys())}
    return pin(doc.id, doc.text, facts, {**doc.meta, "annotated": marks}, doc.language or "")


def mark_unhinted(doc: Document, table: Table) -> Document:
    """Use the hints: facts that no word hints at are left out, their relations unknown; others are not."""
    silent = {relation.name for relation in table.relations.values() if not relation.hinted(doc.text)}
    facts = told_of(doc)
    guessed = {fact.relation for fact in facts} & silent
    here = (annotated(doc) | silent) - guessed
    marks = {**doc.meta["annotated"], "relations": sorted(here)}
    meta = {**doc.meta, "annotated": marks, "unhinted": sorted(here - annotated(doc))}
    return pin(doc.id, doc.text, [f for f in facts if f.relation not in guessed], meta, doc.language or "")


def count_arguments(documents: Iterable[Document]) -> dict[str, Counter[str]]:
    """For each type, how many arguments of each relation are of it."""
    counts: dict[str, Counter[str]] = {type: Counter() for type in TYPES}
    for doc in documents:
        for fact in told_of(doc):
            counts[fact.head.type][fact.relation] += 1
            counts[fact.tail.type][fact.relation] += 1
            for _, place in fact.slots:
                counts[place.type][fact.relation] += 1
    return counts


def mark_types(doc: Document, counts: Mapping[str, Counter[str]]) -> Document:
    """List the types whose arguments are annotated exhaustively: nearly all relations that take them are."""
    here = annotated(doc)
    types = [type for type, counter in counts.items() if counter and here and _unseen(counter, here) <= UNSEEN]
    return replace(doc, meta={**doc.meta, "annotated": {**doc.meta["annotated"], "mentions": types}})


def _unseen(counter: Counter[str], here: set[str]) -> float:
    return sum(count for name, count in counter.items() if name not in here) / counter.total()


# ---- text -----------------------------------------------------------------------------------------------------------


def running(words: str, spans: Sequence[tuple[int, int]], hyphens: bool = True) -> tuple[str, list[Span]]:
    """English words between blanks as running text, and the spans (which begin and end with words) in it."""
    tokens = list(re.finditer(r"\S+", words))
    text, borders = detokenise([token.group() for token in tokens], hyphens)
    starts = {token.start(): border[0] for token, border in zip(tokens, borders, strict=True)}
    ends = {token.end(): border[1] for token, border in zip(tokens, borders, strict=True)}
    return text, [Span(starts[start], ends[end]) for start, end in spans]


def normalise(text: str) -> str:
    """For comparison: NFKC, no white space."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def sentences_of(text: str) -> set[str]:
    """The normalised text and its sentences, as far as they are long enough."""
    parts = {normalise(text), *(normalise(text[start:end]) for start, end in split_sentences(text))}
    return {part for part in parts if len(part) >= SHARED}


def fraction(text: str) -> float:
    """A number from 0 to 1 that follows from a text: to cut a corpus the same way each time."""
    return int(hashlib.md5(normalise(text).encode(), usedforsecurity=False).hexdigest()[:8], 16) / 2**32


# ---- files ----------------------------------------------------------------------------------------------------------


def without_shared(documents: Iterable[Document], judged: Iterable[Document], counts: Counter[str]) -> list[Document]:
    """The documents that share no sentence with a judge, each text once; counts by source what is left out."""
    taken = {sentence for doc in judged for sentence in sentences_of(doc.text)}
    best: dict[str, Document] = {}
    for doc in documents:
        if not taken.isdisjoint(sentences_of(doc.text)):
            counts[f"{doc.meta['source']}: shares a sentence with a judge"] += 1
            continue
        key = normalise(doc.text)
        if key in best:
            counts[f"{doc.meta['source']}: text is there already"] += 1
            doc = merge(best[key], doc)
        best[key] = doc
    return list(best.values())


def merge(doc: Document, other: Document) -> Document:
    """One document of two with the same text: the facts and the annotated relations of both."""
    if doc.text != other.text:
        return doc
    both = sorted(annotated(doc) | annotated(other))
    meta = {**doc.meta, "annotated": {**doc.meta["annotated"], "relations": both}}
    return pin(doc.id, doc.text, [*told_of(doc), *told_of(other)], meta, doc.language or "")


def frequent(documents: Iterable[Document], table: Table) -> Table:
    """The table with the relations that are stated often enough."""
    counts = Counter(fact.relation for doc in documents for fact in doc.facts)
    return table.only({name for name in table.relations if counts[name] >= table.minimum})


def write(folder: Path, name: str, documents: Sequence[Document]) -> None:
    """Write documents as JSON lines, packed, and print how many."""
    formats.write(documents, folder / f"{name}.jsonl.xz")
    facts = sum(len(doc.facts) for doc in documents)
    empty = sum(not doc.facts for doc in documents)
    print(f"{folder / name}.jsonl.xz: {len(documents):,} documents, {facts:,} facts, {empty:,} without a fact")


def print_counts(documents: Sequence[Document]) -> None:
    """Documents by source, and facts by relation and source."""
    sources = Counter(doc.meta["source"] for doc in documents)
    for source, count in sources.most_common():
        print(f"  {source}: {count:,} documents")
    cells = Counter((fact.relation, doc.meta["source"]) for doc in documents for fact in doc.facts)
    totals = Counter(fact.relation for doc in documents for fact in doc.facts)
    for relation, count in totals.most_common():
        parts = ", ".join(f"{s} {cells[relation, s]}" for s in sources if cells[relation, s])
        stated = sum(relation in annotated(doc) for doc in documents)
        print(f"  {relation}: {count:,} ({parts}); annotated in {stated:,} documents")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file of JSON lines."""
    for _, line in lines(path):
        if line.strip():
            yield orjson.loads(line)

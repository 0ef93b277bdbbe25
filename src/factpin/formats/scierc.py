"""SciERC, as DyGIE and PURE read it: one document per line, as JSON. Positions count tokens, ends are INCLUSIVE.

    {"doc_key", "sentences": [[token]], "ner": [[[first, last, type]]], "relations": [[[f1, l1, f2, l2, relation]]],
     "clusters": [[[first, last]]]}                       ner and relations have one list per sentence

Positions refer to the whole document. Relations are between spans: a fact has the two mentions as pins, and their
entities as ends. The entity of a mention is the first cluster with that mention, otherwise a new one. A span in a
cluster or relation that is not in ner is a mention without a type. If ner has a span twice, clusters and relations mean
the first of the two. An entity with one mention is written as a cluster only if it is in no fact (the others follow
from the relations) or was a cluster in the file (meta["extra"]["clusters"]["lone"] has their indices). All other fields
of a line (predicted_ner, …) are kept in meta.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin.documents import Document, Entity, Fact, Mention
from factpin.documents.fields import as_dict, as_int, as_list, as_str, get_list, get_str, wrong
from factpin.errors import BadDocument
from factpin.formats import _words
from factpin.formats._guess import Head
from factpin.formats._pinned import arrows_of, entity_losses
from factpin.formats._reading import Options, ReadContext
from factpin.formats._writing import losses, single, write_json_lines
from factpin.words import count

HOLDS = frozenset({"sentences", "mentions", "types", "overlaps", "clusters", "entities", "facts", "pins", "meta"})
ENDING = ".json"
FIELDS = ("doc_key", "sentences", "ner", "relations", "clusters")


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per line."""
    return reading.json_lines(lambda record, line: _document(record, line, reading))


@dataclass
class _Spans:
    """The mentions of a record by their tokens."""

    text: str
    borders: list[tuple[int, int]]
    mentions: list[Mention] = field(default_factory=list)
    first: dict[tuple[int, int], Mention] = field(default_factory=dict)  # of every span

    def add(self, tokens: tuple[int, int], type: str) -> Mention:
        start, end = self.borders[tokens[0]][0], self.borders[tokens[1]][1]
        mention = Mention(f"m{len(self.mentions)}", start, end, self.text[start:end], type)
        self.mentions.append(mention)
        self.first.setdefault(tokens, mention)
        return mention

    def find(self, tokens: tuple[int, int]) -> Mention:
        """Find the mention of these tokens, or add one without a type if ner has none."""
        return self.first.get(tokens) or self.add(tokens, "")

    def tokens(self, first: Any, last: Any, where: str) -> tuple[int, int]:
        """A checked pair (first token, last token)."""
        pair = as_int(first, where), as_int(last, where)
        if not 0 <= pair[0] <= pair[1] < len(self.borders):
            raise wrong(list(pair), where, f"[first, last] of the document's {count(len(self.borders), 'token')}")
        return pair


def _document(value: Any, line: int, reading: ReadContext) -> Document:
    record = as_dict(value, "")
    id = get_str(record, "doc_key", default=reading.default_id(line))
    sentences = [
        [as_str(token, f"sentences[{i}]") for token in as_list(sentence, f"sentences[{i}]")]
        for i, sentence in enumerate(get_list(record, "sentences"))
    ]
    text, borders = _words.join([token for sentence in sentences for token in sentence])
    sentence_spans = _words.sentence_spans(borders, [len(sentence) for sentence in sentences])
    if None in sentence_spans:
        reading.note(
            "empty_sentence", line, id, f"{count(sentence_spans.count(None), 'sentence')} without characters left out"
        )
    spans = _Spans(text, borders)
    for item, where in _items(record, "ner", len(sentences), 3):
        tokens = spans.tokens(item[0], item[1], where)
        if tokens in spans.first:
            reading.note("same_span", line, id, f"{where} repeats a span; relations and clusters mean the first")
        spans.add(tokens, as_str(item[2], where))
    entities = _clusters(get_list(record, "clusters", default=[]), spans, line, id, reading)
    relations = [
        (spans.find(spans.tokens(a, b, where)), as_str(relation, where), spans.find(spans.tokens(c, d, where)))
        for (a, b, c, d, relation), where in _items(record, "relations", len(sentences), 5)
    ]
    extra = {}
    lone = [i for i, entity in enumerate(entities) if len(entity.mentions) == 1]
    entities, facts = _facts(entities, relations)
    joined = {id for f in facts for id in (f.head, f.tail)}
    lone = [i for i in lone if entities[i].id in joined]
    if lone:
        reading.note("lone_cluster", line, id, f"clusters of one span: {lone}", len(lone))
        extra["clusters"] = {"lone": lone}
    return Document(
        id=id,
        text=text,
        sentences=tuple(span for span in sentence_spans if span is not None),
        mentions=tuple(spans.mentions),
        entities=tuple(entities),
        facts=tuple(facts),
        meta=_words.reader_meta(record, FIELDS, _words.token_meta(text, borders), extra),
    )


def _items(record: dict[str, Any], key: str, sentences: int, size: int) -> Iterator[tuple[list[Any], str]]:
    """The items in the lists of all sentences, each with its path."""
    lists = get_list(record, key, default=[])
    if lists and len(lists) != sentences:
        raise BadDocument(
            f"{count(len(lists), 'list')} for {count(sentences, 'sentence')}; expected one list per sentence, "
            f"even if it is empty.",
            field=key,
        )
    for i, one in enumerate(lists):
        for j, item in enumerate(as_list(one, f"{key}[{i}]")):
            where = f"{key}[{i}][{j}]"
            if len(as_list(item, where)) != size:
                raise wrong(item, where, f"a list of {size}")
            yield item, where


def _clusters(clusters: list[Any], spans: _Spans, line: int, id: str, reading: ReadContext) -> list[Entity]:
    entities = []
    taken: set[str] = set()
    for i, cluster in enumerate(clusters):
        where = f"clusters[{i}]"
        group: dict[str, Mention] = {}
        for pair in as_list(cluster, where):
            if len(as_list(pair, where)) != 2:
                raise wrong(pair, where, "a pair [first token, last token]")
            mention = spans.find(spans.tokens(pair[0], pair[1], where))
            if mention.id in group:
                reading.note("duplicate_mention", line, id, f"{where} has {pair} twice; one is kept")
            group[mention.id] = mention
        if not group:
            raise BadDocument("the cluster is empty; expected at least one span. Remove it.", field=where)
        if taken & group.keys():
            reading.note("shared_mention", line, id, f"{where} shares a span with an earlier cluster")
        taken |= group.keys()
        first = next(iter(group.values()))
        entities.append(Entity(f"e{i}", tuple(group), first.type, first.text))
    return entities


def _facts(entities: list[Entity], relations: list[tuple[Mention, str, Mention]]) -> tuple[list[Entity], list[Fact]]:
    """The facts, and the entities including those of mentions in no cluster."""
    entities = list(entities)
    owner = _owners(entities)
    facts = []
    for head, relation, tail in relations:
        for mention in (head, tail):
            if mention.id not in owner:
                entities.append(single(mention, f"e{len(entities)}"))
                owner[mention.id] = entities[-1].id
        facts.append(Fact(owner[head.id], relation, owner[tail.id], head.id, tail.id))
    return entities, facts


def _owners(entities: Iterable[Entity]) -> dict[str, str]:
    """The first entity of every mention that has one."""
    owner: dict[str, str] = {}
    for entity in entities:
        for id in entity.mentions:
            owner.setdefault(id, entity.id)
    return owner


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document."""
    write_json_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    doc, borders, ranges, _ = _held(doc)
    tokens = {m.id: _words.token_span(borders, m.start, m.end) or (0, 0) for m in doc.mentions}
    sentence = {id: bisect_right(ranges, first, key=lambda r: r[0]) - 1 for id, (first, _) in tokens.items()}
    clusters = _written_clusters(doc)
    bare = _bare(doc)
    ner: list[list[Any]] = [[] for _ in ranges]
    for m in doc.mentions:
        if m.id not in bare:
            ner[sentence[m.id]].append([*_inclusive(tokens[m.id]), m.type])
    relations: list[list[Any]] = [[] for _ in ranges]
    for arrow in arrows_of(doc):
        head, tail = _inclusive(tokens[arrow.head]), _inclusive(tokens[arrow.tail])
        relations[sentence[arrow.head]].append([*head, *tail, arrow.relation])
    return {
        "doc_key": doc.id,
        "sentences": [[doc.text[start:end] for start, end in borders[a:b]] for a, b in ranges],
        "ner": ner,
        "relations": relations,
        "clusters": [[_inclusive(tokens[id]) for id in entity.mentions] for entity in clusters],
    } | _words.record_fields(doc, FIELDS)


def _inclusive(tokens: tuple[int, int]) -> list[int]:
    return [tokens[0], tokens[1] - 1]


def _written_clusters(doc: Document) -> list[Entity]:
    joined = {id for f in doc.facts for id in (f.head, f.tail)}
    lone = _words.extra_of(doc, "clusters").get("lone")
    kept = lone if isinstance(lone, list) else []
    return [e for i, e in enumerate(doc.entities) if len(e.mentions) > 1 or e.id not in joined or i in kept]


def _bare(doc: Document) -> set[str]:
    """Mentions without a type that are in a cluster or relation: they are not needed in ner."""
    named = {id for e in _written_clusters(doc) for id in e.mentions}
    named.update(id for arrow in arrows_of(doc) for id in (arrow.head, arrow.tail))
    return {m.id for m in doc.mentions if not m.type and m.id in named}


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what SciERC cannot hold."""
    lost = losses(doc, HOLDS)
    del lost["same spans"]  # only those that clusters or relations name, which _held counts
    return lost + _held(doc)[3]


def _held(doc: Document) -> tuple[Document, list[tuple[int, int]], list[tuple[int, int]], Counter[str]]:
    """The part of the document that SciERC holds, its tokens, the tokens of its sentences, and what is lost."""
    doc, borders, lost = _words.at_tokens(doc)
    doc, ranges, more = _words.in_sentences(doc, borders)
    lost += more + _words.lost_meta(doc, FIELDS, {"clusters"})
    shared = entity_losses(doc)
    del shared["mentions shared by entities"]
    owner = _owners(doc.entities)
    pinned = [(f.head, f.head_mention) for f in doc.facts] + [(f.tail, f.tail_mention) for f in doc.facts]
    shared["facts of another entity"] = sum(m is not None and owner.get(m) != entity for entity, m in pinned)
    shared["one of two mentions of a span"] = len(_mistaken(doc))
    lost += shared
    return doc, borders, ranges, +lost


def _mistaken(doc: Document) -> set[str]:
    """Mentions in clusters or relations whose span would be read back as another mention."""
    bare = _bare(doc)
    ordered = [m for m in doc.mentions if m.id not in bare] + [m for m in doc.mentions if m.id in bare]
    first: dict[tuple[int, int], str] = {}
    for m in ordered:
        first.setdefault((m.start, m.end), m.id)
    named = {id for e in doc.entities for id in e.mentions} | {id for a in arrows_of(doc) for id in (a.head, a.tail)}
    return {m.id for m in doc.mentions if m.id in named and first[m.start, m.end] != m.id}


def fits(head: Head) -> bool:
    """Whether the lines are objects with sentences as lists of tokens, and ner, relations, clusters or a doc_key."""
    record = head.record
    if head.is_list or not isinstance(record, dict) or not isinstance(record.get("sentences"), list):
        return False
    tokens = all(isinstance(sentence, list) for sentence in record["sentences"])
    return tokens and bool({"ner", "relations", "clusters", "doc_key"} & record.keys())

"""DocRED and Re-DocRED: one JSON list of documents. Token positions in their sentence, ends are EXCLUSIVE.

    {"title", "sents": [[token]], "vertexSet": [[{"name", "sent_id", "pos": [start, end], "type"}]],
     "labels": [{"r": relation, "h": entity index, "t": entity index, "evidence": [sentence index]}]}

One vertexSet entry is an entity with all its mentions; it takes type and name from the first of them. A mention's text
is its token slice; where the file's name says something else (blanks apart), that is noted. `global_pos` and `index`
follow from the rest: where they are as expected, only their names are kept and the writer computes them again. Other
fields of a mention or label are in meta["extra"] by their place ("vertexSet[0][2]", "labels[5]"). Relations keep their
names (P17). Facts are about entities: no pins.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span
from factpin.documents.fields import as_dict, as_int, as_list, as_str, get_int, get_list, get_str, wrong
from factpin.errors import BadDocument
from factpin.formats import _words
from factpin.formats._guess import Head
from factpin.formats._pinned import entity_losses
from factpin.formats._reading import Options, Reading
from factpin.formats._writing import losses, write_json_list

HOLDS = frozenset({"sentences", "mentions", "types", "overlaps", "same spans", "clusters", "entities", "names",
                   "facts", "evidence", "meta"})  # fmt: skip
ENDING = ".json"
FIELDS = ("title", "sents", "vertexSet", "labels")
MENTION = ("name", "sent_id", "pos", "type")
LABEL = ("r", "h", "t", "evidence")
COMPUTED = ("global_pos", "index")


def read(reading: Reading) -> Iterator[Document]:
    """Every item's document, mentions and entities in the order of vertexSet."""
    return reading.json_items(lambda record, number: _document(record, number, reading))


@dataclass
class _Record:
    """A record being read: its tokens and sentences, and what is kept aside."""

    reading: Reading
    number: int
    id: str
    sizes: list[int]  # tokens of every sentence
    firsts: list[int]  # token of every sentence
    text: str
    borders: list[tuple[int, int]]
    spans: list[Span | None]  # of every sentence
    mentions: list[Mention] = field(default_factory=list)
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)
    computed: dict[str, dict[str, Any]] = field(default_factory=dict)  # fields of mentions that follow from the rest

    def note(self, kind: str, message: str) -> None:
        self.reading.note(kind, self.number, self.id, message)

    def sentence(self, value: Any, where: str) -> int:
        """A sentence's index in the file."""
        index = as_int(value, where)
        if not 0 <= index < len(self.sizes):
            raise wrong(index, where, f"the index of one of {len(self.sizes)} sentences")
        return index


def _document(value: Any, number: int, reading: Reading) -> Document:
    record = as_dict(value, "")
    id = get_str(record, "title")
    sents = [[as_str(token, f"sents[{i}]") for token in as_list(sent, f"sents[{i}]")]
             for i, sent in enumerate(get_list(record, "sents"))]  # fmt: skip
    sizes = [len(sent) for sent in sents]
    text, borders = _words.join([token for sent in sents for token in sent])
    spans = _words.sentence_spans(borders, sizes)
    this = _Record(reading, number, id, sizes, list(accumulate(sizes, initial=0)), text, borders, spans)
    if None in spans:
        this.note("empty_sentence", f"{spans.count(None)} sentences have no character and are left out")
    entities = [_entity(entry, i, this) for i, entry in enumerate(get_list(record, "vertexSet"))]
    facts = [_fact(label, i, entities, this) for i, label in enumerate(get_list(record, "labels", default=[]))]
    if this.mentions and len(this.computed) == len(this.mentions):
        this.extra["vertexSet"] = {"computed": list(COMPUTED)}
    else:
        for where, fields in this.computed.items():
            this.extra[where] = fields | this.extra.get(where, {})
    return Document(
        id=id,
        text=text,
        sentences=tuple(span for span in spans if span is not None),
        mentions=tuple(this.mentions),
        entities=tuple(entities),
        facts=tuple(facts),
        meta=_words.reader_meta(record, FIELDS, _words.token_meta(text, borders), this.extra),
    )


def _entity(value: Any, i: int, this: _Record) -> Entity:
    where = f"vertexSet[{i}]"
    entry = as_list(value, where)
    if not entry:
        raise BadDocument("an entity without a mention; expected at least one. Name one, or drop it.", field=where)
    found = [_mention(item, i, j, this) for j, item in enumerate(entry)]
    mentions = [m for m, _ in found]
    twice = len(mentions) - len({(m.start, m.end) for m in mentions})
    if twice:
        this.reading.note("duplicate_mention", this.number, this.id, f"{where} names a span twice", twice)
    types = dict.fromkeys(m.type for m in mentions)
    if len(types) > 1:
        this.note("types_differ", f"{where} has mentions of the types {', '.join(types)}; the first one counts")
    this.mentions.extend(mentions)
    return Entity(f"e{i}", tuple(m.id for m in mentions), mentions[0].type, found[0][1])


def _mention(value: Any, i: int, j: int, this: _Record) -> tuple[Mention, str]:
    """The mention, and its name in the file."""
    where = f"vertexSet[{i}][{j}]"
    record = as_dict(value, where)
    sent = this.sentence(record.get("sent_id"), f"{where}.sent_id")
    pos = get_list(record, "pos", where)
    first, last = (as_int(at, f"{where}.pos") for at in pos) if len(pos) == 2 else (0, 0)
    if not 0 <= first < last <= this.sizes[sent]:
        raise wrong(pos, f"{where}.pos", f"[first, end) of tokens in sentence {sent}, which has {this.sizes[sent]}")
    at = this.firsts[sent] + first
    start, end = this.borders[at][0], this.borders[at + last - first - 1][1]
    type = get_str(record, "type", where, default="")
    mention = Mention(f"m{len(this.mentions) + j}", start, end, this.text[start:end], type)
    name = get_str(record, "name", where, default=mention.text)
    if name.replace(" ", "") != mention.text.replace(" ", ""):
        this.note("name_differs", f"{where}: the name is {name!r}, the tokens are {mention.text!r}")
    extra = {key: item for key, item in record.items() if key not in MENTION}
    if extra.get("global_pos") == [at, at] and extra.get("index") == f"{i}_{j}":
        this.computed[where] = {key: extra.pop(key) for key in COMPUTED}
    if name != mention.text and (j or not name):
        extra["name"] = name
    if extra:
        this.extra[where] = extra
    return mention, name


def _fact(value: Any, i: int, entities: list[Entity], this: _Record) -> Fact:
    where = f"labels[{i}]"
    record = as_dict(value, where)
    ends = []
    for key in ("h", "t"):
        index = get_int(record, key, where)
        if not 0 <= index < len(entities):
            raise wrong(index, f"{where}.{key}", f"the index of one of {len(entities)} entities")
        ends.append(entities[index].id)
    sents = [this.sentence(sent, f"{where}.evidence") for sent in get_list(record, "evidence", where, default=[])]
    evidence = tuple(Evidence(s - this.spans[:s].count(None)) for s in sents if this.spans[s] is not None)
    extra = {key: item for key, item in record.items() if key not in LABEL}
    if extra:
        this.extra[where] = extra
    return Fact(ends[0], get_str(record, "r", where), ends[1], evidence=evidence)


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """One item a document."""
    write_json_list(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    doc, borders, ranges, _ = _held(doc)
    mentions = {m.id: m for m in doc.mentions}
    computed = _words.extra_of(doc, "vertexSet").get("computed") == list(COMPUTED)
    vertex_set = []
    for i, entity in enumerate(doc.entities):
        entry = []
        for j, id in enumerate(entity.mentions):
            m = mentions[id]
            sent, first, last = _place(m, borders, ranges) or (0, 0, 0)
            extra = _words.extra_of(doc, f"vertexSet[{i}][{j}]")
            name = entity.name if j == 0 and entity.name else m.text
            if isinstance(extra.get("name"), str):
                name = extra["name"]
            item = extra | {"name": name, "sent_id": sent, "pos": [first, last], "type": m.type}
            if computed:
                at = ranges[sent][0] + first
                item |= {"global_pos": [at, at], "index": f"{i}_{j}"}
            entry.append(item)
        vertex_set.append(entry)
    number = {e.id: i for i, e in enumerate(doc.entities)}
    labels = [
        _words.extra_of(doc, f"labels[{i}]")
        | {"r": f.relation, "h": number[f.head], "t": number[f.tail], "evidence": [e.sentence for e in f.evidence]}
        for i, f in enumerate(doc.facts)
    ]
    sents = [[doc.text[start:end] for start, end in borders[a:b]] for a, b in ranges]
    record = {"title": doc.id, "sents": sents, "vertexSet": vertex_set, "labels": labels}
    return record | _words.record_fields(doc, FIELDS)


def _place(m: Mention, borders: list[tuple[int, int]], ranges: list[tuple[int, int]]) -> tuple[int, int, int] | None:
    """The sentence of a mention and its tokens there; None where it is not inside one sentence."""
    tokens = _words.token_span(borders, m.start, m.end)
    if tokens is None:
        return None
    i = bisect_right(ranges, tokens[0], key=lambda sent: sent[0]) - 1
    first, last = ranges[i]
    return (i, tokens[0] - first, tokens[1] - first) if tokens[1] <= last else None


def lost(doc: Document, options: Options) -> Counter[str]:
    """What DocRED's shape has no place for; a mention needs an entity, and stays inside a sentence."""
    return losses(doc, HOLDS) + _held(doc)[3]


def _held(doc: Document) -> tuple[Document, list[tuple[int, int]], list[tuple[int, int]], Counter[str]]:
    """The part of the document that DocRED holds, its tokens, those of its sentences, and what falls away."""
    whole = doc
    doc, borders, lost = _words.at_tokens(doc)
    doc, ranges, more = _words.in_sentences(doc, borders)
    lost += more
    across = {m.id for m in doc.mentions if _place(m, borders, ranges) is None}
    lost["mentions across sentences"] = len(across)
    doc, more = _words.without(doc, across)
    lost += more
    owned = {id for e in doc.entities for id in e.mentions}
    lost["mentions outside entities"] = sum(m.id not in owned for m in doc.mentions)
    lost["evidence narrower than a sentence"] = sum(e.start is not None for f in doc.facts for e in f.evidence)
    shared = entity_losses(doc)
    del shared["facts without pins"]
    places = {"vertexSet", *(f"labels[{i}]" for i in range(len(doc.facts)))}
    places.update(f"vertexSet[{i}][{j}]" for i, e in enumerate(doc.entities) for j in range(len(e.mentions)))
    lost += shared + _words.lost_meta(doc, FIELDS, places)
    if len(doc.mentions) < len(whole.mentions) and "extra" in doc.meta:
        doc, more = _words.without_extra(doc)  # its places no longer fit
        lost += more
    return doc, borders, ranges, +lost


def fits(head: Head) -> bool:
    """A list of objects with sents and vertexSet."""
    return head.is_list and isinstance(head.record, dict) and {"sents", "vertexSet"} <= head.record.keys()

"""DocRED and Re-DocRED: one JSON list of documents. Positions count tokens of the sentence, ends are EXCLUSIVE.

    {"title", "sents": [[token]], "vertexSet": [[{"name", "sent_id", "pos": [start, end], "type"}]],
     "labels": [{"r": relation, "h": entity index, "t": entity index, "evidence": [sentence index]}]}

One item of vertexSet is an entity with all its mentions; its type and name are those of the first mention. The text of
a mention is that of its tokens; a name in the file that differs (ignoring whitespace) is noted. `global_pos` and
`index` follow from the rest: if they are as expected, only their names are kept and the writer computes them again.
Other fields of a mention or label are in meta["extra"] by path ("vertexSet[0][2]", "labels[5]"). Relations keep their
names (P17). Facts are between entities and have no pins.
"""

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from factpin.documents import Document, Entity, Evidence, Fact, Mention
from factpin.documents.fields import as_dict, as_int, as_list, as_strings, each, get_int, get_list, get_str, wrong
from factpin.errors import BadDocument
from factpin.formats import _words
from factpin.formats._guess import Head
from factpin.formats._pinned import entity_losses
from factpin.formats._reading import Options, ReadContext
from factpin.formats._writing import losses, write_json_list
from factpin.words import count

HOLDS = frozenset({"sentences", "mentions", "types", "overlaps", "same spans", "clusters", "entities", "names",
                   "facts", "evidence", "meta"})  # fmt: skip
ENDING = ".json"
FIELDS = ("title", "sents", "vertexSet", "labels")
MENTION = {"name", "sent_id", "pos", "type"}
LABEL = {"r", "h", "t", "evidence"}
COMPUTED = ("global_pos", "index")
MENTION_COMPUTED = MENTION.union(COMPUTED)


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per item, with mentions and entities in the order of vertexSet."""
    return reading.json_items(lambda record, number: _document(record, number, reading))


@dataclass
class _Record:
    """A record being read: its tokens and sentences, and the fields to keep in meta."""

    reading: ReadContext
    number: int
    id: str
    sizes: list[int]  # tokens of every sentence
    firsts: list[int]  # token of every sentence
    text: str
    borders: list[tuple[int, int]]
    evidence: list[Evidence | None]  # one per sentence; None if it has no characters
    mentions: list[Mention] = field(default_factory=list)
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)
    computed: list[tuple[int, int]] = field(default_factory=list)  # mentions with fields that follow from the rest

    def note(self, kind: str, message: str, count: int = 1) -> None:
        self.reading.note(kind, self.number, self.id, message, count)

    def sentence(self, value: Any, where: str) -> int:
        """The index of a sentence in the file."""
        index = as_int(value, where)
        if not 0 <= index < len(self.sizes):
            raise wrong(index, where, f"the index of one of {count(len(self.sizes), 'sentence')}")
        return index


def _document(value: Any, number: int, reading: ReadContext) -> Document:
    record = as_dict(value, "")
    id = get_str(record, "title")
    sents = each(get_list(record, "sents"), "sents", lambda sent, _: as_strings(sent, ""))
    sizes = [len(sent) for sent in sents]
    text, borders = _words.join(list(chain.from_iterable(sents)))
    spans = _words.sentence_spans(borders, sizes)
    held = itertools.count()
    evidence = [None if span is None else Evidence(next(held)) for span in spans]
    this = _Record(reading, number, id, sizes, list(accumulate(sizes, initial=0)), text, borders, evidence)
    if None in spans:
        this.note("empty_sentence", f"{count(spans.count(None), 'sentence')} without characters left out")
    entities = each(get_list(record, "vertexSet"), "vertexSet", lambda entry, i: _entity(entry, i, this))
    labels = get_list(record, "labels", default=[])
    parsed = each(labels, "labels", lambda label, i: _label(label, i, len(entities), this))
    if this.mentions and len(this.computed) == len(this.mentions):
        this.extra["vertexSet"] = {"computed": list(COMPUTED)}
    else:
        for i, j in this.computed:
            where = f"vertexSet[{i}][{j}]"
            fields = {key: record["vertexSet"][i][j][key] for key in COMPUTED}
            this.extra[where] = fields | this.extra.get(where, {})
    return Document(
        id=id,
        text=text,
        sentences=tuple([span for span in spans if span is not None]),
        mentions=tuple(this.mentions),
        entities=tuple(entities),
        facts=tuple([Fact(f"e{h}", relation, f"e{t}", evidence=evidence) for h, relation, t, evidence in parsed]),
        meta=_words.reader_meta(record, FIELDS, _words.token_meta(text, borders), this.extra),
    )


def _entity(value: Any, i: int, this: _Record) -> Entity:
    entry = as_list(value, "")
    if not entry:
        raise BadDocument("this entity has no mentions; expected at least one. Add one, or remove the entity.")
    found = each(entry, "", lambda item, j: _mention(item, i, j, this))
    mentions = [m for m, _ in found]
    this.mentions.extend(mentions)
    first, name = found[0]
    if len(mentions) > 1:
        twice = len(mentions) - len({(m.start, m.end) for m in mentions})
        if twice:
            this.note("duplicate_mention", f"vertexSet[{i}] names a span twice", twice)
        types = dict.fromkeys([m.type for m in mentions])
        if len(types) > 1:
            kinds = ", ".join(types)
            this.note("types_differ", f"vertexSet[{i}] has mentions of the types {kinds}; the first is used")
    return Entity(f"e{i}", tuple([m.id for m in mentions]), first.type, name)


def _mention(value: Any, i: int, j: int, this: _Record) -> tuple[Mention, str]:
    """The mention, and its name in the file."""
    record = as_dict(value, "")
    sent = this.sentence(record.get("sent_id"), "sent_id")
    pos = get_list(record, "pos")
    first, last = (as_int(pos[0], "pos"), as_int(pos[1], "pos")) if len(pos) == 2 else (0, 0)
    if not 0 <= first < last <= this.sizes[sent]:
        raise wrong(pos, "pos", f"[first, end) of tokens in sentence {sent}, which has {this.sizes[sent]}")
    at = this.firsts[sent] + first
    start, end = this.borders[at][0], this.borders[at + last - first - 1][1]
    text = this.text[start:end]
    mention = Mention(f"m{len(this.mentions) + j}", start, end, text, get_str(record, "type", default=""))
    name = get_str(record, "name", default=text)
    if name != text and name.replace(" ", "") != text.replace(" ", ""):
        this.note("name_differs", f"vertexSet[{i}][{j}]: the name is {name!r}, the tokens are {text!r}")
    known = MENTION
    if record.get("global_pos") == [at, at] and record.get("index") == f"{i}_{j}":
        this.computed.append((i, j))
        known = MENTION_COMPUTED
    extra = {} if known.issuperset(record) else {key: item for key, item in record.items() if key not in known}
    if name != text and (j or not name):
        extra["name"] = name
    if extra:
        this.extra[f"vertexSet[{i}][{j}]"] = extra
    return mention, name


def _label(value: Any, i: int, entities: int, this: _Record) -> tuple[int, str, int, tuple[Evidence, ...]]:
    """Head, relation, tail and evidence of a label."""
    record = as_dict(value, "")
    head, tail = _index(record, "h", entities), _index(record, "t", entities)
    sents = get_list(record, "evidence", default=[])
    evidence = [proof for sent in sents if (proof := this.evidence[this.sentence(sent, "evidence")]) is not None]
    if not LABEL.issuperset(record):
        this.extra[f"labels[{i}]"] = {key: item for key, item in record.items() if key not in LABEL}
    return head, get_str(record, "r"), tail, tuple(evidence)


def _index(record: dict[str, Any], key: str, entities: int) -> int:
    index = get_int(record, key)
    if not 0 <= index < entities:
        raise wrong(index, key, f"the index of one of {count(entities, 'entity')}")
    return index


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one list item per document."""
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
    """The sentence of a mention and its tokens there, or None if it is not inside one sentence."""
    tokens = _words.token_span(borders, m.start, m.end)
    if tokens is None:
        return None
    i = bisect_right(ranges, tokens[0], key=lambda sent: sent[0]) - 1
    first, last = ranges[i]
    return (i, tokens[0] - first, tokens[1] - first) if tokens[1] <= last else None


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what DocRED cannot hold. A mention needs an entity and must be inside one sentence."""
    return losses(doc, HOLDS) + _held(doc)[3]


def _held(doc: Document) -> tuple[Document, list[tuple[int, int]], list[tuple[int, int]], Counter[str]]:
    """The part of the document that DocRED holds, its tokens, the tokens of its sentences, and what is lost."""
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
    del shared["facts without mentions"]
    places = {"vertexSet", *(f"labels[{i}]" for i in range(len(doc.facts)))}
    places.update(f"vertexSet[{i}][{j}]" for i, e in enumerate(doc.entities) for j in range(len(e.mentions)))
    lost += shared + _words.lost_meta(doc, FIELDS, places)
    if len(doc.mentions) < len(whole.mentions) and "extra" in doc.meta:
        doc, more = _words.without_extra(doc)  # its positions are no longer valid
        lost += more
    return doc, borders, ranges, +lost


def fits(head: Head) -> bool:
    """Whether it is a list of objects with sents and vertexSet."""
    return head.is_list and isinstance(head.record, dict) and {"sents", "vertexSet"} <= head.record.keys()

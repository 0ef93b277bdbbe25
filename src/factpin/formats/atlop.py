"""CDR and GDA as ATLOP reads them (*.data): one document per line, cells separated by tabs. Ends are EXCLUSIVE.

    id, sentences joined by "|" (tokens by spaces), then 17 cells for every pair of entities:
    label, direction, CROSS or NON-CROSS, tokens of the nearest mentions (58-61, 51-52), then for each entity:
    concept, texts of its mentions (joined by "|"), type, first tokens, ends and sentences (each joined by ":")

Positions count the tokens of the document. An entity is a concept with all its mentions, and its `link` is the concept.
The label 1:CID:2 means that the first entity of the pair is the head. L2R and R2L only say whether that entity is left
or right of the other one in the text; public readers that take the left one as the head reverse R2L facts. 1:NR:2 and
not_include are pairs without a fact. All pairs are kept in meta["extra"]["pairs"], unless they are the ones the writer
creates for a document without pairs: its facts, then NR for all other pairs of entities (a single entity is paired with
itself), in the order of the text.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from factpin import files
from factpin.documents import Document, Entity, Fact, Mention
from factpin.documents.fields import wrong
from factpin.errors import BadDocument
from factpin.formats import _words
from factpin.formats._guess import Head
from factpin.formats._pinned import entity_losses
from factpin.formats._reading import Options, ReadContext
from factpin.formats._writing import losses
from factpin.formats.pubtator import LOCAL, clean, concepts
from factpin.words import count

HOLDS = frozenset(
    {"sentences", "mentions", "types", "overlaps", "same spans", "clusters", "entities", "links", "facts"}
)
ENDING = ".data"
CELLS = 17
LABEL = re.compile(r"([12]):(.+):([12])")
NONE, EXCLUDED = "NR", "not_include"
SEPARATOR = re.compile(r"[ \t\n\r|]")
NUMBER = re.compile(r"[0-9]{1,12}")


class EntityPair(NamedTuple):
    """A pair of entities (their indices) with the cells before them."""

    label: str
    direction: str
    crossing: str
    first: str
    second: str
    one: int
    two: int

    @property
    def relation(self) -> str:
        """The relation's name, or NR, or not_include."""
        match = LABEL.fullmatch(self.label)
        return match[2] if match else self.label


def pair_counts(doc: Document) -> Counter[str]:
    """Count the pairs of each relation in a document read from this format, including NR and not_include."""
    return Counter(pair.relation for pair in _pairs(doc))


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per line, with its entities in the order of the pairs."""
    lines = ((number, line) for number, line in reading.lines() if line and not line.isspace())
    return reading.each(lines, lambda line, number: _document(line, number, reading))


@dataclass
class _Record:
    """A line being read."""

    reading: ReadContext
    line: int
    id: str
    text: str
    borders: list[tuple[int, int]]
    mentions: list[Mention] = field(default_factory=list)
    entities: dict[str, Entity] = field(default_factory=dict)  # by concept
    index: dict[str, int] = field(default_factory=dict)  # of a concept's entity
    cells: dict[str, list[str]] = field(default_factory=dict)  # of a concept where it occurs first
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)

    def note(self, kind: str, message: str) -> None:
        self.reading.note(kind, self.line, self.id, message)


def _document(line: str, number: int, reading: ReadContext) -> Document:
    cells = line.split("\t")
    if len(cells) < 2 or (len(cells) - 2) % CELLS:
        raise BadDocument(
            f"{count(len(cells), 'cell')}; expected an id, the sentences and {CELLS} for every pair, between tabs.",
            field="cells",
        )
    sentences = [sentence.split(" ") for sentence in cells[1].split("|")] if cells[1] else []
    text, borders = _words.join([token for sentence in sentences for token in sentence])
    spans = _words.sentence_spans(borders, [len(sentence) for sentence in sentences])
    this = _Record(reading, number, cells[0], text, borders)
    if None in spans:
        this.note("empty_sentence", f"{count(spans.count(None), 'sentence')} without characters left out")
    facts, pairs = [], []
    for i in range(2, len(cells), CELLS):
        where = f"pairs[{(i - 2) // CELLS}]"
        block = cells[i : i + CELLS]
        one, two = _entity(block[5:11], where, this), _entity(block[11:17], where, this)
        match = LABEL.fullmatch(block[0])
        if match is None and block[0] != EXCLUDED or match and match[1] == match[3]:
            raise wrong(block[0], f"{where}.label", f"a label such as 1:CID:2, 1:{NONE}:2 or {EXCLUDED}")
        pairs.append(
            EntityPair(block[0], block[1], block[2], block[3], block[4], this.index[one.link], this.index[two.link])
        )
        if match and match[2] != NONE:
            head, tail = (one, two) if match[1] == "1" else (two, one)
            facts.append(Fact(head.id, match[2], tail.id))
    doc = Document(
        id=cells[0],
        text=text,
        sentences=tuple(span for span in spans if span is not None),
        mentions=tuple(this.mentions),
        entities=tuple(_unlinked(entity) for entity in this.entities.values()),
        facts=tuple(facts),
        meta=_words.reader_meta({}, (), _words.token_meta(text, borders), this.extra),
    )
    if pairs == _default_pairs(doc):
        return doc
    extra = this.extra | {"pairs": {"rows": [list(pair) for pair in pairs]}}
    return replace(doc, meta={**doc.meta, "extra": extra})


def _entity(cells: list[str], where: str, this: _Record) -> Entity:
    concept = cells[0]
    if concept in this.entities:
        if cells != this.cells[concept]:
            this.note(
                "entity_differs", f"{where} describes {concept!r} differently from an earlier pair; the first is used"
            )
        return this.entities[concept]
    names, firsts, ends = cells[1].split("|"), cells[3].split(":"), cells[4].split(":")
    if not len(names) == len(firsts) == len(ends) == len(cells[5].split(":")):
        raise wrong(cells[1:], where, "as many texts, first tokens, ends and sentences as the entity has mentions")
    group = []
    for first, end in zip(firsts, ends, strict=True):
        if not (NUMBER.fullmatch(first) and NUMBER.fullmatch(end) and int(first) < int(end) <= len(this.borders)):
            raise wrong([first, end], where, f"first and end of tokens in a document of {len(this.borders)}")
        start, stop = this.borders[int(first)][0], this.borders[int(end) - 1][1]
        mention = Mention(f"m{len(this.mentions)}", start, stop, this.text[start:stop], cells[2])
        group.append(mention)
        this.mentions.append(mention)
    index = len(this.entities)
    differs = sum(name != m.text for name, m in zip(names, group, strict=True))
    if differs:
        this.reading.note("name_differs", this.line, this.id, f"{where}: {cells[1][:80]!r} is not the tokens", differs)
        this.extra[f"entities[{index}]"] = {"names": names}
    entity = Entity(f"e{index}", tuple(m.id for m in group), cells[2], group[0].text, concept)
    this.entities[concept], this.index[concept], this.cells[concept] = entity, index, cells
    return entity


def _unlinked(entity: Entity) -> Entity:
    return replace(entity, link="") if LOCAL.fullmatch(entity.link) else entity


def _pairs(doc: Document) -> list[EntityPair]:
    """The pairs as they were read if they still match the facts of the document, otherwise the default pairs."""
    rows = _words.extra_of(doc, "pairs").get("rows")
    pairs: list[EntityPair] = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, list) or len(row) != len(EntityPair._fields):
            return _default_pairs(doc)
        pair = EntityPair(*row)
        if not all(isinstance(cell, str) and clean(cell) == cell for cell in row[:5]):
            return _default_pairs(doc)
        if not all(type(index) is int and 0 <= index < len(doc.entities) for index in row[5:]):
            return _default_pairs(doc)
        pairs.append(pair)
    counted = Counter(key for pair in pairs if (key := _fact_key(pair, doc)) is not None)
    everyone = {index for pair in pairs for index in (pair.one, pair.two)} == set(range(len(doc.entities)))
    same = everyone and counted == Counter((f.head, f.relation, f.tail) for f in doc.facts)
    return pairs if same else _default_pairs(doc)


def _fact_key(pair: EntityPair, doc: Document) -> tuple[str, str, str] | None:
    match = LABEL.fullmatch(pair.label)
    if match is None or match[2] == NONE:
        return None
    one, two = doc.entities[pair.one].id, doc.entities[pair.two].id
    return (one, match[2], two) if match[1] == "1" else (two, match[2], one)


def _default_pairs(doc: Document) -> list[EntityPair]:
    """The pairs of a document that has none: its facts, then NR for the rest, in the order of the text."""
    mentions = {m.id: m for m in doc.mentions}
    spans = [sorted((mentions[id].start, mentions[id].end) for id in e.mentions) for e in doc.entities]
    number = {e.id: i for i, e in enumerate(doc.entities)}
    order = sorted(number.values(), key=lambda i: (spans[i], doc.entities[i].type, doc.entities[i].link))
    rank = {i: place for place, i in enumerate(order)}
    facts = sorted((rank[number[f.head]], rank[number[f.tail]], f.relation) for f in doc.facts)
    joined = {frozenset(pair[:2]) for pair in facts}
    rest = [(a, b, NONE) for a, b in combinations(range(len(order)), 2) if frozenset((a, b)) not in joined]
    if len(order) == 1 and not facts:
        rest = [(0, 0, NONE)]
    borders = _words.borders(doc)
    tokens = [[_words.token_span(borders, *span) for span in group] for group in spans]
    ends = [sentence.end for sentence in doc.sentences]
    held = [{bisect_right(ends, start) for start, _ in group} for group in spans]
    pairs = []
    for a, b, relation in facts + rest:
        one, two = order[a], order[b]
        first, second = _nearest([t for t in tokens[one] if t], [t for t in tokens[two] if t])
        direction = "L2R" if first <= second else "R2L"
        crossing = "NON-CROSS" if held[one] & held[two] else "CROSS"
        pairs.append(EntityPair(f"1:{clean(relation)}:2", direction, crossing, f"{first[0]}-{first[1]}",
                          f"{second[0]}-{second[1]}", one, two))  # fmt: skip
    return pairs


def _nearest(one: list[tuple[int, int]], two: list[tuple[int, int]]) -> tuple[tuple[int, int], tuple[int, int]]:
    """The two mentions that begin nearest to each other."""
    return min(((a, b) for a in one for b in two), key=lambda pair: (abs(pair[0][0] - pair[1][0]), pair))


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document."""
    with files.write_bytes(path) as stream:
        for doc in documents:
            stream.write((_line(doc) + "\n").encode())


def _line(doc: Document) -> str:
    doc, borders, ranges, _ = _held(doc)
    tokens = [_clean_token(doc.text[start:end]) for start, end in borders]
    text, places = _words.join(tokens)
    concept, _ = concepts(doc, composite=False)
    mentions = {m.id: m for m in doc.mentions}
    described = []
    for i, entity in enumerate(doc.entities):
        spans = [_words.token_span(borders, mentions[id].start, mentions[id].end) or (0, 0) for id in entity.mentions]
        names = _names(doc, i) or [text[places[first][0] : places[end - 1][1]] for first, end in spans]
        sentences = [bisect_right(ranges, first, key=lambda r: r[0]) - 1 for first, _ in spans]
        firsts, ends = ([str(span[k]) for span in spans] for k in (0, 1))
        described.append([concept[entity.id], "|".join(names), clean(entity.type), ":".join(firsts), ":".join(ends),
                     ":".join(map(str, sentences))])  # fmt: skip
    cells = [clean(doc.id), "|".join(" ".join(tokens[first:end]) for first, end in ranges)]
    for pair in _pairs(doc):
        cells += [*pair[:5], *described[pair.one], *described[pair.two]]
    return "\t".join(cells)


def _names(doc: Document, index: int) -> list[str]:
    """The texts of the mentions of an entity as they were read, if they differ from its tokens."""
    names = _words.extra_of(doc, f"entities[{index}]").get("names")
    if not isinstance(names, list) or len(names) != len(doc.entities[index].mentions):
        return []
    fit = all(isinstance(name, str) and clean(name) == name and "|" not in name for name in names)
    return names if fit else []


def _clean_token(token: str) -> str:
    return SEPARATOR.sub("_", token) or "_"


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what this format cannot hold. A mention needs an entity."""
    lost = losses(doc, HOLDS)
    del lost["meta"]
    return lost + _held(doc)[3]


def _held(doc: Document) -> tuple[Document, list[tuple[int, int]], list[tuple[int, int]], Counter[str]]:
    """The part of the document that can be written, its tokens, the tokens of its sentences, and what is lost."""
    whole = doc
    doc, borders, lost = _words.at_tokens(doc)
    doc, ranges, more = _words.in_sentences(doc, borders)
    lost += more
    owned = {id for e in doc.entities for id in e.mentions}
    outside = {m.id for m in doc.mentions if m.id not in owned}
    lost["mentions outside entities"] = len(outside)
    doc, more = _words.without(doc, outside)
    lost += more + concepts(doc, composite=False)[1]
    types = {m.id: m.type for m in doc.mentions}
    lost["types of entities"] = sum(types[id] != e.type for e in doc.entities for id in e.mentions)
    lost["mentions shared by entities"] = entity_losses(doc)["mentions shared by entities"]
    lost["tokens with blanks or bars"] = sum(_clean_token(doc.text[a:b]) != doc.text[a:b] for a, b in borders)
    names = [*(e.type for e in doc.entities), *(f.relation for f in doc.facts)]
    lost["names with tabs and line breaks"] = sum(clean(name) != name for name in names)
    lost["relations named NR"] = sum(f.relation == NONE for f in doc.facts)
    lost["meta"] += sum(key not in _words.RESERVED for key in doc.meta)
    lost += _words.lost_meta(doc, (), {"pairs", *(f"entities[{i}]" for i in range(len(doc.entities)))})
    if len(doc.mentions) < len(whole.mentions) and "extra" in doc.meta:
        doc, more = _words.without_extra(doc)  # its positions are no longer valid
        lost += more
    return doc, borders, ranges, +lost


def fits(head: Head) -> bool:
    """Whether the lines have an id, sentences and blocks of 17 cells that begin with a label."""
    if head.is_folder or head.record is not None:
        return False
    rows = [line.split("\t") for line in head.lines]
    return any(
        len(row) > CELLS and (len(row) - 2) % CELLS == 0 and (LABEL.fullmatch(row[2]) or row[2] == EXCLUDED)
        for row in rows
    )

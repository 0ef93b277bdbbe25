"""PubTator (CDR, BioRED): `id|t|title`, `id|a|abstract`, rows with tabs, then a blank line. Ends are EXCLUSIVE.

    id  start  end  text  type  concept  [more]           a mention
    id  relation  concept  concept  [more]                a fact between two concepts, such as CID or Association

The text is title + space + abstract (only the title if there is no abstract). Offsets refer to it, and
meta["title_end"] is the end of the title. All mentions of a concept are one entity, and its `link` is the concept. A
mention with several concepts ("A|B"; "," and ";" are read too) belongs to several entities. "-1", "-" and an empty cell
mean no concept: the mention has no entity. An entity without a link is written as LOCAL:1, LOCAL:2, … and read back
without one. Further columns (names of the parts, BioRED's novelty) and concepts that the writer would write differently
are in meta["extra"] by path. So are relations between concepts without a mention ("relations"): a fact needs entities.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin import files
from factpin.documents import Document, Entity, Fact, Mention
from factpin.errors import BadDocument, OffsetMismatch
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._words import extra_of
from factpin.formats._writing import losses
from factpin.words import count

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "clusters", "entities", "links", "facts"})
ENDING = ".txt"
TITLE = re.compile(r"([^|\t]*)\|t\|(.*)", re.DOTALL)
ABSTRACT = re.compile(r"([^|\t]*)\|a\|(.*)", re.DOTALL)
NUMBER = re.compile(r"[0-9]{1,12}")
VARIANT = re.compile(r"[A-Za-z]?\|[A-Za-z]+\|")  # c|SUB|A|13|G is one concept
LOCAL = re.compile(r"LOCAL:[0-9]+")
BREAKS = re.compile(r"[\t\n\r]")
UNLINKED = ("-1", "-", "")


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per block, with mentions and facts in the order of the rows."""
    return reading.each(_blocks(reading.lines()), lambda block, _: _document(block, reading))


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """The numbered lines of one document at a time; a blank line or a new title ends it."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        blank = not line or line.isspace()
        if block and (blank or TITLE.fullmatch(line)):
            yield block[0][0], block
            block = []
        if not blank:
            block.append((number, line))
    if block:
        yield block[0][0], block


@dataclass
class _Record:
    """A block being read."""

    reading: ReadContext
    id: str
    text: str
    mentions: list[Mention] = field(default_factory=list)
    cells: list[str | None] = field(default_factory=list)  # the concept of every mention as it is written
    concepts: dict[str, list[Mention]] = field(default_factory=dict)
    relations: list[tuple[int, list[str]]] = field(default_factory=list)
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)


def _document(block: list[tuple[int, str]], reading: ReadContext) -> Document:
    title = TITLE.fullmatch(block[0][1])
    if title is None:
        raise BadDocument(
            "expected the document to begin with id|t|title. Check the blank lines before it.", field="title"
        )
    id, text = title[1], title[2]
    rows = block[1:]
    abstract = ABSTRACT.fullmatch(rows[0][1]) if rows else None
    if abstract is not None:
        text += " " + abstract[2] if abstract[2] else ""
        rows = rows[1:]
    this = _Record(reading, id, text)
    for number, line in rows:
        try:
            _row(line.split("\t"), number, this)
        except BadDocument as problem:
            raise reading.bad_record(problem, number) from None
    entities = {
        concept: Entity(f"e{i}", tuple(dict.fromkeys(m.id for m in group)), group[0].type, group[0].text,
                        "" if LOCAL.fullmatch(concept) else concept)
        for i, (concept, group) in enumerate(this.concepts.items())
    }  # fmt: skip
    facts = _facts(this, entities)
    _keep_cells(this, entities)
    meta: dict[str, Any] = {"title_end": len(title[2])} if len(text) > len(title[2]) else {}
    if this.extra:
        meta["extra"] = this.extra
    return Document(id, text, mentions=tuple(this.mentions), entities=tuple(entities.values()), facts=facts, meta=meta)


def _row(columns: list[str], number: int, this: _Record) -> None:
    if columns[0] != this.id:
        raise BadDocument(
            f"a row of document {columns[0][:40]!r} is among those of {this.id!r}. "
            f"Put a blank line and its title before it.",
            field="id",
        )
    if len(columns) >= 5 and NUMBER.fullmatch(columns[1]) and NUMBER.fullmatch(columns[2]):
        _mention(columns, number, this)
    elif len(columns) >= 4:
        if not columns[1]:
            raise BadDocument("the relation has no name; expected one in column 2. Add it.", field="relation")
        this.relations.append((number, columns[1:]))
    else:
        raise BadDocument(
            f"{count(len(columns), 'column')}; expected id, start, end, text, type, concept or id, relation, concept, "
            f"concept, separated by tabs.",
            field="columns",
        )


def _mention(columns: list[str], number: int, this: _Record) -> None:
    start, end = int(columns[1]), int(columns[2])
    index = len(this.mentions)
    there = this.text[start:end]
    if there != columns[3]:
        inclusive = this.text[start : end + 1] == columns[3]
        hint = "The ends in this file seem to be inclusive; add 1." if inclusive else "Correct the offsets."
        raise OffsetMismatch(
            f"text[{start}:{end}] is {there[:40]!r}, not {columns[3][:40]!r}. {hint}",
            field=f"mentions[{index}]",
            inclusive=inclusive,
        )
    mention = Mention(f"m{index}", start, end, there, columns[4])
    this.mentions.append(mention)
    this.cells.append(columns[5] if len(columns) > 5 else None)
    parts = _parts(columns[5]) if len(columns) > 5 else []
    if parts and parts != [columns[5]]:
        this.reading.note("composite_concept", number, this.id, f"{there[:40]!r} has the concepts {columns[5][:80]}")
    if not parts:
        this.reading.note("unlinked_mention", number, this.id, f"{there[:40]!r} has no concept")
    for concept in parts:
        this.concepts.setdefault(concept, []).append(mention)
    if len(columns) > 6:
        this.extra[f"mentions[{index}]"] = {"columns": columns[6:]}


def _parts(cell: str) -> list[str]:
    """The concepts of a cell."""
    parts = [cell] if VARIANT.match(cell) else re.split(r"[|,;]", cell)
    return [part for part in dict.fromkeys(parts) if part not in UNLINKED]


def _facts(this: _Record, entities: dict[str, Entity]) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    bare = []
    for number, columns in this.relations:
        head, tail = entities.get(columns[1]), entities.get(columns[2])
        if head is None or tail is None:
            absent = columns[1] if head is None else columns[2]
            this.reading.note(
                "concept_without_mention", number, this.id, f"{columns[0]}: no mention has {absent[:40]!r}"
            )
            bare.append(columns)
            continue
        if len(columns) > 3:
            this.extra[f"facts[{len(facts)}]"] = {"columns": columns[3:]}
        facts.append(Fact(head.id, columns[0], tail.id))
    if bare:
        this.extra["relations"] = {"rows": bare}
    return tuple(facts)


def _keep_cells(this: _Record, entities: dict[str, Entity]) -> None:
    """Keep the concept column if the writer would write it differently."""
    spelled: dict[str, list[str]] = {}
    for concept, entity in entities.items():
        for id in entity.mentions:
            spelled.setdefault(id, []).append(concept)
    for i, cell in enumerate(this.cells):
        local = cell is not None and any(LOCAL.fullmatch(part) for part in _parts(cell))
        if not local and cell != _cell(spelled.get(f"m{i}", [])):
            this.extra.setdefault(f"mentions[{i}]", {})["concept"] = cell


def _cell(concepts: Sequence[str]) -> str:
    return "|".join(concepts) if concepts else UNLINKED[0]


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one block per document."""
    with files.write_bytes(path) as stream:
        for doc in documents:
            stream.write("".join(line + "\n" for line in _lines(doc)).encode() + b"\n")


def _lines(doc: Document) -> Iterator[str]:
    id = clean(doc.id).replace("|", " ")
    text = clean(doc.text)
    end = _title_end(doc)
    yield f"{id}|t|{text[:end]}"
    yield f"{id}|a|{text[end + 1 :]}"
    concept, _ = concepts(doc)
    owners: dict[str, list[str]] = {}
    for entity in doc.entities:
        for mention in dict.fromkeys(entity.mentions):
            owners.setdefault(mention, []).append(concept[entity.id])
    for i, m in enumerate(doc.mentions):
        extra = extra_of(doc, f"mentions[{i}]")
        here = owners.get(m.id, [])
        cell = extra.get("concept", "") if _fits_cell(extra, here) else _cell(here)
        columns = [id, str(m.start), str(m.end), text[m.start : m.end], clean(m.type)]
        yield "\t".join(columns if cell is None else [*columns, cell, *_columns(extra)])
    for i, f in enumerate(doc.facts):
        more = _columns(extra_of(doc, f"facts[{i}]"))
        yield "\t".join([id, _relation(f, concept[f.head]), concept[f.head], concept[f.tail], *more])
    for row in _rows(doc):
        yield "\t".join([id, *row])


def clean(text: str) -> str:
    """Replace every character that would end a cell or a line with a space."""
    return BREAKS.sub(" ", text)


def _title_end(doc: Document) -> int:
    """The end of the title; the end of the text if there is no abstract."""
    end = doc.meta.get("title_end")
    if type(end) is int and 0 <= end < len(doc.text) - 1 and doc.text[end] == " ":
        return end
    return len(doc.text)


def _fits_cell(extra: dict[str, Any], concepts: list[str]) -> bool:
    """Whether the concept column as it was read still matches the entities."""
    if "concept" not in extra:
        return False
    cell = extra["concept"]
    if cell is None:
        return not concepts and "columns" not in extra
    return isinstance(cell, str) and not BREAKS.search(cell) and set(_parts(cell)) == set(concepts)


def _columns(extra: dict[str, Any]) -> list[str]:
    columns = extra.get("columns")
    return [clean(column) for column in columns if isinstance(column, str)] if isinstance(columns, list) else []


def _rows(doc: Document) -> list[list[str]]:
    """Relations between concepts without mentions, as they were read."""
    rows = extra_of(doc, "relations").get("rows")
    if not isinstance(rows, list):
        return []
    return [[clean(str(cell)) for cell in row] for row in rows if isinstance(row, list) and len(row) >= 3]


def _relation(fact: Fact, head: str) -> str:
    name = clean(fact.relation)
    return f"r{name}" if NUMBER.fullmatch(name) and NUMBER.fullmatch(head) else name


def concepts(doc: Document, *, composite: bool = True) -> tuple[dict[str, str], Counter[str]]:
    """The concept to write for every entity, and the lost links: shared by two entities, or impossible to write."""
    concept: dict[str, str] = {}
    taken: set[str] = set()
    lost: Counter[str] = Counter()
    for entity in doc.entities:
        link = entity.link
        spelled = bool(link) and not BREAKS.search(link) and not LOCAL.fullmatch(link) and link not in UNLINKED
        if spelled and composite:
            spelled = _parts(link) == [link]
        if link and not spelled:
            lost["links that cannot be spelled"] += 1
        if spelled and link in taken:
            lost["links that two entities share"] += 1
        concept[entity.id] = link if spelled and link not in taken else f"LOCAL:{len(concept) + 1}"
        taken.add(concept[entity.id])
    return concept, lost


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what PubTator cannot hold. The type and name of an entity are those of its first mention."""
    lost = losses(doc, HOLDS)
    concept, unspelled = concepts(doc)
    lost += unspelled
    order = {m.id: i for i, m in enumerate(doc.mentions)}
    firsts = [(e, doc.mentions[min(order[id] for id in e.mentions)]) for e in doc.entities]
    lost["names"] = sum(bool(e.name) and e.name != m.text for e, m in firsts)
    lost["types of entities"] = sum(e.type != m.type for e, m in firsts)
    lost["tabs and line breaks"] = len(BREAKS.findall(doc.text))
    names = [*(m.type for m in doc.mentions), *(f.relation for f in doc.facts)]
    lost["names with tabs and line breaks"] = sum(bool(BREAKS.search(name)) for name in names)
    lost["relations named by a number"] = sum(_relation(f, concept[f.head]) != clean(f.relation) for f in doc.facts)
    lost["meta"] = _lost_meta(doc)
    return +lost


def _lost_meta(doc: Document) -> int:
    count = sum(key not in ("title_end", "extra") for key in doc.meta)
    count += "title_end" in doc.meta and _title_end(doc) == len(doc.text)
    extra = doc.meta.get("extra", {})
    if not isinstance(extra, dict):
        return count + 1
    places = {"relations"} | {f"mentions[{i}]" for i in range(len(doc.mentions))}
    places |= {f"facts[{i}]" for i in range(len(doc.facts))}
    own = {"columns", "concept", "rows"}
    return count + sum(not isinstance(v, dict) or key not in places or not v.keys() <= own for key, v in extra.items())


def fits(head: Head) -> bool:
    """Whether the first line that is not blank is id|t|title."""
    first = next((line for line in head.lines if line.strip()), "")
    return not head.is_folder and first[0:1] not in ("{", "[") and TITLE.fullmatch(first) is not None

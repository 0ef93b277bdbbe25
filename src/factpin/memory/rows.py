"""Turn a document into the rows of a store: a pure function of the document, its source and the settings.

Nothing here depends on other documents, so the rows of a store do not depend on its history. The only outside input
is `apart`: the names that were split by hand in this document.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from factpin.documents import Document, Entity, Fact, Mention, Span, from_json, to_json
from factpin.documents.keys import digest, document_key, entity_key, fact_key, passage_key, text_key
from factpin.errors import BadDocument
from factpin.language.sentences import split_sentences
from factpin.memory.dates import as_date
from factpin.memory.evidence import EvidenceFinder
from factpin.memory.names import key_of, surface_key, title_key
from factpin.memory.nouns import Source, check_storable
from factpin.memory.passages import PassageSettings, cut
from factpin.memory.terms import VERSION, terms
from factpin.words import count

VALID_FROM = frozenset({"valid_from", "start time", "开始时间"})  # roles for the start of a fact
VALID_TO = frozenset({"valid_to", "end time", "结束时间"})
LONGEST_NAME = 500  # characters of a relation or a type


class DocumentRow(NamedTuple):
    """A document."""

    id: str
    uri: str
    digest: str
    language: str
    text: str
    title: str
    title_key: str
    published: str
    model: str
    text_key: str
    whole: int  # 0 if a model did not read all of it
    record: str  # native JSON without the text


class PassageRow(NamedTuple):
    """A passage of a document."""

    id: str
    document: str
    start: int
    end: int
    length: int  # in terms, including those of the title


class EntityRow(NamedTuple):
    """An entity, shared by documents."""

    id: str
    key: str
    type: str


class MentionRow(NamedTuple):
    """A mention of an entity in a document."""

    document: str
    start: int
    end: int
    entity: str
    surface: str
    surface_key: str
    type: str
    score: float | None


class FactRow(NamedTuple):
    """A fact, shared by documents."""

    id: str
    head: str
    relation: str
    tail: str
    valid_from: str
    valid_to: str
    qualifiers: str  # JSON: pairs of role and entity, sorted


class EvidenceRow(NamedTuple):
    """A place in a document that states a fact."""

    fact: str
    document: str
    start: int
    end: int
    assertion: str
    model: str
    score: float | None
    head_start: int | None
    head_end: int | None
    tail_start: int | None
    tail_end: int | None


class Rows(NamedTuple):
    """All rows of a document."""

    document: DocumentRow
    passages: tuple[PassageRow, ...]
    words: tuple[str, ...]  # the terms of each passage and its title, separated by spaces
    entities: tuple[EntityRow, ...]
    mentions: tuple[MentionRow, ...]
    facts: tuple[FactRow, ...]
    evidence: tuple[EvidenceRow, ...]


def rows_of(
    doc: Document,
    source: Source,
    settings: PassageSettings,
    apart: Mapping[str, str],
    document: DocumentRow | None = None,
) -> Rows:
    """All rows of a document.

    apart: suffixes for keys that refer to another entity here.
    document: its `document_row`, if already computed.
    """
    _check(doc)
    sentences = doc.sentences or tuple(Span(*span) for span in split_sentences(doc.text))
    document = document or document_row(doc, source, settings)
    spans = cut(doc.text, settings, sentences)
    titles = terms(source.title)
    words = [[*titles, *terms(doc.text[span.start : span.end])] for span in spans]
    passages = tuple(
        PassageRow(passage_key(document.id, *span), document.id, *span, len(found))
        for span, found in zip(spans, words, strict=True)
    )
    named, entities, mentions = _named(doc, document.id, apart)
    facts, evidence = _said(doc, document.id, source.model, named, sentences)
    return Rows(
        document,
        passages,
        tuple(" ".join(found) for found in words),
        entities,
        mentions,
        facts,
        evidence,
    )


def document_row(doc: Document, source: Source, settings: PassageSettings) -> DocumentRow:
    """The row of the document itself. Its digest changes whenever any of its rows can change."""
    record = _record(doc)
    said = digest(record, doc.text, source.title, source.published, source.model, str(settings.size), VERSION)
    whole = doc.coverage is None or not doc.coverage.unread
    return DocumentRow(
        document_key(source.uri), source.uri, said, doc.language or "", doc.text, source.title,
        title_key(source.title), source.published, source.model, text_key(doc.text), int(whole), record,
    )  # fmt: skip


def document_of(row: DocumentRow) -> tuple[Document, Source]:
    """The document and source of a row."""
    doc = from_json({**json.loads(row.record), "text": row.text})
    return doc, Source(row.uri, row.title, row.published, row.model)


def _record(doc: Document) -> str:
    record = to_json(doc)
    del record["text"]
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadDocument(
            f"{doc.id}: meta has a value that JSON cannot hold ({error}). Remove it.", field="meta"
        ) from None
    check_storable(text, "meta")
    return text


def _check(doc: Document) -> None:
    """Raise BadDocument for anything that some database cannot store, so that all stores accept the same documents."""
    check_storable(doc.text, "text")
    for i, mention in enumerate(doc.mentions):
        _check_name(mention.type, f"mentions[{i}].type")
    for i, entity in enumerate(doc.entities):
        _check_name(entity.type, f"entities[{i}].type")
        check_storable(entity.name, f"entities[{i}].name")
        check_storable(entity.link, f"entities[{i}].link")
    for i, fact in enumerate(doc.facts):
        _check_name(fact.relation, f"facts[{i}].relation")


def _check_name(name: str, field: str) -> None:
    check_storable(name, field)
    if len(name) > LONGEST_NAME:
        raise BadDocument(f"{field} has {count(len(name), 'character')}; expected at most {LONGEST_NAME}.", field=field)


def _named(
    doc: Document, document: str, apart: Mapping[str, str]
) -> tuple[dict[str, EntityRow], tuple[EntityRow, ...], tuple[MentionRow, ...]]:
    """The entity of each id in the document, all entities, and a row for each of their mentions.

    A mention without an entity becomes one of its own, unless it only triggers an event.
    """
    by_id = {m.id: m for m in doc.mentions}
    taken = {id for entity in doc.entities for id in entity.mentions} | {event.trigger for event in doc.events}
    single = [Entity(m.id, (m.id,), m.type, m.text) for m in doc.mentions if m.id not in taken]
    rows: list[EntityRow] = []
    mentions: dict[tuple[int, int, str], MentionRow] = {}
    for entity in (*doc.entities, *single):
        key = key_of(entity, [by_id[id].text for id in entity.mentions])
        key += apart.get(key, "")
        rows.append(EntityRow(entity_key(key, entity.type), key, entity.type))
        for id in entity.mentions:
            _keep_best(mentions, _mention(by_id[id], document, rows[-1].id))
    named = {entity.id: row for entity, row in zip(doc.entities, rows, strict=False)}
    return named, tuple(sorted(set(rows))), tuple(mentions[place] for place in sorted(mentions))


def _mention(m: Mention, document: str, entity: str) -> MentionRow:
    return MentionRow(document, m.start, m.end, entity, m.text, surface_key(m.text), m.type, m.score)


def _keep_best(mentions: dict[tuple[int, int, str], MentionRow], row: MentionRow) -> None:
    """Keep one row per place and entity: prefer one with a type, then the higher score."""
    place = (row.start, row.end, row.entity)
    old = mentions.get(place)
    if old is None or _rank(row) > _rank(old):
        mentions[place] = row


def _rank(row: MentionRow) -> tuple[bool, float, str]:
    return bool(row.type), -1.0 if row.score is None else row.score, row.type


def _said(
    doc: Document, document: str, model: str, entities: Mapping[str, EntityRow], sentences: tuple[Span, ...]
) -> tuple[tuple[FactRow, ...], tuple[EvidenceRow, ...]]:
    facts: dict[str, FactRow] = {}
    evidence: dict[tuple[Any, ...], EvidenceRow] = {}
    places = EvidenceFinder(doc, sentences)
    for fact in doc.facts:
        row = _fact(doc, fact, entities)
        facts[row.id] = row
        for start, end, head, tail in places.find(fact):
            found = EvidenceRow(
                row.id, document, start, end, fact.assertion or "asserted", model, fact.score, *head, *tail
            )
            old = evidence.get(found[:6])
            if old is None or _better(found, old):
                evidence[found[:6]] = found
    return tuple(facts[id] for id in sorted(facts)), tuple(evidence[place] for place in sorted(evidence))


def _better(new: EvidenceRow, old: EvidenceRow) -> bool:
    """Whether a row has a higher score than another for the same place. No score means certain."""
    certain = (1.0 if new.score is None else new.score, 1.0 if old.score is None else old.score)
    return certain[0] > certain[1] or (certain[0] == certain[1] and repr(new) < repr(old))


def _fact(doc: Document, fact: Fact, entities: Mapping[str, EntityRow]) -> FactRow:
    """The fact between entities of the store. Qualifiers for its start and end become its dates."""
    since, until, others = "", "", []
    for qualifier in fact.qualifiers:
        said = _usual_text(doc, qualifier.entity, qualifier.mention)
        date = as_date(said)
        if date and qualifier.role in VALID_FROM and not since:
            since = date
        elif date and qualifier.role in VALID_TO and not until:
            until = date
        else:
            others.append((qualifier.role, entities[qualifier.entity].id))
    parts = (entities[fact.head].id, fact.relation, entities[fact.tail].id, since, until)
    return FactRow(fact_key(*parts, others), *parts, json.dumps(sorted(others), ensure_ascii=False) if others else "")


def _usual_text(doc: Document, entity: str, mention: str | None) -> str:
    return doc.mention(mention).text if mention else doc.mention(doc.entity(entity).mentions[0]).text

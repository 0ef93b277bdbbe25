"""Corpora that mark one pair per sentence: wiki80, kbp37 and the Wikidata part of Text2KGBench.

Their facts are true, but others may be missing: no relation is annotated exhaustively. A pair is used if a word of the
sentence hints at its relation.
"""

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from _prepare_facts import Place, Relation, Table, Told, make_meta, pin, read_lines, running
from google_re import dates

from factpin.documents import Document
from factpin.files import lines
from factpin.formats._occurrences import occurrences

WIKI80_NOISY = {"residence", "country", "headquarters location"}  # the sentence often does not state them
KBP37_CUES = {  # the corpus is noisy: a pair counts where the words around it say so; @ is the tail
    "org:founded_by": re.compile(r"\b(?:co-?)?found(?:er|ed)|\bestablished by|\bset up by"),
    "per:spouse": re.compile(r"\b(?:wife|husband|married|marries|spouse|widow|widower)\b"),
    "org:city_of_headquarters": re.compile(r"\b(?:headquarter\w*|based|head office)(?: \w+){0,3} in @"),
}
TEKGEN = re.compile(r"data/wikidata_tekgen/(?:train|ground_truth)/.+\.jsonl")
GARBLED = re.compile("[ÂÃâ]|Å[«ˆ¡]")
RELEASED = re.compile(r"releas|publish|issued|premier|debut|\b(?:is|was) an? (?:\w+ )?\d{4}|\(\d{4}|broadcast|aired")


def told(found: tuple[Relation, bool], head: Place, tail: Place) -> Told | None:
    """A fact of a corpus as ours; a type that is not given or does not fit is the relation's first."""
    relation, turned = found
    if turned:
        head, tail = tail, head
    if relation.head[0] == "work" and head.type == "person" and "person" not in relation.head:
        return None  # a role, not the work that it is in
    return Told(typed(head, relation.head), relation.name, typed(tail, relation.tail))


def typed(place: Place, allowed: tuple[str, ...]) -> Place:
    return place if place.type in allowed else place._replace(type=allowed[0])


def one_pair(id: str, words: str, ends: tuple[Place, Place], found: tuple[Relation, bool]) -> Iterator[Document]:
    """A sentence with one marked pair, if its words hint at the relation."""
    source = id.partition("-")[0]
    text, spans = running(words, [end[:2] for end in ends], hyphens=source == "wiki80")
    head, tail = (Place(*span, end.type) for span, end in zip(spans, ends, strict=True))
    fact = told(found, head, tail)
    if fact is not None and found[0].hinted(text):
        facts = [fact, Told(fact.tail, fact.relation, fact.head)] if found[0].symmetric else [fact]
        yield pin(id, text, facts, make_meta(source, []), "en")


# ---- wiki80 ---------------------------------------------------------------------------------------------------------


def wiki80(path: Path, table: Table) -> Iterator[Document]:
    """Human-checked pairs of Wikidata."""
    for number, row in enumerate(read_lines(path), 1):
        found = table.find(row["relation"])
        if found is None or found[0].name in WIKI80_NOISY:
            continue
        words, at = "", []
        for token in row["token"]:
            token = "".join(token.split())
            at.append((len(words), len(words) + len(token)))
            words += token + " " * bool(token)
        head, tail = (
            Place(
                *unquoted(words, at[side["pos"][0]][0], at[side["pos"][1] - 1][1]),
                table.types["wiki80"].get(side["type"], ""),
            )
            for side in (row["h"], row["t"])
        )
        if head.start < head.end and tail.start < tail.end:
            yield from one_pair(f"wiki80-{path.name[:3]}-{number}", words, (head, tail), found)


def unquoted(words: str, start: int, end: int) -> tuple[int, int]:
    """A span without quotation marks around it, or without one that is alone."""
    inside = words[start:end]
    if inside.startswith('" ') and inside.count('"') < 3:
        start += 2
    if inside.endswith(' "') and (inside.count('"') == 1 or inside.startswith('" ')):
        end -= 2
    return start, end


# ---- kbp37 ----------------------------------------------------------------------------------------------------------


def kbp37(path: Path, table: Table) -> Iterator[Document]:
    """Pairs marked <e1> and <e2>, of the relations that the words themselves confirm."""
    rows = [line for _, line in lines(path) if line.strip()]
    for number, (line, label) in enumerate(zip(rows[::2], rows[1::2], strict=True), 1):
        name, _, order = label.strip().partition("(")
        found = table.find(name)
        if found is None or name not in KBP37_CUES:
            continue
        words, first, second = unmarked(line.split("\t", 1)[1])
        head, tail = (first, second) if order.startswith("e1") else (second, first)
        told_so = KBP37_CUES[name].search(f"{words[: tail.start]}@{words[tail.end :]}")
        if told_so and head.start < head.end and tail.start < tail.end:
            yield from one_pair(f"kbp37-{path.name[:3]}-{number}", words, (head, tail), found)


def unmarked(line: str) -> tuple[str, Place, Place]:
    """A line without its marks, and where they were."""
    words, at = "", {}
    for word in line.strip().strip('"').split():
        if re.fullmatch(r"</?e[12]>", word):
            at[word] = len(words)
        else:
            words += word + " "
    return words, Place(at["<e1>"], at["</e1>"] - 1, ""), Place(at["<e2>"], at["</e2>"] - 1, "")


# ---- Text2KGBench ---------------------------------------------------------------------------------------------------


def tekgen(path: Path, table: Table) -> Iterator[Document]:
    """Sentences of Wikipedia aligned with Wikidata; both names must be in the sentence."""
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            stream = archive.extractfile(member) if TEKGEN.fullmatch(member.name) else None
            for line in stream.read().splitlines() if stream else ():
                if line.strip():
                    yield from tekgen_document(orjson.loads(line), table)


def tekgen_document(row: dict[str, Any], table: Table) -> Iterator[Document]:
    """The document of a record with one triple or with several, if at least one is stated."""
    triples = row.get("triples") or []
    if "sub_label" in row:
        triples = [{"sub": row["sub_label"], "rel": row["rel_label"], "obj": row["obj_label"]}]
    facts = [fact for triple in triples if (fact := tekgen_fact(triple, row["sent"], table))]
    if facts and not GARBLED.search(row["sent"]):
        yield pin(f"tekgen-{row['id']}", row["sent"], facts, make_meta("tekgen", []), "en")


def tekgen_fact(triple: dict[str, str], text: str, table: Table) -> Told | None:
    """A triple as ours, where the text has both names and hints at the relation."""
    found = table.find(triple["rel"].strip())
    if found is None or found[0].name == "country" or not found[0].hinted(text):
        return None
    if found[0].name == "publication date" and not RELEASED.search(text):
        return None
    heads, tails = (
        [(at, at + len(triple[side])) for at in occurrences(text, triple[side])[0]] for side in ("sub", "obj")
    )
    if found[0].tail == ("date",):
        tails = dates(text, triple["obj"])
    if not heads or not tails:
        return None
    head, tail = min(((h, t) for h in heads for t in tails), key=lambda pair: abs(sum(pair[0]) - sum(pair[1])))
    return told(found, Place(*head, ""), Place(*tail, ""))

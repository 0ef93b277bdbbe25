"""Facts that the words of their sentences rule out, whatever a model thinks of them.

Somebody who studies at a school (就读) has not graduated from it (毕业院校). A nationality that is named right before a
name (法国选手泰丝) is that of this name, and other countries of the sentence are not.
"""

import re
from collections.abc import Mapping, Sequence

from factpin.documents import Document, Fact

GRADUATION, NATIONALITY = "毕业院校", "国籍"
PLACE = "location"  # a type of the shipped models
STUDIES = re.compile("就读|在读|考入|考上|入读|肄业|退学")
GRADUATED = re.compile("毕业|学位|学士|硕士|博士|校友")
BEFORE = 8  # characters at most between a country and the name that it belongs to: 法国女子选手


def credible(doc: Document) -> list[Fact]:
    """The facts of a document that its wording allows."""
    countries, places = _countries(doc), {m.id: (m.start, m.end) for m in doc.mentions}
    return [
        fact for fact in doc.facts if not _only_studies(doc, fact) and not _other_country(doc, fact, countries, places)
    ]


def _only_studies(doc: Document, fact: Fact) -> bool:
    """Whether the evidence of a graduation speaks of studying alone."""
    if fact.relation != GRADUATION or not fact.evidence:
        return False
    sentences = [doc.sentences[one.sentence] for one in fact.evidence]
    text = "".join(doc.text[sentence.start : sentence.end] for sentence in sentences)
    return STUDIES.search(text) is not None and GRADUATED.search(text) is None


def _countries(doc: Document) -> dict[int, list[tuple[int, int]]]:
    """Where places are named, and whatever some fact takes for a nationality, by where they end."""
    tails = {fact.tail_mention for fact in doc.facts if fact.relation == NATIONALITY}
    found: dict[int, list[tuple[int, int]]] = {}
    for m in doc.mentions:
        if m.type == PLACE or m.id in tails:
            found.setdefault(m.end, []).append((m.start, m.end))
    return found


def _other_country(
    doc: Document,
    fact: Fact,
    countries: Mapping[int, Sequence[tuple[int, int]]],
    places: Mapping[str, tuple[int, int]],
) -> bool:
    """Whether another country is named right before the head of a nationality."""
    if fact.relation != NATIONALITY:
        return False
    head, tail = places.get(fact.head_mention or ""), places.get(fact.tail_mention or "")
    if head is None or tail is None:
        return False
    near = [country for gap in range(BEFORE + 1) for country in countries.get(head[0] - gap, ())]
    return bool(near) and doc.text[slice(*max(near))] != doc.text[slice(*tail)]

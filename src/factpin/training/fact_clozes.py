"""Texts with a blank from the facts of a store: what a fact memory learns from.

evidence    the sentence that states a fact, its tail left out; not if it names the tail twice
templates   "The director of Ed Wood is ▁." and others, from the name of the relation
"""

from collections.abc import Iterator
from dataclasses import dataclass

from factpin.documents import Span
from factpin.documents.keys import fold
from factpin.knowledge.asker import BLANK
from factpin.knowledge.tables import FactTable
from factpin.language.identify import find_language

TEMPLATES = {
    "en": (
        "The {relation} of {head} is ▁.",
        "What is the {relation} of {head}? ▁",
        "{head}, {relation}: ▁",
        "Who or what is {head}'s {relation}? ▁",
        "Tell me the {relation} of {head}. ▁",
    ),
    "zh": (
        "{head}的{relation}是▁。",
        "{head}的{relation}是什么？▁",
        "{head}的{relation}是谁？▁",
        "{head}，{relation}：▁",
    ),
}


@dataclass(frozen=True, slots=True)
class FactCloze:
    """A text, the characters that are left out, and the row of facts that fills them."""

    text: str
    blank: Span
    row: int
    tail: int  # row of the entity that was left out


def clozes(table: FactTable) -> Iterator[FactCloze]:
    """All texts of all facts, row by row."""
    for number, row in enumerate(table.rows):
        for tail, key in zip(row.tails, row.facts, strict=True):
            fact = table.facts[key].fact
            relation = fact.relation.replace("_", " ")
            for template in TEMPLATES["zh" if find_language(fact.relation + fact.head.name) == "zh" else "en"]:
                text = template.format(relation=relation, head=fact.head.name)
                yield FactCloze(text, _blank(text), number, tail)
            for pin in fact.pins:
                if pin.tail is None or not pin.start <= pin.tail.start < pin.tail.end <= pin.end:
                    continue
                if pin.assertion == "asserted" and not pin.uri.startswith("manual:"):
                    span = Span(pin.tail.start - pin.start, pin.tail.end - pin.start)
                    rest = f"{pin.quote[: span.start]}{BLANK}{pin.quote[span.end :]}"
                    if fold(pin.quote[span.start : span.end]) not in fold(rest):
                        yield FactCloze(pin.quote, span, number, tail)


def _blank(text: str) -> Span:
    at = text.index(BLANK)
    return Span(at, at + len(BLANK))

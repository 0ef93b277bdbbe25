"""Answer a yes-no question from the facts between two names in it: "Was Ed Wood directed by Tim Burton?".

A fact that holds is a yes and one that a text denies is a no. A fact that is not there is neither: we abstain.
"""

import re
from collections.abc import Iterator
from itertools import permutations

from factpin.answers.cite import citation_of, shared
from factpin.answers.kinds import kind_of
from factpin.answers.named import Name, names_in
from factpin.answers.parse import ParsedQuestion, asking_yes_no, unexplained
from factpin.answers.relate import cues
from factpin.documents import Answer, Hop, Span
from factpin.memory import ALL, Filter, JudgedFact, Pattern, Store

_OF = re.compile(r"\s+of\s+(?:the\s+)?", re.I)
_POSSESSIVE = re.compile(r"['’]s?\s+(?:\w+\s+)?|的")
WORDS = {"en": ("yes", "no"), "zh": ("是", "否")}
TELLING = ("active", "disputed", "denied")  # statuses of facts that mean yes or no
MOST_NAMES = 8  # names of a question that are paired


def affirm(question: ParsedQuestion, store: Store, filter: Filter = ALL) -> Answer | None:
    """Yes or no, with the evidence of the fact that is asked about; None where no fact decides."""
    names = names_in(question.text, store, filter)[:MOST_NAMES]
    pairs = permutations(names, 2)
    found = [fact for pair in pairs for fact in _facts(question, store, filter, *pair) if _tells(fact)]
    if not found:
        return None
    best = max(found, key=lambda judged: (_sure(judged), judged.fact.id))
    fact, denied = best.fact, best.status == "denied"
    stance = "negated" if denied else "asserted"
    citations = shared([citation_of(pin, fact.id, None) for pin in fact.pins if pin.assertion == stance])
    path = (Hop(fact.head.name, fact.tail.name, citations[0], fact.relation),)
    return Answer(question.text, WORDS[question.language][denied], _sure(best), "facts", citations=citations,
                  path=path, conflict=best.status == "disputed")  # fmt: skip


def _tells(judged: JudgedFact) -> bool:
    """Whether a text asserts a fact that holds, or denies one that does not."""
    stance = "negated" if judged.status == "denied" else "asserted"
    return judged.status in TELLING and any(pin.assertion == stance for pin in judged.fact.pins)


def _sure(judged: JudgedFact) -> float:
    """How likely the answer is right; for a denial, how likely the text denies it."""
    if judged.status != "denied":
        return judged.confidence
    return max(1.0 if pin.score is None else pin.score for pin in judged.fact.pins if pin.assertion == "negated")


def _facts(question: ParsedQuestion, store: Store, filter: Filter, head: Name, tail: Name) -> Iterator[JudgedFact]:
    """The facts between two names whose words explain the whole question."""
    (first, heads), (second, tails) = head, tail
    if first.start < second.end and second.start < first.end:
        return
    pattern = Pattern(tuple(c.entity.id for c in heads), None, tuple(c.entity.id for c in tails))
    for judged in store.judged(pattern, filter):
        fact, kinds = judged.fact, {kind_of(judged.fact.head), kind_of(judged.fact.tail)}
        for anchor, inverse in ((first, False), (second, True)):
            asked = [first, second, *asking_yes_no(question)]
            if any(
                not unexplained(question, [*asked, *cue.spans], kinds)
                and (len(kinds) > 1 or any(_owns(question.text, first, span) for span in cue.spans))
                for cue in cues(question, anchor, fact, inverse=inverse)
            ):
                yield judged
                break


def _owns(text: str, name: Span, cue: Span) -> bool:
    """Whether the name is the head of what the cue names: "the father of X", "X's father", X的父亲.

    Where both names are of one kind, only this tells a question from the opposite one.
    """
    return bool(_OF.fullmatch(text[cue.end : name.start]) or _POSSESSIVE.fullmatch(text[name.end : cue.start]))

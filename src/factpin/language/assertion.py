"""Assertion status: does the sentence claim that two mentions are related, or deny, doubt, quote or suppose it?

    assertion(text, sentence, head, tail)   -> Status(status, cue)
    with_assertions(doc)                    -> the document with the status and cue of its facts and events
    cues_among(doc, places)                 -> the spans that are themselves a cue

Cues are found in one scan with the patterns of the language (_cues_zh, _cues_en). Each has a reach, the characters it
applies to:

    after      from the cue to the end of its clause; backward only if _looks_back says so
    next       the same, never backward ("rather than", 而非)
    outer      as after, but a negation inside it is undone ("it is not true that … never")
    charge     as after, but not beyond what was done about it (涉嫌受贿被法院判刑: the sentence is not suspected)
    clause     the clause around it ("… was ruled out", 与…无关)
    event      the same, if something that can be called off comes before ("the sale … was cancelled")
    copula     the two mentions that it joins (鲸非鱼类)
    cleft      from the cue to its "that"; what follows is taken for granted ("it was not for money that A left B")
    condition  from the start of its clause to the end of the sentence, because what follows depends on it; if it comes
               last after a comma, from the start of the previous clause (", provided that they agree.")
    unless     the same, and a denial in its own clause is undone ("unless it fails", 除非…否决)
    speech     from the cue to the end of the sentence; the whole sentence if the cue is an aside (", he said,")
    sentence   the whole sentence ("according to", 据…报道)

A cue that points forward applies to a pair if one mention is in its reach. For `clause`, `event` and `sentence`, both
must be. Conventions, tested by tests/tasks/minimal_pairs_*.jsonl:

- If several apply: negated > conditional > hedged > reported > asserted. "He said that A did not join B" is negated.
- A question is hedged, whatever is in it.
- Plans, attempts, expectations and suspicions are hedged. A plain future ("will") is asserted: it is a matter of time.
- What nearly happened (almost, 差点), was to have been or is yet to be is negated. "Nobody doubts it" is asserted.
- What was true and no longer is ("no longer", 不再, "ceased to") is negated: the fact does not hold.
- Refusal, failure, denial and cancellation are negated. "Did not deny" and "cannot be ruled out" are hedged.
- Verbs that vouch for what they say (confirm, show, admit, 证实) leave it asserted; announce and 宣布 are reports.
- Two negations, one directly inside the other, cancel each other. "Not … until" is asserted.
- A denial inside a condition ends with it ("if the board refuses, A buys B" is conditional).
- A pair inside one noun phrase ("did not reduce [cocaine]-induced {seizures}", "[Berlin], {Germany}") stays asserted.
- Words inside a mention or a title (《…》, a short quotation in capitals) are not cues. A mention is not its own cue.

An event is judged by its trigger. An event without one is judged in the sentence with most of its arguments, by the
first and the last of them.
"""

from collections.abc import Iterable
from dataclasses import replace

from factpin.documents.nouns import Document, Event, Fact, Mention, Span
from factpin.language._assertion_sentence import LANGUAGES, PRECEDENCE, Sentence, Status
from factpin.language.identify import family, find_language

QUOTES = "“‘「『《\"'"  # after one of these a word is quoted, not used


def assertion(
    text: str, sentence: tuple[int, int], head: tuple[int, int], tail: tuple[int, int], language: str | None = None
) -> Status:
    """The assertion status of a relation between two mentions. The default language is that of the script."""
    size = len(text)
    start, end = max(0, min(sentence[0], size)), max(0, min(sentence[1], size))
    return Sentence(text, Span(start, max(start, end)), (head, tail), language).judge(head, tail)


def with_assertions(doc: Document) -> Document:
    """Set the assertion and cue of every event, and of every fact with both mentions, that has none.

    A fact across sentences is judged in each sentence of its evidence (without evidence, of its mentions), by the
    mentions of its two entities in that sentence, even if there is only one. The status that is first in PRECEDENCE
    wins, so one sentence that denies the fact is enough. Sentences without a mention do not count. Facts without
    mentions, events whose arguments are all events, and languages without cues are left unchanged.
    """
    if not _has_cues(doc):
        return doc
    reader = _Reader(doc)
    facts, events = [], []
    for fact in doc.facts:
        status = reader.status(fact) if fact.assertion is None else None
        facts.append(fact if status is None else replace(fact, assertion=status.status, cue=status.cue))
    for event in doc.events:
        status = reader.event_status(event) if event.assertion is None else None
        events.append(event if status is None else replace(event, assertion=status.status, cue=status.cue))
    return replace(doc, facts=tuple(facts), events=tuple(events))


def cues_among(doc: Document, places: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """The spans that are exactly a cue of their sentence. Capitalised words and words after a quote are not."""
    if not _has_cues(doc):
        return set()
    wanted: dict[Span, set[tuple[int, int]]] = {}
    for place in places:
        word, before = doc.text[slice(*place)], doc.text[max(0, place[0] - 1) : place[0]]
        if word == word.lower() and not (before and before in QUOTES):
            wanted.setdefault(_sentence_at(doc, place[0]), set()).add(place)
    return {
        place for at, own in wanted.items() for place in own & Sentence(doc.text, at, (), doc.language).cue_places()
    }


def standing(status: str | None) -> int:
    """Rank a status: 0 if the fact is asserted or was not judged, highest if it is negated."""
    return 0 if status is None else len(PRECEDENCE) - 1 - PRECEDENCE.index(status)


def _has_cues(doc: Document) -> bool:
    return family(doc.language or find_language(doc.text)) in LANGUAGES


def _sentence_at(doc: Document, start: int) -> Span:
    at = doc.sentence_of(start)
    return Span(0, len(doc.text)) if at is None else doc.sentences[at]


class _Reader:
    """The sentences of a document, each parsed only once."""

    def __init__(self, doc: Document) -> None:
        self.doc = doc
        self.sentences = doc.sentences or (Span(0, len(doc.text)),)
        self.mentions = {mention.id: mention for mention in doc.mentions}
        self.entities = {entity.id: entity.mentions for entity in doc.entities}
        self.place = {mention.id: self._sentence(mention.start) for mention in doc.mentions}
        self.inside: dict[int, list[Mention]] = {}
        for mention in doc.mentions:
            self.inside.setdefault(self.place[mention.id], []).append(mention)
        self.read: dict[tuple[int, tuple[str, ...]], Sentence] = {}

    def _sentence(self, start: int) -> int:
        if not self.doc.sentences:
            return 0
        found = self.doc.sentence_of(start)
        return -1 if found is None else found

    def status(self, fact: Fact) -> Status | None:
        if fact.head_mention is None or fact.tail_mention is None:
            return None
        head, tail = self.mentions[fact.head_mention], self.mentions[fact.tail_mention]
        first, second = self.place[head.id], self.place[tail.id]
        if first == second:
            return self._pair(first, head, tail) if first >= 0 else None
        found = []
        for index in sorted({evidence.sentence for evidence in fact.evidence} or {first, second}):
            heads = [m for m in self._of(fact.head, head) if self.place[m.id] == index]
            tails = [m for m in self._of(fact.tail, tail) if self.place[m.id] == index]
            if index >= 0 and (heads or tails):
                found.append(self._pair(index, (heads or tails)[0], (tails or heads)[0]))
        return _first(found)

    def event_status(self, event: Event) -> Status | None:
        ids = [a.mention for a in event.arguments] if event.trigger is None else [event.trigger]
        parts: dict[int, list[Mention]] = {}
        for mention in (self.mentions[id] for id in ids if id is not None):
            if self.place[mention.id] >= 0:
                parts.setdefault(self.place[mention.id], []).append(mention)
        most = max(map(len, parts.values()), default=0)
        ends = {i: sorted(own, key=lambda m: (m.start, m.end)) for i, own in parts.items() if len(own) == most}
        return _first([self._pair(i, own[0], own[-1]) for i, own in ends.items()])

    def _of(self, entity: str, mention: Mention) -> list[Mention]:
        ids = dict.fromkeys((mention.id, *self.entities.get(entity, ())))
        return [self.mentions[id] for id in ids]

    def _pair(self, index: int, head: Mention, tail: Mention) -> Status:
        pair = (head.start, head.end), (tail.start, tail.end)
        taken = tuple(m.id for m in self.inside.get(index, []) if m in (head, tail) or not _overlaps(m, pair))
        if (index, taken) not in self.read:
            names = {(self.mentions[id].start, self.mentions[id].end) for id in taken}
            self.read[index, taken] = Sentence(self.doc.text, self.sentences[index], names, self.doc.language)
        return self.read[index, taken].judge(*pair)


def _first(found: list[Status]) -> Status | None:
    """The status first in PRECEDENCE, if any."""
    return min(found, key=lambda status: PRECEDENCE.index(status.status), default=None)


def _overlaps(mention: Mention, pair: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    """A wrong name around one of the pair ("没有加入京东集团") must not hide a cue from it."""
    return any(mention.start < end and start < mention.end for start, end in pair)

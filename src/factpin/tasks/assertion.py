"""Assertion status: does the sentence claim that two mentions are related, or deny, doubt, quote or suppose it?

    assertion(text, sentence, head, tail)   -> Status(status, cue)
    with_assertions(doc)                    -> the document with Fact.assertion filled

Cues are found by one scan with the patterns of the language (_cues_zh, _cues_en). Each has a reach, the characters it
speaks about:

    after      from the cue to the end of its clause; backward only where _looks_back says so
    next       the same, never backward ("rather than", 而非)
    outer      as after, but a negation inside it is undone ("it is not true that … never")
    clause     the clause around it ("… was ruled out", 与…无关)
    event      the same, where something that can be called off is named before ("the sale … was cancelled")
    copula     the two mentions that it joins (鲸非鱼类)
    cleft      from the cue to its "that"; what follows is taken for granted ("it was not for money that A left B")
    condition  from the start of its clause to the end of the sentence: what follows hangs on it too
    speech     from the cue to the end of the sentence; all of it where the cue stands aside (", he said,")
    sentence   all of it ("according to", 据…报道)

A pair stands under a cue when its later part does: one mention in the reach suffices for cues that point forward, both
are needed for `clause`, `event` and `sentence`. Conventions, held by tests/tasks/minimal_pairs_*.jsonl:

- Several hold: negated > conditional > hedged > reported > asserted. "He said that A did not join B" is negated.
- A question is hedged, whatever stands in it.
- Plans, attempts and expectations are hedged; a plain future ("will") is asserted, it is a matter of time.
- What nearly was (almost, 差点), was to have been or is yet to be is negated. Nobody doubts it: asserted.
- What was and is no more ("no longer", 不再, "ceased to") is negated: the fact does not hold.
- Refusal, failure, denial and cancellation are negated. "Did not deny" and "cannot be ruled out" are hedged.
- Verbs that vouch for what they say (confirm, show, admit, 证实) leave it asserted; announce and 宣布 are reports.
- Two negations, one right inside the other, undo each other. "Not … until" asserts.
- A pair inside one noun phrase ("did not reduce [cocaine]-induced {seizures}", "[Berlin], {Germany}") stays asserted.
- Cues inside a mention or a title (《…》, a short quotation in capitals) are none.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import ModuleType

from factpin.documents.language import HAN, family, find_language
from factpin.documents.nouns import Document, Fact, Mention, Span
from factpin.tasks import _cues_en, _cues_zh

PRECEDENCE = ("negated", "conditional", "hedged", "reported", "asserted")
BORDERS_SEEN = 64  # borders looked at behind a cue: keeps the time linear in a text of nothing but commas
ASIDE = {"en": 60, "zh": 20}  # characters of a clause such as ", a spokesman said," that stands aside
BESIDE = 30  # characters behind "said" that tell only who or when
INNER_GAP = {"en": 14, "zh": 3}  # characters between two negations of which one is inside the other
SUBJECT = 120  # characters before a cue in which what it speaks about is looked for
CLAUSES = 3  # what a Chinese 说 or 如果 is taken to speak about, where no quotation tells
CLOSE = {"en": 5, "zh": 1}  # characters from a cue to the mention it alone speaks about: "not Istanbul but Ankara"
PHRASE_GAP = 40  # characters between two mentions of one noun phrase: Norway's capital Oslo
GAP = 12  # characters between two mentions that are coordinated or in apposition
NEAR = {"en": 40, "zh": 8}  # characters between the later mention and a cue that looks back at it

_QUESTION = re.compile(r"[?？][”’」』\"'）)\s]*\Z")
_BETWEEN = re.compile(r"[,，、;；]|\b(?:and|or|nor|but)\b|也|又|都", re.IGNORECASE)
_THAT = re.compile(r"[^,;:]{0,60}?\bthat\b", re.IGNORECASE)
_GOES_ON = re.compile(r"[\s,，]*(?:and|which|who|whose|where|when|after|before|so|that)\b", re.IGNORECASE)
_APPOSED = re.compile(r"\s?[,(（]\s?|['’]s?\s")  # Berlin, Germany; the city's mayor: what is negated is another verb
_ELIDED = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)  # was born in Rome and never married: another verb
_AFTER_COMMA = re.compile(r"\s?[,，]\s?(?:the |an? )?", re.IGNORECASE)
_END_MARKS = " \t\n.,!?。，！？”’」』\"')）"


@dataclass(frozen=True, slots=True)
class Status:
    """One of ASSERTIONS, and the characters that make it so (None where nothing does: asserted)."""

    status: str
    cue: Span | None = None


ASSERTED = Status("asserted")


@dataclass(frozen=True, slots=True)
class _Scope:
    """A cue, the characters it speaks about, and the clause it stands in; all counted from the sentence's start."""

    cue: Span
    status: str
    reach: str
    start: int
    end: int
    clause: Span


@dataclass(frozen=True, slots=True)
class _Language:
    code: str
    cues: re.Pattern[str]
    borders: re.Pattern[str]
    rows: tuple[tuple[str, str], ...]  # status and reach by group
    words: ModuleType


def _compile(code: str, words: ModuleType) -> _Language:
    groups, rows = [], []
    for status, reach, patterns in words.ROWS:
        lines = [line.strip() for line in patterns.splitlines() if line.strip()]
        body = "|".join(lines)
        if code == "en":
            body = rf"\b(?:{body})(?!\w)".replace(" ", r"\s+")
        groups.append(f"({body})")
        rows.append((status, reach))
    borders = re.compile(rf"{words.HARD.pattern}|(?<!\d)[,，]|[,，](?!\d)|[()（）]", re.IGNORECASE)
    return _Language(code, re.compile("|".join(groups), re.IGNORECASE), borders, tuple(rows), words)


_LANGUAGES = {"en": _compile("en", _cues_en), "zh": _compile("zh", _cues_zh)}


def assertion(
    text: str, sentence: tuple[int, int], head: tuple[int, int], tail: tuple[int, int], language: str | None = None
) -> Status:
    """How the sentence asserts that its two mentions are related; the language is that of the script unless given."""
    size = len(text)
    start, end = max(0, min(sentence[0], size)), max(0, min(sentence[1], size))
    return _Sentence(text, Span(start, max(start, end)), (head, tail), language).judge(head, tail)


def with_assertions(doc: Document) -> Document:
    """Fill Fact.assertion and Fact.cue of every fact with both mentions that has none.

    A fact across sentences is judged in each sentence of its evidence (without evidence: of its mentions) by the
    mentions of its two entities there, a lone mention for itself, and the status first in PRECEDENCE is taken: one
    sentence that denies it spoils the chain. A sentence that names neither says nothing. Languages without cues and
    facts without mentions are left open.
    """
    if family(doc.language or find_language(doc.text)) not in _LANGUAGES:
        return doc
    reader = _Reader(doc)
    facts = []
    for fact in doc.facts:
        status = reader.status(fact) if fact.assertion is None else None
        facts.append(fact if status is None else replace(fact, assertion=status.status, cue=status.cue))
    return replace(doc, facts=tuple(facts))


class _Reader:
    """The sentences of a document, each read once however many facts it holds."""

    def __init__(self, doc: Document) -> None:
        self.doc = doc
        self.sentences = doc.sentences or (Span(0, len(doc.text)),)
        self.mentions = {mention.id: mention for mention in doc.mentions}
        self.entities = {entity.id: entity.mentions for entity in doc.entities}
        self.place = {mention.id: self._sentence(mention.start) for mention in doc.mentions}
        self.inside: dict[int, list[Mention]] = {}
        for mention in doc.mentions:
            self.inside.setdefault(self.place[mention.id], []).append(mention)
        self.read: dict[tuple[int, tuple[str, ...]], _Sentence] = {}

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
        return min(found, key=lambda status: PRECEDENCE.index(status.status), default=None)

    def _of(self, entity: str, mention: Mention) -> list[Mention]:
        ids = dict.fromkeys((mention.id, *self.entities.get(entity, ())))
        return [self.mentions[id] for id in ids]

    def _pair(self, index: int, head: Mention, tail: Mention) -> Status:
        pair = (head.start, head.end), (tail.start, tail.end)
        taken = tuple(m.id for m in self.inside.get(index, []) if m in (head, tail) or not _overlaps(m, pair))
        if (index, taken) not in self.read:
            names = {(self.mentions[id].start, self.mentions[id].end) for id in taken}
            self.read[index, taken] = _Sentence(self.doc.text, self.sentences[index], names, self.doc.language)
        return self.read[index, taken].judge(*pair)


def _overlaps(mention: Mention, pair: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    """A wrong name around one of the pair ("没有加入京东集团") must not hide a cue from it."""
    return any(mention.start < end and start < mention.end for start, end in pair)


class _Sentence:
    """One sentence with its cues and their scopes; inside a longer name of `taken` nothing is a cue."""

    def __init__(
        self, text: str, span: tuple[int, int], taken: Iterable[tuple[int, int]], language: str | None
    ) -> None:
        self.offset = span[0]
        self.text = text[span[0] : span[1]]
        known = _LANGUAGES.get(family(language))
        self.language = known or _LANGUAGES["zh" if HAN.search(self.text) else "en"]
        if self.language.code == "zh":
            self.text = self.text.translate(_cues_zh.SIMPLIFIED)
        question = _QUESTION.search(self.text)
        self.question = Span(question.start(), question.start() + 1) if question else None
        self.borders = self._borders()
        self.starts = [start for start, _, _ in self.borders]
        self.stops = [match.start() for match in self.language.words.STOP.finditer(self.text)]
        cues = self._cues({(start - span[0], end - span[0]) for start, end in taken})
        scopes = [self._scope(*cue) for cue in cues]
        self.scopes = self._without_undone([scope for scope in scopes if not _speaks_of_nothing(scope)])

    def judge(self, head: tuple[int, int], tail: tuple[int, int]) -> Status:
        """The status first in PRECEDENCE among the cues over this pair; of its cues the first."""
        if self.question:
            return Status("hedged", self._pinned(self.question))
        first, last = sorted((Span(*head), Span(*tail)))
        first = Span(first.start - self.offset, first.end - self.offset)
        last = Span(last.start - self.offset, last.end - self.offset)
        over = [scope for scope in self.scopes if self._covers(scope, first, last)]
        best = min(over, key=lambda scope: PRECEDENCE.index(scope.status), default=None)
        return Status(best.status, self._pinned(best.cue)) if best else ASSERTED

    def _pinned(self, span: Span) -> Span:
        return Span(span.start + self.offset, span.end + self.offset)

    def _cues(self, taken: set[tuple[int, int]]) -> list[tuple[Span, str, str]]:
        names = bytearray(len(self.text))
        for start, end in [*taken, *(title.span() for title in self.language.words.TITLE.finditer(self.text))]:
            start, end = max(0, start), min(end, len(names))
            names[start:end] = b"\1" * max(0, end - start)
        found = []
        for match in self.language.cues.finditer(self.text):
            status, reach = self.language.rows[(match.lastindex or 1) - 1]
            start, end = match.span()
            named = names[start] and names[end - 1] and (start, end) not in taken  # "没有" found as a name is a cue
            if status and start < end and not named:
                found.append((Span(start, end), status, reach))
        return found

    def _borders(self) -> list[tuple[int, int, str]]:
        """Where clauses end: (start, end, kind), kind one of "hard", ",", "(" and ")"."""
        listed = self.language.words.LISTED
        found = []
        for match in self.language.borders.finditer(self.text):
            mark = match.group()[0]
            if mark in "(（":
                kind = "("
            elif mark in ")）":
                kind = ")"
            elif match.group() in ",，":
                if listed and listed.match(self.text, match.start()):
                    continue
                kind = ","
            else:
                kind = "hard"
            found.append((match.start(), match.end(), kind))
        return found

    def _clause_end(self, place: int) -> int:
        depth, first = 0, bisect_left(self.starts, place)
        aside = first < len(self.borders) and self.borders[first][2] == "," and self.starts[first] == place
        for start, _, kind in self.borders[first + aside : first + BORDERS_SEEN]:
            if kind == "(":
                depth += 1
            elif kind == ")" and depth:
                depth -= 1
            elif kind == "," and aside and not depth:
                aside = False  # "did not, despite several invitations, visit"
            elif not depth:
                return start
        return len(self.text)

    def _clause_start(self, place: int) -> int:
        depth, first = 0, bisect_left(self.starts, place)
        for _, end, kind in reversed(self.borders[max(0, first - BORDERS_SEEN) : first]):
            if kind == ")":
                depth += 1
            elif kind == "(" and depth:
                depth -= 1
            elif not depth:
                return end
        return 0

    def _stop(self, place: int) -> int:
        """Where a report or a condition ends; Chinese goes on from comma to comma, so there after CLAUSES clauses."""
        found = bisect_left(self.stops, place)
        stop = self.stops[found] if found < len(self.stops) else len(self.text)
        if self.language.code == "en" or self.text[place : place + 1] in ("：", ":", "“", "「"):
            return stop
        first = bisect_left(self.starts, place + 1)  # a comma right behind the cue opens what is said
        commas = [start for start, _, kind in self.borders[first : first + BORDERS_SEEN] if kind == ","]
        return min([stop, *commas[CLAUSES - 1 : CLAUSES]])

    def _scope(self, cue: Span, status: str, reach: str) -> _Scope:
        clause = Span(self._clause_start(cue.start), self._clause_end(cue.end))
        start, end = cue.end, clause.end
        if reach in ("clause", "event"):
            subject = (self.text, max(clause.start, cue.start - SUBJECT), cue.start)
            words = self.language.words
            called_off = reach == "clause" or words.EVENT.search(*subject)
            open_how = status == "hedged" and words.HOW.search(*subject)
            start, end = clause if called_off and not open_how else (cue.start, cue.start)
        elif reach == "condition":
            start, end = clause.start, self._stop(cue.end)
        elif reach == "sentence":
            start, end = 0, len(self.text)
        elif reach == "cleft":
            that = _THAT.match(self.text, cue.end)
            end = that.end() if that else cue.end
        elif reach == "speech":
            that = _THAT.match(self.text, cue.end)
            start, end = that.end() if that else cue.end, self._stop(cue.end)
            if not that and self._aside(cue, clause):
                start, end = 0, len(self.text)
        return _Scope(cue, status, reach, start, end, clause)

    def _aside(self, cue: Span, clause: Span) -> bool:
        """Is it a speaker named beside what he says, as in ", a spokesman said on Monday," or ”店主说。?"""
        code = self.language.code
        if clause.start == 0 or clause.end - clause.start > ASIDE[code] or _GOES_ON.match(self.text, clause.start):
            return False
        said = self.text[cue.end : clause.end].strip(_END_MARKS)
        if code == "en":
            return len(said) <= BESIDE
        return not said and not self.text[clause.end :].strip(_END_MARKS)

    def _without_undone(self, scopes: list[_Scope]) -> list[_Scope]:
        """Drop negations that undo each other, and those before "until"."""
        until = self.language.words.UNTIL
        untils = [match.start() for match in until.finditer(self.text)] if until else []
        negated = [scope for scope in scopes if scope.status == "negated"]
        undone: set[int] = set()
        for scope in negated:
            place = bisect_left(untils, scope.cue.end)
            if scope.reach == "after" and place < len(untils) and untils[place] < scope.end:
                undone.add(scope.cue.start)
        for one, two in zip(negated, negated[1:], strict=False):
            gap = self.text[one.cue.end : two.cue.start]
            inner = len(gap) <= INNER_GAP[self.language.code] and self._word(two) != "nor"
            outer = one.reach == "outer" and two.cue.start < one.end
            around = two.reach == "clause" and one.cue.start >= two.start
            if one.cue.start not in undone and (inner or outer or around) and not _BETWEEN.search(gap):
                undone.update((one.cue.start, two.cue.start))
        return [scope for scope in scopes if scope.cue.start not in undone]

    def _covers(self, scope: _Scope, first: Span, last: Span) -> bool:
        if scope.reach in ("clause", "event", "sentence"):
            return _meets(scope, first) and _meets(scope, last)
        if scope.reach in ("condition", "speech"):
            return _meets(scope, last)
        if scope.reach == "copula":
            return first.end == scope.cue.start and last.start == scope.cue.end
        if scope.reach == "cleft":
            return _meets(scope, first) or _meets(scope, last)
        if _meets(scope, last):
            return not self._apart(scope, first, last)
        if (
            scope.status == "negated"
            and 0 <= first.start - scope.cue.end <= CLOSE[self.language.code]
            and _meets(scope, first)
        ):
            return not self._apart(scope, first, last)  # not Istanbul but Ankara
        fronted = self.language.code == "en" and scope.cue.start == 0 and scope.status == "negated"
        if fronted and _meets(scope, first):
            return bool(_AFTER_COMMA.fullmatch(self.text[scope.end : last.start]))  # far from helping B, A …
        return scope.reach != "next" and self._looks_back(scope, first, last)

    def _apart(self, scope: _Scope, first: Span, last: Span) -> bool:
        """Is the pair related by something that the cue does not speak about, though it stands in its reach?"""
        if first.start < scope.cue.end:
            return False
        between = self._between(first, last)
        if len(between) <= GAP and _APPOSED.fullmatch(between):
            return True
        away = first.start - scope.cue.end
        if away > CLOSE[self.language.code] and self.language.words.PHRASE.fullmatch(between):
            return True
        # 从未在里昂踢过球的[前锋]加盟…: the cue belongs to what describes the first mention
        relative = self.language.code == "zh" and scope.reach == "after" and away > 1
        return relative and self.text[first.start - 1] == "的"

    def _looks_back(self, scope: _Scope, first: Span, last: Span) -> bool:
        """Does a cue behind both mentions speak about them? A and B did not …; 与B没有关系; the sale never happened."""
        words, gap = self.language.words, scope.cue.start - last.end
        if gap < 0 or last.start < scope.clause.start:
            return False
        between = self._between(first, last)
        if first.start < scope.clause.start:
            fronted = first.start <= GAP and words.FRONTED.fullmatch(self.text[: max(0, first.start)])
            return bool(fronted and gap <= NEAR[self.language.code] and _AFTER_COMMA.fullmatch(between[: GAP + 1]))
        joined = len(between) <= GAP and words.JOINED.fullmatch(between)
        if words.PREDICATE.match(self.text, scope.cue.end):
            elided = _ELIDED.search(self.text, last.end, scope.cue.start)
            if joined or not elided or words.EVENT.search(self.text, scope.clause.start, max(0, first.start)):
                return True
        if gap > NEAR[self.language.code]:
            return False
        if joined:
            return True
        before = self.text[max(0, last.start - 2) : last.start]
        clear = "的" not in self.text[last.end : scope.cue.start]
        return bool(clear and words.BEFORE_LATER and words.BEFORE_LATER.search(before))

    def _between(self, first: Span, last: Span) -> str:
        """What stands between the mentions; where that is long, a part too long for any pattern."""
        return self.text[max(0, first.end) : max(0, min(last.start, first.end + PHRASE_GAP + 1))]

    def _word(self, scope: _Scope) -> str:
        return self.text[scope.cue.start : scope.cue.end].lower()


def _speaks_of_nothing(scope: _Scope) -> bool:
    """失败 where nothing is named that could fail: neither a cue, nor one that undoes another."""
    return scope.reach in ("clause", "event") and scope.start == scope.end


def _meets(scope: _Scope, span: Span) -> bool:
    return span.start < scope.end and scope.start < span.end

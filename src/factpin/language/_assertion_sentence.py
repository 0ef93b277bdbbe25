"""One sentence: its cues, the characters that each applies to, and the status of a pair of mentions.

The reach of a cue determines its scope (see assertion.py for the reaches). Inside the scope, the pair may still
be related by something else (`_apart`), and a cue may apply to what comes before it (`_looks_back`).
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

from factpin.documents.nouns import Span
from factpin.language.identify import HAN, family

CONDITIONS = ("condition", "unless")
PRECEDENCE = ("negated", "conditional", "hedged", "reported", "asserted")
BORDERS_SEEN = 64  # borders examined after a cue: keeps the time linear even in a text of commas
ASIDE = {"en": 60, "zh": 20}  # characters of a clause such as ", a spokesman said," that is an aside
BESIDE = 30  # characters after "said" that only say who or when
INNER_GAP = {"en": 14, "zh": 3}  # characters between two negations of which one is inside the other
SUBJECT = 120  # characters before a cue that are searched for what it applies to
CLAUSES = 3  # that a Chinese 说 or 如果 applies to, without a quotation
CLOSE = {"en": 5, "zh": 1}  # characters from a cue to the only mention it applies to: "not Istanbul but Ankara"
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
    """One of ASSERTIONS, and the span of its cue (None without a cue, when it is asserted)."""

    status: str
    cue: Span | None = None


ASSERTED = Status("asserted")


@dataclass(frozen=True, slots=True)
class _Scope:
    """A cue, the characters it applies to, and its clause, all counted from the start of the sentence."""

    cue: Span
    status: str
    reach: str
    start: int
    end: int
    clause: Span


LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class _Language:
    code: str
    cues: re.Pattern[str]
    borders: re.Pattern[str]
    rows: tuple[tuple[str, str], ...]  # status and reach by group
    words: ModuleType


def words_of(code: str) -> ModuleType:
    """The module with the cues of a language, whose patterns take a while to compile."""
    if code == "en":
        from factpin.language import _cues_en  # noqa: PLC0415

        return _cues_en
    from factpin.language import _cues_zh  # noqa: PLC0415

    return _cues_zh


@cache
def language_of(code: str) -> _Language:
    """The cues of a language, compiled when the first text in it is read."""
    words, groups, rows = words_of(code), [], []
    for status, reach, patterns in words.ROWS:
        lines = [line.strip() for line in patterns.splitlines() if line.strip()]
        body = "|".join(lines)
        if code == "en":
            body = rf"\b(?:{body})(?!\w)".replace(" ", r"\s+")
        groups.append(f"({body})")
        rows.append((status, reach))
    borders = re.compile(rf"{words.HARD.pattern}|(?<!\d)[,，]|[,，](?!\d)|[()（）]", re.IGNORECASE)
    return _Language(code, re.compile("|".join(groups), re.IGNORECASE), borders, tuple(rows), words)


class Sentence:
    """One sentence with its cues and their scopes. There are no cues inside the longer names in `taken`."""

    def __init__(
        self, text: str, span: tuple[int, int], taken: Iterable[tuple[int, int]], language: str | None
    ) -> None:
        self.offset = span[0]
        self.text = text[span[0] : span[1]]
        code = family(language)
        self.language = language_of(code if code in LANGUAGES else "zh" if HAN.search(self.text) else "en")
        if self.language.code == "zh":
            self.text = self.text.translate(self.language.words.SIMPLIFIED)
        question = _QUESTION.search(self.text)
        self.question = Span(question.start(), question.start() + 1) if question else None
        self.borders = self._borders()
        self.starts = [start for start, _, _ in self.borders]
        self.done = len(self.text.rstrip(_END_MARKS))
        self.stops = [match.start() for match in self.language.words.STOP.finditer(self.text)]
        self.cues = self._cues({(start - span[0], end - span[0]) for start, end in taken})
        scopes = [self._scope(*cue) for cue in self.cues]
        scopes = self._inside_conditions([scope for scope in scopes if not _speaks_of_nothing(scope)])
        self.scopes = self._without_undone(scopes)

    def judge(self, head: tuple[int, int], tail: tuple[int, int]) -> Status:
        """The status that is first in PRECEDENCE among the cues that apply to this pair, with its first cue."""
        if self.question:
            return Status("hedged", self._pinned(self.question))
        first, last = sorted((Span(*head), Span(*tail)))
        first = Span(first.start - self.offset, first.end - self.offset)
        last = Span(last.start - self.offset, last.end - self.offset)
        own = (first, last)
        over = [scope for scope in self.scopes if scope.cue not in own and self._covers(scope, first, last)]
        best = min(over, key=lambda scope: PRECEDENCE.index(scope.status), default=None)
        return Status(best.status, self._pinned(best.cue)) if best else ASSERTED

    def cue_places(self) -> set[tuple[int, int]]:
        """The spans of the cues in the text."""
        return {self._pinned(cue) for cue, _, _ in self.cues}

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
        """The end of a report or condition; in Chinese, which joins clauses with commas, after CLAUSES clauses."""
        found = bisect_left(self.stops, place)
        stop = self.stops[found] if found < len(self.stops) else len(self.text)
        if self.language.code == "en" or self.text[place : place + 1] in ("：", ":", "“", "「"):
            return stop
        first = bisect_left(self.starts, place + 1)  # a comma directly after the cue opens what is said
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
        elif reach == "charge":
            done = self.language.words.DONE.search(self.text, cue.end, clause.end)
            end = done.start() if done else clause.end
        elif reach in CONDITIONS:
            start, end = self._before(cue, clause), self._stop(cue.end)
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

    def _before(self, cue: Span, clause: Span) -> int:
        """The start of what depends on a condition: in the previous clause if the condition is last, after a comma."""
        border = bisect_left(self.starts, cue.start) - 1
        opens = not self.text[clause.start : min(cue.start, clause.start + GAP)].strip()
        if opens and clause.end >= self.done and border >= 0 and self.borders[border][2] == ",":
            return self._clause_start(self.starts[border])
        return clause.start

    def _aside(self, cue: Span, clause: Span) -> bool:
        """Whether it is an aside that names a speaker, as in ", a spokesman said on Monday," or ”店主说。"""
        code = self.language.code
        if clause.start == 0 or clause.end - clause.start > ASIDE[code] or _GOES_ON.match(self.text, clause.start):
            return False
        said = self.text[cue.end : clause.end].strip(_END_MARKS)
        if code == "en":
            return len(said) <= BESIDE
        return not said and not self.text[clause.end :].strip(_END_MARKS)

    def _inside_conditions(self, scopes: list[_Scope]) -> list[_Scope]:
        """End denials with the clause of the condition they are in, and drop those inside "unless"."""
        around, found = None, []
        for scope in scopes:
            if scope.reach in CONDITIONS:
                around = scope
            if scope.status != "negated" or around is None or scope.cue.start >= around.clause.end:
                found.append(scope)
            elif around.reach != "unless":
                found.append(replace(scope, end=min(scope.end, around.clause.end)))
        return found

    def _without_undone(self, scopes: list[_Scope]) -> list[_Scope]:
        """Drop negations that cancel each other, and those before "until"."""
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
            alone = last == Span(scope.clause.start, scope.cue.start)  # …，{肺癌}待排除: the clause is only about it
            return _meets(scope, last) and (alone or _meets(scope, first))
        if scope.reach in (*CONDITIONS, "speech"):
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
        """Whether the pair, although in reach, is related by something that the cue does not apply to."""
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
        """Whether a cue after both mentions applies to them: A and B did not …; 与B没有关系; the sale never was."""
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
        """The text between the mentions; if it is long, a part that is too long for any pattern."""
        return self.text[max(0, first.end) : max(0, min(last.start, first.end + PHRASE_GAP + 1))]

    def _word(self, scope: _Scope) -> str:
        return self.text[scope.cue.start : scope.cue.end].lower()


def _speaks_of_nothing(scope: _Scope) -> bool:
    """Whether it is a word like 失败 without anything that could fail: it is not a cue, and cancels no other cue."""
    return scope.reach in ("clause", "event") and scope.start == scope.end


def _meets(scope: _Scope, span: Span) -> bool:
    return span.start < scope.end and scope.start < span.end

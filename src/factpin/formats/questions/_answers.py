"""Where an answer is in a text, and what was noticed while looking for it.

An offset that is right is believed. Otherwise the text is searched: letter by letter; then whatever the capitals and
blanks; then without the punctuation around the answer. In scripts that have words, an occurrence at word borders is
preferred. Of several the nearest to the stated offset is taken, the first where none is stated, or all of them
(`Options.occurrences`).

Notes: answer_moved (elsewhere than stated), ambiguous_answer (no offset, several occurrences), answer_near (found with
other capitals, blanks or punctuation), answer_not_found, empty_answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from factpin.documents import Span
from factpin.formats._reading import ReadContext

YES_NO = ("yes", "no")
_OUTER = " \t\r\n　。，、；：！？.,;:!?\"'“”‘’「」『』《》"


@dataclass(frozen=True, slots=True)
class Site:
    """One question of a file that is being read."""

    reading: ReadContext
    line: int
    question: str

    def note(self, kind: str, message: str) -> None:
        """Count something noticed here."""
        self.reading.note(kind, self.line, self.question, message)

    def place(self, text: str, answer: str, at: int | None = None) -> list[Span]:
        """The spans of an answer in a text; `at` is the offset that the file states, None or below 0 for none."""
        stated = at is not None and at >= 0
        if at is not None and stated and text[at : at + len(answer)] == answer:
            return [Span(at, at + len(answer))]
        found = self.search(text, answer)
        if not found:
            self.note("answer_not_found", f"{_short(answer)} is not in the text")
        elif at is not None and stated:
            best = min(found, key=lambda span: abs(span.start - at))
            self.note("answer_moved", f"{_short(answer)} is at {best.start}, the file says {at}")
            return [best]
        return self.chosen(found, answer)

    def search(self, text: str, answer: str) -> list[Span]:
        """Every occurrence; one that differs from the answer is noted."""
        found, exact = occurrences(text, answer)
        if found and not exact:
            start, end = found[0]
            self.note("answer_near", f"{_short(answer)} is {_short(text[start:end])} in the text")
        return found

    def chosen(self, found: list[Span], answer: str) -> list[Span]:
        """The first of several occurrences, or all of them by choice."""
        if len(found) > 1 and self.reading.options.occurrences != "all":
            self.note("ambiguous_answer", f"{_short(answer)} occurs {len(found)} times; the first is taken")
            return found[:1]
        return found


def occurrences(text: str, answer: str) -> tuple[list[Span], bool]:
    """(the spans of the answer, whether they match letter by letter)."""
    exact = _whole(text, _exact(text, answer))
    if exact:
        return exact, True
    for wanted in (answer, answer.strip(_OUTER)):
        words = wanted.split()
        if words:
            pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
            found = [Span(*match.span()) for match in pattern.finditer(text)]
            found = [span for span in found if _is_whole(text, *span)]
            if found:
                return found, False
    return [], False


def is_yes_no(answer: str) -> bool:
    """Whether an answer is yes or no, however it is written."""
    return answer.strip().lower() in YES_NO


def unique(answers: Sequence[str]) -> tuple[str, ...]:
    """Every answer once, in order."""
    return tuple(dict.fromkeys(answers))


def _exact(text: str, answer: str) -> list[Span]:
    found = []
    at = text.find(answer) if answer else -1
    while at >= 0:
        found.append(Span(at, at + len(answer)))
        at = text.find(answer, at + len(answer))
    return found


def _whole(text: str, found: list[Span]) -> list[Span]:
    """Those at word borders; all where there are none."""
    return [span for span in found if _is_whole(text, *span)] or found


def _is_whole(text: str, start: int, end: int) -> bool:
    """Not a piece of a longer word in letters that have capitals, or of a longer number."""
    before = start > 0 and _glued(text[start - 1], text[start])
    return not before and not (end < len(text) and _glued(text[end - 1], text[end]))


def _glued(a: str, b: str) -> bool:
    cased = a.lower() != a.upper() and b.lower() != b.upper()
    return cased or (a.isdigit() and b.isdigit())


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")

"""Find an answer in a text, and note what is unusual about it.

A correct offset is used as it is. Otherwise the text is searched: for the exact answer, then ignoring case and
whitespace, then without the punctuation around the answer. In scripts with words, occurrences at word borders are
preferred. Of several occurrences, the nearest to the stated offset is used, the first if there is no offset, or all of
them (`Options.occurrences`).

Notes: answer_moved (not at the stated offset), ambiguous_answer (no offset, several occurrences), answer_near (case,
whitespace or punctuation differs), answer_not_found, empty_answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from factpin.documents import Span
from factpin.formats._reading import ReadContext
from factpin.words import count

YES_NO = ("yes", "no")
_OUTER = " \t\r\n　。，、；：！？.,;:!?\"'“”‘’「」『』《》"


@dataclass(frozen=True, slots=True)
class Site:
    """One question of a file that is being read."""

    reading: ReadContext
    line: int
    question: str

    def note(self, kind: str, message: str) -> None:
        """Add a note about this question."""
        self.reading.note(kind, self.line, self.question, message)

    def place(self, text: str, answer: str, at: int | None = None) -> list[Span]:
        """The spans of an answer in a text. `at` is the offset in the file; None or a negative number means none."""
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
        """Find every occurrence. One that is not exactly the answer is noted."""
        found, exact = occurrences(text, answer)
        if found and not exact:
            start, end = found[0]
            self.note("answer_near", f"{_short(answer)} is {_short(text[start:end])} in the text")
        return found

    def chosen(self, found: list[Span], answer: str) -> list[Span]:
        """The first of several occurrences, or all of them, depending on the options."""
        if len(found) > 1 and self.reading.options.occurrences != "all":
            self.note("ambiguous_answer", f"{_short(answer)} occurs {count(len(found), 'time')}; the first is used")
            return found[:1]
        return found


def occurrences(text: str, answer: str) -> tuple[list[Span], bool]:
    """(the spans of the answer, whether they match exactly)."""
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
    """The occurrences at word borders, or all if there are none."""
    return [span for span in found if _is_whole(text, *span)] or found


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether it is not part of a longer number, or of a longer word in a script with upper and lower case."""
    before = start > 0 and _glued(text[start - 1], text[start])
    return not before and not (end < len(text) and _glued(text[end - 1], text[end]))


def _glued(a: str, b: str) -> bool:
    cased = a.lower() != a.upper() and b.lower() != b.upper()
    return cased or (a.isdigit() and b.isdigit())


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")

"""Sets of questions: one module per format, all read into `Question`.

    for question in read(path): ...              guesses the format

Gold spans are half-open character offsets, and they are checked: an answer that is not where the file says is searched
for in the text. Answers that were moved, ambiguous or not found are counted in the report.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from factpin.documents import Question
from factpin.errors import BadInput, pick
from factpin.formats import FORMATS
from factpin.formats._broken import json_fault
from factpin.formats._guess import Head, head
from factpin.formats._reading import Options, ReadContext, Report
from factpin.formats.questions import hotpotqa, musique, native, nq_open, qed, squad, twowiki

__all__ = ["QUESTION_FORMATS", "QuestionFormat", "guess", "read", "write"]


class QuestionFormat(Protocol):
    """What the module of a format offers."""

    def read(self, reading: ReadContext) -> Iterator[Question]: ...
    def fits(self, head: Head) -> bool: ...


QUESTION_FORMATS: dict[str, QuestionFormat] = {
    "2wiki": twowiki,
    "hotpotqa": hotpotqa,
    "musique": musique,
    "nq_open": nq_open,
    "qed": qed,
    "questions": native,
    "squad": squad,
}


def guess(path: Path, encoding: str = "utf-8") -> str:
    """Guess the format of a file from its beginning. It is an error if no format fits, or several."""
    if str(path) == "-":
        return "questions"
    beginning = head(path, encoding)
    found = [name for name, format in QUESTION_FORMATS.items() if format.fits(beginning)]
    if len(found) == 1:
        return found[0]
    if not found and not "".join(beginning.lines).strip():
        raise BadInput(f"{path}: the file is empty; expected questions.")
    if not found and (fault := json_fault(beginning)):
        raise BadInput(f"{path}: {fault}. Repair the file: it seems to be cut off or damaged.")
    if not found and (held := [name for name, format in FORMATS.items() if format.fits(beginning)]):
        raise BadInput(f"{path}: expected questions, but the file holds documents ({' or '.join(held)}). Formats of "
                       f"questions are {', '.join(QUESTION_FORMATS)}.")  # fmt: skip
    if not found:
        raise BadInput(f"{path}: no format of questions fits. Name one with --from: {', '.join(QUESTION_FORMATS)}.")
    raise BadInput(f"{path}: could be {' or '.join(found)}. Name one of them with --from.")


def read(
    path: Path | str, *, format: str | None = None, options: Options | None = None, report: Report | None = None
) -> Iterator[Question]:
    """Read the questions of a file, one at a time."""
    options = options or Options()
    path = Path(path)
    name = format or guess(path, options.encoding)
    return pick(QUESTION_FORMATS, name, kind="format of questions").read(ReadContext(path, options, report or Report()))


def write(questions: Iterable[Question], path: Path | str) -> None:
    """Write questions in the native format."""
    native.write(questions, Path(path))

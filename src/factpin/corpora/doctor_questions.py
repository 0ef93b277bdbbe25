"""Examine sets of questions before training: what is in them, and what is wrong with them.

The report has the shape of that of `doctor`. A question in two files is a leak; a passage in two files is reported,
because a reader may know it from training.
"""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from factpin.corpora.doctor import ERRORS, Tally, quantiles
from factpin.documents import Question
from factpin.errors import BadRecord
from factpin.formats import Options, Report
from factpin.formats.questions import guess, read

FIXES = {
    "leaked": "Remove the question from one of the files: scores on it are meaningless.",
    "duplicate": "Keep one of them.",
    "repeated_id": "Give each question an id of its own: predictions are matched by it.",
    "shared_passage": "Split by passage, or report that the test passages were seen.",
    "answer_moved": "The nearest occurrence is taken; correct the offset.",
    "answer_near": "The most similar text is used as the gold span; correct the answer.",
    "answer_not_found": "The answer counts in scores but cannot be trained on.",
    "ambiguous_answer": "The first occurrence is taken; take all of them with --occurrences all.",
    "support_not_found": "The supporting sentence is not in the context, so it is left out.",
    "impossible_with_answers": "The answers count; correct the mark or the answers.",
}
COUNTED = (
    "questions",
    "passages",
    "characters",
    "answers",
    "spans",
    "support",
    "steps",
    "unanswerable",
    "without_gold",
)


def doctor_questions(
    paths: Sequence[Path],
    *,
    source_format: str | None = None,
    options: Options | None = None,
    on_question: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Examine all files together; the same question in two of them is a leak."""
    options = replace(options or Options(), skip_bad=True)  # a bad record is a finding here, not an error
    tally, seen, files = Tally(), _QuestionIndex(), []
    for number, path in enumerate(paths):
        name = source_format or guess(path, options.encoding)
        report = Report(on_reject=lambda error, _: _rejected(tally, error))
        before = tally.counts["questions"]
        ids: set[str] = set()
        for question in read(path, format=name, options=options, report=report):
            _count(tally, question)
            if question.id in ids:
                message = f"the id {question.id!r} is in this file twice"
                tally.problem("repeated_id", message, file=str(path), document=question.id, error=True)
            ids.add(question.id)
            seen.check(tally, question, str(path), number)
            on_question()
        for note in report.notes:
            tally.problem(note.kind, note.message, file=note.file, line=note.line, document=note.document)
        tally.kinds.update(Counter(report.counts) - Counter(note.kind for note in report.notes))
        files.append({"path": str(path), "format": name, "questions": tally.counts["questions"] - before,
                      "rejected": report.rejected, "notes": dict(report.counts)})  # fmt: skip
    tally.counts["passages"] = len(seen.passages)
    return _report(tally, files)


class _QuestionIndex:
    """The questions and passages so far, with the first file of each."""

    def __init__(self) -> None:
        self.questions: dict[bytes, int] = {}
        self.passages: dict[str, int] = {}
        self.shared: set[str] = set()

    def check(self, tally: Tally, question: Question, file: str, number: int) -> None:
        """Compare a question and its passages with all earlier ones, ignoring width, case and white space."""
        plain = "".join(unicodedata.normalize("NFKC", question.text).casefold().split())
        passages = "".join(sorted(doc.id for doc in question.context))
        text, both = (blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
                      for key in (plain, f"{plain}\0{passages}"))  # fmt: skip
        first = self.questions.setdefault(text, number)
        if first != number:
            tally.counts["leaked"] += 1
            message = f"the question is also in file {first + 1}: {question.text[:60]!r}"
            tally.problem("leaked", message, file=file, document=question.id)
        elif both in self.questions:
            message = f"the question is in this file twice, with the same passages: {question.text[:60]!r}"
            tally.problem("duplicate", message, file=file, document=question.id)
        self.questions.setdefault(both, number)
        for doc in question.context:
            tally.counts["characters"] += 0 if doc.id in self.passages else len(doc.text)
            if self.passages.setdefault(doc.id, number) != number and doc.id not in self.shared:
                self.shared.add(doc.id)
                message = f"the passage is also in file {self.passages[doc.id] + 1}: {doc.text[:60]!r}"
                tally.problem("shared_passage", message, file=file, document=question.id)


def _rejected(tally: Tally, error: BadRecord) -> None:
    tally.problem(error.kind, error.reason, file=error.file, line=error.line, error=True)


def _count(tally: Tally, question: Question) -> None:
    tally.counts.update(
        questions=1,
        answers=len(question.answers),
        spans=len(question.spans),
        support=len(question.support),
        steps=len(question.steps),
        unanswerable=not question.answerable,
        without_gold=bool(question.answers) and not question.gold and question.kind != "yes_no",
    )
    tally.labels[question.kind or "span"] += 1
    tally.lengths.append(len(question.text))


def _report(tally: Tally, files: list[dict[str, Any]]) -> dict[str, Any]:
    counts = tally.counts
    for problem in tally.problems:
        problem["fix"] = FIXES.get(problem["kind"], problem["fix"])
    kinds = {kind: count for kind, count in sorted(tally.kinds.items()) if count}
    rejected = sum(file["rejected"] for file in files)
    bad = ERRORS | {"repeated_id"}
    return {
        "files": files,
        **{key: counts[key] for key in COUNTED},
        "asks_for": dict(tally.labels.most_common()),
        "lengths": {"characters": quantiles(tally.lengths or array("I"))},
        "duplicates": tally.kinds["duplicate"],
        "leaked": counts["leaked"],
        "shared_passages": tally.kinds["shared_passage"],
        "rejected": rejected,
        "kinds": kinds,
        "problems": sorted(tally.problems, key=lambda problem: problem["severity"]),
        "ok": not rejected and not bad & kinds.keys(),
    }

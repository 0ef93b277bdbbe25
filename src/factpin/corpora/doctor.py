"""Examine a corpus before training: what is in it, and what is wrong with it.

The report is the dict that `factpin doctor --json` prints. Everything is counted in one pass, and only a hash and the
length of each text are kept.
"""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from factpin import formats
from factpin.corpora.odd_text import odd_text
from factpin.corpora.vocabulary import VocabularyCheck
from factpin.documents import Document, Mention, Schema
from factpin.documents.schema import SchemaLearner
from factpin.errors import BadRecord
from factpin.files import readable
from factpin.formats import Options, Report
from factpin.formats._words import borders
from factpin.language.sentences import split_sentences
from factpin.words import count

SHOWN = 20  # problems to list of each kind; the counts are complete
RARE = 10  # a label with fewer examples is hard to learn
FIXES = {
    "offset_mismatch": "Correct the offsets; `factpin convert --skip-bad` sets these records aside.",
    "offset_inclusive": "The ends are inclusive here but exclusive in this format: give the right format with --from, "
    "or add 1 to every end.",
    "bad_record": "Repair the record, or set it aside with `factpin convert --skip-bad`.",
    "bad_json": "Repair the file at that place.",
    "leaked": "Remove the text from one of the splits: scores on it are meaningless.",
    "duplicate": "Keep one of them.",
    "unlabelled_repeat": "Annotate every mention of a name; otherwise the model is penalised for finding the others.",
    "unalignable": "Use a tokenizer with smaller pieces, or accept the ceiling on recall.",
    "empty_document": "Remove it.",
    "blank_edge": "Move the border to the word: a model never predicts white space, so the mention can never be right.",
    "repeated_mention": "Keep one of them.",
    "numbered_characters": "Remove the numbers before you train or predict: they are positions or labels, not text.",
    "language_prefix": "Remove the codes, so that names are as they are in texts.",
    "rare_label": "Annotate more, or merge it with a neighbour.",
    "unknown_type": "Add the type to the schema, or correct the mention.",
    "unknown_relation": "Add the relation to the schema, or correct the fact.",
    "type_clash": "Allow these types in the schema, or correct the fact.",
    "not_functional": "Remove the functional mark, or correct the fact.",
    "merged_fragments": "Only the characters from the first to the last fragment are kept.",
    "argument_not_found": "The string is not in the text: it is kept in meta and cannot be trained on.",
    "ambiguous_argument": "Choose which occurrence is meant with --occurrences first, nearest or all.",
}
ERRORS = {"offset_mismatch", "offset_inclusive", "bad_record", "bad_json", "leaked", "numbered_characters",
          "unknown_type", "unknown_relation", "type_clash", "not_functional"}  # fmt: skip


@dataclass
class Tally:
    """All counts so far."""

    counts: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    lengths: "array[int]" = field(default_factory=lambda: array("I"))
    kinds: Counter[str] = field(default_factory=Counter)
    problems: list[dict[str, Any]] = field(default_factory=list)

    def problem(
        self, kind: str, message: str, *, file: str = "", line: int = 0, document: str = "", error: bool = False
    ) -> None:
        """Count a problem, and list it if it is among the first of its kind."""
        self.kinds[kind] += 1
        if self.kinds[kind] <= SHOWN:
            self.problems.append(
                {
                    "kind": kind,
                    "severity": "error" if error or kind in ERRORS else "warning",
                    "file": file,
                    "line": line,
                    "document": document,
                    "message": message,
                    "fix": FIXES.get(
                        kind,
                        "Repair the record, or set it aside with `factpin convert --skip-bad`."
                        if error
                        else "Have a look.",
                    ),
                }
            )


def doctor(
    paths: Sequence[Path],
    *,
    source_format: str | None = None,
    options: Options | None = None,
    schema: Schema | None = None,
    vocabulary: VocabularyCheck | None = None,
    learner: SchemaLearner | None = None,
    on_document: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Examine all files together; the same text in two of them is a leak."""
    options = replace(options or Options(), skip_bad=True)  # a bad record is a finding here, not an error
    tally = Tally()
    seen: dict[bytes, int] = {}  # hash of a text -> the file it was first seen in
    files = []
    for number, path in enumerate(paths):
        name, shown = source_format or formats.guess(path, options.encoding), readable(str(path))
        report = Report(on_reject=lambda error, _: _rejected(tally, error))
        before = Counter(tally.counts)
        for doc in formats.read(path, format=name, options=options, report=report):
            _count(tally, doc)
            _check_repeats(tally, doc, shown)
            _check_spans(tally, doc, shown)
            _check_texts(tally, doc, shown, number, seen)
            for kind, message in odd_text(doc):
                tally.problem(kind, message, file=shown, document=doc.id)
            for kind, message in schema.violations(doc) if schema else ():
                tally.problem(kind, message, file=shown, document=doc.id)
            if vocabulary:
                vocabulary.add(doc)
            if learner:
                learner.add(doc)
            on_document()
        _add_notes(tally, report)
        here = tally.counts - before
        files.append({"path": shown, "format": name, "documents": here["documents"], "rejected": report.rejected,
                      "notes": dict(report.counts)})  # fmt: skip
    return _report(tally, files, vocabulary)


def _rejected(tally: Tally, error: BadRecord) -> None:
    tally.problem(error.kind, error.reason, file=error.file, line=error.line, error=True)


def _add_notes(tally: Tally, report: Report) -> None:
    for note in report.notes:
        tally.problem(note.kind, note.message, file=note.file, line=note.line, document=note.document)
    listed = Counter(note.kind for note in report.notes)
    for kind, number in report.counts.items():
        tally.kinds[kind] += number - listed[kind]


def _count(tally: Tally, doc: Document) -> None:
    nested, crossing = _overlaps(doc.mentions)
    tally.counts.update(
        documents=1,
        sentences=len(doc.sentences) or len(split_sentences(doc.text)),
        characters=len(doc.text),
        mentions=len(doc.mentions),
        entities=len(doc.entities),
        clusters=sum(len(e.mentions) > 1 for e in doc.entities),
        facts=len(doc.facts),
        evidence=sum(bool(f.evidence) for f in doc.facts),
        qualified=sum(bool(f.qualifiers) for f in doc.facts),
        events=len(doc.events),
        tokens=len(borders(doc)),
        nested=nested,
        overlapping=crossing,
    )
    tally.labels.update(m.type for m in doc.mentions)
    tally.relations.update(f.relation for f in doc.facts)
    tally.events.update(v.type for v in doc.events)
    tally.lengths.append(len(doc.text))


def _overlaps(mentions: Sequence[Mention]) -> tuple[int, int]:
    """(mentions inside another, mentions that cross the border of another)."""
    nested = crossing = 0
    open_spans: list[tuple[int, int]] = []
    for start, end in sorted(((m.start, m.end) for m in mentions), key=lambda s: (s[0], -s[1])):
        open_spans = [s for s in open_spans if s[1] > start]
        nested += any(s[1] >= end and s != (start, end) for s in open_spans)
        crossing += any(s[1] < end for s in open_spans)
        open_spans.append((start, end))
    return nested, crossing


def _check_repeats(tally: Tally, doc: Document, file: str) -> None:
    """Occurrences of an annotated name that are not annotated."""
    covered = np.zeros(len(doc.text) + 1, bool)
    for m in doc.mentions:
        covered[m.start : m.end] = True
    for name in {m.text for m in doc.mentions if len(m.text) > 1}:
        at = doc.text.find(name)
        while at >= 0:
            if not covered[at : at + len(name)].any() and _is_whole(doc.text, at, at + len(name)):
                tally.problem("unlabelled_repeat", f"{name!r} at {at} is annotated elsewhere in the text, but not here",
                              file=file, document=doc.id)  # fmt: skip
            at = doc.text.find(name, at + len(name))


def _check_spans(tally: Tally, doc: Document, file: str) -> None:
    """Documents without text, mentions with white space at an end, mentions annotated twice."""
    if not doc.text.strip():
        tally.problem("empty_document", "the document has no text", file=file, document=doc.id)
    seen = set()
    for m in doc.mentions:
        if m.text != m.text.strip():
            message = f"{m.text!r} at {m.start} starts or ends with white space"
            tally.problem("blank_edge", message, file=file, document=doc.id)
        if (m.start, m.end, m.type) in seen:
            tally.problem("repeated_mention", f"{m.text!r} at {m.start} is annotated twice", file=file, document=doc.id)
        seen.add((m.start, m.end, m.type))


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether this is not part of a longer Latin word."""

    def glued(a: str, b: str) -> bool:
        return a.isascii() and b.isascii() and a.isalnum() and b.isalnum()

    before = start > 0 and glued(text[start - 1], text[start])
    return not before and not (end < len(text) and glued(text[end - 1], text[end]))


def _check_texts(tally: Tally, doc: Document, file: str, number: int, seen: dict[bytes, int]) -> None:
    """Find repeated texts, ignoring width and white space."""
    plain = "".join(unicodedata.normalize("NFKC", doc.text).split())
    key = blake2b(plain.encode(), digest_size=16).digest()
    if key not in seen:
        seen[key] = number
    elif seen[key] != number:
        tally.counts["leaked"] += 1
        message = f"the text is also in file {seen[key] + 1}: {doc.text[:60]!r}"
        tally.problem("leaked", message, file=file, document=doc.id)
    else:
        tally.counts["duplicates"] += 1
        message = f"the text is in this file twice: {doc.text[:60]!r}"
        tally.problem("duplicate", message, file=file, document=doc.id)


def _report(tally: Tally, files: list[dict[str, Any]], vocabulary: VocabularyCheck | None) -> dict[str, Any]:
    for label, number in sorted(tally.labels.items()):
        if number < RARE:
            tally.problem("rare_label", f"the label {label!r} has {count(number, 'example')}")
    counts = tally.counts
    report: dict[str, Any] = {
        "files": files,
        **{key: counts[key] for key in ("documents", "sentences", "characters", "mentions", "entities", "clusters",
                                        "facts", "evidence", "qualified", "events", "tokens")},
        "labels": dict(tally.labels.most_common()),
        "relations": dict(tally.relations.most_common()),
        "event_types": dict(tally.events.most_common()),
        "lengths": {"characters": quantiles(tally.lengths)},
        "nested": counts["nested"],
        "overlapping": counts["overlapping"],
        "discontinuous": tally.kinds["merged_fragments"] + tally.kinds["discontinuous"],
        "duplicates": counts["duplicates"],
        "leaked": counts["leaked"],
        "unlabelled_repeats": tally.kinds["unlabelled_repeat"],
        "rejected": sum(file["rejected"] for file in files),
        "imbalance": imbalance(tally.labels),
    }  # fmt: skip
    if vocabulary:
        report["lengths"]["tokens"] = quantiles(vocabulary.lengths)
        report.update(vocabulary.summary())
        for example in vocabulary.examples:
            tally.problem("unalignable", f"no pieces start and end with it: {example}")
        tally.kinds["unalignable"] = vocabulary.unalignable
    wrong_ends, shifted = tally.kinds["offset_inclusive"], tally.kinds["offset_mismatch"]
    if wrong_ends + shifted:
        report["ends"] = "inclusive" if wrong_ends > shifted else "neither inclusive nor exclusive"
    report["kinds"] = {kind: count for kind, count in sorted(tally.kinds.items()) if count}
    report["problems"] = sorted(tally.problems, key=lambda p: p["severity"])
    report["ok"] = not report["rejected"] and not any(kind in ERRORS for kind in report["kinds"])
    return report


def quantiles(lengths: "array[int]") -> dict[str, int]:
    """Median, 90th and 99th percentile (each a length that occurs) and the maximum."""
    if not lengths:
        return {"p50": 0, "p90": 0, "p99": 0, "max": 0}
    values = np.sort(np.frombuffer(lengths, dtype=lengths.typecode))
    picks = {name: int(values[min(len(values) - 1, int(share * len(values)))])
             for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))}  # fmt: skip
    return {**picks, "max": int(values[-1])}


def imbalance(labels: Counter[str]) -> float | None:
    """The frequency of the most common label divided by that of the rarest."""
    return round(max(labels.values()) / min(labels.values()), 1) if labels else None

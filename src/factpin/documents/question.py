"""A question, the documents to answer it from, and its gold: answers, their spans and the supporting sentences.

Offsets are half-open code points of a context. `context` and `sentence` are indices: the second sentence of the first
context is (0, 1).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from factpin.documents.fields import as_dict, as_int, as_list, as_strings, get_list, get_str, wrong
from factpin.documents.native import from_json, to_json
from factpin.documents.nouns import Document, Span
from factpin.errors import BadDocument
from factpin.words import count

KINDS = ("", "yes_no", "choice")  # answered by a span; by yes or no; by one of the options in the question
FIELDS = {"id", "question", "language", "answers", "kind", "answerable", "context", "spans", "support", "steps", "meta"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question with as much gold as is known.

    Without answers, `answerable` is False if the context has no answer, and True if the answers are not known.
    """

    id: str
    text: str
    language: str | None = None
    answers: tuple[str, ...] = ()  # all accepted strings, the preferred one first
    kind: str = ""
    answerable: bool = True
    context: tuple[Document, ...] = ()  # titles are in meta["title"]
    spans: tuple[tuple[int, Span], ...] = ()  # (context, characters) of the answers
    support: tuple[tuple[int, int], ...] = ()  # (context, sentence)
    steps: tuple[tuple[str, str, str], ...] = ()  # (subject, relation, object), or (sub-question, "", answer)
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise BadDocument(f"question {self.id!r} is empty; expected some text.", field="question")
        if self.kind not in KINDS:
            known = ", ".join(repr(kind) for kind in KINDS)
            raise BadDocument(f"question {self.id}: kind {self.kind!r} is unknown; expected {known}.", field="kind")
        if not self.answerable and (self.answers or self.spans):
            raise BadDocument(
                f"question {self.id} is marked as not answerable but has answers. Remove them, or correct the mark.",
                field="answerable",
            )
        if not all(self.answers):
            raise BadDocument(
                f"question {self.id}: an answer is empty; expected some text. Remove it.", field="answers"
            )
        for i, (context, (start, end)) in enumerate(self.spans):
            size = len(self._document(context, f"spans[{i}]").text)
            if not 0 <= start < end <= size:
                raise BadDocument(
                    f"question {self.id}: spans[{i}] is {start}:{end} in a context of {count(size, 'character')}; "
                    f"expected a span inside it.",
                    field=f"spans[{i}]",
                )
        for i, (context, sentence) in enumerate(self.support):
            there = len(self._document(context, f"support[{i}]").sentences)
            if not 0 <= sentence < there:
                raise BadDocument(
                    f"question {self.id}: support[{i}] refers to sentence {sentence}, but the context has {there}.",
                    field=f"support[{i}]",
                )

    @property
    def gold(self) -> tuple[int, ...]:
        """The indices of contexts with an answer or support, in order."""
        return tuple(sorted({context for context, _ in (*self.spans, *self.support)}))

    def span_texts(self) -> tuple[str, ...]:
        """The texts of the gold spans."""
        return tuple(self.context[context].text[start:end] for context, (start, end) in self.spans)

    def _document(self, index: int, where: str) -> Document:
        if not 0 <= index < len(self.context):
            raise BadDocument(
                f"question {self.id}: {where} refers to context {index}, but there are {len(self.context)}.",
                field=where,
            )
        return self.context[index]


def question_to_json(question: Question) -> dict[str, Any]:
    """The JSON record of a question, without empty fields."""
    record: dict[str, Any] = {"id": question.id, "question": question.text}
    if question.language:
        record["language"] = question.language
    if question.answers:
        record["answers"] = list(question.answers)
    if question.kind:
        record["kind"] = question.kind
    if not question.answerable:
        record["answerable"] = False
    if question.context:
        record["context"] = [to_json(doc) for doc in question.context]
    if question.spans:
        record["spans"] = [[context, start, end] for context, (start, end) in question.spans]
    if question.support:
        record["support"] = [list(pair) for pair in question.support]
    if question.steps:
        record["steps"] = [list(step) for step in question.steps]
    if question.meta:
        record["meta"] = dict(question.meta)
    return record


def question_from_json(record: Any, default_id: str = "") -> Question:
    """The question of a JSON record. `default_id` is used if it has no id; unknown fields go to `meta`."""
    record = as_dict(record, "")
    context = get_list(record, "context", default=[])
    answerable = record.get("answerable", True)
    if not isinstance(answerable, bool):
        raise wrong(answerable, "answerable", "true or false")
    spans = _numbers(record, "spans", 3)
    return Question(
        id=get_str(record, "id", default=default_id or None),
        text=get_str(record, "question"),
        language=None if record.get("language") is None else get_str(record, "language"),
        answers=tuple(as_strings(get_list(record, "answers", default=[]), "answers")),
        kind=get_str(record, "kind", default=""),
        answerable=answerable,
        context=tuple(from_json(doc, f"c{i}") for i, doc in enumerate(context)),
        spans=tuple((index, Span(start, end)) for index, start, end in spans),
        support=tuple((index, sentence) for index, sentence in _numbers(record, "support", 2)),
        steps=_steps(get_list(record, "steps", default=[])),
        meta={**as_dict(record.get("meta") or {}, "meta"), **{k: v for k, v in record.items() if k not in FIELDS}},
    )


def _numbers(record: dict[str, Any], key: str, size: int) -> list[list[int]]:
    """A field of rows of integers, each of this size."""
    rows = []
    for i, row in enumerate(get_list(record, key, default=[])):
        where = f"{key}[{i}]"
        values = [as_int(value, where) for value in as_list(row, where)]
        if len(values) != size:
            raise wrong(row, where, count(size, "whole number"))
        rows.append(values)
    return rows


def _steps(rows: list[Any]) -> tuple[tuple[str, str, str], ...]:
    steps = []
    for i, row in enumerate(rows):
        parts = as_strings(row, f"steps[{i}]")
        if len(parts) != 3:
            raise wrong(row, f"steps[{i}]", "three strings")
        steps.append((parts[0], parts[1], parts[2]))
    return tuple(steps)

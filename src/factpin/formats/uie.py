"""UIE (PaddleNLP): one JSON object per line. Ends are exclusive. Training records are read and written, answers read.

    {"content", "result_list": [{"text", "start", "end"}], "prompt"}                                    training
    {"text", "result": [{type: [{"text", "start", "end", "probability", "relations": {relation: […]}}]}]}   an answer

A training prompt is a type, or `subject的relation` (in English `relation of subject`). Consecutive records with the
same content are one document; if they are scattered over the file they are several. A prompt is read as a relation only
if its subject is a mention of the document or, failing that, occurs in the content. Prompts without a result are
negative examples: they are kept in meta["negatives"] and written back. Records whose results are in the prompt
(negative offsets: the classification prompts of UIE) are kept in meta["classes"] in the same way.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin.documents import Document, Mention
from factpin.documents.fields import as_dict, as_list, get_int, get_list, get_str
from factpin.errors import BadDocument
from factpin.formats._guess import Head
from factpin.formats._occurrences import nearest_pair, not_found_again, occurrences
from factpin.formats._pinned import Arrow, arrows_of, pin
from factpin.formats._reading import Options, ReadContext, decode
from factpin.formats._records import own_id, probability, unknown
from factpin.formats._writing import losses, write_json_lines
from factpin.words import count

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "facts", "pins", "meta"})
ENDING = ".jsonl"
FIELDS = {"id", "content", "result_list", "prompt", "text", "result"}
CHINESE, ENGLISH = "的", " of "


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document for consecutive training records with the same content, and one for every answer."""
    return reading.each(_groups(reading), lambda group, line: _document(group, line, reading))


def _groups(reading: ReadContext) -> Iterator[tuple[int, Any]]:
    """(first line, records): runs of records that share content and id; a broken line is a separate group."""
    group: list[dict[str, Any]] = []
    first = 0
    for line, raw in reading.lines():
        if not raw or raw.isspace():
            continue
        try:
            record = as_dict(decode(raw), "")
        except BadDocument as problem:
            if group:
                yield first, group
            yield line, reading.bad_record(problem, line)
            group = []
            continue
        if group and not _belongs(record, group[0]):
            yield first, group
            group = []
        if not group:
            first = line
        group.append(record)
    if group:
        yield first, group


def _belongs(record: dict[str, Any], first: dict[str, Any]) -> bool:
    if "result" in record or "result" in first:
        return False
    # Only strings and numbers are compared: anything else is an error later, and may be nested to any depth.
    return all(
        type(record.get(key)) is type(first.get(key))
        and isinstance(record.get(key), str | int | None)
        and record.get(key) == first.get(key)
        for key in ("content", "id")
    )


@dataclass
class _Annotation:
    """Mentions by (start, end, type), the arrows between them, and what is kept in the document's meta."""

    text: str
    mentions: dict[tuple[int, int, str], Mention] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def add(self, item: dict[str, Any], type: str, where: str) -> Mention:
        start, end = get_int(item, "start", where), get_int(item, "end", where)
        key = start, end, type
        if key not in self.mentions:
            id = f"m{len(self.mentions)}"
            score = probability(item, "probability", where)
            self.mentions[key] = Mention(id, start, end, get_str(item, "text", where), type, score)
        return self.mentions[key]

    def at(self, item: dict[str, Any], where: str) -> Mention:
        """The mention at the offsets of an object, of any type; a new one without a type if there is none."""
        start, end = get_int(item, "start", where), get_int(item, "end", where)
        there = [m for m in self.mentions.values() if (m.start, m.end) == (start, end)]
        return there[0] if there else self.add(item, "", where)

    def keep(self, key: str, values: list[Any]) -> None:
        """Keep what has no noun in meta."""
        if not values:
            return
        if key in self.meta:
            raise BadDocument("this name is reserved for the notes of the reader. Rename the field.", field=key)
        self.meta[key] = values


def _document(group: list[dict[str, Any]], line: int, reading: ReadContext) -> Document:
    record = group[0]
    id = own_id(record, reading.default_id(line))
    answer = "result" in record
    text = get_str(record, "content" if not answer or "text" not in record else "text")
    found = _Annotation(text)
    for part in group:
        for key, value in unknown(part, FIELDS).items():
            if not _equal(found.meta.setdefault(key, value), value):
                raise BadDocument(
                    "records with the same content have different values of this field. Rename one.", field=key
                )
    if answer:
        _answer(record, found, reading, line, id)
    else:
        _training(group, found, reading, line, id)
    mentions = tuple(found.mentions.values())
    entities, facts = pin(mentions, found.arrows)
    return Document(id=id, text=text, mentions=mentions, entities=entities, facts=facts, meta=found.meta)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except RecursionError:
        return False


# ---- training records -----------------------------------------------------------------------------------------------


def _training(group: list[dict[str, Any]], found: _Annotation, reading: ReadContext, line: int, id: str) -> None:
    prompts = [get_str(record, "prompt") for record in group]
    items = [[as_dict(item, "result_list") for item in get_list(record, "result_list")] for record in group]
    surfaces = {get_str(item, "text", "result_list") for results in items for item in results}
    pending: list[tuple[str, str, list[dict[str, Any]]]] = []
    kept: dict[str, list[Any]] = {"negatives": [], "classes": []}
    for prompt, results in zip(prompts, items, strict=True):
        if not results:
            kept["negatives"] += [prompt] if prompt else []
            continue
        if _is_class(results):
            kept["classes"].append({"prompt": prompt, "result_list": results})
            reading.note(
                "classification", line, id, f"the results of {prompt[:40]!r} are in the prompt: kept, not read"
            )
            continue
        subject, relation = _subject(prompt, surfaces, found.text)
        if subject:
            pending.append((subject, relation, results))
        else:
            for item in results:
                found.add(item, prompt, "result_list")
    for subject, relation, results in pending:
        for item in results:
            tail = found.at(item, "result_list")
            head = _head(subject, tail, found, reading, line, id)
            found.arrows.append(Arrow(head.id, relation, tail.id, "prompt"))
    for key, values in kept.items():
        found.keep(key, values)


def _is_class(results: list[dict[str, Any]]) -> bool:
    return all(isinstance(item.get("start"), int) and item["start"] < 0 for item in results)


def _subject(prompt: str, surfaces: set[str], text: str) -> tuple[str, str]:
    """(subject, relation) of a prompt; both empty if it is a type. The longest subject that is a mention wins."""
    splits = []
    for i in range(1, len(prompt) - 1):
        if prompt.startswith(CHINESE, i):
            splits.append((prompt[:i], prompt[i + len(CHINESE) :]))
        if prompt.startswith(ENGLISH, i):
            splits.append((prompt[i + len(ENGLISH) :], prompt[:i]))
    splits = [(subject, relation) for subject, relation in splits if subject and relation]
    for known in (surfaces.__contains__, text.__contains__):
        fitting = [split for split in splits if known(split[0])]
        if fitting:
            return max(fitting, key=lambda split: len(split[0]))
    return "", ""


def _head(subject: str, tail: Mention, found: _Annotation, reading: ReadContext, line: int, id: str) -> Mention:
    """The mention that the subject of a prompt means: the first with that text or the nearest to the object."""
    there = sorted((m for m in found.mentions.values() if m.text == subject and m.id != tail.id), key=lambda m: m.start)
    if not there and tail.text != subject:
        start = occurrences(found.text, subject)[0][0]
        reading.note("subject_without_type", line, id, f"{subject!r} is a subject but the result of no prompt")
        return found.add({"text": subject, "start": start, "end": start + len(subject)}, "", "prompt")
    if len(there) > 1:
        reading.note("ambiguous_argument", line, id, f"{subject!r} is {count(len(there), 'mention')}")
    if len(there) > 1 and reading.options.occurrences != "first":
        _, start = nearest_pair([tail.start], len(tail.text), sorted(m.start for m in there), len(subject))
        return next(m for m in there if m.start == start)
    return there[0] if there else tail


# ---- answers --------------------------------------------------------------------------------------------------------


def _answer(record: dict[str, Any], found: _Annotation, reading: ReadContext, line: int, id: str) -> None:
    result = record["result"]
    parts = [result] if isinstance(result, dict) else as_list(result, "result")
    waiting: list[tuple[Mention | None, dict[str, Any], str]] = [
        (None, as_dict(part, f"result[{i}]"), f"result[{i}]") for i, part in enumerate(parts)
    ]
    unplaced = []
    for head, labels, place in waiting:  # grows: relations may have relations, to any depth
        for label, items in labels.items():
            for i, item in enumerate(as_list(items, f"{place}.{label}")):
                where = f"{place}.{label}[{i}]"
                item = as_dict(item, where)
                if item.get("start") is None:
                    unplaced.append({"label": label, **item})
                    reading.note("result_without_offsets", line, id, f"a result of {label!r} has no offsets")
                    continue
                if head is None:
                    m = found.add(item, label, where)
                else:
                    m = found.at(item, where)
                    score = probability(item, "probability", where)
                    found.arrows.append(Arrow(head.id, label, m.id, where, score))
                if item.get("relations"):
                    waiting.append((m, as_dict(item["relations"], f"{where}.relations"), where[:200]))
    found.keep("unplaced", unplaced)


# ---- writing --------------------------------------------------------------------------------------------------------


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one training record per type, and one per subject and relation, for every document."""
    write_json_lines(path, (record for doc in documents for record in _records(doc)))


def _records(doc: Document) -> list[dict[str, Any]]:
    mention = {m.id: m for m in doc.mentions}
    results: dict[str, list[dict[str, Any]]] = {}
    for m in doc.mentions:
        results.setdefault(m.type, []).append({"text": m.text, "start": m.start, "end": m.end})
    join = CHINESE if any(character >= "\u2e80" for character in doc.text) else ENGLISH
    for arrow in arrows_of(doc):
        head, tail = mention[arrow.head], mention[arrow.tail]
        ends = (head.text, arrow.relation) if join == CHINESE else (arrow.relation, head.text)
        results.setdefault(join.join(ends), []).append({"text": tail.text, "start": tail.start, "end": tail.end})
    for prompt in _negatives(doc):
        results.setdefault(prompt, [])
    for record in _classes(doc):
        results.setdefault(record["prompt"], record["result_list"])
    if not results:
        results[""] = []
    records: list[dict[str, Any]] = [
        {"id": doc.id, "content": doc.text, "result_list": items, "prompt": prompt} for prompt, items in results.items()
    ]
    records[0] |= unknown(doc.meta, FIELDS | {"negatives", "classes"})
    return records


def _negatives(doc: Document) -> list[str]:
    negatives = doc.meta.get("negatives")
    good = isinstance(negatives, list) and all(isinstance(prompt, str) and prompt for prompt in negatives)
    return list(negatives) if good else []  # type: ignore[arg-type]


def _classes(doc: Document) -> list[dict[str, Any]]:
    try:
        classes = [as_dict(record, "classes") for record in as_list(doc.meta.get("classes", []), "classes")]
        for record in classes:
            get_str(record, "prompt")
            items = [as_dict(item, "result_list") for item in get_list(record, "result_list")]
            if not items or not _is_class(items) or not all(isinstance(item.get("text"), str) for item in items):
                return []
    except BadDocument:
        return []
    return classes


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what prompts and results cannot hold, and the facts whose subject would be found somewhere else."""
    counted = losses(doc, HOLDS)
    counted["meta"] += len(FIELDS & doc.meta.keys())
    if doc.mentions or doc.meta:
        back = _document(_records(doc), 0, ReadContext(Path("-"), options))
        counted.update(not_found_again(doc, back, typed=True))
        counted["meta"] += sum(back.meta.get(key) != doc.meta.get(key) for key in ("negatives", "classes"))
    return +counted


def fits(head: Head) -> bool:
    """Whether it is a training record, or a text with the nested result of UIE."""
    record = head.record
    if not isinstance(record, dict) or head.is_list:
        return False
    if isinstance(record.get("content"), str) and isinstance(record.get("result_list"), list):
        return isinstance(record.get("prompt"), str)
    result = record.get("result")
    first = result[0] if isinstance(result, list) and result else result
    return isinstance(record.get("text", record.get("content")), str) and isinstance(first, dict)

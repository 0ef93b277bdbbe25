"""Label Studio: one JSON list of tasks (or one task per line). Ends are exclusive; UTF-16 units with Options.utf16.

    {"id", "data": {"text": …}, "annotations": [{"result": [
        {"id", "type": "labels", "from_name", "to_name", "value": {"start", "end", "text", "labels": [str, …]}},
        {"type": "relation", "from_id", "to_id", "direction": "right", "labels": [str, …]}]}], "predictions": […]}

The first annotation that was not cancelled is read, or the first prediction if there is none. The others are kept in
meta and written back, as are results of other types and relations without a label. "hypertextlabels" are read like
"labels". If a value has globalOffsets, these are used. A region with several labels becomes one mention per label.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin.documents import Document, Mention
from factpin.documents.fields import as_dict, as_list, as_str, get_dict, get_int, get_list, get_str
from factpin.errors import BadDocument
from factpin.formats._guess import Head
from factpin.formats._pinned import Arrow, arrows_of, entity_losses, pin
from factpin.formats._reading import Options, ReadContext
from factpin.formats._records import list_or_lines, number_or_name, own_id, probability, unknown, write_list_or_lines
from factpin.formats._utf16 import Turn, by_choice, seems_utf16
from factpin.formats._writing import losses

HOLDS = frozenset({"mentions", "types", "scores", "overlaps", "same spans", "facts", "pins", "meta"})
ENDING = ".json"
FIELDS = {"id", "data", "annotations"}
OWN = "labelstudio"  # what the reader adds to meta: data, annotation or prediction, others, results, extra
REGION = {"id", "type", "value", "score"}
VALUE = {"start", "end", "text", "globalOffsets"}
RELATION = {"type", "from_id", "to_id", "direction", "labels", "score"}
TEXT_TYPES = ("labels", "hypertextlabels")
NAMES = {"from_name": "label", "to_name": "text"}  # of a region if the source has none


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per task, with its mentions in the order of the results."""
    return list_or_lines(reading, lambda record, line: _document(record, line, reading))


@dataclass
class _Result:
    """What the results of one annotation hold."""

    mentions: list[Mention] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)
    other: list[Any] = field(default_factory=list)


def _document(value: Any, line: int, reading: ReadContext) -> Document:
    task = as_dict(value, "")
    data = get_dict(task, "data")
    text = get_str(data, "text", "data")
    id = own_id(task, reading.default_id(line))
    meta = unknown(task, FIELDS)
    if OWN in meta:
        raise BadDocument("this name is reserved for the notes of the reader. Rename the field.", field=OWN)
    own: dict[str, Any] = {"data": unknown(data, {"text"})}
    results, where = _chosen(task, meta, own)
    if len(as_list(task.get("annotations") or [], "annotations")) > 1:
        reading.note(
            "several_annotations", line, id, "the first one that was not cancelled is read, the others are kept"
        )
    if "prediction" in own:
        reading.note("from_prediction", line, id, "no annotation: the first prediction is read")
    turn = by_choice(text, utf16=reading.options.utf16, writing=False)
    found = _Result()
    for i, item in enumerate(results):
        _result(as_dict(item, f"{where}[{i}]"), f"{where}[{i}]", text, turn, found)
    for item in found.other:
        type = item.get("type") if isinstance(item.get("type"), str) else None
        reading.note("other_result", line, id, f"a result of type {type!r} is kept, not read")
    entities, facts = pin(found.mentions, found.arrows)
    own |= {"results": found.other, "extra": found.extra}
    own = {key: part for key, part in own.items() if part or key == "prediction"}
    return Document(
        id=id,
        text=text,
        mentions=tuple(found.mentions),
        entities=entities,
        facts=facts,
        meta=meta | ({OWN: own} if own else {}),
    )


def _chosen(task: dict[str, Any], meta: dict[str, Any], own: dict[str, Any]) -> tuple[list[Any], str]:
    """The results to read and their path; the other annotations go to `own`."""
    annotations = [
        as_dict(a, f"annotations[{i}]") for i, a in enumerate(as_list(task.get("annotations") or [], "annotations"))
    ]
    for i, annotation in enumerate(annotations):
        if not annotation.get("was_cancelled"):
            own["annotation"] = unknown(annotation, {"result"})
            own["others"] = annotations[:i] + annotations[i + 1 :]
            return get_list(annotation, "result", f"annotations[{i}]", default=[]), f"annotations[{i}].result"
    own["others"] = annotations
    predictions = as_list(task.get("predictions") or [], "predictions")
    if not predictions or not isinstance(predictions[0], dict):
        return [], "annotations"
    own["prediction"] = unknown(predictions[0], {"result"})
    meta["predictions"] = predictions[1:]
    return get_list(predictions[0], "result", "predictions[0]", default=[]), "predictions[0].result"


def _result(item: dict[str, Any], where: str, text: str, turn: Turn, found: _Result) -> None:
    type = item.get("type")
    if type == "relation" and item.get("labels"):
        _relation(item, where, found)
    elif type in TEXT_TYPES and isinstance(item.get("value"), dict):
        _region(item, where, text, turn, found)
    else:
        found.other.append(item)


def _region(item: dict[str, Any], where: str, text: str, turn: Turn, found: _Result) -> None:
    id = get_str(item, "id", where)
    value = get_dict(item, "value", where)
    type = get_str(item, "type", where)
    offsets = value["globalOffsets"] if isinstance(value.get("globalOffsets"), dict) else value
    try:
        start, end = turn(get_int(offsets, "start", where)), turn(get_int(offsets, "end", where))
    except BadDocument as problem:
        raise BadDocument(str(problem), field=problem.field or where) from None
    surface = get_str(value, "text", f"{where}.value", default=text[max(0, start) : max(0, end)])
    if surface != text[start:end] and seems_utf16(text, offsets["start"], offsets["end"], surface):
        raise BadDocument(
            f"{surface[:40]!r} is not at {start}:{end} counted in characters, but it is counted in UTF-16 units, "
            f"as JavaScript counts. Read the file with --utf16.",
            field=where,
        )
    labels = [as_str(label, f"{where}.value.{type}") for label in as_list(value.get(type) or [""], f"{where}.value")]
    score = probability(item, "score", where)
    for i, label in enumerate(labels):
        found.mentions.append(Mention(id if i == 0 else f"{id}/{i + 1}", start, end, surface, label, score))
    usual = {key for key, name in NAMES.items() if item.get(key) == name}
    extra = unknown(item, REGION | usual)
    if type != "labels":
        extra["type"] = type
    if value.keys() - VALUE - {type}:
        extra["value"] = unknown(value, VALUE | {type})
    if extra:
        found.extra[f"region {id}"] = extra


def _relation(item: dict[str, Any], where: str, found: _Result) -> None:
    ends = get_str(item, "from_id", where), get_str(item, "to_id", where)
    direction = get_str(item, "direction", where, default="right")
    head, tail = reversed(ends) if direction == "left" else ends
    for label in get_list(item, "labels", where):
        arrow = Arrow(head, as_str(label, f"{where}.labels"), tail, where, probability(item, "score", where))
        found.arrows.append(arrow)
        extra = unknown(item, RELATION)
        if direction not in ("left", "right"):  # "bi": one fact; the direction is written back
            extra["direction"] = direction
        if extra:
            found.extra[_key(arrow)] = extra


def _key(arrow: Arrow) -> str:
    return f"relation {arrow.head} {arrow.relation} {arrow.tail}"


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one task per document."""
    write_list_or_lines(path, (_task(doc, options) for doc in documents))


def _task(doc: Document, options: Options) -> dict[str, Any]:
    own = _own(doc)
    kept = unknown(doc.meta, FIELDS | {OWN})
    task: dict[str, Any] = {"id": number_or_name(doc.id), "data": {"text": doc.text, **own.get("data", {})}}
    result = _results(doc, own, options)
    if "prediction" in own:
        others = kept.get("predictions")
        first = [{**own["prediction"], "result": result}]
        predictions = first + others if isinstance(others, list) else first
        return task | {"annotations": own.get("others", []), **kept, "predictions": predictions}
    annotations = [{**own.get("annotation", {}), "result": result}, *own.get("others", [])]
    return task | {"annotations": annotations, **kept}


def _results(doc: Document, own: dict[str, Any], options: Options) -> list[Any]:
    turn = by_choice(doc.text, utf16=options.utf16, writing=True)
    extra = own.get("extra", {})
    results: list[Any] = []
    for m in doc.mentions:
        more = extra.get(f"region {m.id}", {})
        type = more.get("type", "labels")
        value = {"start": turn(m.start), "end": turn(m.end), "text": m.text, type: [m.type] if m.type else []}
        if type != "labels":
            value["globalOffsets"] = {"start": value["start"], "end": value["end"]}
        result = {"id": m.id, **NAMES, "type": type, **more, "value": value | more.get("value", {})}
        results.append(result if m.score is None else result | {"score": m.score})
    for arrow in arrows_of(doc):
        result = {"type": "relation", "from_id": arrow.head, "to_id": arrow.tail, "direction": "right",
                  "labels": [arrow.relation], **extra.get(_key(arrow), {})}  # fmt: skip
        results.append(result if arrow.score is None else result | {"score": arrow.score})
    return results + list(own.get("results", []))


def _own(doc: Document) -> dict[str, Any]:
    """What the reader kept of the task; empty if meta has something else under that name."""
    own = doc.meta.get(OWN)
    kinds = {"data": dict, "annotation": dict, "prediction": dict, "others": list, "results": list, "extra": dict}
    if not isinstance(own, dict) or not all(isinstance(part, kinds.get(key, ())) for key, part in own.items()):
        return {}
    good = "text" not in own.get("data", {}) and all(isinstance(a, dict) for a in own.get("others", []))
    return own if good and all(_good_extra(extra) for extra in own.get("extra", {}).values()) else {}


def _good_extra(extra: Any) -> bool:
    if not isinstance(extra, dict) or not isinstance(extra.get("value", {}), dict):
        return False
    return extra.get("type", "labels") in TEXT_TYPES


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what regions and relations between them cannot hold."""
    counted = losses(doc, HOLDS)
    counted.update(entity_losses(doc))
    counted["meta"] += len(FIELDS & doc.meta.keys()) + (OWN in doc.meta and not _own(doc))
    return +counted


def fits(head: Head) -> bool:
    """Whether it is a task: data with a text, and a list of annotations or predictions."""
    record = head.record
    if not isinstance(record, dict) or not isinstance(record.get("data"), dict):
        return False
    return isinstance(record.get("annotations"), list) or isinstance(record.get("predictions"), list)

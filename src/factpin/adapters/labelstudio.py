"""Predictions for Label Studio, as its machine learning backends give them.

The labelling configuration says which control takes labels of which object, and which labels it has. Mentions whose
type it does not have are left out and counted.
"""

from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from factpin.documents import Document
from factpin.errors import BadInput
from factpin.formats._utf16 import by_choice

LONGEST_CONFIG = 64_000  # characters


@dataclass(frozen=True)
class LabelConfig:
    """The control for labels, the text it applies to, the field of a task that has the text, and the labels."""

    from_name: str
    to_name: str
    field: str
    labels: frozenset[str]


def read_config(xml: str) -> LabelConfig:
    """The parts of a labelling configuration that predictions need. Entities of XML are refused."""
    if len(xml) > LONGEST_CONFIG or "<!DOCTYPE" in xml.upper() or "<!ENTITY" in xml.upper():
        raise BadInput(f"The labelling configuration is longer than {LONGEST_CONFIG} characters or declares entities.")
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise BadInput(f"The labelling configuration is not XML: {error}.") from None
    fields = {node.get("name"): (node.get("value") or "$text").removeprefix("$") for node in root.iter("Text")}
    for control in root.iter("Labels"):
        name, target = control.get("name"), control.get("toName")
        if name and target in fields:
            labels = frozenset(label.get("value") or "" for label in control.iter("Label"))
            return LabelConfig(name, str(target), fields[target], labels)
    raise BadInput("The labelling configuration has no <Labels> for a <Text>.")


def prediction(doc: Document, config: LabelConfig, version: str, *, utf16: bool = False) -> tuple[dict[str, Any], int]:
    """The prediction for one task, and how many mentions and facts were left out."""
    turn = by_choice(doc.text, utf16=utf16, writing=True)
    kept = [m for m in doc.mentions if m.type in config.labels]
    ids = {m.id for m in kept}
    result: list[dict[str, Any]] = [
        {"id": m.id, "from_name": config.from_name, "to_name": config.to_name, "type": "labels", "score": m.score,
         "value": {"start": turn(m.start), "end": turn(m.end), "text": m.text, "labels": [m.type]}}
        for m in kept
    ]  # fmt: skip
    facts = [f for f in doc.facts if f.head_mention in ids and f.tail_mention in ids]
    result += [
        {"type": "relation", "from_id": f.head_mention, "to_id": f.tail_mention, "direction": "right",
         "labels": [f.relation]}
        for f in facts
    ]  # fmt: skip
    scores = [m.score for m in kept if m.score is not None]
    score = sum(scores) / len(scores) if scores else 0.0
    lost = len(doc.mentions) - len(kept) + len(doc.facts) - len(facts)
    return {"result": result, "score": score, "model_version": version}, lost

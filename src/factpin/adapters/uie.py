"""The shape of PaddleNLP's UIE: a schema of types and relations in, records by type out.

    extract = Taskflow({"person": ["place of birth"]}, "en-facts")
    extract("Marie Curie was born in Warsaw.")
    [{"person": [{"text": "Marie Curie", "start": 0, "end": 11, "probability": 0.99,
                  "relations": {"place of birth": [{"text": "Warsaw", …}]}}]}]

Types and relations that no model has are listed under "unknown"; they are never guessed.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from factpin.documents import Document, Mention
from factpin.errors import BadInput

UNKNOWN = "unknown"
Schema = Mapping[str, Sequence[str]]


def normalise(schema: Any) -> dict[str, list[str]]:
    """A schema as types with their relations: a name, a list of names, or {type: relations}."""
    if isinstance(schema, str):
        return {schema: []}
    if isinstance(schema, list):
        return {name: relations for part in schema for name, relations in normalise(part).items()}
    if isinstance(schema, Mapping):
        return {str(name): list(normalise(part)) if part else [] for name, part in schema.items()}
    raise BadInput(f"A schema is a name, a list of names or an object, but got {type(schema).__name__}.")


def record_of(doc: Document, schema: Mapping[str, Sequence[str]], known: Collection[str]) -> dict[str, Any]:
    """What a document says about a schema. known: every type and relation that the models have."""
    record: dict[str, Any] = {}
    mention_of = {m.id: m for m in doc.mentions}
    for type, relations in schema.items():
        rows = []
        for mention in doc.mentions:
            if mention.type == type:
                linked = {name: _tails(doc, mention, name, mention_of) for name in relations}
                linked = {name: tails for name, tails in linked.items() if tails}
                rows.append(_place(mention) | ({"relations": linked} if linked else {}))
        if rows:
            record[type] = rows
    unknown = sorted({name for type, names in schema.items() for name in (type, *names)} - set(known))
    return record | ({UNKNOWN: unknown} if unknown else {})


def _tails(doc: Document, head: Mention, relation: str, mention_of: Mapping[str, Mention]) -> list[dict[str, Any]]:
    return [
        _place(mention_of[fact.tail_mention]) | {"probability": fact.score}
        for fact in doc.facts
        if fact.relation == relation
        and fact.head_mention == head.id
        and fact.tail_mention
        and fact.assertion != "negated"
    ]


def _place(mention: Mention) -> dict[str, Any]:
    return {"text": mention.text, "start": mention.start, "end": mention.end, "probability": mention.score}


class Taskflow:
    """A callable in the shape of paddlenlp.Taskflow("information_extraction", schema=…)."""

    def __init__(self, schema: Any, model: str | Path | Sequence[str | Path] | None = None) -> None:
        from factpin.extraction.pipeline import loaded  # noqa: PLC0415  (heavy)

        names = () if model is None else (model,) if isinstance(model, str | Path) else tuple(model)
        self.schema, self.models = normalise(schema), loaded(names)
        self.known = labels_of([extractor.settings for extractor in self.models.extractors])

    def __call__(self, texts: str | list[str]) -> list[dict[str, Any]]:
        """A record for each text."""
        return [record_of(doc, self.schema, self.known) for doc in self.models.extract(texts)]


def labels_of(settings: Sequence[Any]) -> set[str]:
    """The types and relations that models have."""
    found = {label for one in settings for label in one.labels}
    return found | {
        name for one in settings for key in ("subjects", "objects") for name in one.head_config.get(key, ())
    }

"""Requests for extraction, checked, and their answers: what several routes share."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from factpin.app.serve.answers import as_json
from factpin.app.serve.limits import Limits
from factpin.app.serve.offsets import in_utf16
from factpin.app.serve.refusal import Refusal, refusal_of
from factpin.app.serve.service import ReadOptions, Service
from factpin.app.serve.shapes import ExtractOptions, ExtractRequest
from factpin.documents import Document, to_json
from factpin.documents.native import from_json
from factpin.errors import FactpinError
from factpin.words import count

INPUTS = ("text", "texts", "documents")


def documents_of(body: ExtractRequest, limits: Limits, most: int) -> list[Document]:
    """The documents of a request, checked. most: how many it may have."""
    given = [name for name in INPUTS if name in body.model_fields_set]
    if len(given) != 1:
        raise Refusal(422, "Give exactly one of text, texts and documents.", kind="BadInput")
    texts = [body.text] if given == ["text"] else body.texts
    number = len(body.documents) if given == ["documents"] else len(texts)
    if number > most:
        raise Refusal(413, f"The request has {count(number, 'text')}; at most {most:,} are taken.", field=given[0])
    found = []
    records: Sequence[str | dict[str, Any]] = body.documents if given == ["documents"] else texts
    for i, record in enumerate(records):
        field = "text" if given == ["text"] else f"{given[0]}[{i}]"
        found.append(document_of(record, i, field, body.options.language))
        check_length(found[-1].text, limits, field)
    return found


def document_of(given: str | dict[str, Any], index: int, field: str, language: str | None) -> Document:
    """A document from a text or a native record."""
    try:
        doc = Document(f"d{index}", given) if isinstance(given, str) else from_json(given, f"d{index}")
        return replace(doc, language=language) if language else doc
    except FactpinError as error:
        raise refusal_of(error, field) from None


def check_length(text: str, limits: Limits, field: str) -> None:
    """Refuse a text that is too long."""
    if len(text) > limits.characters:
        message = f"The text has {count(len(text), 'character')}; at most {limits.characters:,} are read at once."
        raise Refusal(413, message, field=field)


def read_options(options: ExtractOptions, service: Service) -> ReadOptions:
    """The options of a request, checked."""
    try:
        models = service.choose(options.models)
    except FactpinError as error:
        raise refusal_of(error, "options.models") from None
    coreference = options.coreference == "rules"
    return ReadOptions(models, options.min_score, coreference, options.on_overflow, options.mark_unsure)


def answer(
    found: Sequence[Document], used: ReadOptions, asked: ExtractOptions, service: Service, started: float
) -> Response:
    """The documents as JSON."""
    record = {
        "documents": [record_of(doc, asked) for doc in found],
        "models": {name: f"sha256:{service.fingerprints[name]}" for name in used.models},
        "took_ms": round(1000 * (time.monotonic() - started)),
    }
    return as_json(record)


def record_of(doc: Document, options: ExtractOptions) -> dict[str, Any]:
    """The record of a document, with the offsets that were asked for."""
    return in_utf16(doc) if options.offsets == "utf16" else to_json(doc)

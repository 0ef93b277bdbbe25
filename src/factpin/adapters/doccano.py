"""Auto labelling for doccano: mentions as [{"label", "start_offset", "end_offset"}]."""

from typing import Any

from factpin.documents import Document


def labels(doc: Document) -> list[dict[str, Any]]:
    """The mentions of a document in that shape."""
    return [{"label": m.type, "start_offset": m.start, "end_offset": m.end} for m in doc.mentions]

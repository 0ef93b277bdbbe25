"""Texts that a program gives, as documents."""

from collections.abc import Iterable, Mapping

from factpin.documents.nouns import Document
from factpin.errors import BadDocument, BadInput


def as_documents(texts: str | Iterable[str]) -> list[Document]:
    """A document for each text, d0, d1, …; an error says which text is wrong."""
    if isinstance(texts, bytes | Mapping) or not isinstance(texts, Iterable):
        raise BadInput(
            f"extract takes a text or several texts, but got an object of type {type(texts).__name__}. Give strings."
        )
    documents = []
    for i, text in enumerate([texts] if isinstance(texts, str) else texts):
        if not isinstance(text, str):
            raise BadInput(
                f"extract takes a text or several texts, but text {i} is of type {type(text).__name__}. "
                f"Give strings, or documents to annotate()."
            )
        try:
            documents.append(Document(f"d{i}", text))
        except BadDocument as error:
            raise BadDocument(f"Text {i}: {error}", field=error.field) from None
    return documents

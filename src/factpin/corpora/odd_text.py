"""Signs that a text is not the text that people read: positions glued to characters, language codes before names."""

import re
from collections.abc import Iterator
from typing import Any

from factpin.documents import Document

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
NUMBERED = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff][0-9]+(?![0-9年月日号])")
SHARE = 0.5  # of the Chinese characters of a text that have a digit
LEAST = 3  # characters: 第1 alone is a text
CODES = "ar|de|en|es|fr|it|ja|ko|nl|pl|pt|ru|sv|tr|uk|vi|zh"
PREFIX = re.compile(rf"(?<![\w:/])(?:{CODES}):(?=[^\W\d_])")


def odd_text(doc: Document) -> Iterator[tuple[str, str]]:
    """(kind, message) for everything in a document that looks like an artefact."""
    characters, numbered = len(HAN.findall(doc.text)), NUMBERED.findall(doc.text)
    if len(numbered) >= LEAST and len(numbered) >= SHARE * characters:
        shown = " ".join(numbered[:3])
        yield "numbered_characters", f"{len(numbered):,} of {characters:,} characters have a number: {shown}"
    names = [mention.text for mention in doc.mentions] + list(_strings(doc.meta.get("unfound")))
    marked = [name for name in names if PREFIX.match(name)] or PREFIX.findall(doc.text)[LEAST - 1 :]
    if marked:
        yield "language_prefix", f"names begin with the code of a language: {_example(doc.text, marked[0])!r}"


def _example(text: str, found: str) -> str:
    """The whole word that begins with what was found."""
    word = re.search(re.escape(found) + r"\S*", text)
    return word[0] if word and found.endswith(":") else found


def _strings(value: Any) -> Iterator[str]:
    """All strings in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)

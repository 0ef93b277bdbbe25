"""Content keys: the same thing has the same key in every file, store and run.

A key is 24 hexadecimal digits of a SHA-256 over the identifying parts, so it does not depend on the order in which
things are added. A document is identified by its origin, a fact by its content.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

DIGITS = 24
LONGEST = 200  # characters of a folded name before it is shortened

_BEFORE = re.compile(r"(?:mr|mrs|ms|dr|prof|professor|sir)\b\.?\s+(?=\w)")
_BEHIND = re.compile(r"(?<=[\u3400-\u9fff]{2})(?:先生|女士|小姐|教授|博士)$")
_AROUND = "《》〈〉「」『』“”‘’\"' \u3000"
_SPACE = re.compile(r"\s+")


def digest(*parts: str) -> str:
    """The key of several strings. Their lengths are included, so ("ab", "c") and ("a", "bc") differ."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def document_key(uri: str) -> str:
    """The key of a document: from its name, not its text, so that a changed file replaces its old version."""
    return digest("document", uri)


def text_key(text: str) -> str:
    """The key of a text without regard to white space; copies of a text share it."""
    return digest("text", _SPACE.sub(" ", text).strip())


def passage_key(document: str, start: int, end: int) -> str:
    """The key of characters start:end of a document, given by its key."""
    return digest("passage", document, str(start), str(end))


def entity_key(name: str, type: str) -> str:
    """The key of an entity: from its folded name (see `name_key`) and its type."""
    return digest("entity", name, type)


def fact_key(
    head: str,
    relation: str,
    tail: str,
    valid_from: str = "",
    valid_to: str = "",
    qualifiers: Iterable[tuple[str, str]] = (),
) -> str:
    """The key of a fact between two entities, given by their keys. `qualifiers` are (role, key of an entity)."""
    return digest("fact", head, relation, tail, valid_from, valid_to, json.dumps(sorted(qualifiers)))


def fold(text: str) -> str:
    """Fold a text for comparison: compatibility forms, case and runs of white space."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _SPACE.sub(" ", folded).strip()


@lru_cache(maxsize=100_000)
def name_key(name: str, link: str = "") -> str:
    """The key of a name: the link to a knowledge base if there is one, otherwise the folded name.

    Titles and quotation marks are removed: Dr. Weber becomes weber, 《活着》 becomes 活着.
    """
    if link:
        return _bounded(f"link:{link}")
    folded = fold(name)
    bare = folded.strip(_AROUND) or folded
    return _bounded(_BEHIND.sub("", _BEFORE.sub("", bare, count=1)) if not _BEFORE.fullmatch(bare) else bare)


def _bounded(name: str) -> str:
    """Shorten a name that is too long for an index; it ends in a digest of the whole name."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - DIGITS]}{digest(name)}"

"""Content keys: the same thing has the same key in every file, store and run.

A key is 24 hexadecimal digits of a SHA-256 over the parts that make the thing what it is, so whoever meets it first
changes nothing. A document is keyed by where it comes from, a fact by what it says.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

DIGITS = 24
LONGEST = 200  # characters of a folded name that are kept as they are

_BEFORE = re.compile(r"(?:mr|mrs|ms|dr|prof|professor|sir)\b\.?\s+(?=\w)")
_BEHIND = re.compile(r"(?<=[\u3400-\u9fff]{2})(?:先生|女士|小姐|教授|博士)$")
_AROUND = "《》〈〉「」『』“”‘’\"' \u3000"
_SPACE = re.compile(r"\s+")


def digest(*parts: str) -> str:
    """The key of some strings; their lengths take part, so ("ab", "c") and ("a", "bc") differ."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def document_key(uri: str) -> str:
    """The key of a document: of its name, not of its text, so that a changed file replaces its older self."""
    return digest("document", uri)


def text_key(text: str) -> str:
    """The key of a text, white space aside: copies of one text in several documents share it."""
    return digest("text", _SPACE.sub(" ", text).strip())


def passage_key(document: str, start: int, end: int) -> str:
    """The key of characters start..end of a document, which is named by its own key."""
    return digest("passage", document, str(start), str(end))


def entity_key(name: str, type: str) -> str:
    """The key of an entity: of its folded name (see `name_key`) and its type."""
    return digest("entity", name, type)


def fact_key(
    head: str,
    relation: str,
    tail: str,
    valid_from: str = "",
    valid_to: str = "",
    qualifiers: Iterable[tuple[str, str]] = (),
) -> str:
    """The key of a fact between two entities, named by their keys; `qualifiers` are (role, key of an entity)."""
    return digest("fact", head, relation, tail, valid_from, valid_to, json.dumps(sorted(qualifiers)))


def fold(text: str) -> str:
    """A spelling for comparison: compatibility forms, case and runs of white space make no difference."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _SPACE.sub(" ", folded).strip()


@lru_cache(maxsize=100_000)
def name_key(name: str, link: str = "") -> str:
    """What makes two names one: the link to a knowledge base where there is one, else the folded name.

    Forms of address and quotation marks around a name are no part of it: Dr. Weber is weber, 《活着》 is 活着.
    """
    if link:
        return _bounded(f"link:{link}")
    folded = fold(name)
    bare = folded.strip(_AROUND) or folded
    return _bounded(_BEHIND.sub("", _BEFORE.sub("", bare, count=1)) if not _BEFORE.fullmatch(bare) else bare)


def _bounded(name: str) -> str:
    """Names that are too long for an index end in a digest of themselves."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - DIGITS]}{digest(name)}"

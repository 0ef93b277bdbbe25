"""Typed access to what a corpus says about its annotation and the nouns cannot hold: `document.notes`.

Readers keep it in `meta`, under reserved keys, so that it is stored and written back as it was:

    annotated   {"mentions": ["person"], "relations": ["place of birth"]}: the types and relations that are annotated
                wherever they occur. The absence of any other says nothing: it is learned from what is marked, but
                nothing counts against it. Without the key, or one of its lists, everything is annotated. So corpora
                with different labels can be trained and evaluated together.
    unfound     facts whose arguments are not in the text: [head, relation, tail], or
                {"subject", "predicate", "object": str or {"@value": str, role: str, …}}
    unsure      {"least": 0.73, "mentions": ["m1"]}: the mentions that an extraction hides unless everything is asked
                for, and the score below which it does
    extra       fields without a noun, by their place in the record ("mentions[3]"). `pairs` are pairs of entities:
                those with the label `not_include` are neither a fact nor the lack of one. CDR marks pairs in which an
                argument is only a broader term for that of a true fact.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from factpin.errors import BadDocument

ANNOTATED, UNFOUND, UNSURE, EXTRA = "annotated", "unfound", "unsure", "extra"
EXCLUDED = "not_include"  # the label of a pair that the corpus leaves open
BOUND = (UNFOUND, UNSURE, "duee", "duie.extra")  # keys of meta, or "key.part", that go with the annotation
PLACE = re.compile(r"\w+\[\d+\]|clusters$|pairs$|relations$")  # keys of `extra` that do


@dataclass(frozen=True, slots=True)
class UnfoundFact:
    """A fact of the corpus with an argument that is not in the text. Qualifiers are (role, text)."""

    head: str
    relation: str
    tail: str
    qualifiers: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class CorpusNotes:
    """What a corpus says about its annotation beyond the nouns."""

    unfound: tuple[UnfoundFact, ...] = ()
    excluded_pairs: frozenset[frozenset[int]] = frozenset()  # indices into the entities of the document
    annotated_types: frozenset[str] | None = None  # None: all types
    annotated_relations: frozenset[str] | None = None  # None: all relations


def notes_of(meta: Mapping[str, Any]) -> CorpusNotes:
    """Read the reserved keys of a document's meta."""
    if not meta:
        return CorpusNotes()
    unfound = meta.get(UNFOUND)
    facts = map(_unfound_fact, unfound) if isinstance(unfound, list) else ()
    return CorpusNotes(
        tuple(fact for fact in facts if fact is not None),
        _excluded_pairs(meta.get(EXTRA)),
        _annotated(meta.get(ANNOTATED), "mentions"),
        _annotated(meta.get(ANNOTATED), "relations"),
    )


def without_annotation(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The meta of a document whose annotation was removed: without the keys that only describe it."""
    rest = {}
    for key, value in meta.items():
        kept = value
        if isinstance(value, dict):
            kept = {part: x for part, x in value.items() if not _is_bound(key, part)}
        if key not in BOUND and (kept or kept == value):
            rest[key] = kept
    return rest


def _is_bound(key: str, part: str) -> bool:
    return f"{key}.{part}" in BOUND or (key == EXTRA and PLACE.match(part) is not None)


def _unfound_fact(value: Any) -> UnfoundFact | None:
    """None for anything else that a file has under this key."""
    slots: dict[str, Any] = {}
    if isinstance(value, dict):
        slots = value["object"] if isinstance(value.get("object"), dict) else {"@value": value.get("object")}
        value = [value.get("subject"), value.get("predicate"), slots.get("@value")]
    if not isinstance(value, list) or len(value) != 3 or not all(isinstance(part, str) for part in value):
        return None
    qualifiers = frozenset((role, str(x)) for role, x in slots.items() if role != "@value")
    head, relation, tail = value
    return UnfoundFact(head, relation, tail, qualifiers)


def _excluded_pairs(extra: Any) -> frozenset[frozenset[int]]:
    """Rows of `pairs` have the label first and the indices of the two entities last."""
    pairs = extra.get("pairs") if isinstance(extra, dict) else None
    rows = pairs.get("rows") if isinstance(pairs, dict) else None
    return frozenset(frozenset(row[-2:]) for row in rows or () if isinstance(row, list) and row and row[0] == EXCLUDED)


def _annotated(entry: Any, kind: str) -> frozenset[str] | None:
    names = entry.get(kind) if isinstance(entry, dict) else entry
    if names is None:
        return None
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise BadDocument(
            f"meta.annotated is {entry!r}; expected lists of names, such as "
            f'{{"mentions": ["person"], "relations": ["place of birth"]}}. Correct or remove it.',
            field="meta.annotated",
        )
    return frozenset(names)

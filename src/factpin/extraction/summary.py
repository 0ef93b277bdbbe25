"""What a run read and found. Summaries add up: over the documents of a run, and over the shards of a corpus."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from factpin.documents import Coverage, Document

EXAMPLES = 5
SPANS = 3  # of a document that are named


@dataclass(frozen=True)
class Cases:
    """How many documents something applies to, and the first few of them."""

    count: int = 0
    examples: tuple[str, ...] = ()

    def __add__(self, other: "Cases") -> "Cases":
        return Cases(self.count + other.count, (self.examples + other.examples)[:EXAMPLES])

    def __str__(self) -> str:
        return ", ".join(self.examples) + (", ..." if self.count > len(self.examples) else "")


@dataclass(frozen=True)
class Summary:
    """Counts of a run. `a + b` is the summary of both."""

    documents: int = 0
    characters: int = 0
    unread: int = 0  # characters that no model read, apart from whitespace between sentences
    windows: int = 0
    mentions: Counter[str] = field(default_factory=Counter)  # by type
    facts: Counter[str] = field(default_factory=Counter)  # by relation
    events: Counter[str] = field(default_factory=Counter)  # by type
    hidden: int = 0  # facts and events below the minimum score
    unsure: int = 0  # mentions that are hidden because their model is not sure of them
    replaced: int = 0  # documents whose own annotation was replaced
    empty: Cases = Cases()  # documents without text
    without_model: Cases = Cases()  # documents in a language that no model reads
    partly_read: Cases = Cases()  # documents with parts that no model read
    not_searched: Cases = Cases()  # documents in which some models did not look everywhere
    inputs: int = 0  # files
    done_before: int = 0  # files whose results an earlier run had written
    skipped: Counter[str] = field(default_factory=Counter)  # files in folders that were not read, by ending
    unseen: int = 0  # names with a candidate that a trained linker has not seen
    rejected: int = 0  # bad files and records that were set aside
    failed: Cases = Cases()  # bad files that were not
    lost: Counter[str] = field(default_factory=Counter)  # what the output format cannot hold

    @classmethod
    def of(
        cls, given: Document, found: Document, *, notes: Sequence[str] = (), hidden: int = 0, unsure: int = 0
    ) -> Self:
        """The summary of one document. notes: what was not searched in it."""
        coverage = found.coverage or Coverage()
        unread = coverage.unread
        places = ", ".join(f"{part.start}–{part.end}" for part in unread[:SPANS])
        more = f", {len(unread) - SPANS:,} more" if len(unread) > SPANS else ""
        reasons = "; ".join(dict.fromkeys(part.reason for part in unread))
        return cls(
            documents=1,
            characters=len(found.text),
            unread=sum(part.end - part.start for part in unread),
            windows=len(coverage.read),
            mentions=Counter(mention.type or "untyped" for mention in found.mentions),
            facts=Counter(fact.relation for fact in found.facts),
            events=Counter(event.type for event in found.events),
            hidden=hidden,
            unsure=unsure,
            replaced=int(bool(given.mentions or given.entities or given.facts or given.events)),
            empty=_case(not found.text.strip(), found.id),
            without_model=_case(bool(unread) and not coverage.read, found.id, found.language or "unknown"),
            partly_read=_case(bool(unread and coverage.read), found.id, f"{places}{more}: {reasons}"),
            not_searched=_case(bool(notes), found.id, "; ".join(notes)),
        )

    def __add__(self, other: "Summary") -> "Summary":
        return Summary(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Summary)))

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` undoes it."""
        return {f.name: _to_plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The summary of a record of `to_json`."""
        return cls(**{f.name: _from_plain(f.type, record[f.name]) for f in fields(cls) if f.name in record})

    @property
    def share_read(self) -> float:
        """The share of the characters that a model read."""
        return 1 - self.unread / self.characters if self.characters else 1.0


def _to_plain(value: Any) -> Any:
    return asdict(value) if isinstance(value, Cases) else value if isinstance(value, int) else dict(value)


def _from_plain(kind: object, value: Any) -> Any:
    if kind is Cases:
        return Cases(value["count"], tuple(value["examples"]))
    return value if kind is int else Counter(value)


def _case(applies: bool, id: str, detail: str = "") -> Cases:
    return Cases(1, (f"{id} ({detail})" if detail else id,)) if applies else Cases()

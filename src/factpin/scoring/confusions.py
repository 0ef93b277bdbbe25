"""Count mistakes by kind, with an example of each in its sentence.

Kinds: `label` (right span, wrong label), `boundary` (right label, overlapping span), `label and boundary`, `missed`
(gold without an overlapping prediction), `spurious` (a prediction without overlapping gold), and `event` (a right
argument in the wrong event).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from factpin.documents import Document

Place: TypeAlias = tuple[int, int]
AROUND = 60  # characters of context on each side of an example


@dataclass(frozen=True, slots=True)
class Confusion:
    """A kind of mistake. `gold` is None for spurious predictions, `predicted` for missed gold."""

    kind: str
    gold: str | None
    predicted: str | None
    count: int
    document: str
    example: str


@dataclass
class Mistakes:
    """Counts mistakes and keeps the first example of each kind."""

    counts: Counter[tuple[str, str | None, str | None]] = field(default_factory=Counter)
    first: dict[tuple[str, str | None, str | None], tuple[Document, Sequence[Place], Sequence[Place]]] = field(
        default_factory=dict
    )

    def add(
        self,
        kind: str,
        doc: Document,
        *,
        gold: str | None = None,
        predicted: str | None = None,
        places: Sequence[Place],
        instead: Sequence[Place] = (),
    ) -> None:
        """Add a mistake. `places` are shown in brackets; `instead` are the predicted places if they differ."""
        key = (kind, gold, predicted)
        self.counts[key] += 1
        self.first.setdefault(key, (doc, places, instead))

    def worst(self) -> list[Confusion]:
        """All kinds, most frequent first, then by name."""
        ordered = sorted(
            self.counts.items(), key=lambda item: (-item[1], item[0][0], item[0][1] or "", item[0][2] or "")
        )
        found = []
        for key, count in ordered:
            doc, places, instead = self.first[key]
            example = in_sentences(doc, places)
            if instead:
                example += f" (predicted: {', '.join(doc.text[start:end] for start, end in instead)})"
            found.append(Confusion(*key, count, doc.id, example))
        return found


def in_sentences(doc: Document, places: Sequence[Place]) -> str:
    """The sentences around the places, which are in [brackets]; distant sentences are joined by `…`."""
    groups: dict[Place, list[Place]] = {}
    for start, end in sorted(set(places)):
        index = doc.sentence_of(start)
        sentence = (0, len(doc.text)) if index is None else (doc.sentences[index][0], doc.sentences[index][1])
        groups.setdefault(sentence, []).append((start, end))
    return " … ".join(_bracketed(doc.text, sentence, inside) for sentence, inside in groups.items())


def _bracketed(text: str, sentence: Place, places: Sequence[Place]) -> str:
    last = max(end for _, end in places)
    low, high = max(sentence[0], places[0][0] - AROUND), min(max(sentence[1], last), last + AROUND)
    opens, closes = Counter(start for start, _ in places), Counter(end for _, end in places)
    parts, before = ["…" if low > sentence[0] else ""], low
    for cut in sorted(opens.keys() | closes.keys()):
        parts += [text[before:cut], "]" * closes[cut], "[" * opens[cut]]
        before = cut
    parts += [text[before:high], "…" if high < sentence[1] else ""]
    return " ".join("".join(parts).split())

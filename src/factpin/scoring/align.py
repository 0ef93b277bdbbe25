"""Pair gold documents with their predictions, in the order of gold.

Documents are paired by id. If the two sides share no id but have the same texts in the same order (formats without ids
are numbered by file name), they are paired by order. A gold document without a prediction counts as an empty prediction
and is listed in `missing`. Types and relations that gold does not fully annotate are removed from both sides
(documents/annotated.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from factpin.documents import Document
from factpin.documents.annotated import keep_annotated
from factpin.errors import BadInput
from factpin.words import count


class Pair(NamedTuple):
    """A gold document and its prediction."""

    gold: Document
    predicted: Document


@dataclass(frozen=True)
class Alignment:
    """All pairs, and the gold documents without a prediction."""

    pairs: tuple[Pair, ...]
    missing: tuple[str, ...]  # ids of gold documents without a prediction
    by_order: bool = False


def align(predicted: Iterable[Document], gold: Iterable[Document]) -> Alignment:
    """Pair every gold document with its prediction. Unknown ids, repeated ids and different texts are errors."""
    predicted, gold = list(predicted), list(gold)
    known = _by_id(gold, "gold")
    found = _by_id(predicted, "predicted")
    extra = [id for id in found if id not in known]
    if extra and len(extra) == len(predicted) and [doc.text for doc in predicted] == [doc.text for doc in gold]:
        return Alignment(tuple(_pair(g, p) for g, p in zip(gold, predicted, strict=True)), (), by_order=True)
    if extra:
        these = count(len(extra), "predicted document is", "predicted documents are")
        raise BadInput(
            f"{these} not in gold: {_some(extra)}; gold has {_some(list(known))}. "
            f"Expected the same ids, or the same texts in the same order. Predict the same file, or copy its ids."
        )
    pairs = []
    missing = []
    for doc in gold:
        prediction = found.get(doc.id)
        if prediction is None:
            missing.append(doc.id)
            prediction = Document(doc.id, doc.text, sentences=doc.sentences)
        elif prediction.text != doc.text:
            raise _different(doc, prediction)
        pairs.append(_pair(doc, prediction))
    return Alignment(tuple(pairs), tuple(missing))


def _pair(gold: Document, predicted: Document) -> Pair:
    return Pair(keep_annotated(gold, gold), keep_annotated(predicted, gold))


def _by_id(documents: Sequence[Document], kind: str) -> dict[str, Document]:
    table: dict[str, Document] = {}
    for doc in documents:
        if doc.id in table:
            raise BadInput(f"Two {kind} documents have the id {doc.id!r}; expected unique ids. Rename or remove one.")
        table[doc.id] = doc
    return table


def _different(gold: Document, predicted: Document) -> BadInput:
    shared = min(len(gold.text), len(predicted.text))
    at = next((i for i in range(shared) if gold.text[i] != predicted.text[i]), shared)
    return BadInput(
        f"{gold.id}: the predicted text differs from gold at character {at}: {predicted.text[at : at + 20]!r}, "
        f"not {gold.text[at : at + 20]!r}. Offsets can only be compared on the same text: predict on the text of gold."
    )


def _some(ids: Sequence[str], most: int = 3) -> str:
    return ", ".join(map(repr, ids[:most])) + (", …" if len(ids) > most else "") if ids else "none"

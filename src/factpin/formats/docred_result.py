"""DocRED's result.json: predicted facts without their documents. It is not in the table of formats because reading it
needs the gold documents, which have the texts and the entities.

    [{"title", "h_idx": entity index, "t_idx": entity index, "r": relation, "evidence": [sentence index], "score"}, …]

Evidence and score (0 to 1) may be missing. Records with the same title need not be adjacent.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from factpin.documents import Document, Evidence, Fact
from factpin.documents.fields import as_dict, as_int, get_int, get_list, get_str, wrong
from factpin.errors import BadDocument, BadInput
from factpin.formats._guess import head
from factpin.formats._reading import Options, ReadContext, Report
from factpin.formats._records import probability
from factpin.formats._writing import write_json_list


def read_result(
    path: Path, gold_documents: Iterable[Document], *, options: Options | None = None, report: Report | None = None
) -> Iterator[Document]:
    """Read the gold documents, in order, with the predicted facts instead of the gold facts. All are in memory."""
    gold: dict[str, Document] = {}
    for doc in gold_documents:
        if doc.id in gold:
            raise BadInput(f"two gold documents have the title {doc.id!r}, so predictions are ambiguous. Rename one.")
        gold[doc.id] = doc
    facts: dict[str, list[Fact]] = {title: [] for title in gold}

    def keep(value: Any, number: int) -> Document:
        doc, fact = _prediction(value, gold)
        facts[doc.id].append(fact)
        return doc

    for _ in ReadContext(Path(path), options or Options(), report or Report()).json_items(keep):
        pass
    for title, doc in gold.items():
        yield replace(doc, facts=tuple(facts[title]))


def _prediction(value: Any, gold: dict[str, Document]) -> tuple[Document, Fact]:
    record = as_dict(value, "")
    title = get_str(record, "title")
    if title not in gold:
        raise BadDocument(
            f"no gold document has the title {title[:80]!r}. Give the documents that were predicted on.", field="title"
        )
    doc = gold[title]
    head, tail = (_index(get_int(record, key), len(doc.entities), key, "entities") for key in ("h_idx", "t_idx"))
    evidence = tuple(
        Evidence(_index(as_int(sentence, "evidence"), len(doc.sentences), "evidence", "sentences"))
        for sentence in get_list(record, "evidence", default=[])
    )
    score = probability(record, "score", "item")
    return doc, Fact(doc.entities[head].id, get_str(record, "r"), doc.entities[tail].id, score=score, evidence=evidence)


def is_result(path: Path, encoding: str = "utf-8") -> bool:
    """Whether a file looks like a result.json."""
    record = head(path, encoding).record
    return isinstance(record, dict) and {"title", "h_idx", "t_idx", "r"} <= record.keys()


def is_empty_list(path: Path, encoding: str = "utf-8") -> bool:
    """Whether a file is an empty JSON list: the result of a model that found nothing, or no documents."""
    beginning = head(path, encoding)
    return beginning.is_list and "".join("".join(beginning.lines).split()) == "[]"


def _index(index: int, size: int, field: str, kind: str) -> int:
    if not 0 <= index < size:
        raise wrong(index, field, f"the index of one of the document's {size} {kind}")
    return index


def write_result(documents: Iterable[Document], path: Path) -> None:
    """Write the facts of all documents, one record each. Entities are given by their index in the document."""
    write_json_list(path, (record for doc in documents for record in _records(doc)))


def _records(doc: Document) -> Iterator[dict[str, Any]]:
    index = {entity.id: i for i, entity in enumerate(doc.entities)}
    for fact in doc.facts:
        record: dict[str, Any] = {
            "title": doc.id,
            "h_idx": index[fact.head],
            "t_idx": index[fact.tail],
            "r": fact.relation,
        }
        if fact.evidence:
            record["evidence"] = [e.sentence for e in fact.evidence]
        if fact.score is not None:
            record["score"] = fact.score
        yield record

"""One side of benchmarks/finding.py: finding with the factpin that is on the path, asked by lines on standard input."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from finding_scores import CASES, Case

from factpin import formats
from factpin.documents import Document
from factpin.models.extractor import Extractor

SHIFT = 1  # special tokens before a text
CORPORA = {
    "cluener": ("cluener/dev.json.xz", "cluener", None),
    "duie": ("duie/duie2_dev.json.xz", "duie", 300),
    "redocred": ("redocred/dev_revised.json.xz", "docred", 50),
    "scierc": ("scierc/test.json.xz", "scierc", None),
}
PAIRS = [
    ("zh-entities", "cluener"),
    ("zh-entities", "duie"),
    ("zh-facts", "cluener"),
    ("zh-facts", "duie"),
    ("en-entities", "redocred"),
    ("en-entities", "scierc"),
    ("en-relations", "redocred"),
    ("en-relations", "scierc"),
]
DATA = Path("../shared/data")
MODELS = Path(sys.argv[2])  # both sides load the same folders
Finder = Callable[[], list[Any]]
COLUMNS = {
    "spans": ("batch", "label", "start", "end"),
    "answers": ("batch", "label", "start", "end"),
    "triples": ("relation", "subject", "object"),
    "events": ("relation", "subject", "object"),
    "document_relations": ("head", "relation", "tail"),
    "coreference": ("antecedent",),
}


def digest(task: str, found: list[Any]) -> dict[str, int]:
    """How many cells were found, and a sum that changes with any of their places."""
    columns = [np.concatenate([np.asarray(getattr(part, name)) for part in found]) for name in COLUMNS[task]]
    return {"cells": columns[0].size, "places": sum((2 * k + 1) * int(x.sum()) for k, x in enumerate(columns))}


def finder_before(case: Case) -> Finder:
    from factpin.heads.best_cells import best_cells

    from factpin.heads import atlop, gplinker, mention_pair

    table = None if case.allowed is None else torch.from_numpy(case.allowed)
    cut = case.cut if isinstance(case.cut, float) else torch.as_tensor(case.cut)

    def split(cells: Any) -> list[Any]:
        return gplinker.found_of(cells, len(cells.truncated), SHIFT)

    def relations(x: Any, fits: Any) -> Any:
        return atlop.found_of(case.head.predict(x if fits is None else case.head.only(x, fits), cut))

    fits = [None if x is None else torch.from_numpy(x) for x in case.fits]
    return {
        "spans": lambda: [case.head.hits(x, cut) for x in case.scores],
        "triples": lambda: [
            part for x in case.scores for part in split(case.head.triples(x, cut, allowed=table, **case.options))
        ],
        "events": lambda: [part for x in case.scores for part in split(case.head.events(x, cut))],
        "document_relations": lambda: [relations(x, y) for x, y in zip(case.scores, fits, strict=True)],
        "coreference": lambda: [
            part for x in case.scores for part in mention_pair.judged_of(mention_pair.probability(x), case.asked)
        ],
        "answers": lambda: [best_cells(x, 5) for x in case.scores],
    }[case.task]


def finder_after(case: Case) -> Finder:
    from factpin.tasks.coreference import find_links
    from factpin.tasks.document_relations import find_relations
    from factpin.tasks.events import find_events
    from factpin.tasks.links import split_links
    from factpin.tasks.spans import find_spans
    from factpin.tasks.spans.best import best_cells
    from factpin.tasks.triples import find_triples

    cut, arrays = case.cut, case.head and case.head.to_arrays

    def split(cells: Any) -> list[Any]:
        return split_links(cells, len(cells.truncated), SHIFT)

    return {
        "spans": lambda: [find_spans(arrays(x), cut) for x in case.scores],
        "triples": lambda: [
            part
            for x in case.scores
            for part in split(find_triples(arrays(x), cut, allowed=case.allowed, **case.options))
        ],
        "events": lambda: [part for x in case.scores for part in split(find_events(arrays(x), cut))],
        "document_relations": lambda: [
            find_relations(arrays(x), cut, y) for x, y in zip(case.scores, case.fits, strict=True)
        ],
        "coreference": lambda: [part for x in case.scores for part in find_links(arrays(x), case.asked)],
        "answers": lambda: [best_cells(x.numpy(), 5) for x in case.scores],
    }[case.task]


# ---- shipped models -------------------------------------------------------------------------------------------------


def documents(corpus: str, data: Path, limit: int | None = None) -> list[Document]:
    """Without types, which models name in other words: a type that is not given forbids no relation."""
    path, name, most = CORPORA[corpus]
    return [
        replace(
            doc,
            mentions=tuple(replace(mention, type="") for mention in doc.mentions),
            entities=tuple(replace(entity, type="") for entity in doc.entities),
        )
        for doc in islice(formats.read(data / path, format=name), limit or most)
    ]


@torch.no_grad()
def batches_before(model: str, docs: list[Document]) -> Case:
    """The scores that a model gives to documents, with its thresholds."""
    from factpin.models.find_relations import prepared
    from factpin.models.find_triples import TripleSettings, labels_of
    from factpin.models.reading import batched

    from factpin.tasks import links
    from factpin.tasks.markers import marker_id

    extractor = Extractor.load(MODELS / model)
    settings, tokenizer, net = extractor.settings, extractor.tokenizer, extractor.model.eval()
    reads = [extractor.reader.read(doc) for doc in docs]
    cut = np.asarray(extractor.threshold(), np.float32)
    if settings.task == "document_relations":
        asked = [prepared(read, settings, tokenizer, marker_id(tokenizer)) for read in reads]
        asked = [(y, document) for y, document in asked if document is not None]
        scores = [net.scores([document], tokenizer)[0] for _, document in asked]
        return Case(settings.task, net.head, scores, 1, cut, fits=[y.fits() for y, _ in asked])
    found = [(len(chosen), net.predict(batch)) for chosen, batch in batched([read.ids for read in reads], tokenizer)]
    allowed = None
    if settings.task == "triples":
        allowed = links.allowed(labels_of(settings), TripleSettings.of(settings).chosen_schema())
    texts = max(count for count, _ in found)
    return Case(settings.task, net.head, [x for _, x in found], texts, cut, allowed=allowed)


@torch.no_grad()
def batches_after(model: str, docs: list[Document]) -> Case:
    """The same, with this version."""
    from factpin.tasks.examples import DocumentBatch

    extractor = Extractor.load(MODELS / model)
    net, finder = extractor.model.eval(), extractor.finder
    read, cut = [extractor.read(doc) for doc in docs], extractor.threshold()
    if extractor.settings.task == "document_relations":
        asked = [(y, example) for y, example in map(finder.ask, read) if example is not None]
        scores = [net.scores(DocumentBatch((example,), extractor.tokenizer))[0] for _, example in asked]
        return Case("document_relations", net.head, scores, 1, cut, fits=[y.fits() for y, _ in asked])
    scores, texts = [], []

    def predict(batch: Any) -> Any:
        scores.append(net.scores(batch))
        texts.append(len(batch.ids))
        return net.head.to_arrays(scores[-1])

    finder.find(read, predict, cut)
    allowed = getattr(finder, "allowed", None)
    return Case(extractor.settings.task, net.head, scores, max(texts), cut, allowed=allowed)


def model_cases(batches_of: Callable[[str, list[Document]], Case]) -> dict[str, Callable[[], Case]]:
    """The batches of a shipped model over sixty documents of a corpus, and over one."""
    found: dict[str, Callable[[], Case]] = {}
    for model, corpus in PAIRS:
        size = 5 if model == "en-relations" else 60
        found[f"{model}, {size} of {corpus}"] = lambda m=model, c=corpus, n=size: batches_of(m, documents(c, DATA, n))
        found[f"{model}, 1 of {corpus}"] = lambda m=model, c=corpus: batches_of(m, documents(c, DATA, 8)[7:])
    return found


def find(model: str, corpus: str, data: Path, limit: int | None) -> dict[str, Any]:
    """Every cell that a model finds in a corpus, with its score."""
    extractor = Extractor.load(MODELS / model)
    docs = documents(corpus, data, limit)
    reads = [extractor.reader.read(doc) for doc in docs]
    rows = []
    for d, found in enumerate(extractor.find(reads)):
        found = getattr(found, "found", found)
        if extractor.settings.task == "spans":
            columns = [(("span", d), (found.label, found.first, found.last), found.score)]
        elif extractor.settings.task == "triples":
            spans = (found.label, found.first, found.last)
            ends = [column[at] for at in (found.subject, found.object) for column in spans]
            columns = [(("span", d), spans, found.span_score), (("link", d), (found.relation, *ends), found.score)]
        else:
            proofs = (found.proof_of, found.proof)
            columns = [
                (("fact", d), (found.head, found.relation, found.tail), found.score),
                (("proof", d), proofs, np.zeros(len(found.proof))),
            ]
        for kind, places, score in columns:
            for *place, value in zip(*(column.tolist() for column in (*places, score)), strict=True):
                rows.append(((*kind, *place), value))
    return {"documents": len(docs), "found": rows}


def main() -> None:
    torch.set_num_threads(1)
    old = sys.argv[1] == "before"
    finder = finder_before if old else finder_after
    cases = {"heads": CASES, "models": model_cases(batches_before if old else batches_after)}
    run: Finder = list
    for line in sys.stdin:
        verb, *words = json.loads(line)
        if verb == "cases":
            answer: dict[str, Any] = {"names": [*cases[words[0]]]}
        elif verb == "corpora":
            answer = {"pairs": PAIRS}
        elif verb == "make":
            with torch.no_grad():
                case = cases[words[0]][words[1]]()
                run = finder(case)
                answer = digest(case.task, run())
        elif verb == "run":
            with torch.no_grad():
                start = time.process_time()
                run()
                answer = {"ms": (time.process_time() - start) * 1e3}
        else:
            answer = find(words[0], words[1], Path(words[2]), words[3])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

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
from factpin.models.find_relations import prepared
from factpin.models.reading import batched
from finding_scores import CASES, Case

from factpin import formats
from factpin.documents import Document
from factpin.models.extractor import Extractor
from factpin.models.shipped import find_model
from factpin.tasks.markers import marker_id

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
Places = tuple[int, int]  # how many cells, and a sum over their places


def sums(*columns: Any) -> Places:
    """How many cells, and a sum that changes with any of their places."""
    arrays = [np.asarray(column) for column in columns]
    return len(arrays[0]), int(sum((2 * k + 1) * int(array.sum()) for k, array in enumerate(arrays)))


def finder_before(case: Case) -> Callable[[], Places]:
    from factpin.heads.best_cells import best_cells

    from factpin.heads import atlop, gplinker, mention_pair

    def spans() -> Places:
        rows = [(cells.rows(), cells.score.tolist()) for cells in (case.head.hits(x, case.cut) for x in case.scores)]
        return (
            sums(*zip(*(row for part, _ in rows for row in part), strict=True)) if any(r for r, _ in rows) else (0, 0)
        )

    def links(find: Callable[[Any], Any]) -> Places:
        parts = [part for x in case.scores for part in gplinker.found_of(find(x), case.texts, SHIFT)]
        columns = ("relation", "subject", "object")
        return sums(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))

    def relations() -> Places:
        parts = []
        for x, fits in zip(case.scores, case.fits or [None] * len(case.scores), strict=True):
            x = x if fits is None else case.head.only(x, torch.from_numpy(fits))
            parts.append(atlop.found_of(case.head.predict(x, case.cut)))
        return sums(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("head", "relation", "tail")))

    def coreference() -> Places:
        for x in case.scores:
            mention_pair.judged_of(mention_pair.probability(x), case.asked)
        return 0, 0

    def answers() -> Places:
        cells = [best_cells(x, 5) for x in case.scores]
        return sums(*zip(*(row for part in cells for row in part.rows()), strict=True))

    table = None if case.allowed is None else torch.from_numpy(case.allowed)
    cut = case.cut if isinstance(case.cut, float) else torch.as_tensor(case.cut)
    case = replace(case, cut=cut)
    return {
        "spans": spans,
        "triples": lambda: links(lambda x: case.head.triples(x, cut, allowed=table, **case.options)),
        "events": lambda: links(lambda x: case.head.events(x, cut)),
        "document_relations": relations,
        "coreference": coreference,
        "answers": answers,
    }[case.task]


def finder_after(case: Case) -> Callable[[], Places]:
    from factpin.tasks.coreference import find_links
    from factpin.tasks.document_relations import find_relations
    from factpin.tasks.events import find_events
    from factpin.tasks.links import split_links
    from factpin.tasks.spans import find_spans, split_spans
    from factpin.tasks.spans.best import best_cells
    from factpin.tasks.triples import find_triples

    def spans() -> Places:
        cells = [find_spans(case.head.to_arrays(x), case.cut) for x in case.scores]
        for part in cells:
            split_spans(part, case.texts, SHIFT)
        return sums(*(np.concatenate([getattr(x, name) for x in cells]) for name in ("batch", "label", "start", "end")))

    def links(find: Callable[[Any], Any]) -> Places:
        parts = [part for x in case.scores for part in split_links(find(x), case.texts, SHIFT)]
        columns = ("relation", "subject", "object")
        return sums(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))

    def relations() -> Places:
        every = zip(case.scores, case.fits or [None] * len(case.scores), strict=True)
        parts = [find_relations(case.head.to_arrays(x), case.cut, fits) for x, fits in every]
        return sums(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("head", "relation", "tail")))

    def coreference() -> Places:
        for x in case.scores:
            find_links(case.head.to_arrays(x), case.asked)
        return 0, 0

    def answers() -> Places:
        cells = [best_cells(x.numpy(), 5) for x in case.scores]
        return sums(*zip(*(row for part in cells for row in part.rows()), strict=True))

    arrays = case.head.to_arrays if case.head is not None else None
    return {
        "spans": spans,
        "triples": lambda: links(lambda x: find_triples(arrays(x), case.cut, allowed=case.allowed, **case.options)),
        "events": lambda: links(lambda x: find_events(arrays(x), case.cut)),
        "document_relations": relations,
        "coreference": coreference,
        "answers": answers,
    }[case.task]


# ---- shipped models -------------------------------------------------------------------------------------------------


def documents(corpus: str, data: Path, limit: int | None = None) -> list[Document]:
    path, name, most = CORPORA[corpus]
    return list(islice(formats.read(data / path, format=name), limit or most))


@torch.no_grad()
def batches_of(model: str, docs: list[Document]) -> Case:
    """The scores that a shipped model gives to documents, with its thresholds."""
    extractor = Extractor.load(find_model(model))
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
        from factpin.models.find_triples import TripleSettings, labels_of

        from factpin.tasks import links

        allowed = links.allowed(labels_of(settings), TripleSettings.of(settings).chosen_schema())
    texts = max(count for count, _ in found)
    return Case(settings.task, net.head, [x for _, x in found], texts, cut, allowed=allowed)


def model_cases() -> dict[str, Callable[[], Case]]:
    """The batches of a shipped model over sixty documents of a corpus, and over one."""
    found: dict[str, Callable[[], Case]] = {}
    for model, corpus in PAIRS:
        limit = 5 if model == "en-relations" else 60
        found[f"{model}, {limit} of {corpus}"] = lambda m=model, c=corpus, n=limit: batches_of(m, documents(c, DATA, n))
        found[f"{model}, 1 of {corpus}"] = lambda m=model, c=corpus: batches_of(m, documents(c, DATA, 8)[7:])
    return found


def find(model: str, corpus: str, data: Path) -> dict[str, Any]:
    """Every cell that a model finds in a corpus, with its score."""
    extractor = Extractor.load(find_model(model))
    docs = documents(corpus, data)
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
    finder = finder_before if sys.argv[1] == "before" else finder_after
    cases = {"heads": CASES, "models": model_cases()}
    run: Callable[[], Places] = lambda: (0, 0)
    for line in sys.stdin:
        verb, *words = json.loads(line)
        if verb == "cases":
            answer: dict[str, Any] = {"names": [*cases[words[0]]]}
        elif verb == "corpora":
            answer = {"pairs": PAIRS}
        elif verb == "make":
            with torch.no_grad():
                run = finder(cases[words[0]][words[1]]())
                run()
                count, places = run()
            answer = {"cells": count, "places": places}
        elif verb == "run":
            with torch.no_grad():
                start = time.process_time()
                run()
                answer = {"ms": (time.process_time() - start) * 1e3}
        else:
            answer = find(words[0], words[1], Path(words[2]))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

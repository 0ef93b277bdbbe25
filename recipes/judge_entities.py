"""Strict and boundary F1 of entity models on the judges that the prepare scripts wrote.

    python recipes/judge_entities.py runs/en-entities en-entities
    python recipes/judge_entities.py runs/zh-entities zh-entities --language zh --json runs/zh-judged.json

A model is a shipped name or a folder. Labels that are not our types are mapped by recipes/entity_types.toml, so models
with the labels of a corpus can be judged too. Only the types that are annotated exhaustively in a text are counted; a
prediction of another type counts for the boundary if gold has the same span. For types that a judge has without
annotating them exhaustively, only recall is shown.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from _prepare import Corpus, corpora, types

import factpin
from factpin.documents import Document, Mention
from factpin.documents.annotated import keep_annotated
from factpin.errors import BadInput
from factpin.formats import read
from factpin.models.extractor import Extractor
from factpin.scoring import Counts, Pair, calibration
from factpin.scoring.counts import total
from factpin.scoring.spans import score

JUDGES = Path("runs/data")
BOUNDARIES_ONLY = ("scierc",)  # judges whose types have no counterpart


@dataclass(frozen=True)
class Judgement:
    """Counts of one model on one judge; `typed` is strict, by type, and `claimed` the types that are marked in full."""

    judge: str
    texts: int
    strict: Counts | None
    boundary: Counts
    typed: dict[str, Counts]
    claimed: frozenset[str]
    ece: float  # calibration error of the scores of strict mentions


def mapping_of(labels: Sequence[str]) -> Corpus:
    """How the labels of a model map onto our types: as they are, or by the first table that knows them all."""
    if set(labels) <= set(types()):
        return Corpus({name: name for name in types()}, ())
    for corpus in corpora().values():
        if set(labels) <= corpus.labels.keys():
            return corpus
    raise BadInput(
        f"The model's labels are {', '.join(labels)}; expected our types ({', '.join(types())}) or the labels of one "
        f"corpus in recipes/entity_types.toml. Add a table for them."
    )


def in_our_types(doc: Document, mapping: Corpus) -> tuple[Mention, ...]:
    """The mentions of a prediction with our types; those that map to none are left out."""
    found = [replace(m, type=mapping.type_of(m.type, m.text)) for m in doc.mentions]
    return tuple(m for m in found if m.type)


def judge(extractor: Extractor, name: str, gold: list[Document]) -> Judgement:
    """One model on one judge."""
    mapping = mapping_of(extractor.settings.labels)
    everything, strict, boundary = [], [], []
    for doc, found in zip(gold, extractor.extract([doc.text for doc in gold]), strict=True):
        found = replace(found, mentions=in_our_types(found, mapping))
        everything.append(Pair(doc, found))
        strict.append(Pair(keep_annotated(doc, doc), keep_annotated(found, doc)))
        boundary.append(everything[-1] if name in BOUNDARIES_ONLY else in_place(doc, found))
    claimed = {kind for doc in gold for kind in doc.meta["annotated"]["mentions"]}
    typed = score(strict)
    others = {kind: counts for kind, counts in score(everything).labels.items() if kind not in claimed}
    return Judgement(
        judge=name,
        texts=len(gold),
        strict=None if name in BOUNDARIES_ONLY else total(typed.rows["strict"]),
        boundary=total(score(boundary).rows["boundary"]),
        typed={} if name in BOUNDARIES_ONLY else {**typed.labels, **others},
        claimed=frozenset(claimed),
        ece=calibration(typed.outcomes).ece,
    )


def in_place(gold: Document, found: Document) -> Pair:
    """What is judged by its place: claimed types, and predictions of other types where gold has the same place."""
    judged = keep_annotated(gold, gold)
    places = {(m.start, m.end) for m in judged.mentions}
    claims = gold.meta["annotated"]["mentions"]
    kept = tuple(m for m in found.mentions if m.type in claims or (m.start, m.end) in places)
    return Pair(judged, replace(found, mentions=kept))


def read_judges(folder: Path) -> dict[str, list[Document]]:
    """The judges of a folder, by name."""
    paths = sorted((folder / "judges").glob("*.jsonl.xz"))
    if not paths:
        raise BadInput(
            f"{folder}/judges: no judge (*.jsonl.xz) is there. Run the prepare.py of the model's recipe first."
        )
    return {path.name.removesuffix(".jsonl.xz"): list(read(path, format="jsonl")) for path in paths}


def figures(counts: Counts, precision: bool = True) -> str:
    """`F1 (precision, recall)` in percent; recall alone where precision means nothing."""
    if not precision:
        return f"   –  (   – , {100 * counts.recall:4.1f})"
    return f"{100 * counts.f1:5.1f} ({100 * counts.precision:4.1f}, {100 * counts.recall:4.1f})"


def print_table(model: str, judgements: Sequence[Judgement]) -> None:
    """A line for each judge, and one for each of its types."""
    print(
        f"\n{model}\n{'judge':<14} {'gold':>6}  {'strict F1 (P, R)':<20} {'boundary F1 (P, R)':<20} calibration error"
    )
    for j in judgements:
        strict = figures(j.strict) if j.strict else "–"
        error = f"{j.ece:.3f}" if j.strict else "–"
        print(f"{j.judge:<14} {j.boundary.gold:>6}  {strict:<20} {figures(j.boundary):<20} {error}")
        for kind in [kind for kind in types() if kind in j.typed and j.typed[kind].gold]:
            print(f"  {kind:<12} {j.typed[kind].gold:>6}  {figures(j.typed[kind], kind in j.claimed)}")


def as_json(j: Judgement) -> dict[str, object]:
    """The figures of a judgement."""

    def row(counts: Counts) -> dict[str, float]:
        return {"gold": counts.gold, "precision": counts.precision, "recall": counts.recall, "f1": counts.f1}

    return {
        "texts": j.texts,
        "strict": row(j.strict) if j.strict else None,
        "boundary": row(j.boundary),
        "calibration_error": j.ece,
        "types": {kind: {**row(counts), "claimed": kind in j.claimed} for kind, counts in j.typed.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--language", choices=["en", "zh"], help="of the judges; else that of the model")
    parser.add_argument("--data", type=Path, default=JUDGES, help="the folder of en-entities and zh-entities")
    parser.add_argument("--judges", nargs="+", default=[], help="only these")
    parser.add_argument("--limit", type=int, help="texts of each judge")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    results = {}
    for model in options.models:
        extractor = factpin.load(model)
        judges = read_judges(options.data / f"{options.language or extractor.settings.language}-entities")
        chosen = {name: docs for name, docs in judges.items() if not options.judges or name in options.judges}
        judgements = [judge(extractor, name, docs[: options.limit]) for name, docs in chosen.items()]
        print_table(model, judgements)
        results[model] = {j.judge: as_json(j) for j in judgements}
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

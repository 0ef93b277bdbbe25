"""Precision and recall of models of facts on the judges that the prepare scripts wrote.

    python recipes/judge_facts.py runs/en-facts
    python recipes/judge_facts.py en-entities en-facts --models-of-pipeline --json runs/judged.json

A model is a shipped name or a folder. Models are judged one by one, including what they say about pronouns, or with
--models-of-pipeline all together, as `factpin extract` runs them: then a pronoun counts as the person it refers to, and
a fact about a pronoun without one does not count. A fact is right if gold has one with the same relation and the same
texts of head and tail, whatever the types; of an entity with several mentions, any text counts. Only relations that
gold annotates exhaustively in that document are counted. Facts about pronouns count in `knowledgenet`, not in
`knowledgenet, names`. For google_re the metrics are how many sentences rated yes give the fact, and how many rated no
give a denied one.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from _prepare_facts import Table, annotated, read_table

import factpin
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.extraction.extract import extract
from factpin.formats import read
from factpin.models.extractor import Extractor
from factpin.scoring import calibration

DATA = Path("runs/data")
DEFAULT = 0.5
CURVE = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
PRONOUN = re.compile(
    r"(?:i|me|my|we|us|our|you|your|he|him|his|she|hers?|its?|they|them|their|who|whom|whose|which|that|where|this|"
    r"these|those|(?:him|her|it)self|themselves)",
    re.I,
)


class Claim(NamedTuple):
    """A fact by text: the texts that may stand for head and tail, and its score."""

    heads: frozenset[str]
    relation: str
    tails: frozenset[str]
    score: float = 1.0

    def agrees(self, other: "Claim") -> bool:
        """Whether both say the same."""
        same = self.relation == other.relation
        return same and not self.heads.isdisjoint(other.heads) and not self.tails.isdisjoint(other.tails)

    @property
    def named(self) -> bool:
        """Whether both arguments have a name."""
        return all(any(PRONOUN.fullmatch(text) is None for text in side) for side in (self.heads, self.tails))


@dataclass
class Tally:
    """What was predicted and found at one least score; right, predicted, gold."""

    right: Counter[str] = field(default_factory=Counter)  # predictions, by relation
    predicted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)  # gold facts, by relation
    gold: Counter[str] = field(default_factory=Counter)

    def add(self, gold: Sequence[Claim], predicted: Sequence[Claim]) -> None:
        """Count one document."""
        self.predicted.update(claim.relation for claim in predicted)
        self.gold.update(claim.relation for claim in gold)
        self.right.update(p.relation for p in predicted if any(p.agrees(g) for g in gold))
        self.found.update(g.relation for g in gold if any(p.agrees(g) for p in predicted))

    def figures(self, relation: str = "") -> dict[str, float]:
        """Precision, recall and F1: of one relation, or of all."""
        right, predicted, found, gold = (
            counter[relation] if relation else counter.total()
            for counter in (self.right, self.predicted, self.found, self.gold)
        )
        precision, recall = right / predicted if predicted else 0.0, found / gold if gold else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return {"precision": precision, "recall": recall, "f1": f1, "predicted": predicted, "gold": gold}


# ---- claims ---------------------------------------------------------------------------------------------------------


def claims(doc: Document, table: Table) -> list[Claim]:
    """The facts of a document by text, each once with its best score, under our names of relations."""
    text = {m.id: " ".join(m.text.split()) for m in doc.mentions}
    texts = {e.id: frozenset(text[id] for id in e.mentions) for e in doc.entities}
    best: dict[Claim, float] = {}
    for fact in doc.facts:
        found = table.find(fact.relation)
        if found is None:
            continue
        head, tail = texts[fact.head], texts[fact.tail]
        if found[1]:
            head, tail = tail, head
        claim = Claim(head, found[0].name, tail)
        best[claim] = max(best.get(claim, 0.0), 1.0 if fact.score is None else fact.score)
    return [claim._replace(score=score) for claim, score in best.items()]


def in_one_sentence(doc: Document, table: Table) -> list[Claim]:
    """The facts of a document of which head and tail are mentioned in one sentence."""
    at = {m.id: doc.sentence_of(m.start) for m in doc.mentions}
    where = {e.id: {at[id] for id in e.mentions} for e in doc.entities}
    near = tuple(fact for fact in doc.facts if where[fact.head] & where[fact.tail])
    return claims(Document(doc.id, doc.text, mentions=doc.mentions, entities=doc.entities, facts=near), table)


def tallies(
    pairs: Iterable[tuple[Document, list[Claim], list[Claim]]],
    least: Sequence[float],
    counted: Callable[[Document, Claim], bool],
) -> dict[float, Tally]:
    """The tally at every least score; `counted` says which claims of a document count."""
    table = {score: Tally() for score in least}
    for doc, gold, predicted in pairs:
        gold = [claim for claim in gold if counted(doc, claim)]
        predicted = [claim for claim in predicted if counted(doc, claim)]
        for score, tally in table.items():
            tally.add(gold, [claim for claim in predicted if claim.score >= score])
    return table


# ---- judges ---------------------------------------------------------------------------------------------------------


def is_annotated(doc: Document, claim: Claim) -> bool:
    """Whether gold annotates the relation exhaustively in the document."""
    return claim.relation in annotated(doc)


def is_named(doc: Document, claim: Claim) -> bool:
    """The same, and both arguments are names."""
    return claim.named and is_annotated(doc, claim)


def judge(models: Sequence[Extractor], name: str, gold: Sequence[Document], table: Table) -> dict[str, Any]:
    """The figures of a model, or of several together, on one judge."""
    bare = [Document(doc.id, doc.text, doc.language) for doc in gold]
    annotated_by = models[0].annotate(bare) if len(models) == 1 else extract(bare, models, min_score=0.0)
    found = [claims(doc, table) for doc in annotated_by]
    if name == "google_re":
        return {name: rated(gold, found, table)}
    truth = [claims(doc, table) for doc in gold]
    results = {name: curve(tallies(zip(gold, truth, found, strict=True), CURVE, is_annotated))}
    results[name]["calibration error"] = calibration(outcomes(gold, truth, found)).ece
    if name == "knowledgenet":
        every = {relation for doc in gold for relation in annotated(doc)}
        pairs = list(zip(gold, truth, found, strict=True))
        results[f"{name}, names"] = curve(tallies(pairs, CURVE, is_named))
        results[f"{name}, unasked too"] = curve(tallies(pairs, CURVE, lambda _, claim: claim.relation in every))
    if name == "redocred_test":
        near = [in_one_sentence(doc, table) for doc in gold]
        tally = tallies(zip(gold, near, found, strict=True), CURVE, is_annotated)
        recalls = {f"{score:g}": t.figures()["recall"] for score, t in tally.items()}
        results[name]["recall in one sentence"] = recalls
    return results


def outcomes(
    gold: Sequence[Document], truth: Sequence[list[Claim]], found: Sequence[list[Claim]]
) -> list[tuple[float, bool]]:
    """The score of every claim that counts, and whether it is right."""
    return [
        (claim.score, any(claim.agrees(other) for other in right))
        for doc, right, claims in zip(gold, truth, found, strict=True)
        for claim in claims
        if is_annotated(doc, claim)
    ]


def curve(table: dict[float, Tally]) -> dict[str, Any]:
    """The figures at every least score, and by relation at the default."""
    default = table[DEFAULT]
    return {
        "curve": {f"{least:g}": tally.figures() for least, tally in table.items()},
        "relations": {relation: default.figures(relation) for relation in sorted(default.gold | default.predicted)},
    }


def rated(gold: Sequence[Document], found: Sequence[list[Claim]], table: Table) -> dict[str, Any]:
    """Of the sentences rated yes, how many give the fact; of those rated no, how many give what is denied."""
    rows: dict[str, dict[str, float]] = {}
    for least in CURVE:
        counts: Counter[str] = Counter()
        for doc, predicted in zip(gold, found, strict=True):
            sure = [claim for claim in predicted if claim.score >= least]
            verdict = doc.meta["judgment"]
            counts[verdict] += 1
            if verdict == "yes":
                counts["found"] += any(p.agrees(g) for p in sure for g in claims(doc, table))
            else:
                counts["wrong"] += any(is_denied(doc, claim) for claim in sure)
        rows[f"{least:g}"] = {
            "yes found": counts["found"] / max(counts["yes"], 1),
            "no found": counts["wrong"] / max(counts["no"], 1),
            "yes": counts["yes"],
            "no": counts["no"],
        }
    return {"curve": rows}


def is_denied(doc: Document, claim: Claim) -> bool:
    """Whether raters denied a claim: the relation as a whole, or this object of the article's subject."""
    denied = doc.meta.get("denied")
    if denied is None:
        return claim.relation in annotated(doc)
    subject = re.sub(r" \(.*", "", doc.meta["subject"])
    return claim.relation == denied["relation"] and subject in claim.heads and bool(claim.tails & {*denied["tails"]})


# ---- all of them ----------------------------------------------------------------------------------------------------


def read_judges(folder: Path) -> dict[str, list[Document]]:
    """The judges of a folder, by name."""
    paths = sorted((folder / "judges").glob("*.jsonl.xz"))
    if not paths:
        raise BadInput(
            f"{folder}/judges: no judge (*.jsonl.xz) is there. Run the prepare.py of the model's recipe first."
        )
    return {path.name.removesuffix(".jsonl.xz"): list(read(path, format="jsonl")) for path in paths}


def print_figures(name: str, figures: dict[str, Any]) -> None:
    """A line for each least score."""
    error = figures.get("calibration error")
    print(f"  {name}" + (f", calibration error {error:.3f}" if error is not None else ""))
    for least, row in figures["curve"].items():
        if "yes found" in row:
            line = (f"yes found {100 * row['yes found']:5.1f} of {row['yes']:.0f}, "
                    f"no found {100 * row['no found']:5.1f} of {row['no']:.0f}")  # fmt: skip
        else:
            line = (f"P {100 * row['precision']:5.1f}  R {100 * row['recall']:5.1f}  F1 {100 * row['f1']:5.1f}  "
                    f"({row['predicted']:.0f} predicted, {row['gold']:.0f} gold)")  # fmt: skip
        mark = "*" if float(least) == DEFAULT else " "
        near = figures.get("recall in one sentence", {}).get(least)
        print(f"   {mark} {least:>4}  {line}" + (f"  R in one sentence {100 * near:5.1f}" if near is not None else ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--models-of-pipeline", action="store_true", help="judge all models together")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of en-facts and zh-facts")
    parser.add_argument("--judges", nargs="+", default=[], help="only these")
    parser.add_argument("--limit", type=int, help="documents of each judge")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    groups = [options.models] if options.models_of_pipeline else [[model] for model in options.models]
    results = {}
    for group in groups:
        models = [factpin.load(model) for model in group]
        language = next((model.settings.language for model in models if model.settings.language), "en")
        table, label = read_table(language), " + ".join(group)
        print(label)
        results[label] = dict[str, Any]()
        for name, gold in read_judges(options.data / f"{language}-facts").items():
            if not options.judges or name in options.judges:
                figures = judge(models, name, gold[: options.limit], table)
                results[label] |= figures
                for title, rows in figures.items():
                    print_figures(title, rows)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()

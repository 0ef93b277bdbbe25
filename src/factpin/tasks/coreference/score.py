"""How entities of given mentions are scored, with the rules by themselves beside a model.

    strict    an entity is right with exactly its mentions; labels are the types of entities
    linked    as strict, over entities of several mentions
    muc, b_cubed, ceaf_e      columns as in scoring.coreference
    rules_*                   the same for the rules alone, on the same mentions

A mention in no entity, of gold or prediction, counts as an entity of its own.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from factpin.documents import Document
from factpin.language.coreference import resolve, with_singletons
from factpin.scoring import Pair, Scores, coreference
from factpin.scoring.counts import Row, as_rows, by_label, row

RULES = "rules_"  # before the name of a metric: what the rules reach by themselves


def score(pairs: Sequence[Pair]) -> Scores:
    """The scores of entities."""
    pairs = with_all_mentions(pairs)
    rows: dict[str, list[Row]] = {"strict": [], "linked": []}
    right_by, predicted_by, gold_by = Counter[str](), Counter[str](), Counter[str]()
    for pair in pairs:
        gold, predicted = (_clusters(doc) for doc in (pair.gold, pair.predicted))
        right = gold.keys() & predicted.keys()
        right_by.update(gold[cluster] for cluster in right)
        gold_by.update(gold.values())
        predicted_by.update(gold.get(cluster, type) for cluster, type in predicted.items())
        rows["strict"].append(row(len(right), len(predicted), len(gold)))
        rows["linked"].append(row(*(sum(len(cluster) > 1 for cluster in side) for side in (right, predicted, gold))))
    tables = {name: as_rows(values) for name, values in rows.items()} | coreference.score(pairs)
    return Scores(tables, by_label(right_by, predicted_by, gold_by), [], [])


def score_beside_rules(pairs: Sequence[Pair]) -> Scores:
    """The same, with rows for the rules by themselves."""
    found = score(pairs)
    rules = coreference.score([Pair(with_singletons(pair.gold), resolve(pair.gold)) for pair in pairs])
    return replace(found, rows={**found.rows, **{RULES + name: rows for name, rows in rules.items()}})


def figures(found: Scores) -> dict[str, float]:
    """F1 of each metric, and first their mean; last the mean of the rules by themselves, if it was scored."""
    own = _figures(found, "")
    beside = RULES + coreference.METRICS[0] in found.rows
    return {**own, RULES + "f1": _figures(found, RULES)["f1"]} if beside else own


def _figures(found: Scores, whose: str) -> dict[str, float]:
    f1 = {name: float(coreference.figures(found.rows[whose + name].sum(axis=0))[2]) for name in coreference.METRICS}
    return {"f1": sum(f1.values()) / len(f1), **f1}


def with_all_mentions(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with every mention in an entity."""
    return [Pair(with_singletons(pair.gold), with_singletons(pair.predicted)) for pair in pairs]


def _clusters(doc: Document) -> dict[coreference.Cluster, str]:
    """The spans of every entity -> its type."""
    mentions = {m.id: m for m in doc.mentions}
    types = {
        frozenset((mentions[id].start, mentions[id].end) for id in entity.mentions): entity.type
        or mentions[entity.mentions[0]].type
        for entity in doc.entities
    }
    return {cluster: types.get(cluster, "") for cluster in coreference.clusters(doc)}

"""Score spans under four conventions, with a row of counts for each document.

    strict     same start, same end, same label                                   (seqeval strict, nervaluate strict)
    boundary   same start and end, any label                                      (nervaluate exact)
    partial    same start and end: right; else overlap: half right; any label     (nervaluate partial)
    type       overlap and the same label                                         (nervaluate ent_type)

A span is (start, end, label). Equal spans count once; two labels on the same characters are two spans. Each gold span
matches at most one prediction. From left to right, a prediction that is not exact matches, under `type`, the
overlapping free gold span of its label with the nearest ends, or else the first overlapping free gold span, which is
then used up; under `partial`, the first overlapping free gold span.

On flat spans (no overlaps within gold or within predictions), all four equal nervaluate. Differences:
- *exact first*: in nervaluate, an overlapping prediction can use up a gold span that a later prediction matches
  exactly, so the score of nested predictions depends on their order. Here exact matches are made first.
- *any overlap*: nervaluate requires 1 % of the gold span; here one common character is enough.
- *split predictions* (its issue 29): two predictions inside one gold span are one wrong and one spurious. Gold counts
  once, so recall is over the number of gold spans, as in nervaluate 1.2.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from factpin.scoring.align import Pair
from factpin.scoring.confusions import Mistakes
from factpin.scoring.counts import Row, as_rows, by_label, row
from factpin.scoring.scores import Scores

Labelled: TypeAlias = tuple[int, int, str]  # start, end, label
Matches: TypeAlias = list[tuple[Labelled, Labelled]]  # (gold, predicted)
CONVENTIONS = ("strict", "boundary", "partial", "type")


def score(pairs: Sequence[Pair]) -> Scores:
    """Rows of all conventions, strict counts by label, confusions, and the outcome of every scored prediction."""
    rows: dict[str, list[Row]] = {name: [] for name in CONVENTIONS}
    right_by, predicted_by, gold_by = Counter[str](), Counter[str](), Counter[str]()
    mistakes = Mistakes()
    outcomes: list[tuple[float, bool]] = []
    for pair in pairs:
        gold = {(m.start, m.end, m.type) for m in pair.gold.mentions}
        predicted = {(m.start, m.end, m.type) for m in pair.predicted.mentions}
        right = gold & predicted
        right_by.update([label for _, _, label in right])
        gold_by.update([label for _, _, label in gold])
        predicted_by.update([label for _, _, label in predicted])
        outcomes += _outcomes(pair, right)
        wrong, missed = sorted(predicted - right), sorted(gold - right)
        same = _same_place(missed, wrong)
        overlap = _overlapping(*_without(missed, wrong, same))
        _explain(pair, same, overlap, missed, wrong, mistakes)
        exact, sizes = len(right) + len(same), (len(predicted), len(gold))
        rows["strict"].append(row(len(right), *sizes))
        rows["boundary"].append(row(exact, *sizes))
        rows["partial"].append(row(exact, *sizes, partial=len(overlap)))
        rows["type"].append(row(len(right) + _same_type(missed, wrong), *sizes))
    return Scores(
        rows={name: as_rows(values) for name, values in rows.items()},
        labels=by_label(right_by, predicted_by, gold_by),
        confusions=mistakes.worst(),
        outcomes=outcomes,
    )


def _outcomes(pair: Pair, right: set[Labelled]) -> list[tuple[float, bool]]:
    best: dict[Labelled, float] = {}
    for m in pair.predicted.mentions:
        if m.score is not None:
            key = (m.start, m.end, m.type)
            best[key] = max(m.score, best.get(key, 0.0))
    return [(value, key in right) for key, value in best.items()]


def _same_place(gold: Sequence[Labelled], predicted: Sequence[Labelled]) -> Matches:
    """Pairs with the same characters; the lists have no exact span in common."""
    free: dict[tuple[int, int], list[Labelled]] = {}
    for g in gold:
        free.setdefault(g[:2], []).append(g)
    return [(free[p[:2]].pop(0), p) for p in predicted if free.get(p[:2])]


def _without(
    gold: list[Labelled], predicted: list[Labelled], matches: Matches
) -> tuple[list[Labelled], list[Labelled]]:
    if not matches:
        return gold, predicted
    used_gold, used = {g for g, _ in matches}, {p for _, p in matches}
    return [g for g in gold if g not in used_gold], [p for p in predicted if p not in used]


def _overlapping(gold: Sequence[Labelled], predicted: Sequence[Labelled]) -> Matches:
    """Each prediction with the first free gold span that it overlaps."""
    sweep = _Sweep(gold)
    found = []
    for p in predicted:
        candidates = sweep.overlapping(p)
        if candidates:
            found.append((gold[candidates[0]], p))
            sweep.use(candidates[0])
    return found


def _same_type(gold: Sequence[Labelled], predicted: Sequence[Labelled]) -> int:
    """The number of predictions that overlap a free gold span of their label, nearest ends first (see above)."""
    sweep = _Sweep(gold)
    right = 0
    for p in predicted:
        candidates = sweep.overlapping(p)
        own = [i for i in candidates if gold[i][2] == p[2]]
        if own:
            right += 1
            sweep.use(min(own, key=lambda i: abs(gold[i][0] - p[0]) + abs(gold[i][1] - p[1])))
        elif candidates:
            sweep.use(candidates[0])
    return right


class _Sweep:
    """Finds free gold spans that overlap a prediction; predictions must be given in order of their starts."""

    def __init__(self, gold: Sequence[Labelled]) -> None:
        self.gold = gold
        self.used = [False] * len(gold)
        self.low = 0  # everything before is used up, or ends before all later predictions

    def use(self, index: int) -> None:
        self.used[index] = True

    def overlapping(self, p: Labelled) -> list[int]:
        gold = self.gold
        while self.low < len(gold) and (self.used[self.low] or gold[self.low][1] <= p[0]):
            self.low += 1
        found = []
        for i in range(self.low, len(gold)):
            if gold[i][0] >= p[1]:
                break
            if gold[i][1] > p[0] and not self.used[i]:
                found.append(i)
        return found


def _explain(
    pair: Pair, same: Matches, overlap: Matches, missed: list[Labelled], wrong: list[Labelled], mistakes: Mistakes
) -> None:
    doc = pair.gold
    for g, p in same:
        mistakes.add("label", doc, gold=g[2], predicted=p[2], places=[g[:2]])
    for g, p in overlap:
        kind = "boundary" if g[2] == p[2] else "label and boundary"
        mistakes.add(kind, doc, gold=g[2], predicted=p[2], places=[g[:2]], instead=[p[:2]])
    missed, wrong = _without(missed, wrong, same + overlap)
    for g in missed:
        mistakes.add("missed", doc, gold=g[2], places=[g[:2]])
    for p in wrong:
        mistakes.add("spurious", doc, predicted=p[2], places=[p[:2]])

"""Score retrieval: are the gold passages among the first k?

recall@k     the share of the gold passages of a question among the first k
all_gold@k   1 if all of them are, otherwise 0

Rows are those of `means`. A question without gold is not counted.
"""

from collections.abc import Collection, Hashable, Sequence

from factpin.errors import BadInput
from factpin.scoring.counts import Rows
from factpin.scoring.means import as_mean_rows
from factpin.words import count


def recall_at(gold: Sequence[Collection[Hashable]], ranked: Sequence[Sequence[Hashable]], k: int) -> Rows:
    """The recall of every question. Passages are identified by any hashable value."""
    return as_mean_rows([len(here & found) / len(here) if here else None for here, found in _pairs(gold, ranked, k)])


def all_gold_at(gold: Sequence[Collection[Hashable]], ranked: Sequence[Sequence[Hashable]], k: int) -> Rows:
    """Whether every gold passage is among the first k."""
    return as_mean_rows([float(here <= found) if here else None for here, found in _pairs(gold, ranked, k)])


def _pairs(
    gold: Sequence[Collection[Hashable]], ranked: Sequence[Sequence[Hashable]], k: int
) -> list[tuple[set[Hashable], set[Hashable]]]:
    if k < 1:
        raise BadInput(f"k is {k}; expected 1 or more.")
    if len(gold) != len(ranked):
        raise BadInput(
            f"There is gold for {count(len(gold), 'question')} and a ranking for {len(ranked)}. Give one for each."
        )
    return [(set(here), set(found[:k])) for here, found in zip(gold, ranked, strict=True)]

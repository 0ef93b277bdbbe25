"""ERNIE 2.0: tasks come one after the other, and an old task goes on beside the new ones, so it is not forgotten.

    N_i            steps of task i in all
    stage s        adds task s; task i runs N_i / (k - i) steps in each stage s >= i, k tasks in all
    in a stage     the task of a batch is drawn in proportion to its steps there; weights go on from stage to stage

ERNIE 1.0 is the same cloze on pieces, then phrases, then entities: three rows of the table, one after the other.
"""

from collections.abc import Sequence
from math import lcm

from factpin.errors import BadInput


def continual(totals: Sequence[int]) -> list[tuple[int, ...]]:
    """totals (k,) -> for every stage the steps of each task, 0 for those still to come; columns sum to the totals."""
    k = len(totals)
    if k == 0 or min(totals) < 1:
        raise BadInput(f"Every task needs at least one step, got {list(totals)}.")
    stages = []
    for s in range(k):
        # the remainder goes to the early stages
        stages.append(tuple(n // (k - i) + (s - i < n % (k - i)) if s >= i else 0 for i, n in enumerate(totals)))
    return stages


def stages(rows: Sequence[str]) -> tuple[dict[str, float], ...]:
    """Rows with as many steps each -> for every stage the rows that run, with their steps, in the least whole numbers.

    The steps of a stage are its share of all, and the steps of a row the weight by which it is drawn there.
    """
    least = lcm(*range(1, len(rows) + 1))
    each = continual([least] * len(rows))
    return tuple({row: float(n) for row, n in zip(rows, steps, strict=True) if n} for steps in each)

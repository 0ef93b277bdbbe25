"""The best one-to-one assignment (Kuhn-Munkres with potentials, shortest augmenting paths).

    gain (R, C); chosen pairs (i, j), each row and column at most once, min(R, C) of them, with the greatest sum

Row by row, a path of least reduced cost u_i + v_j is grown from the new row to a free column, the potentials u, v are
moved along it, and the path is flipped. O(R^2 C), the inner loop over columns in numpy.
"""

import numpy as np

from factpin.scoring.counts import Floats


def best_assignment(gain: Floats) -> list[tuple[int, int]]:
    """The pairs, in the order of rows."""
    if gain.shape[0] > gain.shape[1]:
        return sorted((i, j) for j, i in best_assignment(gain.T))
    rows, columns = gain.shape
    cost = -gain
    u, v = np.zeros(rows), np.zeros(columns)
    row_of = np.full(columns, -1)  # the row assigned to each column
    for new in range(rows):
        least = np.full(columns, np.inf)  # least reduced cost of a path from `new` to each column
        came_from = np.full(columns, -1)  # the previous column on that path; -1 at its start
        done = np.zeros(columns, dtype=bool)
        row, column = new, -1
        reached = 0.0
        while True:
            step = reached + cost[row] - u[row] - v
            better = ~done & (step < least)
            least[better], came_from[better] = step[better], column
            column = int(np.argmin(np.where(done, np.inf, least)))
            reached = float(least[column])
            done[column] = True
            if row_of[column] < 0:
                break
            row = int(row_of[column])
        before = done & (row_of >= 0)  # columns passed on the way; the last one is free
        u[row_of[before]] += reached - least[before]
        v[before] -= reached - least[before]
        u[new] += reached
        while column >= 0:
            earlier = int(came_from[column])
            row_of[column] = new if earlier < 0 else row_of[earlier]
            column = earlier
    return sorted((int(row), column) for column, row in enumerate(row_of) if row >= 0)

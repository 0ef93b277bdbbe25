"""Cliques: the sets of nodes of a graph that are all linked to each other."""

from collections.abc import Iterable, Iterator

STEPS = 2000  # of the search for cliques among arguments that hang together: real texts need some dozens


def cliques(size: int, links: Iterable[tuple[int, int]], steps: int = STEPS) -> tuple[list[tuple[int, ...]], bool]:
    """The maximal cliques of a graph of `size` nodes, in order, and whether a search ended before it was done.

    Bron-Kerbosch, with the pivot that leaves the fewest branches (Tomita and others, 2006). Sets are bits of an int.
    """
    near = neighbours(size, links)
    found: list[int] = []
    truncated = False
    for part in _components(near):
        branches, left = [(0, part, 0)], steps  # clique, may follow, must not follow
        while branches and left:
            left -= 1
            clique, more, done = branches.pop()
            if not more | done:
                found.append(clique)
                continue
            pivot = max(_bits(more | done), key=lambda node: (more & near[node]).bit_count())
            for node in _bits(more & ~near[pivot]):
                branches.append((clique | 1 << node, more & near[node], done & near[node]))
                more, done = more & ~(1 << node), done | 1 << node
        truncated |= bool(branches)
    return sorted(tuple(_bits(clique)) for clique in found), truncated


def neighbours(size: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """The neighbours of each node as the bits of an integer."""
    near = [0] * size
    for a, b in links:
        near[a] |= 1 << b
        near[b] |= 1 << a
    return near


def _components(near: list[int]) -> list[int]:
    """The sets of nodes that hang together."""
    left, found = (1 << len(near)) - 1, []
    while left:
        part, edge = 0, left & -left
        while edge:
            part |= edge
            reached = 0
            for node in _bits(edge):
                reached |= near[node]
            edge = reached & ~part
        found.append(part)
        left &= ~part
    return found


def _bits(nodes: int) -> Iterator[int]:
    while nodes:
        low = nodes & -nodes
        yield low.bit_length() - 1
        nodes ^= low

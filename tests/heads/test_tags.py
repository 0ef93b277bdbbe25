"""Tags and spans are two writings of one thing."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch

from factpin.heads.crf import encode_tags
from factpin.layers.places import CellIndices
from factpin.tasks.spans.tags import Tags


def spans_by_reading(path: list[int], tags: Tags) -> set[tuple[int, int, int]] | None:
    """(label, start, end) of a tag sequence read from left to right; None if it is illegal."""
    letters, labels = tags.kinds()
    spans, open_label, begin = set(), -1, 0
    for t, tag in enumerate(path):
        letter, label = letters[tag], labels[tag]
        if letter in "IE":
            if open_label != label:
                return None
        elif open_label >= 0:
            if tags.scheme == "bioes":
                return None
            spans.add((open_label, begin, t - 1))
            open_label = -1
        if letter in "BS":
            begin, open_label = t, label
        if letter in "ES":
            spans.add((label, begin, t))
            open_label = -1
    if open_label >= 0:
        if tags.scheme == "bioes":
            return None
        spans.add((open_label, begin, len(path) - 1))
    return spans


@pytest.mark.parametrize(("scheme", "n"), [("bio", 4), ("bioes", 3)])
def test_legal_sequences_and_sets_of_spans_are_one_to_one(scheme, n: int) -> None:
    tags = Tags(2, scheme)
    transitions, start, end = tags.legal()
    seen = set()
    for path in product(range(len(tags)), repeat=n):
        legal = start[path[0]] and end[path[-1]] and all(transitions[a, b] for a, b in pairwise(path))
        spans = spans_by_reading(list(path), tags)
        assert bool(legal) == (spans is not None)
        if spans is None:
            continue
        found = tags.spans(np.array([path]), np.array([n]))
        assert set(zip(*(column.tolist() for column in found[1:]), strict=True)) == spans
        assert encode_tags(tags, CellIndices(*map(torch.from_numpy, found)), 1, n).tolist() == [list(path)]
        assert frozenset(spans) not in seen
        seen.add(frozenset(spans))


def test_decode_undoes_encode_for_a_batch() -> None:
    spans = [(0, 1, 0, 0), (0, 0, 1, 3), (0, 0, 4, 4), (2, 2, 3, 4)]
    for scheme in ("bio", "bioes"):
        tags = Tags(3, scheme)
        path = encode_tags(tags, CellIndices(*torch.tensor(spans).T), 3, 5)
        found = tags.spans(path.numpy(), np.array([5, 2, 5]))
        assert list(zip(*(column.tolist() for column in found), strict=True)) == spans
        assert path[1].tolist() == [0] * 5

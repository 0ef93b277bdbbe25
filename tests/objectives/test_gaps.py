"""Gap sentences: the scores of the definition, and which sentence wins."""

from collections import Counter

import numpy as np
import pytest

from factpin.objectives.gaps import gap_sentences, overlap_f1

A, B, C, D, E = 8, 9, 10, 11, 12


def choose(sentences: list[list[int]], m: int, **options) -> list[int]:
    """The numbers of the chosen sentences."""
    ids = np.array([piece for sentence in sentences for piece in sentence])
    units = np.split(np.arange(len(ids)), np.cumsum([len(sentence) for sentence in sentences])[:-1])
    chosen = gap_sentences(units, m, np.random.default_rng(0), ids=ids, **options)
    return [next(i for i, unit in enumerate(units) if unit[0] == group[0]) for group in chosen]


def test_the_score_is_rouge_1_against_the_rest() -> None:
    document = Counter([A, B, A, C, D, E])
    assert overlap_f1(Counter([A, B]), document, unique=False) == pytest.approx(2 / 6)
    assert overlap_f1(Counter([D, E]), document, unique=False) == 0
    assert overlap_f1(Counter(), Counter(), unique=False) == 0
    chance = np.random.default_rng(0)
    for _ in range(50):
        part, rest = (Counter(chance.integers(8, 14, n).tolist()) for n in (5, 9))
        assert overlap_f1(part, part + rest, unique=False) == pytest.approx(2 * (part & rest).total() / 14)
        both = 2 * len(set(part) & set(rest)) / (len(part) + len(rest))
        assert overlap_f1(part, part + rest, unique=True) == pytest.approx(both)


def test_of_equal_scores_the_first_sentence_wins() -> None:
    assert choose([[A, B], [A, C], [D, E]], 1) == [0]
    assert choose([[D, E], [A, C], [A, B]], 1) == [1]


def test_ind_takes_the_best_alone_and_seq_the_best_together() -> None:
    digest, echo, other = [A, B, C], [A, B, D], [E, 13, 14]
    document = [digest, echo, other, [A, B, C, E], [13, 14, 15]]
    for how in ("ind_orig", "ind_uniq", "seq_orig", "seq_uniq"):
        assert choose(document, 1, how=how) == [3]
    assert choose(document, 2, how="ind_orig") == [0, 3]
    whole = Counter(piece for sentence in document for piece in sentence)
    pairs = {
        (i, j): overlap_f1(Counter(document[i] + document[j]), whole, unique=False)
        for i, j in ((0, 3), (1, 3), (2, 3), (3, 4))
    }
    assert choose(document, 2, how="seq_orig") == list(max(pairs, key=pairs.__getitem__)) != [0, 3]


def test_repeats_count_for_orig_and_not_for_uniq() -> None:
    document = [[A, A, A, A], [B, C, D], [A, A, A, A, 20, 21], [B, C, D, 30]]
    assert choose(document, 1, how="ind_orig") == [0]
    assert choose(document, 1, how="ind_uniq") == [1]


def test_lead_random_and_the_order_of_the_text() -> None:
    document = [[A], [B], [C], [D], [E]]
    assert choose(document, 2, how="lead") == [0, 1]
    seen = set()
    for seed in range(40):
        units = [np.array([i]) for i in range(5)]
        groups = gap_sentences(units, 2, np.random.default_rng(seed), ids=np.arange(5), how="random")
        places = [int(group[0]) for group in groups]
        assert places == sorted(places)
        seen |= set(places)
    assert seen == {0, 1, 2, 3, 4}


def test_stop_pieces_do_not_count_and_noise_changes_choices() -> None:
    document = [[A, A, B], [A, A, C], [D, E, B]]
    assert choose(document, 1, stop=frozenset([A])) == [0]
    assert choose([[A, C], [A, A], [B, D], [B, E]], 1, stop=frozenset([A])) == [2]
    ids = np.random.default_rng(1).integers(8, 40, 60)
    units = np.split(np.arange(60), range(6, 60, 6))
    chosen = {
        tuple(int(g[0]) for g in gap_sentences(units, 3, np.random.default_rng(seed), ids=ids, noise=0.2))
        for seed in range(20)
    }
    assert len(chosen) > 1

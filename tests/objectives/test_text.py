"""Texts: units, parts, and how parts are divided and labelled."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.objectives import Text, pairs
from factpin.objectives.text import join, text_of
from factpin.objectives.view import NO_LOSS
from factpin.tokens.small import build_tokenizer
from proofs.world import VOCABULARY, text


def sample() -> Text:
    return Text(
        np.arange(10, 18),
        words=np.array([0, 0, 1, 2, 2, -1, -1, 3]),
        ends=np.array([3, 5, 8]),
        entities=np.array([-1, -1, 4, 4, -1, -1, -1, -1]),
    )


def lists(units: list[np.ndarray]) -> list[list[int]]:
    return [unit.tolist() for unit in units]


def test_units_are_runs_of_one_number_and_pieces_without_a_number_stand_alone() -> None:
    x = sample()
    assert lists(x.units("pieces")) == [[i] for i in range(8)]
    assert lists(x.units("words")) == [[0, 1], [2], [3, 4], [5], [6], [7]]
    assert lists(x.units("entities")) == [[0, 1], [2, 3], [4], [5], [6], [7]]
    assert lists(x.units("sentences")) == [[0, 1, 2], [3, 4], [5, 6, 7]]
    with pytest.raises(BadInput, match="Give `phrases`"):
        x.units("phrases")


def test_joining_the_parts_gives_the_text_back_with_units_cut_at_the_borders() -> None:
    x = sample()
    again = join([x.part(0, 4), x.part(4, 8)])
    assert np.array_equal(again.ids, x.ids)
    assert again.ends.tolist() == [3, 4, 5, 8]
    assert lists(again.units("words")) == [[0, 1], [2], [3], [4], [5], [6], [7]]
    assert again.phrases is None and again.entities is not None
    assert join([x, Text(np.arange(3), np.arange(3), np.array([3]))]).entities.tolist()[-3:] == [-1, -1, -1]


def test_characters_become_numbers_of_pieces() -> None:
    words = ["王小明", "出生", "于", "北京", "。", "Tom", "came", "."]
    pieces = build_tokenizer(["".join(words), "王 小 明 Tom came ."] * 3, vocab_size=60).encode(
        "王小明出生于北京。Tom came."
    )
    spans, at = [], 0
    for word in words:
        at = pieces.text.index(word, at)
        spans.append((at, at + len(word)))
        at += len(word)
    x = text_of(pieces, [(0, 9), (9, 18)], spans, entities=[(0, 3), (6, 8)])
    surfaces = pieces.surfaces()
    assert ["".join(surfaces[i] for i in unit).strip() for unit in x.units("words")] == words
    assert ["".join(surfaces[i] for i in unit).strip() for unit in x.units("entities")] == words
    assert "".join(surfaces[i] for i in x.units("sentences")[0]) == "王小明出生于北京。"
    assert (text_of(pieces, [], []).words == -1).all() and text_of(pieces, [], []).ends.tolist() == [len(pieces)]


def test_of_nested_spans_the_outermost_counts() -> None:
    pieces = build_tokenizer(["北京大学医院在海淀区"] * 3, vocab_size=60).encode("北京大学医院在海淀区")
    for spans in ([(0, 6), (0, 4), (2, 4)], [(2, 4), (0, 6)], [(0, 6), (0, 6), (4, 6)]):
        x = text_of(pieces, [], [(i, i + 1) for i in range(10)], entities=[*spans, (7, 10)])
        assert lists(x.units("entities")) == [[0, 1, 2, 3, 4, 5], [6], [7, 8, 9]]
    crossing = text_of(pieces, [], [], entities=[(0, 4), (2, 6)])
    assert crossing.entities.tolist() == [0, 0, 1, 1, 1, 1, -1, -1, -1, -1]


def test_a_text_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(BadInput, match="needs 3 numbers in `words`, got 2"):
        Text(np.arange(3), np.arange(2), np.array([3]))
    for ends in ([2], [0, 3], [2, 2, 3], [], [3, 4]):
        with pytest.raises(BadInput, match="Sentence ends"):
            Text(np.arange(3), np.arange(3), np.array(ends, np.int64))


def test_specials_are_never_drawn_and_never_in_a_text() -> None:
    assert not set(VOCABULARY.ordinary.tolist()) & VOCABULARY.specials
    assert len(VOCABULARY.ordinary) + len(VOCABULARY.specials) == VOCABULARY.size
    bad = Text(np.array([8, 9, VOCABULARY.mask]), np.arange(3), np.array([3]))
    with pytest.raises(BadInput, match="piece 2 is 3"):
        VOCABULARY.refuse_specials(bad)


def test_half_of_the_next_sentences_are_foreign() -> None:
    x, labels = text(80), []
    own, foreign = set(x.ids.tolist()), x.foreign.ids.tolist()
    for seed in range(400):
        (a, b), label = pairs.next_sentence(x, np.random.default_rng(seed))
        labels.append(label)
        assert len(a) in x.ends
        if label == 0:
            assert np.array_equal(np.concatenate([a.ids, b.ids]), x.ids[: len(a) + len(b)])
        else:
            at = foreign.index(b.ids[0])
            assert at in x.foreign.ends
            assert foreign[at : at + len(b)] == b.ids.tolist() and len(a) + len(b) <= len(own)
    assert np.mean(labels) == pytest.approx(0.5, abs=3 * 0.5 / 20)


def test_half_of_the_sentence_orders_are_swapped() -> None:
    x, labels = text(80), []
    for seed in range(400):
        parts, label = pairs.sentence_order(x, np.random.default_rng(seed))
        labels.append(label)
        assert np.array_equal(np.concatenate([part.ids for part in (parts[::-1] if label else parts)]), x.ids)
    assert np.mean(labels) == pytest.approx(0.5, abs=3 * 0.5 / 20)


@pytest.mark.parametrize("pair", [pairs.next_sentence, pairs.sentence_order, pairs.halves])
def test_a_single_sentence_has_no_second_part_and_asks_nothing(pair: pairs.Pair) -> None:
    x = Text(np.arange(8, 14), np.arange(6), np.array([6]))
    parts, label = pair(x, np.random.default_rng(0))
    assert (len(parts), label) == (1, NO_LOSS)


def test_a_missing_foreign_text_is_an_error_whatever_chance_says() -> None:
    x = text(30, foreign=False)
    for seed in range(4):
        with pytest.raises(BadInput, match="foreign"):
            pairs.next_sentence(x, np.random.default_rng(seed))


def test_distance_tells_next_from_further_from_elsewhere() -> None:
    x, seen = text(80), Counter()
    for seed in range(300):
        (a, b), label = pairs.distance(x, np.random.default_rng(seed))
        seen[label] += 1
        own = set(x.ids.tolist())
        where = x.ids.tolist().index(b.ids[0]) if b.ids[0] in own and label < 2 else -1
        assert label == 2 or (where == len(a) if label == 0 else where > len(a))
    assert set(seen) == {0, 1, 2} and min(seen.values()) > 60


END = 8


def sentences(chance: np.random.Generator, room: int = 60) -> Text:
    """As many sentences of 2 to 20 pieces as have room, each closed by an end mark."""
    ids: list[int] = []
    ends: list[int] = []
    while len(ids) + (n := int(chance.integers(2, 21))) <= room:
        ids += [*chance.integers(END + 1, 200, n - 1).tolist(), END]
        ends.append(len(ids))
    return Text(np.array(ids), np.arange(len(ids)), np.array(ends))


@pytest.mark.parametrize("pair", [pairs.next_sentence, pairs.distance])
def test_length_and_end_of_the_parts_do_not_tell_the_label(pair: pairs.Pair) -> None:
    """A table of (does the second part end with an end mark, lengths of both) guesses no better than chance."""
    rows = []
    for seed in range(1600):
        chance = np.random.default_rng([1, seed])
        x = replace(sentences(chance), foreign=sentences(chance))
        if len(x.ends) > 2:
            (a, b), label = pair(x, chance)
            rows.append(((bool(b.ids[-1] == END), len(a) // 10, len(b) // 10), label))
    table: dict[tuple[bool, int, int], Counter[int]] = defaultdict(Counter)
    half = len(rows) // 2
    for key, label in rows[:half]:
        table[key][label] += 1
    rest = rows[half:]
    guessed = np.mean([bool(table[key]) and table[key].most_common(1)[0][0] == label for key, label in rest])
    usual = max(Counter(label for _, label in rest).values()) / len(rest)
    assert len(rest) > 700 and guessed < usual + 3 * (usual * (1 - usual) / len(rest)) ** 0.5


@pytest.mark.parametrize("pair", [pairs.next_sentence, pairs.distance])
def test_a_second_part_keeps_half_of_what_all_that_compete_have(pair: pairs.Pair) -> None:
    for seed in range(200):
        chance = np.random.default_rng([2, seed])
        x = replace(sentences(chance), foreign=sentences(chance))
        if len(x.ends) > 2:
            (a, b), _ = pair(x, chance)
            shortest = min(np.diff([*x.ends])[-1], np.diff([0, *x.foreign.ends])[-1])
            assert 2 * len(b) >= shortest and len(a) + len(b) <= len(x)


def test_every_order_of_parts_has_its_own_label() -> None:
    x = Text(np.arange(8, 11), np.arange(3), np.array([1, 2, 3]))
    found: dict[int, set[tuple[int, ...]]] = {}
    for seed in range(400):
        (whole,), label = pairs.reordered(x, np.random.default_rng(seed))
        found.setdefault(label, set()).add(tuple(whole.ids.tolist()))
    assert set(found) == set(range(9))
    assert all(len(orders) == 1 for label, orders in found.items() if label >= 3)

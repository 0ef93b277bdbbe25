"""Experiments: bars say what they mean, languages are what they claim, and every experiment runs."""

import math
from itertools import product

import numpy as np
import pytest

from factpin.objectives import audit
from proofs import ANSWERS, EXPERIMENTS, SYSTEMS, Bar, school
from proofs.learn_blanks import two_holes
from proofs.learn_cloze import climbing, cued, mirror, named
from proofs.learn_order import (
    BY_CHANCE,
    ENTROPY,
    LONGEST,
    SYMBOLS,
    chain,
    closed,
    countdown,
    countdown_entropy,
    filled,
)
from proofs.learn_pairs import FOLLOWS, ORDER, on_a_topic
from proofs.learn_sequence import digested, from_the_beginning, gap_of, marked, twice
from proofs.learn_shape import echoing
from proofs.school import FIRST, probe, words

CHANCE = [np.random.default_rng(seed) for seed in range(40)]


def test_a_bar_counts_every_seed_or_their_mean_or_median() -> None:
    seeds = [{"on": 1.0, "off": 3.0}, {"on": 2.0, "off": 2.5}, {"on": 6.0, "off": 9.0}]
    assert Bar("on", least=1.0, most=6.0).holds(seeds) and not Bar("on", most=5.9).holds(seeds)
    assert Bar("on", most=3.0, of="mean").holds(seeds) and not Bar("on", most=2.9, of="mean").holds(seeds)
    assert Bar("on", most=2.0, of="median").holds(seeds)
    assert Bar("off", least=0.5, minus="on").holds(seeds) and not Bar("off", least=0.6, minus="on").holds(seeds)
    assert not Bar("on", most=9.0).holds([{"on": math.nan}])
    assert str(Bar("off", least=0.5, minus="on")) == "off minus on at least 0.5"
    assert str(Bar("on", 1.0, 2.0, of="mean")) == "on at least 1 and at most 2 (mean)"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_runs_and_gives_the_figures_that_its_bars_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(school, "SHARE", 0.001)  # two steps
    experiment = EXPERIMENTS[name]
    assert experiment.system in {**SYSTEMS, **ANSWERS} and experiment.design >= 1
    figures = experiment.run(1)
    named_figures = {bar.figure for bar in experiment.bars} | {bar.minus for bar in experiment.bars if bar.minus}
    assert named_figures <= figures.keys()
    assert all(math.isfinite(value) for value in figures.values())
    assert not experiment.holds([figures])  # two steps teach nothing: a bar that holds then proves nothing


def test_every_method_but_wwm_which_is_proved_with_ernie_has_an_experiment() -> None:
    assert {one.system for one in EXPERIMENTS.values()} == SYSTEMS.keys() - {"wwm"} | ANSWERS.keys()


def test_the_chain_says_nothing_by_its_last_symbol_alone() -> None:
    rows = np.stack([chain(np.random.default_rng(seed)).ids - FIRST for seed in range(600)])
    last, following = rows[:, 1:-1].ravel(), rows[:, 2:].ravel()
    for symbol in range(SYMBOLS):
        shares = np.bincount(following[last == symbol], minlength=SYMBOLS) / (last == symbol).sum()
        assert abs(shares - 1 / SYMBOLS).max() < 0.05
    by_pair = {}
    for a, b, c in zip(rows[:, :-2].ravel(), last, following, strict=True):
        by_pair.setdefault((a, b), []).append(c)
    led = [max(np.bincount(found)) / len(found) for found in by_pair.values() if len(found) > 40]
    assert np.mean(led) == pytest.approx(1 - BY_CHANCE, abs=0.02)
    assert 0.2 < ENTROPY < 0.4


def test_the_entropy_of_the_countdown_is_that_of_all_cases_counted_one_by_one() -> None:
    cases = [(place, length, length - place) for length in range(1, LONGEST + 1) for place in range(length)]
    weight = {case: 1 / LONGEST / case[1] for case in cases}
    total = 0.0
    for place in range(LONGEST):
        inside = {case: w for case, w in weight.items() if case[0] == place}
        values = {}
        for (_, _, value), w in inside.items():
            values[value] = values.get(value, 0.0) + w
        total -= sum(w * math.log(w / sum(values.values())) for w in values.values())
    assert countdown_entropy() == pytest.approx(total)


def test_made_up_views_leak_nothing_and_hide_what_they_say() -> None:
    v = words(20)
    for chance, masks in product(CHANCE[:10], (True, False)):
        view = closed(countdown(chance), v, chance, masks=masks)
        assert audit(view).clean
        seen = view.streams["query"].sees["content"].dense()
        content, b = view.streams["content"], len(view.streams["query"])
        assert not seen[:, content.tape.ids == v.sep].any()
        assert seen[:, -b:].any() == masks
    for chance in CHANCE[:10]:
        assert audit(from_the_beginning(twice(chance), v, chance)).clean
        assert audit(two_holes(school.text(np.arange(10)), v, chance, different=True)).clean


def test_blanks_are_drawn_until_they_stand_in_the_order_asked_for() -> None:
    v, x = words(20), school.text(np.arange(10))
    for order, first in (("left first", 1), ("right first", 6)):
        for chance in CHANCE[:6]:
            assert filled(x, v, chance, order=order).labels("content")[-8] == FIRST + first


def test_languages_are_what_they_claim() -> None:
    for chance in CHANCE:
        ids = mirror(chance).ids
        assert np.array_equal(ids, ids[::-1])
        row = echoing(chance, length=40).ids
        assert np.array_equal(row[3:], row[:-3])
        assert set(np.diff(climbing(chance).ids - FIRST) % 12) <= {1, 2}
        x = named(chance)
        a, b = x.ids[0] - FIRST, x.ids[12] - FIRST - 4
        assert (x.ids[5:8] - FIRST).tolist() == [16 + 3 * (4 * a + b) + k for k in range(3)]
        x = marked(chance, new=True)
        at = int(np.flatnonzero(x.ids == FIRST)[0])
        assert x.ids[-2:].tolist() == x.ids[at + 1 : at + 3].tolist()
    runs = {}
    for seed in range(100):
        row = cued(np.random.default_rng(seed)).ids
        for start in (3, 10):
            assert runs.setdefault(row[start - 3], tuple(row[start : start + 3])) == tuple(row[start : start + 3])


def test_a_digest_is_chosen_by_its_overlap_and_seldom_by_chance() -> None:
    v = words(48)
    lengths = {how: [len(gap_of(how).declare(digested(np.random.default_rng(s)), v, np.random.default_rng(s))
                         .streams["decoder"]) for s in range(60)] for how in ("ind_orig", "random")}  # fmt: skip
    assert np.mean(np.array(lengths["ind_orig"]) == 5) > 0.9
    assert np.mean(np.array(lengths["random"]) == 5) < 0.5


def test_topic_says_nothing_about_order_and_openings_nothing_about_topic() -> None:
    v = words(36)
    for row, told_by_opening in ((FOLLOWS, False), (ORDER, True)):
        opens = {}
        for seed in range(60):
            x = on_a_topic(np.random.default_rng(seed))
            view = row.view(x, v, seed=seed, epoch=0, index=0)
            first = int((view.text[6] - FIRST) >= 6)  # of the second part: its kind of opening
            opens.setdefault(view.pair, set()).add(first)
        assert (opens[0] != opens[1]) == told_by_opening


def test_a_probe_reads_what_is_linear_and_not_what_is_not() -> None:
    chance = np.random.default_rng(0)
    x = chance.normal(size=(800, 6))
    line, ring = (x[:, 0] > 0).astype(int), (x[:, 0] * x[:, 1] > 0).astype(int)
    assert probe(x[:400], line[:400], x[400:], line[400:]) > 0.95
    assert probe(x[:400], ring[:400], x[400:], ring[400:]) < 0.6

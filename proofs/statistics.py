"""Statistics: samplers have the distributions that they are named after, within three standard errors.

Chi squared is compared with its 99.9 % point. The chance is fixed, so that a check gives the same figure every time.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from factpin.objectives import OBJECTIVES
from factpin.objectives.choose import (
    Budget,
    fragment,
    geometric,
    geometric_odds,
    infill,
    ngram,
    one_long,
    poisson_apart,
    poisson_odds,
    scattered,
    xlnet_windows,
)
from factpin.objectives.spoil import Rates, replace
from factpin.objectives.tape import MARK, NOISE, tape
from proofs.compare import Compared
from proofs.world import FIRST, LAST, VOCABULARY, alone, text

CHI_2, CHI_4 = 13.8, 18.5  # 99.9 % of chi squared with 2 and 4 degrees of freedom


def chi_squared(counts: Sequence[int], odds: Sequence[float]) -> float:
    expected = np.array(odds) / sum(odds) * sum(counts)
    return float(((np.array(counts) - expected) ** 2 / expected).sum())


def share(what: str, hits: int, draws: int, p: float) -> Compared:
    """Within three standard errors of a share."""
    return Compared(what, hits / draws, p, 3 * (p * (1 - p) / draws) ** 0.5)


def mean(what: str, values: Sequence[float], wanted: float) -> Compared:
    return Compared(what, float(np.mean(values)), wanted, 3 * float(np.std(values)) / len(values) ** 0.5)


def albert() -> Iterator[Compared]:
    units, chance = alone(600), np.random.default_rng(1)
    counts = Counter(len(ngram(units, 3, chance, odds=(6, 3, 2))[0]) for _ in range(2500))
    yield Compared("chi squared of lengths 6:3:2", chi_squared([counts[n] for n in (1, 2, 3)], [6, 3, 2]), 0, CHI_2)


def bert() -> Iterator[Compared]:
    n, chance = 4000, np.random.default_rng(0)
    chosen = replace(tape(chance.integers(FIRST, LAST, n)), alone(n), Rates(), VOCABULARY, chance)
    counts = [int(k) for k in ((chosen.shows == MARK).sum(), (chosen.shows == NOISE).sum(), (chosen.shows >= 0).sum())]
    yield Compared("chi squared of 80/10/10", chi_squared(counts, [8, 1, 1]), 0, CHI_2)
    drawn = chosen.ids[chosen.shows == NOISE]
    yield Compared("special tokens drawn", int(np.isin(drawn, list(VOCABULARY.specials)).sum()), 0)


def roberta() -> Iterator[Compared]:
    chance = np.random.default_rng(10)
    draws = [Budget(rounding="chance", least=0).of(35, 2, chance) for _ in range(4000)]
    yield Compared("budgets", sorted(set(draws)), [5, 6])
    yield mean("mean budget", draws, 0.15 * 37)


def spanbert() -> Iterator[Compared]:
    yield Compared("mean of the odds", float((geometric_odds(0.2, 10) * np.arange(1, 11)).sum()), 3.797, 1e-3)
    units, chance = alone(50_000), np.random.default_rng(2)
    yield mean("mean length", [len(group) for _ in range(6) for group in geometric(units, 500, chance)], 3.797)


def glm() -> Iterator[Compared]:
    wanted = float(3 / (1 - np.exp(-3)))
    yield Compared("mean of the odds", float((poisson_odds(3, 1, 39) * np.arange(1, 40)).sum()), wanted, 1e-9)
    units, chance, drawn = alone(3000), np.random.default_rng(3), []
    for _ in range(15):
        drawn.append(poisson_apart(units, 450, chance))
    touching = [one[-1] + 1 >= two[0] for groups in drawn for one, two in zip(groups, groups[1:], strict=False)]
    yield Compared("groups that touch", sum(touching), 0)
    yield Compared("draws under budget", sum(sum(map(len, groups)) < 450 for groups in drawn), 0)
    yield mean("mean length", [len(group) for groups in drawn for group in groups], wanted)
    runs = [one_long(alone(60), 30, chance)[0] for _ in range(2000)]
    yield Compared("lengths of one long run", sorted({len(run) for run in runs}), list(range(30, 59)))


def bart() -> Iterator[Compared]:
    units, chance = text(900).units("words"), np.random.default_rng(4)
    drawn = [infill(units, 100, chance) for _ in range(40)]
    gone = [sum(bool(np.isin(unit, np.concatenate(groups)).all()) for unit in units) for groups in drawn]
    yield Compared("words removed of a budget of 100", sorted(set(gone)), [100])
    groups = [group for one in drawn for group in one]
    yield share("empty blanks", sum(len(group) == 0 for group in groups), len(groups), float(np.exp(-3)))


def t5() -> Iterator[Compared]:
    budget = Budget(framed=False).of(568, 0, np.random.default_rng(0))
    drawn = [scattered(alone(568), budget, np.random.default_rng(seed)) for seed in range(60)]
    shapes = {(len(groups), sum(map(len, groups))) for groups in drawn}
    yield Compared("runs and pieces of 568", sorted(shapes), [(28, 85)])
    yield Compared("first piece asked for", sum(int(groups[0][0] == 0) for groups in drawn), 0)
    yield Compared("last piece asked for", sum(int(groups[-1][-1] == 567) for groups in drawn), 60)
    lengths = [len(group) for groups in drawn for group in groups]
    yield share("runs of one", lengths.count(1), len(lengths), 27 / 84)  # 27 of the 84 borders are cuts
    chance = np.random.default_rng(5)
    counts = Counter(len(scattered(alone(44), 4, chance, mean=2)[0]) for _ in range(1500))
    yield Compared("chi squared of cuts", chi_squared([counts[n] for n in (1, 2, 3)], [1, 1, 1]), 0, CHI_2)
    asked = {int(i) for _ in range(300) for group in scattered(alone(12), 2, chance) for i in group}
    yield Compared("places asked for of a short text", sorted(asked), list(range(12)))


def xlnet() -> Iterator[Compared]:
    chance = np.random.default_rng(7)
    counts = Counter(len(xlnet_windows(alone(90), 15, chance)[0]) for _ in range(1500))
    odds = [1 / k for k in range(1, 6)]
    yield Compared("chi squared of lengths 1/k", chi_squared([counts[k] for k in range(1, 6)], odds), 0, CHI_4)
    windows = [sum(len(g) for g in xlnet_windows(alone(600), 600, chance) if len(g) > 1) / 600 for _ in range(40)]
    # of the pieces in windows, one in five is alone: k p(k) is even
    yield Compared("share of longer groups", float(np.mean(windows)), 4 / 5 / 6, 0.02)


def mass() -> Iterator[Compared]:
    chance, inner = np.random.default_rng(8), 0.6 / 21
    starts = Counter(int(fragment(alone(40), 20, chance)[0][0]) for _ in range(3000))
    for what, place, p in (("at the start", 0, 0.2 + inner), ("at the end", 20, 0.2 + inner), ("at 7", 7, inner)):
        yield share(what, starts[place], 3000, p)


def electra() -> Iterator[Compared]:
    row = OBJECTIVES["electra"]
    drawn = [row.view(text(100, i), VOCABULARY, seed=0, epoch=0, index=i).streams["content"] for i in range(60)]
    asked = sum(int((one.answers >= 0).sum()) for one in drawn)
    yield Compared("asked for", asked, 60 * 15)
    yield share("masked", sum(int((one.tape.ids == VOCABULARY.mask).sum()) for one in drawn), asked, 0.85)


def unilm() -> Iterator[Compared]:
    chance, units = np.random.default_rng(0), alone(500)
    lengths = [len(ngram(units, 3, chance, odds=(0.8, 0.1, 0.1))[0]) for _ in range(1000)]
    yield share("single pieces", lengths.count(1), 1000, 0.8)


STATISTICS: dict[str, Callable[[], Iterator[Compared]]] = {
    "albert": albert,
    "bart": bart,
    "bert": bert,
    "electra": electra,
    "glm": glm,
    "mass": mass,
    "roberta": roberta,
    "spanbert": spanbert,
    "t5": t5,
    "unilm": unilm,
    "xlnet": xlnet,
}

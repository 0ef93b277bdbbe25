import numpy as np

from factpin.pipelines.tune import Candidates, fit_scale, fit_thresholds
from factpin.tasks.spans import Scale


def drawn(scale: Scale, size: int, seed: int = 0) -> Candidates:
    """Scores that are right as often as `scale` says."""
    chance = np.random.default_rng(seed)
    score = chance.normal(2, 4, size)
    p = 1 / (1 + np.exp(-(score - scale.shift) / scale.temperature))
    return Candidates(score, chance.random(size) < p, chance.integers(0, 2, size), np.array([size // 2, size // 2]))


def test_the_scale_that_made_the_scores_is_found_again() -> None:
    true = Scale(2.5, 1.2)
    found = fit_scale(drawn(true, 40_000), np.array([-4.0, -4.0]))
    assert abs(found.temperature - 2.5) < 0.1 and abs(found.shift - 1.2) < 0.1


def test_only_predictions_count() -> None:
    many = drawn(Scale(1.0, 0.0), 10_000)
    wrong_below = Candidates(many.score, many.right & (many.score > 0), many.label, many.gold)
    a, b = (fit_scale(c, np.array([0.0, 0.0])) for c in (many, wrong_below))
    assert a == b


def test_too_little_or_senseless_scores_are_left_alone() -> None:
    assert fit_scale(drawn(Scale(2.0), 10), np.array([-9.0, -9.0])) == Scale()
    upside_down = drawn(Scale(1.0), 5000)
    upside_down = Candidates(upside_down.score, ~upside_down.right, upside_down.label, upside_down.gold)
    assert fit_scale(upside_down, np.array([-9.0, -9.0])) == Scale()


def test_a_perfect_model_stays_finite() -> None:
    score = np.array([5.0] * 30 + [-5.0] * 30)
    found = fit_scale(Candidates(score, score > 0, np.zeros(60, int), np.array([30])), np.array([-9.0]))
    assert 0 < found.temperature < 10 and found.probability(5.0) > 0.95


def test_thresholds_are_where_f1_is_highest() -> None:
    score = np.array([3.0, 2.0, 1.0, 0.5, -0.5, -1.0])
    right = np.array([True, True, False, False, True, False])
    many = Candidates(np.tile(score, 10), np.tile(right, 10), np.zeros(60, int), np.array([30]))
    best = fit_thresholds(many, ["a"], 0.0)["a"]

    def f1(threshold: float) -> float:
        hit = many.score > threshold
        return 2 * (hit & many.right).sum() / (hit.sum() + 30)

    assert f1(best) == max(f1(t) for t in np.linspace(-2, 4, 61))
    few = Candidates(score, right, np.zeros(6, int), np.array([3]))
    assert fit_thresholds(few, ["a"], 0.0) == {}

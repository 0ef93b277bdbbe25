import numpy as np
import pytest

from factpin.tasks.fit import ScoredCandidates, best_share, fit_scale, fit_shifts, fit_thresholds
from factpin.tasks.spans import Scale


def drawn(scale: Scale, size: int, seed: int = 0) -> ScoredCandidates:
    """Scores that are right as often as `scale` says."""
    chance = np.random.default_rng(seed)
    score = chance.normal(2, 4, size)
    p = 1 / (1 + np.exp(-(score - scale.shift) / scale.temperature))
    return ScoredCandidates(
        score, chance.random(size) < p, chance.integers(0, 2, size), np.array([size // 2, size // 2])
    )


def test_the_scale_that_made_the_scores_is_found_again() -> None:
    true = Scale(2.5, 1.2)
    found = fit_scale(drawn(true, 40_000), np.array([-4.0, -4.0]))
    assert abs(found.temperature - 2.5) < 0.1 and abs(found.shift - 1.2) < 0.1


def test_only_predictions_count() -> None:
    many = drawn(Scale(1.0, 0.0), 10_000)
    wrong_below = ScoredCandidates(many.score, many.right & (many.score > 0), many.label, many.gold)
    a, b = (fit_scale(c, np.array([0.0, 0.0])) for c in (many, wrong_below))
    assert a == b


def test_too_little_or_senseless_scores_are_left_alone() -> None:
    assert fit_scale(drawn(Scale(2.0), 10), np.array([-9.0, -9.0])) == Scale()
    upside_down = drawn(Scale(1.0), 5000)
    upside_down = ScoredCandidates(upside_down.score, ~upside_down.right, upside_down.label, upside_down.gold)
    assert fit_scale(upside_down, np.array([-9.0, -9.0])) == Scale()


def test_a_perfect_model_stays_finite() -> None:
    score = np.array([5.0] * 30 + [-5.0] * 30)
    found = fit_scale(ScoredCandidates(score, score > 0, np.zeros(60, int), np.array([30])), np.array([-9.0]))
    assert 0 < found.temperature < 10 and found.probability(5.0) > 0.95


def test_thresholds_are_where_f1_is_highest() -> None:
    score = np.array([3.0, 2.0, 1.0, 0.5, -0.5, -1.0])
    right = np.array([True, True, False, False, True, False])
    many = ScoredCandidates(np.tile(score, 10), np.tile(right, 10), np.zeros(60, int), np.array([30]))
    best = fit_thresholds(many, ["a"], 0.0)["a"]

    def f1(threshold: float) -> float:
        hit = many.score > threshold
        return 2 * (hit & many.right).sum() / (hit.sum() + 30)

    assert f1(best) == max(f1(t) for t in np.linspace(-2, 4, 61))
    few = ScoredCandidates(score, right, np.zeros(6, int), np.array([3]))
    assert fit_thresholds(few, ["a"], 0.0) == {}


@pytest.mark.parametrize("seed", range(5))
def test_thresholds_of_several_labels_are_the_best_together(seed: int) -> None:
    chance = np.random.default_rng(seed)
    score = np.round(chance.normal(0, 2, 60), 1)
    label = chance.integers(0, 2, 60)
    right = chance.random(60) < 1 / (1 + np.exp(-score * np.array([2.0, 0.2])[label]))  # the second label is hard
    found = ScoredCandidates(score, right, label, np.array([25, 40]))

    def f1(cuts: tuple[float, float]) -> float:
        told = score > np.array(cuts)[label]
        return 2 * (told & right).sum() / (told.sum() + 65)

    best = fit_thresholds(found, ["a", "b"], 0.0)
    grid = np.arange(-6, 7, 0.05)
    assert f1((best.get("a", 0.0), best.get("b", 0.0))) == pytest.approx(max(f1((a, b)) for a in grid for b in grid))


def test_the_share_of_evidence_is_where_f1_of_sentences_is_highest() -> None:
    chance = np.random.default_rng(0)
    shares = [chance.dirichlet(np.full(5, 0.5)) for _ in range(30)]
    proofs = [{s for s in range(5) if chance.random() < share[s] ** 0.5} or {0} for share in shares]

    def f1(threshold: float) -> float:
        found = [{s for s in range(5) if share[s] > threshold or s == share.argmax()} for share in shares]
        right = sum(len(a & b) for a, b in zip(found, proofs, strict=True))
        return 2 * right / (sum(map(len, found)) + sum(map(len, proofs)))

    best = best_share(shares, proofs)
    assert f1(best) == max(f1(t) for t in np.linspace(0, 1, 2001)) > max(f1(0.0), f1(1.0))
    assert best_share([np.array([0.2, 0.8])], [{1}]) > 0.2
    assert best_share([np.array([0.2, 0.8])], [{0, 1}]) < 0.2


def test_a_label_that_is_wrong_more_often_needs_a_higher_score() -> None:
    draw = np.random.default_rng(5)
    score, label = draw.normal(1.0, 2.0, 40_000), draw.integers(0, 3, 40_000)
    truth = np.array([0.0, 1.5, -1.0])
    right = draw.random(40_000) < 1 / (1 + np.exp(-(score - 0.5 - truth[label]) / 1.25))
    scale, shifts = fit_shifts(
        ScoredCandidates(score, right, label, np.bincount(label)), np.full(3, -9.0), ["a", "b", "c"]
    )
    assert scale.temperature == pytest.approx(1.25, abs=0.05)
    total = np.array([shifts["a"], shifts["b"], shifts["c"]]) + scale.shift
    assert total == pytest.approx(0.5 + truth, abs=0.1)

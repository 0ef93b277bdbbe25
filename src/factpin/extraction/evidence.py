"""How directly a sentence states a fact, and how likely that makes it.

The score of a small model says how well types and words fit together. How a sentence puts a fact says more about
whether it is right: a title right before a name (教育部部长马叙伦, Acme CEO Ann Lee) nearly always is an office, while
two people of one sentence are seldom married. `weigh` corrects scores by a few such features, which differ by language
(evidence_en.py, evidence_zh.py). Their weights are part of the model whose scores they correct (`evidence` in its
settings), since they were fitted on facts that it found: recipes/weigh_evidence.py.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from math import exp, log

from factpin.documents import Fact
from factpin.extraction.combine import Place
from factpin.extraction.scene import Scene

LEAST = 0.41  # the weights were not fitted on facts that the model thinks less likely


def weigh(scene: Scene, facts: Iterable[Fact], weights: Mapping[str, float], free: Collection[Place]) -> list[Fact]:
    """The facts with scores that take into account how they are stated. free: where only a fact needs a mention.

    Facts that the model thinks unlikely keep their scores.
    """
    return [
        fact
        if fact.score is None or fact.score < LEAST
        else replace(fact, score=_weighed(features(scene, fact, free), weights))
        for fact in facts
    ]


def _weighed(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    logit = weights["shift"] + sum(weights.get(name, 0.0) * value for name, value in found.items())
    return round(1 / (1 + exp(-logit)), 4)


def features(scene: Scene, fact: Fact, free: Collection[Place]) -> dict[str, float]:
    """What the weights are for: the score on its own scale, and what the sentence says."""
    score = min(max(0.5 if fact.score is None else fact.score, 0.001), 0.999)
    if scene.language == "zh":
        from factpin.extraction.evidence_zh import said  # noqa: PLC0415  its patterns take a while to compile
    else:
        from factpin.extraction.evidence_en import said  # noqa: PLC0415
    plain = (
        (None, "asserted", "negated") if scene.language == "en" else (None, "asserted")
    )  # negated English facts are too rare to fit a weight
    doubted = float(fact.assertion not in plain)
    return {"score": log(score / (1 - score)), "doubted": doubted, **said(scene, fact, free)}

"""Several models as one: margins, thresholds and shares are their means, and what does not fit together is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from factpin.errors import BadInput
from factpin.models.ensemble import ensemble
from factpin.models.extractor import Extractor
from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
from factpin.training.run import start
from tests.training.test_document_relations import corpus, save_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("ensemble") / "small")


def untrained(encoder: Path, seed: int, **change: object) -> Extractor:
    config = replace(RelationOptions(str(encoder), size=16, group=8), **change)  # type: ignore[arg-type]
    extractor = start(DOCUMENT_RELATIONS, config, corpus(8, 1), seed)
    with torch.no_grad():
        extractor.model.head.bilinear.weight.mul_(20)  # so that scores differ
    return extractor


def margins(extractor: Extractor) -> list[torch.Tensor]:
    finder: Any = extractor.finder
    found = finder.score([extractor.read(doc) for doc in corpus(4, 2)], extractor.predict)
    return [torch.from_numpy(scores.margins()) for _, scores in found]


@pytest.mark.parametrize("threshold", ["adaptive", "global"])
def test_margins_are_the_mean_of_the_members(encoder: Path, threshold: str) -> None:
    members = [untrained(encoder, seed, threshold=threshold) for seed in (1, 2, 3)]
    together = margins(ensemble(members))
    for mean, *parts in zip(together, *(margins(member) for member in members), strict=True):
        torch.testing.assert_close(mean, torch.stack(parts).mean(0), atol=1e-6, rtol=1e-5)
        assert not torch.allclose(parts[0], parts[1])


def test_one_model_thrice_finds_what_it_finds_alone(encoder: Path) -> None:
    alone = untrained(encoder, 1)
    alone.settings = replace(alone.settings, thresholds={"born in": -0.3}, temperature=2.0, shift=-0.1)
    expected = list(alone.annotate(corpus(6, 3)))
    found = list(ensemble([alone] * 3).annotate(corpus(6, 3)))
    for one, other in zip(expected, found, strict=True):
        assert [(f.head, f.tail, f.evidence) for f in one.facts] == [(f.head, f.tail, f.evidence) for f in other.facts]
        assert [f.score for f in one.facts] == pytest.approx([f.score for f in other.facts], abs=1e-5)
    assert sum(len(doc.facts) for doc in expected) > 3


def test_thresholds_are_the_mean_and_an_untuned_member_brings_its_own(encoder: Path) -> None:
    members = [untrained(encoder, seed) for seed in (1, 2)]
    members[0].settings = replace(members[0].settings, thresholds={"born in": 0.5}, shift=1.0)
    settings = ensemble(members).settings
    assert settings.thresholds == {"born in": 0.25} and settings.shift == 0.5
    assert members[0].settings.thresholds == {"born in": 0.5}


def test_models_that_ask_something_else_are_refused(encoder: Path) -> None:
    first = untrained(encoder, 1)
    with pytest.raises(BadInput, match="windows"):
        ensemble([first, untrained(encoder, 2, overlap=16)])
    with pytest.raises(BadInput, match="threshold"):
        ensemble([first, untrained(encoder, 2, threshold="global")])
    other = replace(first, settings=replace(first.settings, labels=("went to",)))
    with pytest.raises(BadInput, match="relations"):
        ensemble([first, other])
    with pytest.raises(BadInput, match="is of spans"):
        ensemble([replace(first, settings=replace(first.settings, task="spans"))])
    with pytest.raises(BadInput, match="at least one"):
        ensemble([])


def test_several_models_together_are_not_stored_and_nothing_is_lost(encoder: Path, tmp_path: Path) -> None:
    alone = untrained(encoder, 1)
    alone.save(tmp_path / "model")
    with pytest.raises(BadInput, match="Save each of them"):
        ensemble([alone, untrained(encoder, 2)]).save(tmp_path / "model")
    assert Extractor.load(tmp_path / "model").settings.labels == alone.settings.labels

"""Several models of document relations as one: the same relations, encoder and windows, other seeds.

    m[k]      margins of model k: how far every relation is above the threshold of its pair     (P, R)
    share[k]  of each sentence in what a pair looks at                                              (U, S)

    a relation is found where  mean over k of m[k]  >  mean over k of the thresholds;  shares are averaged too

    extractor = ensemble([factpin.load("runs/cdr-1"), factpin.load("runs/cdr-2")])
    documents = extractor.annotate(corpus)

What comes out is an extractor like any other, which can be tuned again; until then its scale is the members' mean.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from factpin.errors import BadInput
from factpin.heads.atlop import AtlopScores
from factpin.models.extractor import Extractor
from factpin.models.model import Model, torch_model
from factpin.models.predictor import Inputs


class Ensemble(Model):
    """Members that give the mean of their scores; the head of the first one decides."""

    def __init__(self, members: Sequence[Model]) -> None:
        nn.Module.__init__(self)
        self.members = nn.ModuleList(members)
        self.encoder, self.head = members[0].encoder, members[0].head

    def scores(self, inputs: Inputs) -> Any:
        """The mean over members for each document."""
        found = [member.scores(inputs) for member in self.members]  # type: ignore[operator]
        return [self._mean(scores) for scores in zip(*found, strict=True)]

    def _mean(self, scores: Sequence[AtlopScores]) -> AtlopScores:
        first = scores[0]
        s = torch.stack([self.head.margins(x) for x in scores]).mean(dim=0)  # (P, R)
        if self.head.config.threshold == "adaptive":
            s = F.pad(s, (1, 0))  # margins are above a threshold of 0
        shares = [x.share for x in scores if x.share is not None]
        share = sum(shares[1:], shares[0]) / len(shares) if shares and len(shares) == len(scores) else None
        return AtlopScores(s, first.head, first.tail, share, first.context)


def ensemble(models: Sequence[Extractor]) -> Extractor:
    """One extractor of several that differ only in their weights, thresholds and scales."""
    if not models:
        raise BadInput("An ensemble needs at least one model.")
    first = models[0]
    for model in models:
        if model.settings.task != "document_relations":
            raise BadInput(f"An ensemble is made of models of document_relations; one is of {model.settings.task}.")
        other = next((name for name, same in _same(first, model).items() if not same), None)
        if other:
            raise BadInput(
                f"The models of an ensemble differ in {other}; expected the same but for the seed. Train "
                f"them with one recipe."
            )
    settings = first.settings
    cuts = [model.settings.thresholds for model in models]
    own = first.default_threshold
    labels = [label for label in settings.labels if any(label in cut for cut in cuts)]
    settings = replace(
        settings,
        thresholds={label: fmean(cut.get(label, own) for cut in cuts) for label in labels},
        temperature=fmean(model.settings.temperature for model in models),
        shift=fmean(model.settings.shift for model in models),
    )
    return replace(first, settings=settings, model=Ensemble([torch_model(model.model) for model in models]))


def _same(one: Extractor, two: Extractor) -> dict[str, bool]:
    """What has to be equal for two models to ask about the same pairs of the same pieces."""
    a, b = one.settings, two.settings
    return {
        "their relations": a.labels == b.labels,
        "their vocabulary": one.tokenizer.to_json() == two.tokenizer.to_json(),
        "their windows (max_length, overlap)": (a.max_length, a.overlap) == (b.max_length, b.overlap),
        "their schema": a.task_config == b.task_config,
        "the kind of their threshold": a.head_config.get("threshold") == b.head_config.get("threshold"),
        "top_k": a.head_config.get("top_k") == b.head_config.get("top_k"),
    }

"""Outputs of a graph -> a head's scores, as the task finds in them: what `to_arrays` of the torch heads gives.

The outputs are the tensors of the head's scores, named by their fields: q, k, u, v, or spans.qk, heads.q …
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Bools
from factpin.language.coreference import ADD
from factpin.models.weights import Weights
from factpin.tasks.events.find import EventScores
from factpin.tasks.events.labels import Labels
from factpin.tasks.spans.scores import FactoredScores, PointerScores, TagScores
from factpin.tasks.spans.tags import Tags
from factpin.tasks.triples.find import TripleScores

Outputs = Mapping[str, NDArray[Any]]
Config = Mapping[str, Any]  # Settings.head_config
ToScores = Callable[[Outputs, Bools, Config, Weights], Any]
THRESHOLDS = {"crf": -math.inf, "mention_pair": ADD}  # of heads whose own threshold is not 0


def _pointer(out: Outputs, real: Bools, config: Config, part: str = "") -> PointerScores:
    qk = out[f"{part}qk"]  # (B, N, L, 2, d)
    return PointerScores(qk[:, :, :, 0], qk[:, :, :, 1], real, config.get("max_span"))


def _factored(out: Outputs, real: Bools, max_span: int | None, part: str = "") -> FactoredScores:
    q, k, u, v = (out[f"{part}{name}"] for name in "qkuv")
    return FactoredScores(q, k, u, v, real, max_span)


def global_pointer(out: Outputs, real: Bools, config: Config, _: Weights) -> PointerScores:
    """Spans with separate vectors for each label."""
    return _pointer(out, real, config)


def efficient_global_pointer(out: Outputs, real: Bools, config: Config, _: Weights) -> FactoredScores:
    """Spans with one score for all labels and two terms for each."""
    return _factored(out, real, config.get("max_span"))


def crf(out: Outputs, real: Bools, config: Config, weights: Weights) -> TagScores:
    """Tags with transitions, -inf where the scheme does not allow them."""
    tags = Tags(len(config["labels"]), config.get("scheme", "bioes"))
    rules = [
        np.where(legal, weights[f"head.{name}"], np.float32(-np.inf))
        for name, legal in zip(("transitions", "start", "end"), tags.legal(), strict=True)
    ]
    return TagScores(out["emissions"], rules[0], rules[1], rules[2], real, tags)


def gplinker(out: Outputs, real: Bools, config: Config, _: Weights) -> TripleScores:
    """Spans that are subjects or objects, and links between their first and between their last tokens."""
    heads, tails = (_factored(out, real, None, f"{part}.") for part in ("heads", "tails"))
    return TripleScores(_pointer(out, real, config, "spans."), heads, tails, len(config.get("subjects", ("",))))


def event_linker(out: Outputs, real: Bools, config: Config, _: Weights) -> EventScores:
    """Spans that play a role in an event, and links between those of one event."""
    labels = Labels(tuple(config["triggers"]), tuple((str(type), str(role)) for type, role in config["roles"]))
    index = {type: t for t, type in enumerate(labels.types)}
    type_of = np.array([index[type] for type, _ in labels.classes], np.int64)
    is_trigger = np.arange(len(labels.classes)) < len(labels.triggers)
    spans = _factored(out, real, config.get("max_span"), "spans.")
    heads, tails = (_factored(out, real, None, f"{part}.") for part in ("heads", "tails"))
    return EventScores(spans, heads, tails, type_of, is_trigger)


SCORES: dict[str, ToScores] = {  # heads that read windows
    "crf": crf,
    "efficient_global_pointer": efficient_global_pointer,
    "event_linker": event_linker,
    "global_pointer": global_pointer,
    "gplinker": gplinker,
}

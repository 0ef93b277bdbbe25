"""What a head finds, from its scores on."""

from typing import Any

from torch import Tensor, nn

from factpin.tasks.document_relations import Relations, find_relations
from factpin.tasks.events import find_events
from factpin.tasks.links import LinkCells
from factpin.tasks.spans import find_spans
from factpin.tasks.spans.cells import SpanCells
from factpin.tasks.triples import find_triples


def spans(head: nn.Module, scores: object, cut: float | Tensor | None = None) -> SpanCells:
    return find_spans(head.to_arrays(scores), head.default_threshold if cut is None else cut)


def triples(head: nn.Module, scores: object, cut: float | Tensor = 0.0, **options: Any) -> LinkCells:
    return find_triples(head.to_arrays(scores), cut, **options)


def events(head: nn.Module, scores: object, cut: float | Tensor = 0.0, **options: Any) -> LinkCells:
    return find_events(head.to_arrays(scores), cut, **options)


def relations(head: nn.Module, scores: object, cut: float | Tensor = 0.0, **options: Any) -> Relations:
    return find_relations(head.to_arrays(scores), cut, **options)

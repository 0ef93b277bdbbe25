"""The tasks that can be trained, by name."""

from typing import Any

from factpin.training.coreference import COREFERENCE
from factpin.training.document_relations import DOCUMENT_RELATIONS
from factpin.training.events import EVENTS
from factpin.training.run import Task
from factpin.training.spans import SPANS
from factpin.training.triples import TRIPLES

TASKS: dict[str, Task[Any]] = {
    "coreference": COREFERENCE,
    "document_relations": DOCUMENT_RELATIONS,
    "events": EVENTS,
    "spans": SPANS,
    "triples": TRIPLES,
}

"""Events: what EventLinker finds in read documents, and the documents with it as mentions and events.

Every event gets its assertion status, where there are cues for the language.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from factpin.documents import Coverage, Document
from factpin.language.assertion import with_assertions
from factpin.models.find_triples import reach
from factpin.models.model import Model
from factpin.models.reading import Read, batched
from factpin.models.settings import Settings
from factpin.tasks.events import Labels, Rules, decode, find_events
from factpin.tasks.links import Links, merge, split_links
from factpin.tasks.spans import Scale
from factpin.tokens import Tokenizer


@dataclass(frozen=True)
class EventSettings:
    """How found links become events: Settings.task_config of a model of events."""

    trigger: Literal["optional", "required"] = "optional"  # required: a group without a trigger is no event


def labels_of(settings: Settings) -> Labels:
    """What the model of these settings tells apart."""
    triggers, roles = settings.head_config["triggers"], settings.head_config["roles"]
    return Labels(tuple(triggers), tuple((str(type), str(role)) for type, role in roles))


def find(
    model: Model, tokenizer: Tokenizer, settings: Settings, reads: Sequence[Read], cut: float | Tensor
) -> list[Links]:
    """What the head finds in every document, each span and link once."""
    parts: list[dict[int, Links]] = [{} for _ in reads]
    for chosen, batch in batched([read.ids for read in reads], tokenizer):
        cells = find_events(model.head.to_arrays(model.predict(batch)), cut)
        for (d, w), found in zip(chosen, split_links(cells, len(chosen), len(tokenizer.prefix)), strict=True):
            parts[d][w] = found
    return [merge(read.windows, [own[w] for w in sorted(own)]) for read, own in zip(reads, parts, strict=True)]


def annotated(read: Read, found: Links, settings: Settings) -> Document:
    """The document with what was found, pinned, scored and with assertion status."""
    own, doc = EventSettings(**settings.task_config), read.doc
    rules = Rules(own.trigger, scale=Scale(settings.temperature, settings.shift), span_scale=Scale())
    told = decode(found, doc, read.pieces, labels_of(settings), rules)
    notes = [f"events are looked for inside one {reach(read, settings)} at a time"]
    if told.truncated:
        notes.append("more spans or links scored above the threshold than are joined at once: the best were")
    coverage = replace(doc.coverage or Coverage(), notes=tuple(notes))
    return with_assertions(replace(doc, mentions=told.mentions, events=told.events, coverage=coverage))

"""Events, made ready for one model: documents to examples, and a head's scores to events.

Every event gets its assertion status, where there are cues for the language.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from factpin.documents import Coverage, Document
from factpin.language.assertion import with_assertions
from factpin.tasks.by_window import find_by_window, reach
from factpin.tasks.events.decode import Rules, decode
from factpin.tasks.events.find import find_events
from factpin.tasks.events.labels import Labels
from factpin.tasks.events.targets import targets
from factpin.tasks.examples import Lesson, WindowExample
from factpin.tasks.links import Links, merge, split_links
from factpin.tasks.scale import Scale
from factpin.tasks.settings import Settings
from factpin.tasks.task import Cut, Predict
from factpin.tokens import Tokenizer
from factpin.tokens.reading import Batch, WindowedDocument


@dataclass(frozen=True)
class EventSettings:
    """How found links become events: Settings.task_config of a model of events."""

    trigger: Literal["optional", "required"] = "optional"  # required: a group without a trigger is not an event


@dataclass(frozen=True)
class EventFinder:
    """Events for one model."""

    tokenizer: Tokenizer
    labels: Labels
    rules: Rules
    context: Literal["sentence", "window"]
    max_span: int | None

    @staticmethod
    def prepare(settings: Settings, tokenizer: Tokenizer) -> "EventFinder":
        """Events for the model of these settings."""
        triggers, roles = settings.head_config["triggers"], settings.head_config["roles"]
        labels = Labels(tuple(triggers), tuple((str(type), str(role)) for type, role in roles))
        own = EventSettings(**settings.task_config)
        rules = Rules(own.trigger, scale=Scale(settings.temperature, settings.shift), span_scale=Scale())
        return EventFinder(tokenizer, labels, rules, settings.context, settings.head_config.get("max_span"))

    def teach(self, document: WindowedDocument, options: Any = None) -> Lesson:
        """A window each, with the arguments of events that lie in it."""
        whole = targets(document.doc, document.pieces, self.labels)
        notes = Counter({name: len(getattr(whole, name)) for name in ("unalignable", "unknown", "merged")})
        notes["events"] = len(document.doc.events)
        notes["lost_arguments"], notes["invented"] = whole.lost_arguments, whole.invented
        if self.max_span is not None:
            narrow = whole.no_wider(self.max_span)
            notes["too_wide"] = len(whole.argument) - len(narrow.argument)
            whole = narrow
        notes["not_taught_whole"] = len(whole.outside(document.windows))  # across windows
        examples = [
            WindowExample(document.pieces.ids[window.first : window.last], whole.inside(window))
            for window in document.windows
        ]
        return Lesson(examples, notes)

    def find(self, documents: Sequence[WindowedDocument], predict: Predict, cut: Cut) -> list[Links]:
        """The spans and links of every document, each once."""

        def find(batch: Batch) -> list[Links]:
            return split_links(find_events(predict(batch), cut), len(batch.ids), len(self.tokenizer.prefix))

        return find_by_window(documents, self.tokenizer, find, merge)

    def annotate(self, document: WindowedDocument, found: Links) -> Document:
        """The document with what was found, pinned, scored and with assertion status."""
        doc = document.doc
        decoded = decode(found, doc, document.pieces, self.labels, self.rules)
        notes = [f"events are looked for inside one {reach(document, self.context)} at a time"]
        if decoded.truncated:
            notes.append("more spans or links scored above the threshold than are joined at once: the best were joined")
        coverage = replace(doc.coverage or Coverage(), notes=tuple(notes))
        return with_assertions(replace(doc, mentions=decoded.mentions, events=decoded.events, coverage=coverage))

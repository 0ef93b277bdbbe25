"""The task `events`: triggers and arguments that play a role in an event."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from factpin.documents import Document
from factpin.errors import BadInput, pick
from factpin.scoring import Scores, events, macro
from factpin.scoring.counts import total
from factpin.tasks.events.finder import EventFinder, EventSettings
from factpin.tasks.events.labels import labels_of
from factpin.tasks.events.tune import tune
from factpin.tasks.options import check_sizes
from factpin.tasks.settings import Settings
from factpin.tasks.task import Design, Task

BESIDE = ("trigger", "argument", "text", "event")  # conventions that training reports beside `strict`


@dataclass(frozen=True)
class EventOptions:
    """What is trained. How it is trained is in TrainConfig."""

    encoder: str = ""  # encoder to start from: a name (`factpin models --encoders`), a folder, or a hub id
    initial: str = ""  # model to start from instead; its head is kept where the labels agree
    head: str = "event_linker"  # kind of head; there is one so far
    head_size: int = 64  # width of the head's vectors
    rope: bool = False  # rotary positions in the links; spans always have them
    bias: Literal["qk", "hidden"] = "qk"  # form of the bias
    triggers: bool = True  # learn and find triggers, where the corpus has them
    max_span: int | None = None  # tokens of the widest mention; default: any
    max_length: int | None = None  # tokens of a window; default: a little more than the longest in training
    overlap: int = 64  # tokens that neighbouring windows share
    context: Literal["sentence", "window"] = "sentence"  # read one sentence at a time, or as much as fits
    dropout: float = 0.1  # dropout of the token vectors before the head
    language: str = ""  # language the model is for, such as zh or en; default: any
    name: str = ""  # name of the model in its card
    finds: str = ""  # what it finds, in one line for `factpin models`

    def __post_init__(self) -> None:
        check_sizes(self.head_size, self.max_span, self.dropout)


def design(options: EventOptions, training: Sequence[Document], known: Mapping[str, Settings]) -> Design:
    """A head for the event types and roles of these documents."""
    pick({"event_linker": None}, options.head, kind="head for events")
    labels = labels_of(training, triggers=options.triggers)
    if not labels.classes:
        raise BadInput("The training documents have no event, so there is nothing to learn. Check them with doctor.")
    all_triggered = all(event.trigger is not None for doc in training for event in doc.events)
    own = EventSettings("required" if options.triggers and all_triggered else "optional")
    config = {
        "triggers": labels.triggers,
        "roles": labels.roles,
        "head_size": options.head_size,
        "rope": options.rope,
        "max_span": options.max_span,
        "bias": options.bias,
    }
    return Design(labels.types, "event_linker", config, asdict(own))


def figures(found: Scores) -> dict[str, float]:
    """Events, as `factpin evaluate` counts them."""
    strict = total(found.rows["strict"])
    return {
        "f1": strict.f1,
        "precision": strict.precision,
        "recall": strict.recall,
        "macro_f1": macro(found.labels.values())["f1"],
    } | {f"{name}_f1": total(found.rows[name]).f1 for name in BESIDE}


EVENTS = Task(
    name="events",
    alias="ee",
    heads=("event_linker",),
    finds="events",
    labels="event types",
    strict="Strict arguments (role and span) of events paired one to one",
    conventions={
        "strict": "same role and span, in events paired one to one; the trigger is one more role",
        "trigger": "same event type and trigger span",
        "argument": "same event type, role and span, whichever event it is in",
        "text": "same event type, role and argument text",
        "event": "the whole event: type, trigger and all arguments",
    },
    metrics=("f1", "precision", "recall", "macro_f1", *(f"{name}_f1" for name in BESIDE)),
    options=EventOptions,
    design=design,
    prepare=EventFinder.prepare,
    tune=tune,
    score=events.score,
    figures=figures,
)

"""What a user should know about how a run ended."""

from collections.abc import Sequence
from typing import Any

from factpin.documents import Document
from factpin.tasks.settings import Settings
from factpin.words import count

POOR = 0.1  # an F1 on dev below which something went wrong
SHORT_RUN = 300  # steps
NAMES = {"f1": "F1", "macro_f1": "mean F1 of the labels", "recall": "recall"}  # figures that are near zero in a bad run


def advise(report: dict[str, Any]) -> list[str]:
    """Sentences about the report of a run; none where all is well."""
    return [*_of_initial(report.get("initial")), *_of_scores(report)]


def _of_initial(initial: dict[str, Any] | None) -> list[str]:
    """What was not kept of the model that the run started from."""
    if initial is None:
        return []
    model = initial["model"]
    old, new = initial["heads"]
    if old != new:
        return [f"Only the encoder of {model} was kept: its head is {old}, and that of this run is {new}."]
    if not initial["kept"]:
        return [f"{model} and the training corpus have no label in common, so all labels start from scratch."]
    if initial["types"]:
        missing = ", ".join(initial["types"])
        return [f"{model} does not know the types {missing}: what it has learned about such arguments was not kept."]
    return []


def _of_scores(report: dict[str, Any]) -> list[str]:
    """That there are none, or that they are poor, with the likely cause."""
    if not report["scores"] and not report.get("dev"):
        return [
            "The model was not evaluated: there is no dev set. Pass one (--dev FILE or --hold-out N) to see how good "
            "the model is; without it, scores are not calibrated and the last weights are kept."
        ]
    if not report["scores"]:
        return [
            "The model was not evaluated: nothing in the dev set can judge it, so the last weights were kept. Pass "
            "another one."
        ]
    figure = next((name for name in ("f1", "macro_f1", "recall") if name in report["scores"]), "")
    if not figure or report["scores"][figure] >= POOR:
        return []
    steps, noted = report["steps"], report["noted"]
    lost = sum(noted.get(name, 0) for name in ("not_taught", "unalignable", "not_asked"))
    annotations = next((noted[name] for name in ("facts", "mentions", "events") if noted.get(name)), 0)
    total, unit = (annotations, "annotations") if annotations else (report.get("train", 0), "training questions")
    unseen, judged = report.get("dev_unseen", 0), report.get("dev_annotations", 0)
    if unseen > judged / 2:
        cause = (
            f"{unseen:,} of {judged:,} annotations of dev have labels that the training corpus does not have; compare "
            f"the two with `factpin doctor TRAIN DEV`"
        )
    elif total and lost > total / 2:
        cause = f"{lost:,} of {total:,} {unit} could not be learned; check the corpus with `factpin doctor`"
    elif steps < SHORT_RUN:
        cause = f"it learned for {count(steps, 'step')} only; train longer (--epochs, --max-steps)"
    else:
        cause = (
            "the learning rate may not suit the encoder (--learning-rate), or the same labels mean other things in dev "
            "(`factpin doctor TRAIN DEV`)"
        )
    said = f"{NAMES[figure]} {100 * report['scores'][figure]:.1f} on dev"
    return [f"The model found next to nothing ({said}). Likely cause: {cause}."]


def inherited(old: Settings, new: Settings) -> dict[str, Any]:
    """What a model has of the one that it started from: both heads, the labels of both, and types that are new."""
    same = old.head == new.head
    kept = [label for label in new.labels if same and label in old.labels]
    types = sorted({type for type in _types(new) - _types(old) if type}) if kept else []
    return {"heads": [old.head, new.head], "kept": kept, "types": types}


def _types(settings: Settings) -> set[str]:
    """The types of the arguments that a head tells apart."""
    return {*settings.head_config.get("subjects", ()), *settings.head_config.get("objects", ())}


def unseen_labels(training: Sequence[Document], dev: Sequence[Document], finds: str) -> dict[str, int]:
    """How many annotations of dev there are, and how many of a label that no training document has."""
    known = {label for doc in training for label in _labels(doc, finds)}
    labels = [label for doc in dev for label in _labels(doc, finds)]
    return {"dev_annotations": len(labels), "dev_unseen": sum(label not in known for label in labels)}


def _labels(doc: Document, finds: str) -> list[str]:
    match finds:
        case "mentions":
            return [mention.type for mention in doc.mentions]
        case "facts":
            return [fact.relation for fact in doc.facts]
        case "events":
            return [event.type for event in doc.events]
        case _:
            return []

"""What a user should know about how a run ended."""

from collections.abc import Sequence
from typing import Any

from factpin.documents import Document
from factpin.words import count

POOR = 0.1  # an F1 on dev below which something went wrong
SHORT_RUN = 300  # steps


def advise(report: dict[str, Any]) -> list[str]:
    """Sentences about the report of a run; none where all is well."""
    if not report["scores"]:
        return [
            "The model was not evaluated: there is no dev set. Pass one (--dev FILE or --hold-out N) to see how good "
            "the model is; without it, scores are not calibrated and the last weights are kept."
        ]
    if report["scores"].get("f1", 1.0) >= POOR:
        return []
    steps, noted = report["steps"], report["noted"]
    lost = noted.get("not_taught", 0) + noted.get("unalignable", 0)
    annotations = noted.get("facts", 0) or noted.get("mentions", 0) or noted.get("events", 0)
    unseen, judged = report.get("dev_unseen", 0), report.get("dev_annotations", 0)
    if unseen > judged / 2:
        cause = (
            f"{unseen:,} of {judged:,} annotations of dev have labels that the training corpus does not have; compare "
            f"the two with `factpin doctor TRAIN DEV`"
        )
    elif annotations and lost > annotations / 2:
        cause = f"{lost:,} of {annotations:,} annotations could not be learned; check the corpus with `factpin doctor`"
    elif steps < SHORT_RUN:
        cause = f"it learned for {count(steps, 'step')} only; train longer (--epochs, --max-steps)"
    else:
        cause = (
            "the learning rate may not suit the encoder (--learning-rate), or the same labels mean other things in dev "
            "(`factpin doctor TRAIN DEV`)"
        )
    return [f"The model found next to nothing (F1 {100 * report['scores']['f1']:.1f} on dev). Likely cause: {cause}."]


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

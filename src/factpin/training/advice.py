"""What a user should know about how a run ended."""

from typing import Any

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
    if annotations and lost > annotations / 2:
        cause = f"{lost:,} of {annotations:,} annotations could not be learned; check the corpus with `factpin doctor`"
    elif steps < SHORT_RUN:
        cause = f"it learned for {count(steps, 'step')} only; train longer (--epochs)"
    else:
        cause = (
            "the learning rate may not suit the encoder (--learning-rate), or train and dev do not use the same labels "
            "(`factpin doctor TRAIN DEV`)"
        )
    return [f"The model found next to nothing (F1 {100 * report['scores']['f1']:.1f} on dev). Likely cause: {cause}."]

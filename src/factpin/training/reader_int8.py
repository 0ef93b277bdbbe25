"""The int8 graph of a reader, with a scale and a least score that are fitted for it on questions. No torch.

They are fitted as those of float32 were after training: on the same kind of questions, for the same share of right
answers. What int8 loses is measured on each half of the questions with what was fitted on the other half, for both
precisions alike; a passage is in one half only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from factpin.answers.reader import Reader, ReaderSettings
from factpin.documents import Question
from factpin.errors import BadInput, BadModel
from factpin.models.graphs.int8 import Int8Report, write_int8
from factpin.models.onnx.graph import INT8, read_graph, write_graph
from factpin.models.onnx.reader import load_onnx_reader
from factpin.models.settings import read_settings
from factpin.training.reader_fit import best_readings, fitted, given_f1, raw_outcomes, to_fit_on
from factpin.training.reader_options import ReaderOptions


@dataclass(frozen=True)
class ReaderFit:
    """How the scale and the least score of a reader are fitted, as its folder says."""

    strangers: bool  # whether questions are also read in the contexts of others
    precision: float  # the share of right answers among those that are not withheld

    @staticmethod
    def of(folder: Path) -> "ReaderFit":
        """Folders that do not say it were fitted without strangers, for the usual precision."""
        own = read_settings(folder).task_config
        strangers, precision = own.get("strangers", False), own.get("precision", ReaderOptions.precision)
        if not isinstance(strangers, bool) or not isinstance(precision, int | float) or not 0 < precision <= 1:
            raise BadModel(f"{folder}: how its scores were fitted cannot be read (strangers, precision).")
        return ReaderFit(strangers, precision)

    def __call__(self, reader: Reader[Any], dev: Sequence[Question]) -> ReaderSettings:
        """The settings of a reader, fitted on these questions."""
        asked = to_fit_on(dev, strangers=self.strangers)
        return fitted(reader.settings, raw_outcomes(asked, best_readings(reader, asked)), self.precision)


def write_reader_int8(folder: Path, dev: Sequence[Question]) -> Int8Report:
    """Write the int8 graph of a reader, with settings fitted on these questions."""
    if not all(question.context for question in dev):
        raise BadInput("A reader is fitted on questions with passages; some of these have none.")
    fit, parts = ReaderFit.of(folder), halves(dev)
    report = write_int8(folder)
    exact, rough = load_onnx_reader(folder), load_onnx_reader(folder, INT8)
    total = [0.0, 0.0, 0.0]
    for learned, judged in (parts, parts[::-1]):
        usual, own = fit(exact, learned), fit(rough, learned)
        for i, (reader, settings) in enumerate(((exact, usual), (rough, usual), (rough, own))):
            total[i] += len(judged) * given_f1(reader, judged, settings)
    chosen = fit(rough, dev)
    graph, model = read_graph(folder, INT8)
    tuned = {
        "temperature": chosen.scale.temperature,
        "shift": chosen.scale.shift,
        "task_config": {**read_settings(folder).task_config, "min_score": chosen.min_score},
    }
    write_graph(folder, replace(graph, tuned=tuned), model)
    before, same, after = (one / len(dev) for one in total)
    return replace(report, documents=len(dev), before=before, same=same, after=after)


def halves(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """Two halves without a common passage: that of the answer, or the first where there is none."""
    places: dict[str, int] = {}
    parts: tuple[list[Question], list[Question]] = [], []
    for question in questions:
        text = question.context[question.spans[0][0] if question.spans else 0].text
        parts[places.setdefault(text, len(places)) % 2].append(question)
    if not all(parts):
        raise BadInput("A reader is fitted on questions about two passages or more.")
    return parts
